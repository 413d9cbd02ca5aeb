"""`SqliteStore`: the store port over one SQLite file, beside the catalogue and in its connection.

In: values of `recollect.ports.store`. Out: the same. It keeps and finds; it neither embeds nor
ranks nor reads a clock. One lock makes it safe to use from several threads.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.errors import StoreTooNew
from recollect.model import FrameDefinition, Memory
from recollect.paks import PakListFilters, RecallStore
from recollect.paks.database import Translated, write
from recollect.ports.store import (
    Changes,
    ClockState,
    Dispute,
    Edge,
    IndexRow,
    NewMemory,
    Page,
    StoreState,
    Used,
    Written,
)
from recollect.stores.sqlite import rows
from recollect.stores.sqlite.schema import ENGINE_MIGRATIONS, ENGINE_VERSION

__all__ = ["SqliteStore"]

_SELECT = f"SELECT {rows.MEMORY_COLUMNS} FROM memories JOIN paks USING (pak_id)"
_ROW = f"({', '.join('?' * (len(rows.OWN_COLUMNS) + 2))})"
_KEPT = ("pak_id", "reinforced", "last_reinforced", "position", "status")
# What an index takes at a time: it builds a segment from each batch, and a rest is slower to add.
_BATCH_ROWS = 8_192

Value = TypeVar("Value")


class SqliteStore:
    """Memories in one SQLite file. Open one with `SqliteStore.open`."""

    def __init__(self, catalogue: RecallStore, path: Path) -> None:
        self._catalogue = catalogue
        self._conn = catalogue.conn
        # The catalogue's lock, so that whoever uses `catalogue` takes turns with the engine.
        self._lock = catalogue.lock or RLock()
        self._translated = Translated(path)
        self._slot = 0

    @classmethod
    def open(
        cls, path: Path | str | None, *, store_id: str, power_safe: bool = False
    ) -> SqliteStore:
        """Open the store at `path`, making it with `store_id` if it is new.

        With `power_safe` a commit waits until the disk has it.
        """
        catalogue = RecallStore.open(path, any_thread=True)
        try:
            store = cls(catalogue, catalogue.path)
            store._prepare(store_id)
            if power_safe:
                store._run("PRAGMA synchronous = FULL")
        except BaseException:
            catalogue.close()
            raise
        return store

    @property
    def path(self) -> Path:
        """Where the database file is."""
        return self._catalogue.path

    @property
    def catalogue(self) -> RecallStore:
        """The catalogue that shares this store's connection."""
        return self._catalogue

    def close(self) -> None:
        """Close the connection; closing twice is fine."""
        with self._lock:
            self._catalogue.close()

    @contextmanager
    def transaction(self) -> Iterator[int]:
        """Commit all writes of the body together, or none of them; each is a new revision."""
        with self._lock, self._translated, write(self._conn):
            self._conn.execute("UPDATE engine_state SET revision = revision + 1")
            yield self._revision()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads of the body see one state of the store."""
        with self._lock, self._translated:
            if self._conn.in_transaction:
                yield
                return
            self._conn.execute("BEGIN")
            try:
                yield
            finally:
                self._conn.execute("ROLLBACK")

    def state(self) -> StoreState:
        """Return the facts about the whole store."""
        row = self._one(
            "SELECT store_id, revision, oldest_change, model_id, dimension, next_model_id,"
            " next_dimension, active_hours, seen_at, cache_token, vector_slot FROM engine_state"
        )
        self._slot = row[10]
        return StoreState(*(*row[:7], ClockState(row[7], row[8]), row[9]))

    def changes(self, since: int) -> Iterator[Changes]:
        """Yield what changed after revision `since`; the last batch holds the new revision."""
        with self.snapshot():
            state = self.state()
            if state.revision == since:
                return
            gone = self._column("SELECT row_id FROM memories_gone WHERE changed > ?", since)
            if gone:
                yield Changes(since, (), gone, ())
            for batch in self._changed_rows(since):
                yield Changes(since, batch, (), ())
            edges = self._all(
                "SELECT low, high, weight FROM memory_edges WHERE changed > ? ORDER BY low, high",
                since,
            )
            yield Changes(state.revision, (), (), edges)

    def memories(self, pak_ids: Iterable[str]) -> dict[str, Memory]:
        """Return those memories that exist, by id, in the order asked for."""
        wanted = list(dict.fromkeys(pak_ids))
        found = {
            row[0]: rows.from_row(row)
            for chunk in _chunks(wanted)
            for row in self._all(f"{_SELECT} WHERE memories.pak_id IN ({_marks(chunk)})", *chunk)
        }
        return {pak_id: found[pak_id] for pak_id in wanted if pak_id in found}

    def page(self, *, project: str | None, limit: int, cursor: str | None) -> Page:
        """Return one page of memories, newest first."""
        items: list[Memory] = []
        with self._lock:
            # The catalogue may hold Paks that are no memories; a page is filled up past them.
            while True:
                page = self._catalogue.list_paks(
                    PakListFilters(project, None, limit - len(items), cursor)
                )
                items += self.memories(row.pak_id for row in page.items).values()
                cursor = page.next_cursor
                if cursor is None or len(items) >= limit:
                    return Page(tuple(items), cursor)

    def row_ids(self, pak_ids: Iterable[str]) -> dict[str, int]:
        """Return the row ids of those Paks that exist."""
        return {
            row[0]: row[1]
            for chunk in _chunks(list(pak_ids))
            for row in self._all(
                f"SELECT pak_id, row_id FROM memories WHERE pak_id IN ({_marks(chunk)})", *chunk
            )
        }

    def next_position(self, thread: str) -> int:
        """Return the position after the last one in a thread."""
        row = self._one("SELECT max(position) FROM memories WHERE thread = ?", thread)
        return 0 if row[0] is None else int(row[0]) + 1

    def write(self, memories: Sequence[NewMemory], *, now: str) -> list[Written]:
        """Add memories, or replace those that exist; what they have lived through stays."""
        known = self.row_ids(new.memory.pak_id for new in memories)
        replaced = self._catalogue.get_paks(known)
        was_self = self._any_self(known.values())
        self._catalogue.upsert_paks(
            (
                rows.pak_values(new)
                if (old := replaced.get(new.memory.pak_id)) is None
                else {**rows.pak_values(new), "superseded_by": old.superseded_by}
                for new in memories
            ),
            now=now,
            quiet=True,
        )
        revision = self._revision()
        for chunk in _chunks(list(memories), 250):
            values = [
                value
                for new in chunk
                for value in (*rows.own_values(new), revision, rows.vector_bytes(new.vector))
            ]
            self._conn.execute(self._upsert(len(chunk)), values)
        ids = self.row_ids(new.memory.pak_id for new in memories)
        is_self = any(tag.startswith("self/") for new in memories for tag in new.memory.tags)
        if was_self or is_self:
            self.fire("self_block_change")
        return [Written(ids[new.memory.pak_id], new.memory.pak_id not in known) for new in memories]

    def forget(self, pak_id: str) -> bool:
        """Delete a Pak and everything that hangs on it."""
        return self._catalogue.delete_pak(pak_id)

    def reinforce(self, pak_ids: Sequence[str], *, active_hours: float) -> list[Used]:
        """Count one more use of each of these Paks, now, and return those that exist."""
        where = f"WHERE pak_id IN ({_marks(pak_ids)})"
        self._run(
            "UPDATE memories SET reinforced = reinforced + 1, last_reinforced = ?, changed = ?"
            f" {where}",
            active_hours,
            self._revision(),
            *pak_ids,
        )
        found = self._all(
            f"SELECT row_id, reinforced, last_reinforced FROM memories {where}", *pak_ids
        )
        return [Used(*row) for row in found]

    def edges(self, row_ids: Iterable[int]) -> list[Edge]:
        """Return all edges that touch any of these rows."""
        return [
            Edge(low, high, weight, bool(automatic))
            for chunk in _chunks(list(row_ids))
            for low, high, weight, automatic in self._all(
                "SELECT low, high, weight, automatic FROM memory_edges"
                f" WHERE low IN ({_marks(chunk)}) AND weight > 0"
                " UNION SELECT low, high, weight, automatic FROM memory_edges"
                f" WHERE high IN ({_marks(chunk)}) AND weight > 0",
                *chunk,
                *chunk,
            )
        ]

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Write edges as given; a weight of 0 removes one."""
        revision = self._revision()
        self._conn.executemany(
            "INSERT INTO memory_edges (low, high, weight, automatic, changed)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (low, high) DO UPDATE SET"
            " weight = excluded.weight, automatic = excluded.automatic, changed = excluded.changed",
            [(edge.low, edge.high, edge.weight, edge.automatic, revision) for edge in edges],
        )

    def dispute(self, first: str, second: str, *, note: str, now: str) -> None:
        """Open a dispute between two Paks that exist."""
        low, high = self._pair(first, second)
        self._run(
            "INSERT INTO memory_disputes (low, high, note, is_open, created_at)"
            " VALUES (?, ?, ?, 1, ?) ON CONFLICT (low, high) DO UPDATE SET note = excluded.note,"
            " is_open = 1, created_at = excluded.created_at",
            low,
            high,
            note,
            now,
        )
        self.fire("self_block_change")

    def resolve(self, first: str, second: str) -> bool:
        """Close a dispute; return whether there was an open one."""
        low, high = self._pair(first, second)
        closed = self._run(
            "UPDATE memory_disputes SET is_open = 0 WHERE low = ? AND high = ? AND is_open = 1",
            low,
            high,
        )
        self.fire("self_block_change")
        return closed.rowcount > 0

    def disputes(self, pak_ids: Iterable[str] | None = None) -> list[Dispute]:
        """Return open disputes whose two ends are among `pak_ids`, or all of them."""
        sql = (
            "SELECT one.pak_id, other.pak_id, note, is_open FROM memory_disputes"
            " JOIN memories AS one ON one.row_id = low"
            " JOIN memories AS other ON other.row_id = high WHERE is_open = 1"
        )
        if pak_ids is None:
            found = self._all(f"{sql} ORDER BY low, high")
        else:
            ids = list(pak_ids)
            found = [
                row
                for chunk in _chunks(ids)
                for row in self._all(f"{sql} AND one.pak_id IN ({_marks(chunk)})", *chunk)
            ]
            among = set(ids)
            found = [row for row in found if row[1] in among]
        return [
            Dispute(first, second, note, bool(is_open)) for first, second, note, is_open in found
        ]

    def set_clock(self, clock: ClockState) -> None:
        """Keep the counter of active hours; another process's later count stays."""
        self._run(
            "UPDATE engine_state SET active_hours = max(active_hours, ?),"
            " seen_at = max(ifnull(seen_at, ?), ?)",
            clock.active_hours,
            clock.seen_at,
            clock.seen_at,
        )

    def set_model(self, model_id: str, dimension: int) -> None:
        """Keep which model the vectors are of."""
        self._run("UPDATE engine_state SET model_id = ?, dimension = ?", model_id, dimension)

    def pending(self, limit: int) -> list[tuple[str, str]]:
        """Return (pak_id, text) of Paks that wait for a vector, oldest first."""
        return self._all(
            "SELECT pak_id, content FROM memories WHERE pending = 1 ORDER BY row_id LIMIT ?", limit
        )

    def set_vectors(self, vectors: Mapping[str, NDArray[np.int8] | None]) -> None:
        """Give Paks the vectors that they waited for."""
        revision = self._revision()
        self._conn.executemany(
            f"UPDATE memories SET vector_{self._slot} = ?, pending = 0, changed = ?"
            " WHERE pak_id = ?",
            [(rows.vector_bytes(vector), revision, pak_id) for pak_id, vector in vectors.items()],
        )

    def count(self) -> Mapping[str, int]:
        """Count what is kept."""
        queries = {
            "memories": "SELECT count(*) FROM memories",
            "pending": "SELECT count(*) FROM memories WHERE pending = 1",
            "edges": "SELECT count(*) FROM memory_edges WHERE weight > 0",
            "open_disputes": "SELECT count(*) FROM memory_disputes WHERE is_open = 1",
            "frames": "SELECT count(*) FROM memory_frames",
            "reembedded": f"SELECT count(vector_{1 - self._slot}) FROM memories",
        }
        return {name: self._one(sql)[0] for name, sql in queries.items()}

    def fire(self, event: str) -> None:
        """Record that something happened which cached frames may depend on."""
        self._run(
            "INSERT INTO memory_events (event, changed) VALUES (?, ?)"
            " ON CONFLICT (event) DO UPDATE SET changed = excluded.changed",
            event,
            self._revision(),
        )

    def events(self) -> Mapping[str, int]:
        """Return the revision at which each event last fired."""
        return dict(self._all("SELECT event, changed FROM memory_events"))

    def frames(self) -> Mapping[str, tuple[FrameDefinition, str | None]]:
        """Return the users' frames by name."""
        return {
            name: (FrameDefinition.from_dict(json.loads(definition)), extends)
            for name, definition, extends in self._all(
                "SELECT name, definition, extends FROM memory_frames ORDER BY name"
            )
        }

    def put_frame(self, definition: FrameDefinition, extends: str | None) -> None:
        """Keep a user's frame."""
        self._run(
            "INSERT INTO memory_frames (name, definition, extends) VALUES (?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE SET definition = excluded.definition,"
            " extends = excluded.extends",
            definition.name,
            json.dumps(definition.to_dict()),
            extends,
        )

    def delete_frame(self, name: str) -> bool:
        """Drop a user's frame; return whether there was one."""
        return self._run("DELETE FROM memory_frames WHERE name = ?", name).rowcount > 0

    def begin_reembedding(self, model_id: str, dimension: int) -> None:
        """Start, or go on with, giving every Pak a vector of another model."""
        state = self.state()
        if (state.next_model_id, state.next_dimension) == (model_id, dimension):
            return
        self._run(f"UPDATE memories SET vector_{1 - self._slot} = NULL")
        self._run(
            "UPDATE engine_state SET next_model_id = ?, next_dimension = ?", model_id, dimension
        )

    def without_next_vector(self, after_row: int, limit: int) -> list[tuple[int, str]]:
        """Return (row_id, text) of Paks that the new model has not seen yet."""
        self.state()
        return self._all(
            f"SELECT row_id, content FROM memories WHERE vector_{1 - self._slot} IS NULL"
            " AND row_id > ? ORDER BY row_id LIMIT ?",
            after_row,
            limit,
        )

    def set_next_vectors(self, vectors: Mapping[int, NDArray[np.int8]]) -> None:
        """Keep vectors of the new model; the old ones go on serving."""
        self._conn.executemany(
            f"UPDATE memories SET vector_{1 - self._slot} = ? WHERE row_id = ?",
            [(rows.vector_bytes(vector), row_id) for row_id, vector in vectors.items()],
        )

    def finish_reembedding(self) -> None:
        """Switch to the new model's vectors, all at once."""
        dimension = self.state().next_dimension
        self._run(
            "UPDATE engine_state SET model_id = next_model_id, dimension = next_dimension,"
            " next_model_id = NULL, next_dimension = NULL, vector_slot = 1 - vector_slot,"
            " oldest_change = revision"
        )
        self._run(
            f"UPDATE memories SET pending = (? > 0 AND vector_{1 - self._slot} IS NULL),"
            f" vector_{self._slot} = NULL, changed = ?",
            dimension,
            self._revision(),
        )
        self.state()

    def set_cache_token(self, token: str) -> None:
        """Name the one cache file that belongs to this store's history."""
        self._run("UPDATE engine_state SET cache_token = ?", token)

    def tidy(self) -> None:
        """Drop the marks of deleted rows and edges; older indexes must start anew."""
        self._run("DELETE FROM memories_gone")
        self._run("DELETE FROM memory_edges WHERE weight = 0")
        self._run("UPDATE engine_state SET oldest_change = revision")

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the stored data, in words."""
        with self._lock:
            problems = list(self._catalogue.check().problems)
        state = self.state()
        if state.dimension:
            odd = self._one(
                f"SELECT count(*) FROM memories WHERE vector_{self._slot} IS NOT NULL"
                f" AND length(vector_{self._slot}) != ?",
                state.dimension,
            )[0]
            if odd:
                problems.append(f"{odd} vectors are not of the model's size")
        ahead = self._one(
            "SELECT count(*) FROM memories, engine_state WHERE memories.changed > revision"
        )[0]
        if ahead:
            problems.append(f"{ahead} memories are newer than the store's revision")
        return tuple(problems)

    def _prepare(self, store_id: str) -> None:
        with self._translated:
            # Refuses a catalogue of a newer release before anything of ours is written.
            self._catalogue.count_paks(PakListFilters(project=""))
            version = _engine_version(self._conn)
            if version > ENGINE_VERSION:
                raise StoreTooNew(
                    f"{self.path} holds engine tables of version {version};"
                    f" this release knows up to {ENGINE_VERSION}.",
                    hint="upgrade recollect, or open another database.",
                )
            if version < ENGINE_VERSION:
                self._migrate(store_id)
            self.state()

    def _migrate(self, store_id: str) -> None:
        with write(self._conn):
            version = _engine_version(self._conn)
            for migration in ENGINE_MIGRATIONS:
                if migration.version > version:
                    for statement in migration.statements:
                        self._conn.execute(statement)
            self._conn.execute(
                "INSERT INTO engine_state (id, version, store_id) VALUES (1, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET version = excluded.version",
                (ENGINE_VERSION, store_id),
            )

    def _upsert(self, count: int) -> str:
        vector, other = f"vector_{self._slot}", f"vector_{1 - self._slot}"
        columns = (*rows.OWN_COLUMNS, "changed", vector)
        plain = [name for name in columns if name not in (*_KEPT, vector, "pending")]
        # The same text has the same meaning: an embedder that is down does not cost it its vector.
        known = f"content = excluded.content AND {vector} IS NOT NULL"
        return (
            f"INSERT INTO memories ({', '.join(columns)}) VALUES {', '.join([_ROW] * count)}"
            f" ON CONFLICT (pak_id) DO UPDATE SET"
            f" {', '.join(f'{name} = excluded.{name}' for name in plain)},"
            f" pending = excluded.pending AND NOT ({known}),"
            f" {vector} = iif(excluded.pending AND {known}, {vector}, excluded.{vector}),"
            f" {other} = iif(content = excluded.content, {other}, NULL)"
        )

    def _changed_rows(self, since: int) -> Iterator[list[IndexRow]]:
        # Which rows, by the index on `changed`; then the rows. In one statement SQLite would rather
        # walk the whole table in the order of its key.
        changed = self._column(
            "SELECT row_id FROM memories INDEXED BY idx_memories_changed WHERE changed > ?"
            " ORDER BY row_id",
            since,
        )
        for numbers in _chunks(changed, _BATCH_ROWS):
            yield [
                IndexRow(row[-2], rows.from_row(row), rows.to_vector(row[-1]))
                for chunk in _chunks(numbers)
                for row in self._all(
                    f"SELECT {rows.MEMORY_COLUMNS}, memories.row_id, vector_{self._slot}"
                    " FROM memories JOIN paks USING (pak_id)"
                    f" WHERE memories.row_id IN ({_marks(chunk)}) ORDER BY memories.row_id",
                    *chunk,
                )
            ]

    def _any_self(self, row_ids: Iterable[int]) -> bool:
        return any(
            self._all(
                f"SELECT 1 FROM memories WHERE row_id IN ({_marks(chunk)}) AND tags LIKE"
                " '%\"self/%' LIMIT 1",
                *chunk,
            )
            for chunk in _chunks(list(row_ids))
        )

    def _pair(self, first: str, second: str) -> tuple[int, int]:
        ids = self.row_ids((first, second))
        return (min(ids[first], ids[second]), max(ids[first], ids[second]))

    def _revision(self) -> int:
        return int(self._one("SELECT revision FROM engine_state")[0])

    def _run(self, sql: str, *values: Any) -> sqlite3.Cursor:
        with self._lock, self._translated:
            return self._conn.execute(sql, values)

    def _all(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, self._translated:
            return self._conn.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: Any) -> tuple[Any, ...]:
        with self._lock, self._translated:
            row: tuple[Any, ...] = self._conn.execute(sql, values).fetchone()
            return row

    def _column(self, sql: str, *values: Any) -> list[Any]:
        return [row[0] for row in self._all(sql, *values)]


def _engine_version(conn: sqlite3.Connection) -> int:
    found = conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'engine_state'").fetchone()
    if not found:
        return 0
    row = conn.execute("SELECT version FROM engine_state").fetchone()
    return int(row[0]) if row else 0


def _chunks(values: list[Value], size: int = 500) -> Iterator[list[Value]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
