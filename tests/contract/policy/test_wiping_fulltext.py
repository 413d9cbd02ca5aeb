"""Full text keeps nothing of what was forgotten, whichever SQLite deletes or has deleted there."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.policy.bytes_on_disk import found_in

from recollect import Recollect
from recollect.errors import StoreOutdated
from recollect.paks.fulltext_wiping import can_erase

Open = Callable[..., Recollect]
DATA = Path(__file__).parents[2] / "data/fulltext"
MANY = 3000


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
