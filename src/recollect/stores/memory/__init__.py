"""A store in plain dictionaries, for as long as its process lives; it knows no SQLite."""

from __future__ import annotations

from recollect.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
