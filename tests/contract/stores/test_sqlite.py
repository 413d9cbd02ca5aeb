"""The SQLite store keeps the contract of every store."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from itertools import count
from pathlib import Path

import pytest

from recollect.model import LOCAL_PRINCIPAL, Memory
from recollect.policy.view import view_of
from recollect.ports.edges import Likeness
from recollect.ports.store import Edge, RowFilter, Store
from recollect.stores.sqlite import SqliteStore
from recollect.testing.builders import new_memory
from recollect.testing.commit_contract import NOW, committing
from recollect.testing.contract import LastingStoreContract


class TestSqliteStore(LastingStoreContract):
    @pytest.fixture(autouse=True)
    def _files(self, tmp_path: Path) -> None:
        self._paths = (tmp_path / f"{number}.db" for number in count())

    def new_store(self) -> SqliteStore:
        return SqliteStore.open(next(self._paths), store_id="test")

    def open_again(self, store: Store) -> SqliteStore:
        assert isinstance(store, SqliteStore)
        return SqliteStore.open(store.path, store_id="another")

    def test_what_is_read_is_a_memory_like_any_other(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a", "Use Celery.")], now="2026-01-01T00:00:00Z")
            found = store.memories.read(
                RowFilter(pak_ids=("a",)), view_of(LOCAL_PRINCIPAL, {})
            ).memories["a"]

        assert type(found) is Memory
        assert found == replace(found)
        with pytest.raises(FrozenInstanceError):
            found.content = "Use RQ."  # type: ignore[misc]

    def test_a_link_that_the_lists_know_nothing_of_is_found_by_a_check(self) -> None:
        with self.opened() as store:
            with committing(store):
                new = [new_memory("a"), new_memory("b")]
                a, b = (one.row_id for one in store.memories.write(new, now="2026-01-01T00:00:00Z"))
                store.edges.put([Edge(a, b, 0.7, automatic=True)])
                store.edges.change_lists([Likeness(a, b, 0.7)], [])
            assert store.check() == ("1 automatic links join memories that do not hold each other",)
            with committing(store):
                store.edges.change_lists([Likeness(b, a, 0.7)], [])
            assert store.check() == ()

    def test_a_change_past_any_commit_moves_the_revision_and_has_no_name(self) -> None:
        with self.opened() as store:
            assert isinstance(store, SqliteStore)
            with committing(store) as commit:
                store.memories.write([new_memory("a"), new_memory("b")], now=NOW)
            store.catalogue.conn.execute("UPDATE paks SET title = 'by hand'")
            moved = store.head()
            assert moved.revision > commit.revision
            assert moved.commit_id is None
            rows = [row for batch in store.memories.changes(commit.head) for row in batch.rows]
            assert {row.memory.title for row in rows} == {"by hand"}
            assert {row.memory.pak_id for row in rows} == {"a", "b"}
            with committing(store) as later:
                store.memories.erase(["a", "b"])
            assert later.revision == moved.revision + 1
            assert store.head().revision == later.revision
