"""A repair restores what can be derived, puts aside what cannot, and leaves the rest alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.damaged_stores import flips, full_store, opened

from recollect import Recollect, RecollectError

soak = pytest.mark.soak


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that holds one of everything."""
    full_store(tmp_path / "a.db")
    return tmp_path / "a.db"


def edited(path: Path, *statements: str) -> None:
    """Change a file as damage would: no trigger, no seal and no second copy hears of it."""
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA ignore_check_constraints = ON")
        triggers = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        for name, _ in (made := triggers.fetchall()):
            conn.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            conn.execute(statement)
        for _, sql in made:
            conn.execute(sql)
        conn.commit()


def put_aside(memory: Recollect) -> list[tuple[str, str]]:
    return memory.paks.conn.execute("SELECT stood_in, name FROM damaged ORDER BY number").fetchall()


def test_a_whole_store_is_left_as_it_is(path: Path) -> None:
    with opened(path) as memory:
        before = list(memory.export())
        done = memory.repair()

        assert (done.restored, done.aside, done.vectors, done.dropped) == ((), (), 0, 0)
        assert done.problems == ()
        assert list(memory.export()) == before


def test_a_text_that_is_not_as_it_was_written_is_put_aside_as_it_stood(path: Path) -> None:
    edited(path, "UPDATE memories SET content = 'Note 8 says otherwise' WHERE pak_id = 'pak-08'")
    with opened(path) as memory:
        assert memory.examine().damaged == ("pak-08",)
        done = memory.repair()

        assert done.aside == ("pak-08",)
        assert done.problems == ()
        assert memory.get("pak-08") is None
        assert ("memories", "pak-08") in put_aside(memory)
        (stood,) = memory.paks.conn.execute(
            "SELECT stood FROM damaged WHERE stood_in = 'memories'"
        ).fetchone()
        assert json.loads(stood)["content"] == "Note 8 says otherwise"
        assert memory.audit()[0].act == "repair"


def test_a_title_is_restored_from_full_text(path: Path) -> None:
    with opened(path) as memory:
        before = memory.get("pak-08")
    edited(path, "UPDATE paks SET title = 'Billing n0te 8' WHERE pak_id = 'pak-08'")
    with opened(path) as memory:
        done = memory.repair()

        assert (done.restored, done.aside, done.problems) == (("pak-08",), (), ())
        assert memory.get("pak-08") == before


def test_a_damaged_vector_is_made_anew(path: Path) -> None:
    with opened(path) as memory:
        asked = memory.recall("what changed in billing", top_k=8)
    edited(path, "UPDATE memories SET vector_0 = zeroblob(24) WHERE pak_id = 'pak-08'")
    with opened(path) as memory:
        assert memory.examine().damaged == ("pak-08",)
        done = memory.repair()

        assert (done.vectors, done.aside, done.problems) == (1, (), ())
        found = [one.fact.pak_id for one in memory.recall("what changed in billing").results]
        assert found == [one.fact.pak_id for one in asked.results][:5]


def test_full_text_that_tells_of_other_words_is_built_anew(path: Path) -> None:
    edited(path, "UPDATE paks_fts_content SET c1 = 'other' WHERE c0 = 'pak-08'")
    with opened(path) as memory:
        assert memory.check()
        assert memory.repair().problems == ()


def test_a_trigger_that_says_something_else_is_made_anew(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("DROP TRIGGER memories_au_seal")
        conn.commit()
    with opened(path) as memory:
        assert memory.check() == ("1 triggers are not as they were made: memories_au_seal",)
        assert memory.repair().problems == ()


def test_what_was_edited_by_hand_is_no_damage_and_is_sealed_by_a_repair(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("UPDATE memories SET content = 'By hand' WHERE pak_id = 'pak-08'")
        conn.execute("UPDATE paks SET title = 'By hand' WHERE pak_id = 'pak-09'")
        conn.commit()
    with opened(path) as memory:
        report = memory.examine()
        assert (report.problems, report.damaged) == ((), ())
        assert report.notes == ("2 memories were edited past the engine and carry no seal",)
        memory.repair()
        assert memory.examine().notes == ()
        assert memory.paks.get_pak("pak-09").title == "By hand"  # type: ignore[union-attr]


def test_who_forgets_a_memory_forgets_what_was_put_aside_of_it(path: Path) -> None:
    edited(path, "UPDATE memories SET content = 'Secret' WHERE pak_id = 'pak-08'")
    with opened(path) as memory:
        memory.repair()
        memory.remember("Written anew", pak_id="pak-08")
        assert memory.forget("pak-08")
        assert put_aside(memory) == []


def test_what_was_put_aside_stays_until_it_is_discarded(path: Path) -> None:
    edited(path, "UPDATE memories SET content = 'Secret' WHERE pak_id = 'pak-08'")
    with opened(path) as memory:
        memory.repair()
        assert put_aside(memory)
        memory.repair(discard=True)
        assert put_aside(memory) == []


@pytest.mark.parametrize("count", [30, pytest.param(300, marks=soak)])
def test_what_a_repair_does_not_name_is_whole_again(
    path: Path, tmp_path: Path, count: int, record_property: Callable[[str, object], None]
) -> None:
    record_property("tried", count)
    whole, repaired = path.read_bytes(), 0
    for number, (where, flipped) in enumerate(flips(whole, count, seed=26)):
        copy = tmp_path / f"{number}.db"
        copy.write_bytes(flipped)
        try:
            with opened(copy) as memory:
                if memory.repair().problems:
                    continue  # of the file's own pages, which are named
                assert memory.check() == (), where
                assert memory.recall("note about billing", top_k=3).results, where
                repaired += 1
        except RecollectError:
            continue  # a page that SQLite cannot walk; the error says to restore a backup
    assert repaired > count // 2
