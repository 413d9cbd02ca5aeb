"""One connection as the rooms of the store share it: locked, with errors in our words.

In: SQL of ours and values. Out: rows. A commit or a snapshot is a transaction of this connection.
Chunks keep any statement below SQLite's limit of values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from recollect.errors import StoreError
from recollect.paks.database import Translated, write
from recollect.ports.state import ClockState, Commit, Head, StoreState

__all__ = ["Session", "chunks", "marks"]

Value = TypeVar("Value")

_STATE = (
    "SELECT store_id, revision, commit_id, oldest_change, model_id, dimension, next_model_id,"
    " next_dimension, active_hours, seen_at, cache_token, vector_slot FROM engine_state"
)
# The log is trimmed now and then, so that most commits need not look for what to drop.
_KEPT_COMMITS, _TRIM_EVERY = 10_000, 256


class Session:
    """Runs statements on one connection, one thread at a time."""

    def __init__(self, conn: sqlite3.Connection, lock: RLock, path: Path) -> None:
        self.conn = conn
        self.lock = lock
        self.translated = Translated(path)
        # Which of the two vector columns serves, as of when the state was last read.
        self.slot = 0
        self._commit: Commit | None = None
        self._looking = False

    @property
    def revision(self) -> int:
        """What the commit under way becomes: the mark of every row that it touches."""
        if self._commit is None:
            raise StoreError("a write outside of a commit.", hint="write inside store.commit(...).")
        return self._commit.revision

    def head(self) -> Head:
        """Return how far the store has come; a commit knows that of itself."""
        return self.state().head if self._commit is None else self._commit.head

    @contextmanager
    def commit(self, commit_id: str, at: str) -> Iterator[Commit]:
        """Commit all writes of the body together, or none of them, as one revision."""
        with self.lock, self.translated:
            if self._commit is not None or self._looking:
                raise StoreError(
                    "a commit inside of a commit or a snapshot.",
                    hint="write all of it in one commit.",
                )
            with write(self.conn):
                before = self.state()
                self._commit = Commit(before.revision + 1, commit_id, before)
                # While `committing`, what the triggers see is part of this one revision.
                self.conn.execute(
                    "UPDATE engine_state SET revision = ?, commit_id = ?, committing = 1",
                    (self._commit.revision, commit_id),
                )
                try:
                    yield self._commit
                    self._log(self._commit, at)
                finally:
                    self._commit = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads of the body see one state of the store."""
        with self.lock, self.translated:
            if self.conn.in_transaction:
                yield
                return
            self.conn.execute("BEGIN")
            self._looking = True
            try:
                yield
            finally:
                self._looking = False
                self.conn.execute("ROLLBACK")

    def state(self) -> StoreState:
        """Return the one row of facts about the whole store."""
        row = self.one(_STATE)
        self.slot = row[11]
        head, clock = Head(row[1], row[2]), ClockState(row[8], row[9])
        return StoreState(*(row[0], head, *row[3:8], clock, row[10]))

    def run(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Run one statement."""
        with self.lock, self.translated:
            return self.conn.execute(sql, values)

    def run_each(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each of many tuples of values."""
        with self.lock, self.translated:
            self.conn.executemany(sql, values)

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

    def _log(self, commit: Commit, at: str) -> None:
        self.conn.execute("UPDATE engine_state SET committing = 0")
        self.conn.execute(
            "INSERT INTO commits (revision, commit_id, at) VALUES (?, ?, ?)",
            (commit.revision, commit.commit_id, at),
        )
        if commit.revision % _TRIM_EVERY == 0:
            oldest = commit.revision - _KEPT_COMMITS
            self.conn.execute("DELETE FROM commits WHERE revision <= ?", (oldest,))


def chunks(values: Sequence[Value], size: int = 500) -> Iterator[Sequence[Value]]:
    """Yield a list in parts."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def marks(values: Sequence[object]) -> str:
    """Return as many question marks as there are values."""
    return ", ".join("?" * len(values))
