"""Full text keeps nothing of what was forgotten, whichever SQLite deletes or has deleted there."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.contract.policy.bytes_on_disk import found_in

from recollect import Recollect
from recollect.errors import StoreOutdated
from recollect.paks import RecallStore
from recollect.paks.fulltext_wiping import can_erase
from recollect.stores.sqlite.store import SqliteStore

Open = Callable[..., Recollect]
DATA = Path(__file__).parents[2] / "data/fulltext"
MANY = 3000
AT = "2026-01-01T00:00:00Z"


def word(number: int, version: int = 0) -> str:
    return f"zq{number:05d}v{version}xyzzy"


def named(number: int, version: int = 0) -> dict[str, Any]:
    return {"pak_id": f"pak-{number}", "title": word(number, version), "content": "a kiln"}


def numbers_in_ways(memory: Recollect) -> list[int]:
    """Return of which memories a word is what full text finds a page by, down to its number."""
    ways = memory.paks.conn.execute("SELECT term FROM paks_fts_idx ORDER BY term").fetchall()
    beginnings = [bytes(way).decode()[1:] for (way,) in ways]
    return [int(one[2:7]) for one in beginnings if one.startswith("zq") and len(one) >= 7]


def left(folder: Path, numbers: Iterable[int]) -> list[tuple[str, str]]:
    return found_in(folder, [f"zq{number:05d}" for number in numbers])


@pytest.fixture
def memory(open_memory: Open) -> Recollect:
    memory = open_memory()
    memory.remember_many([named(number) for number in range(MANY)])
    assert memory.forget(f"pak-{MANY - 1}").wiped
    return memory


def test_how_a_forgotten_word_began_is_not_left_where_pages_are_found(
    memory: Recollect, tmp_path: Path
) -> None:
    gone = numbers_in_ways(memory)[:4]
    assert len(gone) == 4
    for number in gone:
        assert memory.forget(f"pak-{number}").wiped
        assert left(tmp_path, [number]) == []
    assert memory.check() == ()
    assert len(memory.paks.search(word(gone[0] + 1))) == 1


def test_nor_is_how_a_word_began_that_stood_there_before(memory: Recollect, tmp_path: Path) -> None:
    changed = numbers_in_ways(memory)[:4]
    for number in changed:
        memory.remember(**{**named(number), "title": "another kiln"})
    assert memory.forget([f"pak-{number}" for number in changed]).wiped
    assert left(tmp_path, changed) == []


def plainly(memory: Recollect, *statements: str) -> None:
    """Run statements by somebody who knows SQLite and nothing else."""
    with closing(sqlite3.connect(memory.path, isolation_level=None)) as other:
        other.execute("PRAGMA secure_delete = ON")
        for statement in statements:
            other.execute(statement)


def catalogue_renames(memory: Recollect, number: int) -> None:
    known = memory.paks.get_pak(f"pak-{number}")
    assert known is not None
    facts = ("pak_type", "source_type", "authority", "content_hash")
    named = {name: getattr(known, name) for name in facts}
    with RecallStore.open(memory.path) as catalogue:
        catalogue.upsert_pak(pak_id=known.pak_id, title="another kiln", **named)


def catalogue_deletes(memory: Recollect, number: int) -> None:
    with RecallStore.open(memory.path) as catalogue:
        assert catalogue.delete_pak(f"pak-{number}")


def another_erases_and_is_killed(memory: Recollect, number: int) -> None:
    store = SqliteStore.open(memory.path, store_id="other")
    with closing(store), store.commit("killed", at=AT):
        store.memories.erase([f"pak-{number}"])


def sql(*statements: str) -> Callable[[Recollect, int], None]:
    def run(memory: Recollect, number: int) -> None:
        row = f"(SELECT id FROM paks_fts_content WHERE c0 = 'pak-{number}')"
        plainly(memory, *(one.format(id=f"'pak-{number}'", row=row) for one in statements))

    return run


DELETING = {
    "the catalogue renames": catalogue_renames,
    "the catalogue deletes": catalogue_deletes,
    "another erases, and is killed": another_erases_and_is_killed,
    "SQL renames": sql("UPDATE paks SET title = 'another kiln' WHERE pak_id = {id}"),
    "SQL replaces": sql(
        "CREATE TEMP TABLE one AS SELECT * FROM paks WHERE pak_id = {id}",
        "UPDATE one SET title = 'another kiln'",
        "INSERT OR REPLACE INTO paks SELECT * FROM one",
    ),
    "SQL deletes": sql("DELETE FROM paks WHERE pak_id = {id}"),
    "SQL deletes from full text": sql(
        "DELETE FROM paks_fts WHERE rowid = {row}", "DELETE FROM paks WHERE pak_id = {id}"
    ),
    "SQL changes full text": sql(
        "UPDATE paks_fts SET title = 'a kiln' WHERE rowid = {row}",
        "DELETE FROM paks WHERE pak_id = {id}",
    ),
    "SQL deletes and nobody notes it": sql(
        "DROP TRIGGER unlooked_paks_fts_content_delete", "DELETE FROM paks WHERE pak_id = {id}"
    ),
}


@pytest.mark.parametrize("delete", DELETING.values(), ids=DELETING)
def test_whoever_deleted_a_word_how_it_began_goes_with_the_next_forget(
    memory: Recollect, tmp_path: Path, delete: Callable[[Recollect, int], None]
) -> None:
    gone = numbers_in_ways(memory)[2]
    delete(memory, gone)
    assert memory.forget(f"pak-{MANY - 2}").wiped
    assert left(tmp_path, [gone]) == []
    assert len(memory.paks.search(word(gone + 1))) == 1


def test_what_was_deleted_after_a_commit_that_failed_goes_too(
    memory: Recollect, tmp_path: Path
) -> None:
    first, second = numbers_in_ways(memory)[2:4]
    with closing(SqliteStore.open(memory.path, store_id="other")) as store:
        with suppress(ZeroDivisionError), store.commit("failed", at=AT):
            store.memories.erase([f"pak-{first}"])
            raise ZeroDivisionError
        catalogue_deletes(memory, second)
        assert store.scrub()
    assert left(tmp_path, [second]) == []
    assert memory.forget(f"pak-{first}").wiped
    assert left(tmp_path, [first]) == []


def test_who_forgot_before_a_writer_came_in_between_erases_what_both_did(
    memory: Recollect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = numbers_in_ways(memory)[2:4]
    scrub = SqliteStore.scrub

    def late(store: SqliteStore, *, patient: bool = True) -> bool:
        catalogue_deletes(memory, second)
        monkeypatch.setattr(SqliteStore, "scrub", scrub)
        return scrub(store, patient=patient)

    monkeypatch.setattr(SqliteStore, "scrub", late)
    assert memory.forget(f"pak-{first}").wiped
    assert left(tmp_path, [first, second]) == []


@pytest.mark.skipif(not can_erase(), reason="an older SQLite merges all of full text each time")
def test_a_forget_looks_at_all_of_full_text_only_where_somebody_else_deleted(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "recollect.paks.fulltext_wiping.is_left", lambda _, erased: asked.append(erased)
    )
    memory.remember(**{**named(5), "title": "another kiln"})
    assert memory.forget(["pak-7", "pak-8"]).wiped
    assert memory.forget("pak-9").wiped
    assert memory.forget("no such").wiped
    catalogue_deletes(memory, 10)
    assert memory.forget("pak-11").wiped
    assert memory.forget("pak-12").wiped
    assert asked == [
        [word(5).encode(), word(7).encode(), word(8).encode()],
        [word(9).encode()],
        [],
        None,
        [word(12).encode()],
    ]


def test_many_that_are_forgotten_at_once_leave_nothing_and_then_one_does_not(
    memory: Recollect, tmp_path: Path
) -> None:
    many = range(0, MANY, 20)
    assert memory.forget([f"pak-{number}" for number in many]).wiped
    assert left(tmp_path, many) == []
    assert memory.forget("pak-7").wiped
    assert left(tmp_path, [7]) == []
    assert memory.check() == ()


@pytest.mark.skipif(not can_erase(), reason="an older SQLite always deletes in the old way")
def test_what_was_deleted_in_the_old_way_goes_with_the_next_forget(
    memory: Recollect, tmp_path: Path
) -> None:
    memory.paks.conn.execute(
        "INSERT INTO paks_fts (paks_fts, rank) VALUES ('secure-delete', 0)"
    ).fetchall()
    assert memory.paks.delete_pak("pak-10")
    assert memory.forget("pak-1").wiped
    assert left(tmp_path, [1, 10]) == []


def stored(tmp_path: Path, name: str = "sqlite-3.53.db.gz") -> None:
    (tmp_path / "agent.db").write_bytes(gzip.decompress((DATA / name).read_bytes()))


def test_a_file_in_which_a_newer_sqlite_deleted_is_used_by_any(
    tmp_path: Path, open_memory: Open
) -> None:
    stored(tmp_path)
    memory = open_memory()
    assert len(memory.paks.search("kiln", limit=50)) == 10
    assert memory.recall("kiln").results
    assert memory.check() == ()
    assert memory.forget("pak-5").wiped
    assert len(memory.paks.search("kiln", limit=50)) == 9
    assert memory.check() == ()


def test_who_may_only_read_such_a_file_is_told_if_its_full_text_cannot_be(
    tmp_path: Path, open_memory: Open
) -> None:
    stored(tmp_path, "sqlite-3.50.db.gz")  # of the engine's newest version
    memory = open_memory(read_only=True)
    assert memory.recall("kiln").results
    if can_erase():
        assert len(memory.paks.search("kiln", limit=50)) == 10
    else:
        with pytest.raises(StoreOutdated) as refused:
            memory.paks.search("kiln")
        assert "read-only" in refused.value.hint
