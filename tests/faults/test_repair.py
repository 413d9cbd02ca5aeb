"""A repair restores what can be derived, puts aside what cannot, and leaves the rest alone."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.damaged_stores import flips, full_store, opened

from recollect import Recollect, RecollectError
from recollect.stores.sqlite import examine, repair
from recollect.stores.sqlite.twins import TWIN_INDEXES, itself, twin_where

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


@pytest.mark.parametrize("index", TWIN_INDEXES)
def test_a_table_and_its_second_copy_are_read_apart(path: Path, index: str) -> None:
    table, columns = TWIN_INDEXES[index]
    with closing(sqlite3.connect(path)) as conn:
        for how, name in ((itself(table), table), (f"INDEXED BY {index}", index)):
            (root,) = conn.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)
            ).fetchone()
            query = f"SELECT {', '.join(columns)} FROM {table} {how}{twin_where(index)}"
            steps = conn.execute(f"EXPLAIN {query}").fetchall()
            opened_at = {step[2]: step[3] for step in steps if step[1] == "OpenRead"}
            assert {opened_at[step[2]] for step in steps if step[1] == "Column"} == {root}


def test_a_role_that_differs_from_its_second_copy_is_put_aside(path: Path) -> None:
    behind_its_copy(
        path,
        "idx_garden_members_slug",
        "UPDATE garden_members SET role = 'admin' WHERE principal = 'peer'",
    )
    with opened(path) as memory:
        assert memory.check()
        done = memory.repair()
        assert done.aside == ("garden_members local",)
        assert done.problems == ()
        assert "peer" not in [one.principal for one in memory.gardens.members("team-notes")]


LINKS = (
    "SELECT row_id, other, closeness FROM memory_likenesses ORDER BY row_id, other",
    "SELECT low, high, weight, automatic FROM memory_edges ORDER BY low, high",
)


def links_of(path: Path) -> list[list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as conn:
        return [conn.execute(sql).fetchall() for sql in LINKS]


def behind_its_copy(path: Path, index: str, statement: str) -> None:
    """Change a table and not the index that holds it a second time, as a flipped byte would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        kept = conn.execute("SELECT * FROM sqlite_master WHERE name = ?", (index,)).fetchone()
        conn.execute("PRAGMA writable_schema = ON")
        conn.execute("DELETE FROM sqlite_master WHERE name = ?", (index,))
    edited(path, statement)
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("PRAGMA writable_schema = ON")
        conn.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", kept)


DAMAGE = {
    "closeness": ("memory_likenesses", "SET closeness = {dice} WHERE rowkey"),
    "the other": ("memory_likenesses", "SET other = other + 64 WHERE rowkey"),
    "the holder": ("memory_likenesses", "SET row_id = row_id + 64 WHERE rowkey"),
    "weight": ("memory_edges", "SET weight = {dice} WHERE rowkey"),
    "an end": ("memory_edges", "SET high = high + 64 WHERE rowkey"),
}
TWINS = {
    "memory_likenesses": "idx_memory_likenesses_other",
    "memory_edges": "idx_memory_edges_high",
}


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.parametrize("count", [4, pytest.param(100, marks=soak)])
def test_links_and_lists_are_after_a_repair_as_if_nothing_had_happened(
    path: Path, tmp_path: Path, what: str, count: int
) -> None:
    dice, (table, change) = random.Random(what), DAMAGE[what]
    with opened(path) as memory:
        memory.frame("task", "billing refund", top_k=6)  # some links are stronger by use
        memory.retry_pending()
    whole = links_of(path)
    automatic = [row for row in whole[table == "memory_edges"] if len(row) == 3 or row[3]]
    for row in dice.sample(automatic, count):
        copy = Path(shutil.copy(path, tmp_path / "copy.db"))
        first, second = ("low", "high") if table == "memory_edges" else ("row_id", "other")
        changed = change.format(dice=round(dice.uniform(0.0, 1.0), 9)).replace(
            "rowkey", f"{first} = {row[0]} AND {second} = {row[1]}"
        )
        behind_its_copy(copy, TWINS[table], f"UPDATE {table} {changed}")
        with opened(copy) as memory:
            assert memory.check()
            done = memory.repair()
            assert (done.aside, done.problems) == ((), ()), row
        assert links_of(copy) == whole, row


def test_a_link_by_hand_that_differs_is_put_aside(path: Path) -> None:
    by_hand = "low = (SELECT min(low) FROM memory_edges WHERE automatic = 0) AND automatic = 0"
    with opened(path) as memory:
        memory.retry_pending()
    before = links_of(path)
    behind_its_copy(
        path, TWINS["memory_edges"], f"UPDATE memory_edges SET weight = 0.125 WHERE {by_hand}"
    )
    with opened(path) as memory:
        assert memory.check()
        done = memory.repair()
        assert len(done.aside) == 1
        assert done.problems == ()
        ((stood,),) = memory.paks.conn.execute("SELECT stood FROM damaged").fetchall()
        assert json.loads(stood)["weight"] == 0.125
    after = links_of(path)
    assert after[0] == before[0]
    assert len(after[1]) == len(before[1]) - 1


def test_who_held_a_memory_that_is_put_aside_holds_another(path: Path, tmp_path: Path) -> None:
    with opened(path) as memory:
        memory.retry_pending()
    never = Path(shutil.copy(path, tmp_path / "never.db"))
    with opened(never) as memory:
        assert memory.forget("pak-08")
    edited(path, "UPDATE memories SET content = 'Secret' WHERE pak_id = 'pak-08'")
    with opened(path) as memory:
        assert memory.repair().aside == ("pak-08",)
    assert links_of(path) == links_of(never)


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


@pytest.fixture
def after_a_look(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], list[int]]:
    """Let something happen each time when all rows of a store were looked at."""

    def arrange(happen: Callable[[], object]) -> list[int]:
        plain, looks = examine.find, [0]

        def find(conn: sqlite3.Connection) -> examine.Findings:
            found = plain(conn)
            looks[0] += 1
            happen()
            return found

        for module in (examine, repair):
            monkeypatch.setattr(module, "find", find, raising=False)
        return looks

    return arrange


def test_others_write_while_a_repair_looks_for_damage(
    path: Path, after_a_look: Callable[[Callable[[], object]], list[int]]
) -> None:
    edited(path, "UPDATE memories SET vector_0 = zeroblob(24) WHERE pak_id = 'pak-08'")

    def lock() -> None:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")

    with opened(path) as memory:
        looks = after_a_look(lock)
        done = memory.repair()
        # Before, and once more when it is done.
        assert looks == [2]
        assert (done.vectors, done.problems) == (1, ())


def test_what_is_damaged_after_a_repair_looked_is_repaired_too(
    path: Path, after_a_look: Callable[[Callable[[], object]], list[int]]
) -> None:
    left = ["UPDATE memories SET content = 'Note 8 says otherwise' WHERE pak_id = 'pak-08'"]

    def harm() -> None:
        if left:
            edited(path, left.pop())

    with opened(path) as memory:
        after_a_look(harm)
        done = memory.repair()
        assert (done.aside, done.problems) == (("pak-08",), ())
