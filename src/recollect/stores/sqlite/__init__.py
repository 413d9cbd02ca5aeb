"""The default store: one SQLite file."""

from __future__ import annotations

from recollect.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
