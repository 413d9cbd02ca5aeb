"""An act and its note in the audit log are one transaction: both are there, or neither is.

A trigger in the file refuses the note; whatever the verb did must then be undone as well.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.errors import RecollectError
from recollect.policy import Principal
from recollect.testing import FakeClock, FakeEmbedder

# What says nothing about memories and access: counters, the log itself, work towards another model.
PASSED_OVER = {"commits", "engine_state", "audit_log", "memory_events", "sqlite_sequence"}
OLD, NEW = FakeEmbedder(8), FakeEmbedder(8, model_id="other")
LINES = '{"kind": "memory", "content": "brought along", "pak_id": "imported"}'

ACTS: dict[str, Callable[[Recollect], Any]] = {
    "garden.create": lambda memory: memory.gardens.create("roses"),
    "garden.update": lambda memory: memory.gardens.update("lab", tier=0.5),
    "garden.delete": lambda memory: memory.gardens.delete("lab"),
    "garden.add": lambda memory: memory.gardens.add("lab", "bob"),
    "garden.remove": lambda memory: memory.gardens.remove("lab", "cat"),
    "key.create": lambda memory: memory.keys.create(Principal("local", "bob")),
    "key.revoke": lambda memory: memory.keys.revoke(memory.keys.list()[0].prefix),
    "trust.set": lambda memory: memory.trust.set("peer", 0.9),
    "quarantine.promote": lambda memory: memory.quarantine.promote(waiting(memory)),
    "quarantine.reject": lambda memory: memory.quarantine.reject(waiting(memory)),
    "frame.save": lambda memory: memory.frames.register("mine", extends="task"),
    "frame.delete": lambda memory: memory.frames.delete("yours"),
    "forget": lambda memory: memory.forget("plan"),
    "update": lambda memory: memory.update("plan", content="another plan"),
    "supersede": lambda memory: memory.supersede("plan", "other"),
    "archive": lambda memory: memory.archive("plan"),
    "unarchive": lambda memory: memory.unarchive("old"),
    "frame.invalidate": lambda memory: memory.frames.invalidate("self"),
    "ingest": lambda memory: memory.ingest([{"content": "gossip"}], source="peer"),
    "import": lambda memory: memory.import_([LINES]),
    "reembed": lambda memory: memory.reembed(NEW),
    "reindex": lambda memory: memory.reindex(),
    "prune": lambda memory: memory.prune_versions(days=0),
}


def waiting(memory: Recollect) -> str:
    return memory.quarantine.list()[0].pak_id


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Recollect]:
    with Recollect.open(path, embedder=OLD, clock=FakeClock()) as opened:
        opened.remember("the plan", pak_id="plan")
        opened.remember("the plan b", pak_id="other")
        opened.remember("the plan z", pak_id="old")
        opened.archive("old")
        opened.gardens.create("lab")
        opened.gardens.add("lab", "cat")
        opened.remember("in the garden", garden="lab")
        opened.keys.create(Principal("local", "ann"))
        opened.trust.set("stranger", 0.1)
        opened.ingest([{"content": "a rumour"}], source="stranger")
        opened.frames.register("yours", extends="task")
        yield opened


def rows(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return all that a file holds of memories and access."""
    with closing(sqlite3.connect(path)) as file:
        tables = [
            name
            for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if name not in PASSED_OVER and not name.startswith("paks_fts")
        ]
        serving = file.execute("SELECT model_id, vector_slot FROM engine_state").fetchall()
        return {"serving": serving} | {
            table: file.execute(f"SELECT {_columns(file, table)} FROM {table}").fetchall()
            for table in tables
        }


def _columns(file: sqlite3.Connection, table: str) -> str:
    """Return all columns but vectors and their seals.

    Those for another model are work towards the act: they serve nobody before the switch.
    """
    names = [name for _, name, *_ in file.execute(f"PRAGMA table_info({table})")]
    return ", ".join(name for name in names if not name.startswith("vector_"))


def acts(path: Path, act: str) -> list[str]:
    with closing(sqlite3.connect(path)) as file:
        found = file.execute("SELECT detail FROM audit_log WHERE act = ? ORDER BY number", (act,))
        return [detail for (detail,) in found]


def refuse_notes(path: Path, act: str, *, after: int = 0) -> None:
    """Let the file take no more than `after` further notes of an act."""
    most = len(acts(path, act)) + after
    with closing(sqlite3.connect(path)) as file:
        file.execute(
            f"CREATE TRIGGER no_note BEFORE INSERT ON audit_log WHEN NEW.act = '{act}' AND"
            f" (SELECT count(*) FROM audit_log WHERE act = '{act}') >= {most}"
            " BEGIN SELECT RAISE (ABORT, 'no note'); END"
        )


@pytest.mark.parametrize("act", ACTS)
def test_what_cannot_be_noted_is_not_done(memory: Recollect, path: Path, act: str) -> None:
    before, noted = rows(path), acts(path, act)
    refuse_notes(path, act)
    with pytest.raises((RecollectError, sqlite3.Error)):
        ACTS[act](memory)
    assert rows(path) == before
    assert acts(path, act) == noted


@pytest.mark.parametrize("act", ACTS)
def test_what_is_done_is_noted(memory: Recollect, path: Path, act: str) -> None:
    before, noted = rows(path), acts(path, act)
    ACTS[act](memory)
    assert len(acts(path, act)) == len(noted) + 1
    assert rows(path) != before or act in ("reindex", "frame.invalidate", "prune")


def test_each_slice_of_an_ingest_is_stored_with_its_own_note(memory: Recollect, path: Path) -> None:
    facts = [{"content": f"fact {number}"} for number in range(1100)]
    had = memory.stats()["memories"]
    refuse_notes(path, "ingest", after=1)
    with pytest.raises((RecollectError, sqlite3.Error)):
        memory.ingest(facts, source="peer")
    assert memory.stats()["memories"] == had + 512
    assert acts(path, "ingest")[-1] == "512 of 1100"


def test_each_slice_of_an_import_is_stored_with_its_own_note(memory: Recollect, path: Path) -> None:
    lines = [f'{{"kind": "memory", "content": "line {number}"}}' for number in range(1100)]
    had = memory.stats()["memories"]
    refuse_notes(path, "import", after=1)
    with pytest.raises((RecollectError, sqlite3.Error)):
        memory.import_(lines)
    assert memory.stats()["memories"] == had + 512
    assert acts(path, "import") == ["512 of 1100 memories"]


def test_an_ingest_that_stores_nothing_is_noted_all_the_same(memory: Recollect, path: Path) -> None:
    memory.ingest([{"content": ""}], source="peer")
    assert acts(path, "ingest")[-1] == "0 of 1"


def test_after_a_refused_note_the_handle_goes_on(memory: Recollect, path: Path) -> None:
    refuse_notes(path, "forget")
    with pytest.raises((RecollectError, sqlite3.Error)):
        memory.forget("plan")
    assert memory.get("plan") is not None
    assert [one.fact.pak_id for one in memory.recall("plan", top_k=1).results] == ["plan"]
