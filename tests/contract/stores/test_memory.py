"""The store in memory keeps the contract of every store."""

from __future__ import annotations

from recollect.stores.memory import MemoryStore
from recollect.testing.contract import StoreContract


class TestMemoryStore(StoreContract):
    def new_store(self) -> MemoryStore:
        return MemoryStore(store_id="test")
