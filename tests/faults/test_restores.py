"""A copy put over the file in place, under an open handle: all of it is found, or it is refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import StoreReplaced

_LOOK = """
import json, sys
from recollect import Recollect
with Recollect.open(sys.argv[1], embedder="none") as memory:
    names = sorted(one.pak_id for one in memory.list(limit=1000).items)
    print(json.dumps([names, list(memory.check())]))
"""
OLD = [f"old-{number}" for number in range(20)]
NEWER = [f"newer-{number}" for number in range(40)]


def remember(memory: Recollect, names: list[str]) -> None:
    memory.remember_many([{"content": f"{name} is about tea", "pak_id": name} for name in names])


def by_another(code: str, path: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    ).stdout


def seen_by_another(path: Path) -> list[object]:
    """Return the ids in the file, and what is wrong with it, as another process sees it."""
    found: list[object] = json.loads(by_another(_LOOK, path))
    return found


def found_by(memory: Recollect) -> list[str]:
    return sorted(one.fact.pak_id for one in memory.recall("tea", top_k=1000).results)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with Recollect.open(path, embedder="none") as memory:
        remember(memory, OLD)
    shutil.copy2(path, tmp_path / "backup.db")
    with Recollect.open(path, embedder="none") as memory:
        remember(memory, NEWER)
    return path


@pytest.fixture
def memory(path: Path) -> Iterator[Recollect]:
    with Recollect.open(path, embedder="none") as memory:
        assert len(found_by(memory)) == 60
        yield memory


def restored(path: Path, *, how: str) -> None:
    """Copy the backup over the file, in another process: it stays the same file."""
    before = path.stat().st_ino
    backup = path.with_name("backup.db")
    if "without its log" in how:
        subprocess.run(["rm", "-f", f"{path}-wal", f"{path}-shm"], check=True)
    subprocess.run(["cp", *(["-p"] if "dated" in how else []), backup, path], check=True)
    assert path.stat().st_ino == before


@pytest.mark.parametrize("how", ["as it is", "dated as it was"])
def test_all_of_a_copy_over_a_file_with_an_empty_log_is_found(
    memory: Recollect, path: Path, how: str
) -> None:
    # Who has written knows more of the file than its pages, such as how full text is laid out.
    remember(memory, ["logged"])
    by_another(CHECKPOINTS["TRUNCATE"], path)
    restored(path, how=how)
    assert found_by(memory) == sorted(OLD)
    assert memory.get("newer-1") is None
    assert memory.check() == ()
    after = [f"after-{number}" for number in range(50)]
    for name in after:
        # The revision passes the one that was known before.
        remember(memory, [name])
    assert found_by(memory) == sorted(OLD + after)
    assert memory.check() == ()
    memory.close()
    assert seen_by_another(path) == [sorted(OLD + after), []]


@pytest.mark.parametrize("how", ["without its log", "without its log, dated as it was"])
@pytest.mark.parametrize("logged", [False, True], ids=["empty log", "log"])
def test_a_copy_over_a_file_whose_log_was_deleted_is_refused(
    memory: Recollect, path: Path, how: str, logged: bool
) -> None:
    if logged:
        remember(memory, ["logged"])
    restored(path, how=how)
    refuses(memory)
    memory.close()
    assert seen_by_another(path) == [sorted(OLD), []]


@pytest.mark.parametrize("how", ["as it is", "dated as it was"])
def test_a_copy_over_a_file_whose_log_was_left_is_refused_and_not_written_to(
    memory: Recollect, path: Path, how: str
) -> None:
    remember(memory, ["logged"])
    restored(path, how=how)
    refuses(memory)
    memory.close()
    assert path.read_bytes() == path.with_name("backup.db").read_bytes()


def refuses(memory: Recollect) -> None:
    calls: list[Callable[[], object]] = [
        lambda: memory.recall("tea"),
        lambda: memory.get("old-1"),
        lambda: memory.remember("lost", pak_id="lost"),
        lambda: memory.forget("old-1"),
        lambda: memory.check(),
        lambda: memory.list(),
    ]
    for call in calls * 2:
        with pytest.raises(StoreReplaced):
            call()


_FORGET = """
import sys
from recollect import Recollect
with Recollect.open(sys.argv[1], embedder="none") as memory:
    memory.forget("newer-0")
"""
_FORGET_AND_WRITE = (
    _FORGET
    + """
    memory.remember("tea by another", pak_id="another")
"""
)
_CHECKPOINT = """
import sqlite3, sys
conn = sqlite3.connect(sys.argv[1], timeout=0.05)
print(conn.execute("PRAGMA wal_checkpoint({})").fetchone())
"""
CHECKPOINTS = {
    "forget": _FORGET,
    "forget, then remember": _FORGET_AND_WRITE,
    **{mode: _CHECKPOINT.format(mode) for mode in ("PASSIVE", "FULL", "RESTART", "TRUNCATE")},
}


@pytest.mark.parametrize("is_read", [False, True], ids=["nobody reads", "somebody reads"])
@pytest.mark.parametrize("code", CHECKPOINTS.values(), ids=CHECKPOINTS)
def test_what_another_process_copies_from_the_log_refuses_nobody(
    memory: Recollect, path: Path, code: str, is_read: bool
) -> None:
    # So many that pages of the log are not all written to once more while somebody reads.
    remember(memory, [f"logged-{number}" for number in range(300)])
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        if is_read:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM paks").fetchone()
            remember(memory, ["logged later"])
        before = path.stat().st_mtime_ns
        by_another(code, path)
        assert path.stat().st_mtime_ns != before
        known = found_by(memory)
        assert {"logged-0", "old-0"} <= set(known)
        remember(memory, ["after"])
        assert found_by(memory) == sorted([*known, "after"])
        assert memory.check() == ()


def test_a_copy_that_came_through_sqlite_is_found_whatever_its_revision(
    memory: Recollect, path: Path
) -> None:
    with (
        closing(sqlite3.connect(path.with_name("backup.db"))) as backup,
        closing(sqlite3.connect(path)) as target,
    ):
        backup.backup(target)
    after = [f"after-{number}" for number in range(50)]
    for name in after:
        remember(memory, [name])
    assert found_by(memory) == sorted(OLD + after)
    assert memory.check() == ()
