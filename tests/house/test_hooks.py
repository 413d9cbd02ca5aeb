"""Each event belongs to one verb, is fired by production code, and by the one loop around verbs."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Any

from tests.house.snippets import ROOT, Reader, blocks

from recollect import Recollect
from recollect.hooks import verbs
from recollect.hooks.config import FIELDS
from recollect.hooks.events import HookEvent
from recollect.hooks.verbs import SHAPES, VERBS
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
    holder = {SOURCE / "engine.py", SOURCE / "opened.py"}
    outside = [path for path in SOURCE.rglob("*.py") if SOURCE / "hooks" not in path.parents]
    assert {path for path in outside if "dispatcher" in names(path)} == holder
    users = {
        path for path in (SOURCE / "hooks").rglob("*.py") if {"before", "after"} <= calls(path)
    }
    assert users == {DISPATCHER}
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
    for event, shape in SHAPES.items():
        assert f"`{event}`" in text
        row = next(line for line in text.splitlines() if line[:1] == "|" and f"`{event}`" in line)
        named = set(re.findall(r"`(\w+)`", row.split("|")[3]))
        assert named == set(shape.changes), event
    keys = text.split("| key | meaning |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", keys, re.MULTILINE)) == set(FIELDS)
