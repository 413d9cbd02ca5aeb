"""The store in memory keeps the contract of every store."""

from __future__ import annotations

from recollect.stores.memory import MemoryStore
from recollect.testing.builders import new_memory
from recollect.testing.commit_contract import committing
from recollect.testing.contract import StoreContract
from recollect.testing.log_contract import told


class TestMemoryStore(StoreContract):
    def new_store(self) -> MemoryStore:
        return MemoryStore(store_id="test")

    def test_an_edit_by_the_catalogue_is_told_under_a_name_of_its_own(self) -> None:
        with self.opened() as store:
            assert isinstance(store, MemoryStore)
            with committing(store) as commit:
                store.memories.write([new_memory("a"), new_memory("b")])
            store.catalogue.delete_pak("a")
            moved = store.head()
            assert moved.revision == commit.revision + 1
            assert moved.commit_id not in (None, commit.commit_id)
            assert store.state.knows(moved)
            assert told(store, commit.head) == ({}, {1}, {})
            assert store.state.commits(commit.revision)[0].at is None
