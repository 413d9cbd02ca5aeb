"""A file that is not the file any more is refused: nothing is acknowledged into nowhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import StoreReplaced
from recollect.paks.files import lockless_file_system

Harm = Callable[[Path], None]


def deleted(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def replaced(path: Path) -> None:
    copy = path.with_name("older.db")
    shutil.copy(path, copy)
    copy.replace(path)


def moved_away(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


HARMS: dict[str, Harm] = {
    "deleted": deleted,
    "the database alone deleted": Path.unlink,
    "replaced": replaced,
    "its folder moved": moved_away,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return folder / "memory.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Recollect]:
    with Recollect.open(path, embedder="none") as memory:
        memory.remember("Use Celery for background jobs.", pak_id="kept")
        yield memory


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_reads_and_writes_say_that_the_file_is_another(
    memory: Recollect, path: Path, harm: Harm
) -> None:
    memory.recall("celery")
    harm(path)
    for _ in range(2):
        with pytest.raises(StoreReplaced) as refusal:
            memory.remember("lost", pak_id="lost")
        assert refusal.value.hint
        with pytest.raises(StoreReplaced):
            memory.recall("celery")
        with pytest.raises(StoreReplaced):
            memory.paks.get_pak("kept")
        with pytest.raises(StoreReplaced):
            memory.paks.delete_pak("kept")


def test_a_log_that_was_deleted_takes_no_write(memory: Recollect, path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()
    with pytest.raises(StoreReplaced):
        memory.remember("lost", pak_id="lost")


def test_a_file_replaced_in_the_middle_of_a_write_takes_no_write(
    memory: Recollect, path: Path
) -> None:
    with pytest.raises(StoreReplaced), memory.paks.transaction():
        memory.paks.delete_pak("kept")
        replaced(path)


def test_closing_a_handle_harms_nothing_of_the_file_that_took_the_place(
    memory: Recollect, path: Path
) -> None:
    deleted(path)
    with Recollect.open(path, embedder="none") as another:
        another.remember("the new one", pak_id="new")
        memory.close()
        another.remember("the newer one", pak_id="newer")
    with Recollect.open(path, embedder="none") as another:
        assert another.get("new") is not None
        assert another.get("newer") is not None
        assert another.get("kept") is None


def test_a_relative_path_means_the_same_file_in_whatever_folder(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    with Recollect.open(path.name, embedder="none") as memory:
        os.chdir(tmp_path)
        memory.remember("written from elsewhere", pak_id="a")
        assert memory.get("a") is not None
    assert not (tmp_path / path.name).exists()


MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
//server/share /mnt/My\\040Share cifs rw 0 0
host /mnt/host 9p rw 0 0
sshfs#host: /mnt/ssh fuse.sshfs rw 0 0
/dev/sdb1 /home/local xfs rw 0 0
tmpfs /mnt/host tmpfs rw 0 0
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/memory.db", None),
        ("/tmp/memory.db", None),
        ("/home/ada/memory.db", "nfs4"),
        ("/homes/memory.db", None),
        ("/home/local/memory.db", None),
        ("/mnt/My Share/memory.db", "cifs"),
        ("/mnt/host/memory.db", None),
        ("/mnt/ssh/deep/memory.db", "fuse.sshfs"),
    ],
)
def test_file_systems_without_locks_are_known_by_the_table_of_mounts(
    path: str, kind: str | None
) -> None:
    assert lockless_file_system(path, MOUNTS) == kind
