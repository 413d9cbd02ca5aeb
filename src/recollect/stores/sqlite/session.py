"""One connection as the rooms of the store share it: locked, with errors in our words.

In: SQL of ours and values. Out: rows. Chunks keep any statement below SQLite's limit of values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from recollect.paks.database import Translated, write

__all__ = ["Session", "chunks", "marks"]

Value = TypeVar("Value")


class Session:
    """Runs statements on one connection, one thread at a time."""

    def __init__(self, conn: sqlite3.Connection, lock: RLock, path: Path) -> None:
        self.conn = conn
        self.lock = lock
        self.translated = Translated(path)

    @contextmanager
    def transaction(self) -> Iterator[int]:
        """Commit all writes of the body together, or none of them; each is a new revision."""
        with self.lock, self.translated, write(self.conn):
            self.conn.execute("UPDATE engine_state SET revision = revision + 1")
            yield self.revision()

    def revision(self) -> int:
        """Return how far the store has come."""
        return int(self.one("SELECT revision FROM engine_state")[0])

    def run(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Run one statement."""
        with self.lock, self.translated:
            return self.conn.execute(sql, values)

    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self.lock, self.translated:
            return self.conn.execute(sql, values).fetchall()

    def one(self, sql: str, *values: Any) -> tuple[Any, ...]:
        """Return the first row of a query that always has one."""
        with self.lock, self.translated:
            row: tuple[Any, ...] = self.conn.execute(sql, values).fetchone()
            return row

    def column(self, sql: str, *values: Any) -> list[Any]:
        """Return the first column of a query."""
        return [row[0] for row in self.all(sql, *values)]


def chunks(values: list[Value], size: int = 500) -> Iterator[list[Value]]:
    """Yield a list in parts."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def marks(values: Sequence[object]) -> str:
    """Return as many question marks as there are values."""
    return ", ".join("?" * len(values))
