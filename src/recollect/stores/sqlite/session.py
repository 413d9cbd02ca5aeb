"""The connections of a file as the rooms of its store use them, with errors in our words.

In: SQL of ours and values. Out: rows, of the commit or snapshot that this thread is in, or of now.
Chunks keep any statement below SQLite's limit of values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.errors import StoreDamaged, StoreError
from recollect.paks.database import CACHE_KIB, ROOM_KIB, write
from recollect.ports.state import ClockState, Commit, Head, StoreState
from recollect.stores.sqlite import commits
from recollect.stores.sqlite.legible import is_state
from recollect.stores.touched import Touched
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.paks.connections import Connections
    from recollect.paks.database import PakConnection

__all__ = ["Session", "chunks", "marks"]

Value = TypeVar("Value")

_STATE = (
    "SELECT store_id, revision, commit_id, model_id, dimension, next_model_id,"
    " next_dimension, active_hours, seen_at, vector_slot FROM engine_state"
)


@dataclass(slots=True)
class _Known:
    """What is known in the commit or snapshot that a thread is in."""

    commit: Commit | None = None
    slot: int | None = None
    clock: ClockState | None = None
    has_room: bool = False
    touched: Touched = field(default_factory=Touched)


class Session:
    """Runs statements, whichever thread asks; those that write take turns."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        # The row of facts as it was last, and what it says: between writes it is asked for again.
        self._last: tuple[tuple[Any, ...], StoreState] | None = None

    @property
    def slot(self) -> int:
        """Which of the two vector columns serves."""
        known = self._known()
        if known.slot is None:
            known.slot = int(self.one("SELECT vector_slot FROM engine_state")[0])
        return known.slot

    @property
    def at_hand(self) -> int:
        """How many connections are open while nobody uses them."""
        return self._connections.at_hand

    def rest(self) -> None:
        """Close those that nobody uses just now."""
        self._connections.rest()

    @property
    def is_committing(self) -> bool:
        """Whether a commit is under way."""
        return self._known().commit is not None

    @property
    def revision(self) -> int:
        """What the commit under way becomes."""
        commit = self._known().commit
        if commit is None:
            raise StoreError("a write outside of a commit.", hint="write inside store.commit(...).")
        return commit.revision

    @property
    def touched(self) -> Touched:
        """What the commit under way has touched; whoever writes adds to it."""
        _ = self.revision  # refuses outside of a commit
        return self._known().touched

    def head(self) -> Head:
        """Return how far the store has come; a commit knows that of itself."""
        commit = self._known().commit
        return self.state().head if commit is None else commit.head

    @contextmanager
    def commit(self, commit_id: str, at: str) -> Iterator[Commit]:
        """Commit all writes of the body together, or none of them, as one revision."""
        if self._connections.lease() is not None:
            raise StoreError(
                "a commit inside of a commit or a snapshot.", hint="write all of it in one commit."
            )
        with self._connections.writing() as conn:
            _end_what_nobody_ends(conn)
            try:
                with write(conn):
                    commit = self._begun(commit_id)
                    yield commit
                    self._end(conn)
                    commits.keep(conn, commit, at, self._known().touched)
                    self._connections.check_files()
            finally:
                if self._known().has_room:
                    conn.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            _confirm(conn)

    def make_room(self) -> None:
        """Hold more pages in memory until the commit under way ends: it writes many of them."""
        known = self._known()
        if not known.has_room:
            known.has_room = True
            self.run(f"PRAGMA cache_size = -{ROOM_KIB}")

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Write what is no part of the history: all of the body or nothing, and no revision."""
        with self._connections.writing() as conn:
            if not self.is_committing:
                _end_what_nobody_ends(conn)
            with write(conn):
                yield
                self._connections.check_files()
            if not self.is_committing:
                _confirm(conn)

    def _begun(self, commit_id: str) -> Commit:
        before = self.state()
        commit = self._known().commit = Commit(before.revision + 1, commit_id, before)
        # While `committing`, what the triggers see is part of this one revision.
        self.run(
            "UPDATE engine_state SET revision = ?, commit_id = ?, committing = 1",
            commit.revision,
            commit_id,
        )
        return commit

    def _end(self, conn: sqlite3.Connection) -> None:
        clock = self._known().clock
        if clock is None:
            conn.execute("UPDATE engine_state SET committing = 0")
        else:
            values = (clock.active_hours, clock.seen_at)
            conn.execute(
                "UPDATE engine_state SET committing = 0, active_hours = ?, seen_at = ?", values
            )

    def set_clock(self, clock: ClockState) -> None:
        """Keep a clock with the commit under way: it is written once, at its end."""
        _ = self.revision  # refuses outside of a commit
        self._known().clock = clock

    def snapshot(self) -> AbstractContextManager[object]:
        """Let all reads of the body see one state of the store."""
        lease = self._connections.lease()
        if lease is not None and lease.conn.in_transaction:
            return nullcontext()  # it is of what this thread has begun anyway
        return self._connections.looking()

    def opened(self, *, read_only: bool) -> AbstractContextManager[sqlite3.Connection]:
        """Give a connection to see with whether the tables are as they should be, or make them."""
        return self._connections.reading() if read_only else self._connections.writing()

    @contextmanager
    def writing(self) -> Iterator[PakConnection]:
        """Give the connection that writes, for what is no part of the data."""
        with self._connections.writing() as conn:
            yield conn

    def checkpointed(self) -> None:
        """Know that the log was copied into the file, by who is writing."""
        self._connections.checkpointed()

    def state(self) -> StoreState:
        """Return the one row of facts about the whole store."""
        row, state = self._facts()
        if self._connections.lease() is None:
            return state
        known = self._known()
        known.slot = row[9]
        return state if known.clock is None else state._replace(clock=known.clock)

    def run(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Run one statement that writes."""
        lease = self._connections.lease()
        if lease is not None and lease.is_writing:
            return lease.conn.execute(sql, values)
        with self._connections.writing() as conn, write(conn):
            return conn.execute(sql, values)

    def run_each(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Run one statement that writes for each of many tuples of values."""
        with self._connections.writing() as conn:
            conn.executemany(sql, values)

    def all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self._connections.run(sql, values)

    def one(self, sql: str, *values: Any) -> tuple[Any, ...]:
        """Return the first row of a query that always has one."""
        return self._connections.run(sql, values)[0]

    def column(self, sql: str, *values: Any) -> list[Any]:
        """Return the first column of a query."""
        return [row[0] for row in self._connections.run(sql, values)]

    def _facts(self) -> tuple[tuple[Any, ...], StoreState]:
        found, last = self._connections.run(_STATE, ()), self._last
        if last is not None and found == [last[0]]:
            return last
        if len(found) != 1 or not is_state(found[0]):
            raise StoreDamaged(
                "The row in which the store says what it is was damaged.",
                hint="run `recollect check`, or restore a backup.",
            )
        row = found[0]
        state = StoreState(*(row[0], Head(row[1], row[2]), *row[3:7], ClockState(row[7], row[8])))
        last = self._last = row, state
        return last

    def _known(self) -> _Known:
        lease = self._connections.lease()
        if lease is None:
            return _Known()
        if lease.purpose is None:
            lease.purpose = _Known()
        known: _Known = lease.purpose
        return known


def _confirm(conn: sqlite3.Connection) -> None:
    """Look whether a commit has happened before anybody is told so."""
    if conn.in_transaction:
        raise StoreError(
            "what was just written is not committed.",
            hint="somebody uses this connection too; open the memory again and look what is there.",
        )


def _end_what_nobody_ends(conn: sqlite3.Connection) -> None:
    """Refuse to write into a transaction that somebody began by hand; it is rolled back."""
    if conn.in_transaction:
        conn.rollback()
        raise StoreError(
            "a transaction that was begun by hand was open; it was rolled back.",
            hint="commit what you begin on `paks.conn` yourself, then call again.",
        )


def chunks(values: Sequence[Value], size: int = 500) -> Iterator[Sequence[Value]]:
    """Yield a list in parts."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def marks(values: Sequence[object]) -> str:
    """Return as many question marks as there are values."""
    return ", ".join("?" * len(values))
