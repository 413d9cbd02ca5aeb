"""The SQLite store keeps the contract of every store."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from recollect.model import LOCAL_PRINCIPAL, Memory
from recollect.policy.view import view_of
from recollect.ports.likenesses import Likeness
from recollect.ports.store import Edge, MemoryStore
from recollect.stores.sqlite import SqliteStore
from recollect.testing.builders import new_memory
from recollect.testing.contract import StoreContract


class TestSqliteStore(StoreContract):
    def open_store(self, path: Path) -> MemoryStore:
        return SqliteStore.open(path / "memory.db", store_id="test")

    def test_what_is_read_is_a_memory_like_any_other(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.write([new_memory("a", "Use Celery.")], now="2026-01-01T00:00:00Z")
            found = store.memories(["a"], view_of(LOCAL_PRINCIPAL, {}))["a"]

        assert type(found) is Memory
        assert found == replace(found)
        with pytest.raises(FrozenInstanceError):
            found.content = "Use RQ."  # type: ignore[misc]

    def test_a_link_that_the_lists_know_nothing_of_is_found_by_a_check(
        self, tmp_path: Path
    ) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                new = [new_memory("a"), new_memory("b")]
                a, b = (one.row_id for one in store.write(new, now="2026-01-01T00:00:00Z"))
                store.put_edges([Edge(a, b, 0.7, automatic=True)])
                store.likenesses.put([Likeness(a, b, 0.7)])
            assert store.check() == ("1 automatic links join Paks that do not hold each other",)
            with store.transaction():
                store.likenesses.put([Likeness(b, a, 0.7)])
            assert store.check() == ()
