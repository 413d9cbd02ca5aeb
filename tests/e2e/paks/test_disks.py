"""Bad days with the disk: full, read-only, not ours to write."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recollect.errors import StoreError, StoreFull
from recollect.paks import ReasonCodeEntry, RecallStore
from recollect.paks.migrations import MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.conftest import Start


def pak(pak_id: str, summary: str = "zebra") -> dict[str, str]:
    return {
        "pak_id": pak_id,
        "pak_type": "vault",
        "source_type": "doc",
        "authority": "human",
        "title": f"title of {pak_id}",
        "summary": summary,
        "content_hash": "h",
    }


def fill(store: RecallStore, size: int = 2000) -> list[str]:
    """Write until there is no room; return what was acknowledged."""
    written: list[str] = []
    with pytest.raises(StoreFull) as caught:
        for at in range(100_000):
            store.upsert_pak(**pak(f"fill-{at}", f"word{at} " + "x" * size))
            written.append(f"fill-{at}")
    assert isinstance(caught.value, OSError)
    assert "disk space" in caught.value.hint
    return written


# Full


@pytest.fixture
def cramped(tmp_path: Path) -> Iterator[RecallStore]:
    """Open a store whose file may grow by thirty pages only: SQLite's own full disk."""
    with RecallStore.open(tmp_path / "recall.db") as store:
        store.upsert_paks(pak(f"p{at}") for at in range(20))
        pages = store.conn.execute("PRAGMA page_count").fetchone()[0]
        store.conn.execute(f"PRAGMA max_page_count = {pages + 30}")
        yield store


def make_room(store: RecallStore) -> None:
    store.conn.execute("PRAGMA max_page_count = 1000000")


def test_a_full_disk_keeps_what_was_acknowledged(cramped: RecallStore) -> None:
    written = fill(cramped)

    assert written
    assert len(cramped.get_paks(written)) == len(written)
    assert cramped.count_paks() == 20 + len(written)
    assert cramped.check() == (True, 20 + len(written), ())
    assert [hit.pak.pak_id for hit in cramped.search("word0")] == ["fill-0"]
    make_room(cramped)
    assert cramped.upsert_pak(**pak("after")).inserted
    assert cramped.check().ok


BIG = [pak(f"big-{at}", "y" * 3000) for at in range(300)]

FULL_WRITES: dict[str, Callable[[RecallStore], object]] = {
    "upsert_paks": lambda s: s.upsert_paks(BIG),
    "upsert_pak": lambda s: s.upsert_pak(**pak("p1", "y" * 500_000)),
    "set_pak_reason_codes": lambda s: s.set_pak_reason_codes(
        "p1", [ReasonCodeEntry(f"{at}" + "z" * 5000) for at in range(100)]
    ),
}


@pytest.mark.parametrize("name", FULL_WRITES)
def test_a_write_that_does_not_fit_leaves_no_part_of_itself(
    cramped: RecallStore, name: str
) -> None:
    cramped.set_pak_reason_codes("p1", [ReasonCodeEntry("kept")])
    before = list(cramped.conn.iterdump())

    with pytest.raises(StoreFull) as caught:
        FULL_WRITES[name](cramped)

    assert caught.value.hint
    assert not cramped.conn.in_transaction
    assert list(cramped.conn.iterdump()) == before
    make_room(cramped)
    FULL_WRITES[name](cramped)
    assert cramped.check().ok


def test_a_transaction_that_does_not_fit_is_rolled_back_whole(cramped: RecallStore) -> None:
    with pytest.raises(StoreFull), cramped.transaction():
        cramped.upsert_pak(**pak("small"))
        cramped.upsert_paks(BIG)

    assert not cramped.conn.in_transaction
    assert cramped.get_pak("small") is None
    assert cramped.check() == (True, 20, ())


def test_a_callers_transaction_that_meets_a_full_disk_leaves_the_store_usable(
    cramped: RecallStore,
) -> None:
    cramped.conn.execute("BEGIN")
    cramped.upsert_pak(**pak("small"))
    with pytest.raises(StoreFull):
        cramped.upsert_paks(BIG)
    if cramped.conn.in_transaction:
        cramped.conn.execute("ROLLBACK")

    assert cramped.check() == (True, 20, ())
    make_room(cramped)
    assert cramped.upsert_pak(**pak("after")).inserted


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of one megabyte, where the system lets us."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.getuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a small disk needs root")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_really_full_keeps_what_was_acknowledged(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(400_000))
    with RecallStore.open(small_disk / "recall.db") as store:
        written = fill(store)

        assert len(store.get_paks(written)) == len(written) > 0
        ballast.unlink()
        assert store.upsert_pak(**pak("after")).inserted
        assert store.check() == (True, len(written) + 1, ())
    with RecallStore.open(small_disk / "recall.db") as store:
        assert store.check() == (True, len(written) + 1, ())


def test_a_new_catalogue_on_a_full_disk_is_a_clear_error(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with pytest.raises(OSError, match="No space"):
        ballast.write_bytes(bytes(2_000_000))

    with pytest.raises(StoreError) as caught:
        RecallStore.open(small_disk / "recall.db")

    assert "space" in caught.value.hint
    ballast.unlink()
    with RecallStore.open(small_disk / "recall.db") as store:
        assert store.check() == (True, 0, ())


# Not ours to write


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that another user can reach, which pytest's own cannot be."""
    place = Path(tempfile.mkdtemp(prefix="recollect-"))
    place.chmod(0o755)
    yield place
    for entry in (place, *place.rglob("*")):
        entry.chmod(0o755)
    shutil.rmtree(place)


def catalogue(path: Path) -> None:
    with RecallStore.open(path) as store:
        store.upsert_pak(**pak("p1"))


def older_catalogue(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        for statement in MIGRATIONS[0].statements:
            conn.execute(statement)
        conn.execute("INSERT INTO schema_version VALUES (1, 1, '2026-01-01T00:00:00Z')")


def outcome(start: Start, path: Path, mode: str) -> dict[str, Any]:
    process = start("without_rights.py", path, mode)
    out, err = process.communicate()
    assert err == ""
    return json.loads(out)


READ = {"count": 1, "found": ["p1"], "ok": True}


def test_a_read_only_file_and_folder_can_be_read(folder: Path, start: Start) -> None:
    path = folder / "recall.db"
    catalogue(path)
    path.chmod(0o444)
    folder.chmod(0o555)
    before = path.read_bytes()

    done = outcome(start, path, "read_only")

    assert done["write"]["error"] == "StoreReadOnly"
    assert done["write"]["hint"]
    assert {key: done[key] for key in READ} == READ
    assert path.read_bytes() == before
    assert [entry.name for entry in folder.iterdir()] == ["recall.db"]


def test_opening_a_read_only_folder_for_writing_is_a_clear_error(
    folder: Path, start: Start
) -> None:
    path = folder / "recall.db"
    catalogue(path)
    path.chmod(0o444)
    folder.chmod(0o555)

    done = outcome(start, path, "read_write")

    refusal = done.get("open") or done.get("write")
    assert refusal["error"] in ("StoreReadOnly", "StoreUnavailable")
    assert refusal["hint"]
    assert str(path) in refusal["text"]


@pytest.mark.parametrize("mode", ["read_only", "read_write"])
def test_a_read_only_file_in_a_writable_folder_is_read_but_not_written(
    folder: Path, start: Start, mode: str
) -> None:
    path = folder / "recall.db"
    catalogue(path)
    path.chmod(0o444)
    folder.chmod(0o777)
    before = path.read_bytes()

    done = outcome(start, path, mode)

    assert {key: done[key] for key in READ} == READ
    assert done["write"]["error"] == "StoreReadOnly"
    assert done["write"]["hint"]
    assert path.read_bytes() == before


def test_a_writer_at_work_can_be_read_by_a_user_without_rights(folder: Path, start: Start) -> None:
    path = folder / "recall.db"
    with RecallStore.open(path) as store:
        store.upsert_pak(**pak("p1"))
        # Files are made for their owner alone; whoever lets others read opens all three.
        for file in folder.glob("recall.db*"):
            file.chmod(0o644)

        done = outcome(start, path, "read_only")

        assert {key: done[key] for key in READ} == READ
        assert store.get_pak("p1") is not None


@pytest.mark.parametrize("mode", ["read_only", "read_write"])
def test_a_read_only_file_that_must_be_migrated_is_a_clear_error(
    folder: Path, start: Start, mode: str
) -> None:
    path = folder / "recall.db"
    older_catalogue(path)
    path.chmod(0o444)
    folder.chmod(0o777)
    before = path.read_bytes()

    done = outcome(start, path, mode)

    assert done["open"]["error"] in ("StoreReadOnly", "StoreOutdated")
    assert done["open"]["hint"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("mode", ["read_only", "read_write"])
def test_a_new_file_in_a_read_only_folder_is_a_clear_error(
    folder: Path, start: Start, mode: str
) -> None:
    folder.chmod(0o555)
    for path in (folder / "recall.db", folder / "below" / "recall.db"):
        done = outcome(start, path, mode)

        assert done["open"]["error"] == "StoreUnavailable"
        assert done["open"]["hint"]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("mode", ["read_only", "read_write"])
@pytest.mark.parametrize("hidden", ["the file", "its folder"])
def test_a_file_that_may_not_be_read_is_a_clear_error(
    folder: Path, start: Start, mode: str, hidden: str
) -> None:
    path = folder / "recall.db"
    catalogue(path)
    (path if hidden == "the file" else folder).chmod(0o000)

    done = outcome(start, path, mode)

    assert done["open"]["error"] == "StoreUnavailable"
    assert done["open"]["hint"]
    assert str(path) in done["open"]["text"]
