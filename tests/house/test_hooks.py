"""Each declared event is fired by production code, from the one dispatcher and nowhere else."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from tests.house.snippets import ROOT, Reader, blocks

from recollect import Recollect
from recollect.hooks.config import FIELDS
from recollect.hooks.events import PAYLOADS, HookEvent
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

SOURCE = ROOT / "src/recollect"
DISPATCHER = SOURCE / "hooks/dispatcher.py"
# `expand` builds the first payload of a recall; the seam is the contract's.
SEAM = SOURCE / "hooks/recall.py"


def calls(path: Path) -> set[str]:
    """Return the names of all that a module calls."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {getattr(func, "id", getattr(func, "attr", "")) for func in called}


def test_every_payload_is_made_in_the_dispatcher_and_only_there() -> None:
    declared = {payload.__name__ for payload in PAYLOADS.values()}
    places = {
        path: declared & calls(path) for path in SOURCE.rglob("*.py") if declared & calls(path)
    }
    reader = SOURCE / "verbs/read.py"
    assert set().union(*places.values()) == declared
    assert set(places) == {DISPATCHER, SEAM, reader}
    assert places[SEAM] == {"RecallExpandQuery"}
    # What is asked of a frame goes to the dispatcher in the shape of its event.
    assert places[reader] == {"PreFrame"}


def test_nothing_but_the_hooks_themselves_fires_a_chain() -> None:
    firing = {"fire", "before", "after", "allowed", "expand"}
    used = {path: firing & calls(path) for path in (SOURCE / "hooks").rglob("*.py")}
    assert used[DISPATCHER] == {"before", "after", "allowed", "expand"}
    outside = [path for path in SOURCE.rglob("*.py") if SOURCE / "hooks" not in path.parents]
    assert not [path for path in outside if "HookChain" in path.read_text(encoding="utf-8")]


def test_every_event_reaches_a_hook_when_the_verbs_are_used(tmp_path: Path) -> None:
    heard: set[str] = set()
    with Recollect.open(tmp_path / "a.db", embedder=FakeEmbedder(), clock=FakeClock()) as memory:
        for event in HookEvent:
            memory.hooks.register(event, lambda _, event=event: heard.add(event))
        use_every_verb(memory)
    assert heard == set(HookEvent)


def use_every_verb(memory: Any) -> None:
    memory.remember("one", pak_id="p1")
    memory.remember_many(["two", {"content": "three", "pak_id": "p3"}])
    memory.recall("one")
    memory.frame("attention", "one")
    memory.select(SelectQuery("one"))
    memory.link("p1", "p3")
    memory.ingest([{"content": "four"}], source="peer")
    memory.forget("p1")


def test_the_guide_to_hooks_runs_and_names_every_event_and_key(tmp_path: Path) -> None:
    page = ROOT / "docs/hooks.md"
    reader = Reader(tmp_path)
    for block in blocks(page):
        reader.follow(block)
    text = page.read_text(encoding="utf-8")
    for event, payload in PAYLOADS.items():
        assert f"`{event}`" in text
        row = next(line for line in text.splitlines() if line[:1] == "|" and f"`{event}`" in line)
        named = set(re.findall(r"`(\w+)`", row.split("|")[3]))
        assert named == set(payload.changes), event
    keys = text.split("| key | meaning |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", keys, re.MULTILINE)) == set(FIELDS)
