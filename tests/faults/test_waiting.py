"""A write waits for its turn as long as the caller said, and in the order of coming."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput, StoreBusy, StoreReplaced
from recollect.paks.opening import HowToOpen
from recollect.stores.sqlite import SqliteStore
from recollect.testing.builders import NOW, new_memory

PATIENCE_S = 30.0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the write lock of a file, as another process would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_a_write_gives_up_after_the_time_that_was_given(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "memory.db", embedder="none", timeout=0.1) as memory:
        memory.remember("before", pak_id="before")
        with locked(memory.path):
            with pytest.raises(StoreBusy) as refusal:
                memory.remember("never", pak_id="never")
            assert refusal.value.hint
            assert memory.recall("before").results
            assert memory.check() == ()
        assert memory.remember("after", pak_id="after").created


def test_closing_does_not_fail_while_another_process_writes(tmp_path: Path) -> None:
    memory = Recollect.open(tmp_path / "memory.db", embedder="none", timeout=0.1)
    memory.remember("before", pak_id="before")
    with locked(memory.path):
        memory.close()
    with Recollect.open(tmp_path / "memory.db", embedder="none") as memory:
        assert memory.get("before") is not None


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), "5", None, True, 1e9])
def test_a_timeout_is_a_number_of_seconds(tmp_path: Path, timeout: object) -> None:
    with pytest.raises(InvalidInput, match="timeout"):
        Recollect.open(tmp_path / "memory.db", timeout=timeout)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_threads_write_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store.db", store_id="test")) as store:
        come = [threading.Event() for _ in range(8)]

        def write(number: int) -> None:
            come[number].set()
            with store.commit(f"c{number}", at=NOW):
                store.memories.write([new_memory(f"m{number}")])

        with ThreadPoolExecutor(8) as pool, store.commit("first", at=NOW):
            for number in range(8):
                done = pool.submit(write, number)
                assert come[number].wait(PATIENCE_S)
                # Until it stands in the queue; there is nothing else to see it by.
                while len(store._db._connections._turns._queue) < number + 2:
                    assert not done.done()
        assert [one.commit_id for one in store.state.commits(1)] == [f"c{n}" for n in range(8)]


def test_a_thread_gives_up_on_another_thread_too(tmp_path: Path) -> None:
    how = HowToOpen(timeout_s=0.1)
    with closing(SqliteStore.open(tmp_path / "store.db", store_id="test", how=how)) as store:

        def write() -> None:
            with store.commit("second", at=NOW):
                raise AssertionError("two wrote at once")

        with (
            ThreadPoolExecutor(1) as pool,
            store.commit("first", at=NOW),
            pytest.raises(StoreBusy),
        ):
            pool.submit(write).result(PATIENCE_S)
        with store.commit("third", at=NOW) as commit:
            assert commit.revision == 2


def test_a_handle_on_a_deleted_file_closes(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "memory.db", embedder="none") as memory:
        memory.path.unlink()
        with pytest.raises(StoreReplaced):
            memory.remember("nowhere")
