"""An exception at any instant of a write leaves no transaction, no lock and no half of anything.

Either it happened or it did not; others can write; the next call of the same handle works.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest
from tests.faults.raising import Instants, distinct, files

from recollect import Recollect
from recollect.ports.store import RowFilter
from recollect.stores.sqlite import SqliteStore
from recollect.testing.builders import NOW, new_memory
from recollect.testing.commit_contract import VIEW

TRANSACTIONS = files(
    "paks/database.py", "paks/connections.py", "paks/turns.py", "stores/sqlite/session.py"
)
NUMBERS = count()
ERRORS = [KeyboardInterrupt, TimeoutError, asyncio.CancelledError, SystemExit, MemoryError]


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    path = tmp_path / "seed.db"
    with closing(SqliteStore.open(path, store_id="test")) as store, store.commit("first", at=NOW):
        store.memories.write([new_memory("a", "kept")])
    return path


@contextmanager
def copy_of(seed: Path) -> Iterator[SqliteStore]:
    folder = seed.with_name(f"copy-{next(NUMBERS)}")
    folder.mkdir()
    path = Path(shutil.copy(seed, folder))
    with closing(SqliteStore.open(path, store_id="test")) as store:
        yield store
    shutil.rmtree(folder)


def write_and_read(store: SqliteStore) -> None:
    with store.commit("second", at=NOW):
        store.memories.write([new_memory("b", "new")])
    with store.snapshot():
        store.head()
    store.catalogue.get_pak("a")


def nobody_is_locked_out(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")


def next_call_works(store: SqliteStore) -> None:
    with store.commit("third", at=NOW):
        store.memories.write([new_memory("c", "next")])
    nobody_is_locked_out(store.path)
    with closing(SqliteStore.open(store.path, store_id="test")) as fresh:
        assert store.head() == fresh.head()
        found = fresh.memories.read(RowFilter(pak_ids=("a", "b", "c")), VIEW)
        assert set(found.memories) - {"b"} == {"a", "c"}
        assert found.head.revision == len(found.memories)
        assert store.memories.read(RowFilter(pak_ids=("a", "b", "c")), VIEW) == found


@pytest.mark.parametrize(
    ("error", "most"),
    [
        (KeyboardInterrupt, 150),
        *(pytest.param(error, None, marks=pytest.mark.soak) for error in ERRORS),
    ],
)
@pytest.mark.parametrize("is_kept", [False, True], ids=["let go", "kept"])
def test_an_exception_at_any_opcode_of_a_transaction_leaves_nothing_open(
    seed: Path,
    error: type[BaseException],
    most: int | None,
    is_kept: bool,
    record_property: Callable[[str, object], None],
) -> None:
    instants = Instants(TRANSACTIONS, opcodes=True)
    with copy_of(seed) as store:
        seen = instants.of(lambda: write_and_read(store))
    chosen = distinct(seen, most=most)
    record_property("tried", len(chosen))
    for at in chosen:
        with copy_of(seed) as store:
            # Who keeps the exception, as a prompt does, keeps the frames that it came through.
            with pytest.raises(error) as caught:
                instants.raising(lambda store=store: write_and_read(store), at, error())  # type: ignore[misc]
            if not is_kept:
                del caught
                nobody_is_locked_out(store.path)
            try:
                next_call_works(store)
            except BaseException as found:
                found.add_note(f"after {error.__name__} at {at}")
                raise


class HandlerTimeout(TimeoutError):
    """What a signal handler of a caller's own raises."""


@contextmanager
def alarm_in(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise HandlerTimeout

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_HOLD = """
import sqlite3, sys
conn = sqlite3.connect(sys.argv[1], isolation_level=None)
conn.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
conn.rollback()
print("let go", flush=True)
"""


def test_a_signal_is_handled_while_a_write_waits_for_another_process(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Recollect.open(path, embedder="none", timeout=3600) as memory:
        memory.remember("the first", pak_id="first")
        with subprocess.Popen(
            [sys.executable, "-c", _HOLD, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as holder:
            assert holder.stdin is not None
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(HandlerTimeout), alarm_in(0.2):
                memory.remember("interrupted", pak_id="interrupted")
            # The lock is let go of only now that the waiter has told.
            holder.stdin.write("\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == "let go\n"
        assert memory.remember("the second", pak_id="second").created
        assert memory.get("interrupted") is None


def test_a_signal_handler_that_raises_while_a_write_waits_loses_no_later_write(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    with Recollect.open(path, embedder="none") as memory:
        memory.remember("the first", pak_id="first")
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        holder = threading.Timer(0.6, other.close)
        holder.start()
        with pytest.raises(HandlerTimeout), alarm_in(0.2):
            memory.remember("timed out", pak_id="timed-out")
        holder.join()
        nobody_is_locked_out(path)
        assert memory.remember("the second", pak_id="second").created
        assert memory.remember("the third", pak_id="third").created
    with Recollect.open(path, embedder="none") as memory:
        known = {name for name in ("first", "timed-out", "second", "third") if memory.get(name)}
        assert known == {"first", "second", "third"}


def test_a_transaction_begun_by_hand_swallows_no_write(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "memory.db", embedder="none") as memory:
        memory.paks.conn.execute("BEGIN")
        with pytest.raises(Exception, match="begun by hand"):
            memory.remember("never acknowledged", pak_id="never")
        nobody_is_locked_out(memory.path)
        memory.remember("acknowledged", pak_id="second")
    with Recollect.open(tmp_path / "memory.db", embedder="none") as memory:
        assert memory.get("second") is not None
        assert memory.get("never") is None


def test_a_thread_that_died_in_the_middle_of_a_write_is_taken_over_from(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "store.db", store_id="test")
    abandoned: list[object] = []

    def begin_and_die() -> None:
        write = store.commit("abandoned", at=NOW)
        write.__enter__()
        store.memories.write([new_memory("a")])
        abandoned.append(write)  # so that nobody collects it

    thread = threading.Thread(target=begin_and_die)
    thread.start()
    thread.join()
    with store.commit("second", at=NOW) as commit:
        assert commit.revision == 1
        store.memories.write([new_memory("b")])
    assert store.catalogue.get_pak("a") is None
    store.close()


def test_a_write_that_was_left_behind_and_is_collected_late_ends_nobody_elses(
    tmp_path: Path,
) -> None:
    store = SqliteStore.open(tmp_path / "store.db", store_id="test")

    def begin() -> list[object]:
        write = store.commit("left behind", at=NOW)
        write.__enter__()
        return [write]

    left_behind = begin()
    with store.commit("second", at=NOW):
        store.memories.write([new_memory("a")])
        left_behind.clear()
        store.memories.write([new_memory("b")])
        assert store.catalogue.conn.in_transaction
    assert store.head().commit_id == "second"
    assert store.catalogue.count_paks() == 2
    store.close()
