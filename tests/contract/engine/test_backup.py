"""A backup is the store of one moment, whole or not there; a restore loses nothing."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest
from tests.house.snippets import ROOT

from recollect import Recollect
from recollect.engine import restore
from recollect.errors import (
    InvalidInput,
    NotACatalogue,
    NotAllowed,
    StoreBusy,
    StoreDamaged,
    StoreTooNew,
    StoreUnavailable,
)
from recollect.policy import Principal
from recollect.testing import FakeClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "agent.db"
    with Recollect.open(path, embedder="none") as memory:
        memory.remember("The kiln is booked until May.", pak_id="kiln")
        memory.remember("Glaze dries for two days.", pak_id="glaze")
    return path


@pytest.fixture
def backup(path: Path, tmp_path: Path) -> Path:
    file = tmp_path / "monday.db"
    with Recollect.open(path) as memory:
        memory.backup(file)
    return file


def names(path: Path) -> list[str]:
    with Recollect.open(path) as memory:
        assert memory.check() == ()
        return sorted(one.pak_id for one in memory.list(limit=1000).items)


def test_a_backup_is_opened_like_any_store_and_answers_the_same(path: Path, tmp_path: Path) -> None:
    clock, file = FakeClock(), tmp_path / "copy.db"
    with Recollect.open(path, clock=clock) as memory:
        key = memory.keys.create(Principal("acme", "ann", permissions=("read",)))
        told = memory.backup(file)
        answers = [memory.recall("kiln").to_dict(), list(memory.export(everything=True))]
        assert told.revision == memory.stats()["revision"]
        acts = memory.audit()
    assert (told.path, told.memories, told.size) == (str(file), 2, file.stat().st_size)
    with Recollect.open(file, clock=clock) as copy:
        assert [copy.recall("kiln").to_dict(), list(copy.export(everything=True))] == answers
        assert copy.audit() == acts
        assert copy.keys.principal_for(key.secret).id == "ann"


def test_only_its_owner_may_read_a_backup_and_it_is_all_there_is(path: Path, backup: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert sorted(one.name for one in path.parent.iterdir()) == ["agent.db", "monday.db"]
    with Recollect.open(backup, read_only=True) as memory:
        assert len(memory.list().items) == 2
    assert sorted(one.name for one in path.parent.iterdir()) == ["agent.db", "monday.db"]


def test_a_backup_while_others_write_is_of_one_moment(path: Path, tmp_path: Path) -> None:
    written: list[int] = []
    stop = threading.Event()

    def write() -> None:
        with Recollect.open(path) as other:
            while not stop.is_set():
                number = len(written)
                other.remember(f"note {number} of the log", pak_id=f"n{number:05}")
                written.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with Recollect.open(path) as memory:
            for number in range(5):
                before = len(written)
                told = memory.backup(
                    tmp_path / f"{number}.db",
                    # Others have their turn between any two steps.
                    progress=lambda *_, known=before: _until(lambda: len(written) > known),
                )
                found = [one for one in names(tmp_path / f"{number}.db") if one.startswith("n")]
                assert found == [f"n{one:05}" for one in range(len(found))]
                assert len(found) >= before
                assert told.memories == len(found) + 2
    finally:
        stop.set()
        writer.join()


def _until(is_so: object) -> None:
    import time

    for _ in range(1000):
        if is_so():  # type: ignore[operator]
            return
        time.sleep(0.005)


def test_nothing_is_written_over(path: Path, backup: Path, tmp_path: Path) -> None:
    was = backup.read_bytes()
    log = tmp_path / "other.db-wal"
    log.write_bytes(b"of somebody")
    with Recollect.open(path) as memory:
        for place in (backup, path, tmp_path, tmp_path / "other.db"):
            with pytest.raises(InvalidInput, match="is there already"):
                memory.backup(place)
        with pytest.raises(StoreUnavailable, match="Cannot write"):
            memory.backup(tmp_path / "no" / "folder.db")
    assert backup.read_bytes() == was
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {"agent.db", "monday.db", "other.db-wal"}


def test_progress_reaches_its_end(path: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with Recollect.open(path) as memory:
        memory.backup(tmp_path / "copy.db", progress=lambda *step: told.append(step))
    assert told
    assert told[-1][0] == told[-1][1]


def test_a_backup_is_for_whoever_opened_the_store(path: Path, tmp_path: Path) -> None:
    with Recollect.open(path) as memory:
        ann = memory.as_principal(Principal("local", "ann", permissions=("read", "admin")))
        with pytest.raises(NotAllowed):
            ann.backup(tmp_path / "copy.db")
    with Recollect.open("memory://") as memory, pytest.raises(InvalidInput, match="in no file"):
        memory.backup(tmp_path / "copy.db")
    with Recollect.open(path, read_only=True) as memory:
        assert memory.backup(tmp_path / "copy.db").memories == 2


def test_damage_is_not_kept_as_a_backup(path: Path, tmp_path: Path) -> None:
    flipped = path.read_bytes().replace(b"The kiln is booked", b"The kiln is hooked")
    path.write_bytes(flipped)
    with Recollect.open(path) as memory, pytest.raises(StoreDamaged, match="not kept"):
        memory.backup(tmp_path / "copy.db")
    assert [one.name for one in tmp_path.iterdir() if one.name != "agent.db"] == []


def test_a_backup_is_restored_to_a_new_place(backup: Path, tmp_path: Path) -> None:
    was, place = backup.read_bytes(), tmp_path / "new.db"
    done = restore(backup, place)
    assert done.to_dict() == {
        "db": str(place),
        "memories": 2,
        "revision": done.revision,
        "aside": None,
    }
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert names(place) == ["glaze", "kiln"]
    assert backup.read_bytes() == was


def test_a_store_is_replaced_when_that_is_said_and_kept_beside(path: Path, backup: Path) -> None:
    with Recollect.open(path) as memory:
        memory.remember("Later", pak_id="later")
        was = list(memory.export(everything=True))
    with pytest.raises(InvalidInput, match="is there already"):
        restore(backup, path)
    assert names(path) == ["glaze", "kiln", "later"]
    done = restore(backup, path, replace=True)
    assert names(path) == ["glaze", "kiln"]
    assert done.aside == f"{path}.replaced"
    with Recollect.open(done.aside) as memory:
        assert list(memory.export(everything=True)) == was
    assert restore(backup, path, replace=True).aside == f"{path}.replaced1"


def test_what_was_replaced_is_named_by_forget_until_it_is_deleted(path: Path, backup: Path) -> None:
    done = restore(backup, path, replace=True)
    with Recollect.open(path) as memory:
        gone = memory.forget("kiln")
        assert not gone.wiped
        assert "agent.db.replaced" in [one.name for one in gone.proof if not one.is_clean]
        Path(str(done.aside)).unlink()
        assert memory.forget("glaze").wiped


def test_a_store_that_somebody_has_open_is_not_replaced(path: Path, backup: Path) -> None:
    with Recollect.open(path) as memory:
        memory.remember("Later", pak_id="later")
        with pytest.raises(StoreBusy, match="open; nothing was changed"):
            restore(backup, path, replace=True)
        memory.remember("Still later", pak_id="still-later")
        assert memory.check() == ()
    with Recollect.open(path, read_only=True) as memory:
        assert len(memory.list().items) == 4
        with pytest.raises(StoreBusy):
            restore(backup, path, replace=True)
    assert names(path) == ["glaze", "kiln", "later", "still-later"]


def test_a_handle_may_be_opened_while_nothing_is_restored(path: Path, backup: Path) -> None:
    restore(backup, path, replace=True)
    with Recollect.open(path) as memory:
        memory.remember("Later", pak_id="later")
    assert names(path) == ["glaze", "kiln", "later"]


def test_what_is_no_backup_is_refused_and_the_store_stays(path: Path, tmp_path: Path) -> None:
    notes, empty, other = tmp_path / "notes.txt", tmp_path / "empty.db", tmp_path / "other.db"
    notes.write_text("no database at all, but long enough to be looked at" * 40)
    empty.touch()
    with closing(sqlite3.connect(other)) as conn:
        conn.execute("CREATE TABLE songs (name TEXT)")
    was = path.read_bytes()
    for source, error in (
        (tmp_path / "nowhere.db", StoreUnavailable),
        (tmp_path, StoreUnavailable),
        (notes, StoreDamaged),
        (empty, NotACatalogue),
        (other, NotACatalogue),
        (path, InvalidInput),
    ):
        with pytest.raises(error):
            restore(source, path, replace=True)
        assert path.read_bytes() == was
    assert not list(tmp_path.glob(".*"))


def test_a_backup_of_a_newer_release_is_refused(path: Path, backup: Path) -> None:
    with closing(sqlite3.connect(backup)) as conn:
        conn.execute("UPDATE schema_version SET version = 9999")
        conn.commit()
    with pytest.raises(StoreTooNew, match="nothing was restored"):
        restore(backup, path, replace=True)
    assert names(path) == ["glaze", "kiln"]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_a_backup_of_an_older_release_is_brought_up_to_date(version: int, tmp_path: Path) -> None:
    old, place = tmp_path / "old.db", tmp_path / "new.db"
    stored = ROOT / f"tests/data/stores/engine-{version}.db.gz"
    with gzip.open(stored) as source, old.open("wb") as target:
        shutil.copyfileobj(source, target)
    was = old.read_bytes()
    done = restore(old, place)
    with Recollect.open(place) as memory:
        assert memory.check() == ()
        assert done.memories == memory.stats()["memories"] > 0
    assert old.read_bytes() == was
    assert {one.name for one in tmp_path.iterdir()} <= {
        *("new.db", "new.db.index"),
        # Their log is SQLite's, of a file that was no backup.
        *("old.db", "old.db-shm", "old.db-wal"),
    }


def test_a_report_is_plain_data(backup: Path, tmp_path: Path) -> None:
    assert json.loads(json.dumps(restore(backup, tmp_path / "new.db").to_dict()))["memories"] == 2
