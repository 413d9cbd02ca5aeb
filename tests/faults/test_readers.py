"""Who reads never waits for who writes, nor for who waits to write."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect.errors import StoreBusy
from recollect.paks import PakListFilters
from recollect.ports.store import Head, RowFilter
from recollect.recall.select import SelectQuery, select
from recollect.stores.sqlite import SqliteStore
from recollect.testing.builders import NOW, new_memory
from recollect.testing.commit_contract import VIEW, committing

PATIENCE_S = 30.0

READS: dict[str, Callable[[SqliteStore], object]] = {
    "head": lambda store: store.head(),
    "state": lambda store: store.state.read(),
    "memories": lambda store: store.memories.read(RowFilter(pak_ids=("a",)), VIEW),
    "snapshot": lambda store: _in_a_snapshot(store),
    "changes": lambda store: list(store.memories.changes(Head(0, None))),
    "counts": lambda store: store.state.count(),
    "a Pak": lambda store: store.catalogue.get_pak("a"),
    "Paks": lambda store: store.catalogue.count_paks(PakListFilters()),
    "a search": lambda store: store.catalogue.search("kept"),
    "a selection": lambda store: select(store.catalogue, SelectQuery("kept", now=NOW)),
}


def _in_a_snapshot(store: SqliteStore) -> object:
    with store.snapshot() as state, store.catalogue.snapshot():
        return state, store.head(), store.catalogue.get_pak("a")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "store.db", store_id="test")
    with committing(store):
        store.memories.write([new_memory("a", "kept")])
    yield store
    store.close()


@contextmanager
def elsewhere(work: Callable[[threading.Event, threading.Event], None]) -> Iterator[None]:
    """Do some work in another thread, which says when it is in the middle and waits to go on."""
    reached, go = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work, reached, go)
        assert reached.wait(PATIENCE_S)
        try:
            yield
        finally:
            go.set()
            done.result(PATIENCE_S)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_does_not_wait_for_a_commit_under_way(
    store: SqliteStore, read: Callable[[SqliteStore], object]
) -> None:
    before = read(store)

    def write(reached: threading.Event, go: threading.Event) -> None:
        with committing(store):
            store.memories.write([new_memory("b")])
            reached.set()
            assert go.wait(PATIENCE_S), "the reader waited for the writer"

    with elsewhere(write):
        assert read(store) == before


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_does_not_wait_for_a_thread_that_waits_to_write(
    store: SqliteStore, read: Callable[[SqliteStore], object]
) -> None:
    before = read(store)
    other = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")

    def write(reached: threading.Event, go: threading.Event) -> None:
        threading.Timer(0.05, reached.set).start()
        try:
            with committing(store):
                pass
        except StoreBusy:
            pytest.fail("the reader waited for the writer")

    with elsewhere(write):
        try:
            assert read(store) == before
        finally:
            other.execute("ROLLBACK")
            other.close()


def test_a_thread_sees_what_it_has_written_and_others_do_not(store: SqliteStore) -> None:
    with ThreadPoolExecutor(1) as other:
        with store.commit("second", at=NOW) as commit:
            store.memories.write([new_memory("b")])
            assert store.head().revision == commit.revision
            assert store.catalogue.get_pak("b") is not None
            assert other.submit(store.head).result().revision == commit.revision - 1
            assert other.submit(store.catalogue.get_pak, "b").result() is None
        assert other.submit(store.head).result().revision == commit.revision
        assert other.submit(store.catalogue.get_pak, "b").result() is not None


def test_catalogue_and_store_read_one_moment_in_one_snapshot(store: SqliteStore) -> None:
    def write() -> None:
        with committing(store):
            store.memories.write([new_memory("b")])

    with ThreadPoolExecutor(1) as other, store.catalogue.snapshot():
        before = store.head()
        other.submit(write).result()
        assert store.head() == before
        assert store.catalogue.get_pak("b") is None
        with store.snapshot() as state:
            assert state.head == before
    assert store.head().revision == before.revision + 1


def test_many_threads_read_while_one_writes(store: SqliteStore) -> None:
    def read(_: int) -> bool:
        with store.snapshot() as state:
            found = store.memories.read(RowFilter(), VIEW)
        return state.head == found.head and len(found.memories) == state.revision

    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(read, range(400))
        for number in range(40):
            with committing(store):
                store.memories.write([new_memory(f"b{number}")])
        assert all(answers)
