"""Each event belongs to one verb, is fired by production code, and by the one loop around verbs."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.house.snippets import ROOT, Reader, blocks

from recollect import Recollect
from recollect.hooks import verbs
from recollect.hooks.config import FIELDS
from recollect.hooks.events import HookEvent
from recollect.hooks.verbs import SHAPES, VERBS
from recollect.model import Principal, RecallRequest
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

SOURCE = ROOT / "src/recollect"
DISPATCHER = SOURCE / "hooks/dispatcher.py"


def calls(path: Path) -> set[str]:
    """Return the names of all that a module calls."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {getattr(func, "id", getattr(func, "attr", "")) for func in called}


def names(path: Path) -> set[str]:
    """Return the names and attributes that a module uses."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_every_event_belongs_to_one_verb() -> None:
    fired = Counter(
        shape.event for verb in VERBS for shape in (*verb.before, verb.after) if shape is not None
    )
    assert fired == Counter(HookEvent)
    for verb in VERBS:
        befores = [shape.event for shape in verb.before]
        assert all(event.startswith(f"pre_{verb.name}") for event in befores)
        assert verb.after is None or verb.after.event == f"post_{verb.name}"


def test_the_engine_runs_every_verb_of_the_table_and_nobody_else_does() -> None:
    rows = {name for name in verbs.__all__ if any(getattr(verbs, name) is one for one in VERBS)}
    assert len(rows) == len(VERBS)
    used = {path: rows & names(path) for path in SOURCE.rglob("*.py") if rows & names(path)}
    hooks = {path for path in used if SOURCE / "hooks" in path.parents}
    assert used.pop(SOURCE / "engine.py") == rows
    assert set(used) == hooks


def test_nothing_below_the_engine_runs_the_loop_or_fires_a_chain() -> None:
    outside = [path for path in SOURCE.rglob("*.py") if SOURCE / "hooks" not in path.parents]
    (holder,) = (path for path in outside if "class OpenStore" in path.read_text(encoding="utf-8"))
    users = {path for path in outside if "dispatcher" in names(path)}
    assert users == {SOURCE / "engine.py", holder}
    users = {
        path for path in (SOURCE / "hooks").rglob("*.py") if {"before", "after"} <= calls(path)
    }
    assert users == {DISPATCHER}
    assert not [path for path in outside if "HookChain" in path.read_text(encoding="utf-8")]


def test_the_guide_to_hooks_runs_and_names_every_event_and_key(tmp_path: Path) -> None:
    page = ROOT / "docs/hooks.md"
    reader = Reader(tmp_path)
    for block in blocks(page):
        reader.follow(block)
    text = page.read_text(encoding="utf-8")
    for event, shape in SHAPES.items():
        assert f"`{event}`" in text
        row = next(line for line in text.splitlines() if line[:1] == "|" and f"`{event}`" in line)
        named = set(re.findall(r"`(\w+)`", row.split("|")[3]))
        assert named == set(shape.changes), event
    keys = text.split("| key | meaning |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", keys, re.MULTILINE)) == set(FIELDS)


# One use of each verb, in a memory that holds p1, p2 and a link between them.
USES: dict[str, Callable[[Recollect], object]] = {
    "remember": lambda memory: memory.remember("three"),
    "remember_many": lambda memory: memory.remember_many(["three", "four"]),
    "recall": lambda memory: memory.recall("one"),
    "respond": lambda memory: memory.respond(RecallRequest(query="one")),
    "frame": lambda memory: memory.frame("attention", "one"),
    "preview": lambda memory: memory.preview("attention", "one"),
    "select": lambda memory: memory.select(SelectQuery("one")),
    "explain": lambda memory: [
        memory.explain("p1", "one"),
        memory.explain("p1", "one", frame="attention"),
        memory.explain("p1", SelectQuery("one")),
    ],
    "link": lambda memory: memory.link("p1", "p2"),
    "forget": lambda memory: memory.forget("p1"),
    "ingest": lambda memory: memory.ingest([{"content": "a fact"}], source="peer"),
    "import_": lambda memory: memory.import_(list(memory.export())),
    "update": lambda memory: memory.update("p1", content="another"),
    "supersede": lambda memory: memory.supersede("p1", "p2"),
    "history": lambda memory: memory.history("p1"),
    "receipts": lambda memory: memory.receipts(),
    "why": lambda memory: [memory.why(one.recall_id) for one in memory.receipts().items],
    "get": lambda memory: memory.get("p1"),
    "ids": lambda memory: memory.ids("p"),
    "inspect": lambda memory: memory.inspect("p1"),
    "list": lambda memory: memory.list(),
    "disputes": lambda memory: memory.disputes(),
    "export": lambda memory: list(memory.export()),
    "dispute": lambda memory: memory.dispute("p1", "p2"),
    "resolve": lambda memory: memory.resolve("p1", "p2"),
    "archive": lambda memory: memory.archive("p1"),
    "touch": lambda memory: memory.touch("p1"),
    "unarchive": lambda memory: memory.unarchive("p1"),
    "reembed": lambda memory: memory.reembed(FakeEmbedder()),
    "reindex": lambda memory: memory.reindex(),
    "retry_pending": lambda memory: memory.retry_pending(),
    "check": lambda memory: memory.check(),
    "examine": lambda memory: memory.examine(),
    "repair": lambda memory: memory.repair(),
    "backup": lambda memory: memory.backup(memory.path.with_name("copy.db")),
    "prune_versions": lambda memory: memory.prune_versions(days=1),
    "tidy": lambda memory: memory.tidy(),
    "head": lambda memory: memory.head(),
    "figures": lambda memory: memory.figures(),
    "holdings": lambda memory: memory.holdings("local"),
    "stats": lambda memory: memory.stats(),
    "audit": lambda memory: memory.audit(),
    "frames": lambda memory: memory.frames.register("mine", extends="attention"),
    "gardens": lambda memory: memory.gardens.list(),
    "quarantine": lambda memory: memory.quarantine.list(),
    "keys": lambda memory: memory.keys.list(),
    "trust": lambda memory: memory.trust.list(),
    "paks": lambda memory: memory.paks,
    "catalogue": lambda memory: memory.catalogue.set_reason_codes("p1", ["stable_context"]),
    "open": lambda memory: memory,
    "as_principal": lambda memory: memory.as_principal(Principal(tenant="acme", id="ann")),
    "principal": lambda memory: memory.principal,
    "path": lambda memory: memory.path,
    "hooks": lambda memory: memory.hooks.list(),
    "close": lambda memory: memory.close(),
}
# What the guide says in words.
SAID_IN_WORDS = {
    "remember_many": {"pre_remember", "post_remember"},
    "explain": {"pre_recall_expand", "pre_recall", "pre_frame", "pre_select"},
}


def events_in_the_guide() -> dict[str, set[str]]:
    """Return the events of each verb as the guide has them; no events need a reason."""
    page = (ROOT / "docs/hooks.md").read_text(encoding="utf-8")
    rows = page.split("| verb of `Recollect` | events |")[1].split("\n\n")[0].splitlines()[2:]
    found: dict[str, set[str]] = {}
    for row in rows:
        _, verbs_of_row, said, _ = row.split("|")
        events = {event.value for event in HookEvent} & set(re.findall(r"`(\w+)`", said))
        for verb in re.findall(r"`(\w+)`", verbs_of_row):
            assert events or verb in SAID_IN_WORDS or re.match(r" none: .{7}", said), verb
            found[verb] = SAID_IN_WORDS.get(verb, events)
    return found


def test_the_guide_names_every_verb() -> None:
    public = {name for name in vars(Recollect) if not name.startswith("_")}
    assert set(events_in_the_guide()) == public
    assert set(USES) == public, "a new verb: say in docs/hooks.md which events it fires, and use it"
    assert set().union(*events_in_the_guide().values()) == {event.value for event in HookEvent}


@pytest.mark.parametrize("verb", USES)
def test_a_verb_fires_the_events_that_the_guide_says(tmp_path: Path, verb: str) -> None:
    heard: set[str] = set()
    with Recollect.open(
        tmp_path / "a.db", embedder=FakeEmbedder(), clock=FakeClock(), receipts=True
    ) as memory:
        memory.remember("one", pak_id="p1")
        memory.remember("two", pak_id="p2")
        memory.link("p1", "p2", weight=0.5)
        memory.recall("one")
        memory.frame("task", "one")
        for event in HookEvent:
            memory.hooks.register(event, lambda _, event=event: heard.add(event.value))
        USES[verb](memory)
    assert heard == events_in_the_guide()[verb]
