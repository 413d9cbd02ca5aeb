"""The SQLite store keeps the contract of every store."""

from __future__ import annotations

from pathlib import Path

from recollect.ports.store import MemoryStore
from recollect.stores.sqlite import SqliteStore
from recollect.testing.contract import StoreContract


class TestSqliteStore(StoreContract):
    def open_store(self, path: Path) -> MemoryStore:
        return SqliteStore.open(path / "memory.db", store_id="test")
