"""Whatever fails while a backup is written or restored, what was there is there, whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.raising import Instants, distinct, files, told

from recollect import Recollect
from recollect.engine import restore
from recollect.errors import RecollectError

_RESTORE = """
import sys
from recollect.engine import restore
restore(sys.argv[1], sys.argv[2], replace=True)
"""
_KILLED = """
import os, signal, sys
from recollect.engine import restore
left = int(sys.argv[3])
def progress(done, total):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
restore(sys.argv[1], sys.argv[2], replace=True, progress=progress)
"""
_LIMITED = """
import json, resource, signal, sys
from recollect import Recollect
from recollect.engine import restore
from recollect.errors import RecollectError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
backup, path, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
said = []
def back_up():
    with Recollect.open(path, embedder="none", read_only=True) as memory:
        memory.backup(path + ".copy")
for act in (back_up, lambda: restore(backup, path, replace=True)):
    try:
        act()
        said.append(None)
    except RecollectError as error:
        said.append(error.code)
print(json.dumps(said))
"""
OLD, NEW = ["kiln"], [f"later-{number}" for number in range(20)]


def fill(path: Path, names: list[str], *, length: int = 100) -> None:
    with Recollect.open(path, embedder="none", links=False) as memory:
        memory.remember_many(
            [
                {"content": f"{name} is about tea".ljust(length, "."), "pak_id": name}
                for name in names
            ]
        )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "agent.db", OLD)
    return tmp_path / "agent.db"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    fill(tmp_path / "monday.db", NEW)
    return tmp_path / "monday.db"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup so large that it is copied in several steps, of 1 MB each."""
    path = tmp_path_factory.mktemp("large") / "monday.db"
    fill(path, NEW, length=100_000)
    return path


def names(path: Path) -> list[str]:
    with Recollect.open(path, embedder="none") as memory:
        assert memory.check() == ()
        return sorted(one.pak_id for one in memory.list(limit=1000).items)


soak = pytest.mark.soak
WATCHED = files("stores/sqlite/restore.py", "stores/sqlite/backup.py")


@pytest.mark.parametrize("most", [30, pytest.param(None, marks=soak)])
def test_an_interrupt_at_any_line_of_a_restore_leaves_one_of_both(
    backup: Path,
    path: Path,
    most: int | None,
    record_property: Callable[[str, object], None],
) -> None:
    instants = Instants(WATCHED, opcodes=False)
    tried = distinct(instants.of(lambda: restore(backup, path, replace=True)), most=most)
    record_property("tried", len(tried))
    for at in tried:
        fill(path, OLD)
        before = names(path)
        with suppress(KeyboardInterrupt):
            instants.raising(lambda: restore(backup, path, replace=True), at, KeyboardInterrupt())
        with told(f"after an interrupt at {at}"):
            assert names(path) in (before, sorted(NEW))


@pytest.mark.parametrize("most", [30, pytest.param(None, marks=soak)])
def test_an_interrupt_at_any_line_of_a_backup_leaves_a_whole_one_or_none(
    path: Path,
    most: int | None,
    record_property: Callable[[str, object], None],
) -> None:
    instants, copy, before = Instants(WATCHED, opcodes=False), Path(f"{path}.copy"), names(path)
    with Recollect.open(path, embedder="none") as memory:
        tried = distinct(instants.of(lambda: memory.backup(copy)), most=most)
        record_property("tried", len(tried))
        for at in tried:
            copy.unlink(missing_ok=True)
            with suppress(KeyboardInterrupt):
                instants.raising(lambda: memory.backup(copy), at, KeyboardInterrupt())
            assert not copy.exists() or names(copy) == before, at
            assert not list(path.parent.glob(".*.draft")), at
    assert names(path) == before


@pytest.mark.parametrize("steps", range(3))
def test_a_restore_that_is_killed_in_the_middle_leaves_what_was_there(
    steps: int, large: Path, path: Path
) -> None:
    child = subprocess.run(
        [sys.executable, "-c", _KILLED, large, path, str(steps)], check=False, capture_output=True
    )
    assert child.returncode == -signal.SIGKILL
    assert names(path) in (OLD, sorted(NEW))
    assert names(Path(f"{path}.replaced")) == OLD
    subprocess.run([sys.executable, "-c", _RESTORE, large, path], check=True)
    assert names(path) == sorted(NEW)


@pytest.mark.parametrize("limit", [1, 50_000, 250_000, 400_000, 600_000, 1_000_000, 50_000_000])
def test_a_disk_without_room_leaves_what_was_there_and_no_half_backup(
    limit: int, large: Path, path: Path
) -> None:
    child = subprocess.run(
        [sys.executable, "-c", _LIMITED, large, path, str(limit)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    backed_up, restored = json.loads(child.stdout)
    copy = Path(f"{path}.copy")
    assert copy.exists() == (backed_up is None)
    assert names(path) == (sorted(NEW) if restored is None else OLD)
    if backed_up is None:
        assert names(copy) == OLD
    for code in (backed_up, restored):
        assert code in (None, "store_full", "store_unavailable")
    assert not list(path.parent.glob(".*.draft"))


def test_an_error_in_a_restore_is_one_of_ours(large: Path, path: Path) -> None:
    with pytest.raises(RecollectError):
        restore(large, path)
