"""`SqliteStore`: the store port over one SQLite file, beside the catalogue and in its connection.

In: values of `recollect.ports.store`. Out: the same. It keeps and finds; it neither embeds nor
ranks nor reads a clock. One lock makes it safe to use from several threads.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import StoreTooNew
from recollect.model import FrameDefinition, Memory, name_key
from recollect.paks import PakListFilters, RecallStore
from recollect.paks.database import write
from recollect.policy import View, risks
from recollect.ports.store import (
    Changes,
    ClockState,
    Dispute,
    Edge,
    IndexRow,
    NewMemory,
    Standing,
    StoreState,
    Used,
    Written,
)
from recollect.stores.sqlite import rows
from recollect.stores.sqlite.access import SqliteAccess
from recollect.stores.sqlite.likenesses import SqliteLikenesses
from recollect.stores.sqlite.schema import ENGINE_MIGRATIONS, ENGINE_VERSION
from recollect.stores.sqlite.session import Session, chunks, marks

__all__ = ["SqliteStore"]

_SELECT = f"SELECT {rows.SHOWN_COLUMNS}, row_id FROM memories JOIN paks USING (pak_id)"
_ROW = f"({', '.join('?' * (len(rows.OWN_COLUMNS) + 2))})"
# Where a Pak's id may stand; `paks_fts_content` is where full text keeps its copy.
_KNOWS_PAKS = {
    "paks": "pak_id",
    "memories": "pak_id",
    "paks_fts_content": "c0",
    "pak_anchors": "pak_id",
    "pak_relations": "pak_id",
    "pak_reason_codes": "pak_id",
    "pak_risk_flags": "pak_id",
}
_KEPT = ("pak_id", "reinforced", "last_reinforced", "position", "status")
# What an index takes at a time: it builds a segment from each batch, and a rest is slower to add.
_BATCH_ROWS = 8_192


class SqliteStore:
    """Memories in one SQLite file. Open one with `SqliteStore.open`."""

    def __init__(self, catalogue: RecallStore, path: Path) -> None:
        self._catalogue = catalogue
        # The catalogue's lock, so that whoever uses `catalogue` takes turns with the engine.
        self._db = Session(catalogue.conn, catalogue.lock or RLock(), path)
        self._access = SqliteAccess(self._db)
        self._likenesses = SqliteLikenesses(self._db)
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
                store._db.run("PRAGMA synchronous = FULL")
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
        with self._db.lock:
            self._catalogue.close()

    @property
    def access(self) -> SqliteAccess:
        """Gardens, keys, trust and the audit log, in the same transactions."""
        return self._access

    @property
    def likenesses(self) -> SqliteLikenesses:
        """Whom each Pak holds for its most alike, in the same transactions."""
        return self._likenesses

    def transaction(self) -> AbstractContextManager[int]:
        """Commit all writes of the body together, or none of them; each is a new revision."""
        return self._db.transaction()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads of the body see one state of the store."""
        with self._db.lock, self._db.translated:
            if self._db.conn.in_transaction:
                yield
                return
            self._db.conn.execute("BEGIN")
            try:
                yield
            finally:
                self._db.conn.execute("ROLLBACK")

    def state(self) -> StoreState:
        """Return the facts about the whole store."""
        row = self._db.one(
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
            gone = self._db.column("SELECT row_id FROM memories_gone WHERE changed > ?", since)
            if gone:
                yield Changes(since, (), gone, ())
            for batch in self._changed_rows(since):
                yield Changes(since, batch, (), ())
            edges = self._db.all(
                "SELECT low, high, weight FROM memory_edges WHERE changed > ? ORDER BY low, high",
                since,
            )
            yield Changes(state.revision, (), (), edges)

    def memories(self, pak_ids: Iterable[str], view: View) -> dict[str, Memory]:
        """Return those memories that exist and may be read, in the order asked for."""
        wanted = list(dict.fromkeys(pak_ids))
        found = {row[0]: rows.from_row(row) for row in self._shown("memories.pak_id", wanted)}
        return _readable(map(found.get, wanted), view)

    def memories_at(self, row_ids: Iterable[int], view: View) -> dict[str, Memory]:
        """Return the same of some rows: one way down a tree less for each of them."""
        wanted = list(dict.fromkeys(row_ids))
        found = {row[-1]: rows.from_row(row) for row in self._shown("row_id", wanted)}
        return _readable(map(found.get, wanted), view)

    def standing(self, pak_ids: Iterable[str]) -> dict[str, Standing]:
        """Return where those Paks stand that exist; what a writer must know, not a reader."""
        return {
            row[0]: Standing(row[1], row[2], rows.place_of(row[5:]), row[3], bool(row[4]))
            for chunk in chunks(list(dict.fromkeys(pak_ids)))
            for row in self._db.all(
                "SELECT memories.pak_id, row_id, content_hash, status,"
                " status = 'active' AND valid_until IS NULL AND risks = '',"
                " tenant, owner, scope, team, garden FROM memories JOIN paks USING (pak_id)"
                f" WHERE memories.pak_id IN ({marks(chunk)})",
                *chunk,
            )
        }

    def row_ids(self, pak_ids: Iterable[str]) -> dict[str, int]:
        """Return the row ids of those Paks that exist."""
        return {
            row[0]: row[1]
            for chunk in chunks(list(pak_ids))
            for row in self._db.all(
                f"SELECT pak_id, row_id FROM memories WHERE pak_id IN ({marks(chunk)})", *chunk
            )
        }

    def next_position(self, thread: str) -> int:
        """Return the position after the last one in a thread, whoever wrote in it."""
        row = self._db.one("SELECT max(position) FROM memories WHERE thread = ?", thread)
        return 0 if row[0] is None else int(row[0]) + 1

    def write(self, memories: Sequence[NewMemory], *, now: str) -> list[Written]:
        """Add memories, or replace those that exist; what they have lived through stays."""
        known = self.row_ids(new.memory.pak_id for new in memories)
        replaced = self._catalogue.get_paks(known)
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
        revision = self._db.revision()
        for chunk in chunks(list(memories), 250):
            values = [
                value
                for new in chunk
                for value in (*rows.own_values(new), revision, rows.vector_bytes(new.vector))
            ]
            self._db.conn.execute(self._upsert(len(chunk)), values)
        ids = self.row_ids(new.memory.pak_id for new in memories)
        return [Written(ids[new.memory.pak_id], new.memory.pak_id not in known) for new in memories]

    def set_status(self, pak_ids: Iterable[str], status: str) -> None:
        """Give Paks another status."""
        for chunk in chunks(list(pak_ids)):
            self._db.run(
                f"UPDATE memories SET status = ?, changed = ? WHERE pak_id IN ({marks(chunk)})",
                status,
                self._db.revision(),
                *chunk,
            )

    def about(self, tenant: str, entity: str) -> list[str]:
        """Return the ids of a tenant's Paks whose entity or value this is."""
        key = name_key(entity)
        return self._db.column(
            "SELECT pak_id FROM memories WHERE entity_key = ? AND tenant = ?"
            " UNION SELECT pak_id FROM memories WHERE value_key = ? AND tenant = ?"
            " ORDER BY pak_id",
            key,
            tenant,
            key,
            tenant,
        )

    def rows_with(self, **fields: str) -> list[int]:
        """Return the row ids of Paks with this entity, relation or source."""
        named = {
            "entity_key" if name == "entity" else name: name_key(value)
            if name == "entity"
            else value
            for name, value in fields.items()
        }
        conditions = " AND ".join(f"{name} = ?" for name in named)
        return self._db.column(f"SELECT row_id FROM memories WHERE {conditions}", *named.values())

    def unplaced(self) -> frozenset[str]:
        """Return the ids of Paks that the catalogue holds and the engine never wrote."""
        return frozenset(
            self._db.column(
                "SELECT pak_id FROM paks WHERE pak_id NOT IN (SELECT pak_id FROM memories)"
            )
        )

    def erase(self, pak_ids: Sequence[str]) -> int:
        """Delete Paks and everything that hangs on them; return how many edges went along."""
        edges = 0
        for chunk in chunks(list(pak_ids)):
            rows_of = f"SELECT row_id FROM memories WHERE pak_id IN ({marks(chunk)})"
            edges += self._db.one(
                f"SELECT count(*) FROM memory_edges WHERE weight > 0 AND (low IN ({rows_of})"
                f" OR high IN ({rows_of}))",
                *chunk,
                *chunk,
            )[0]
            self._db.run(f"DELETE FROM memory_edges WHERE low IN ({rows_of})", *chunk)
            self._db.run(f"DELETE FROM memory_edges WHERE high IN ({rows_of})", *chunk)
            self._db.run(f"DELETE FROM memory_likenesses WHERE row_id IN ({rows_of})", *chunk)
            self._db.run(f"DELETE FROM memory_likenesses WHERE other IN ({rows_of})", *chunk)
            self._db.run(f"DELETE FROM paks WHERE pak_id IN ({marks(chunk)})", *chunk)
        return edges

    def scrub(self) -> bool:
        """Wipe what deleted text left behind in the file; return whether all of it could be.

        Full text keeps deleted words until its parts are merged. The write-ahead log keeps old
        pages until it is emptied, which has to wait for other processes that are reading.
        """
        with self._db.lock, self._db.translated:
            with write(self._db.conn):
                self._db.conn.execute("INSERT INTO paks_fts (paks_fts) VALUES ('optimize')")
            busy, _, _ = self._db.conn.execute("PRAGMA wal_checkpoint (TRUNCATE)").fetchone()
            return not busy

    def traces(self, pak_ids: Sequence[str]) -> list[str]:
        """Return the names of tables that still know any of these Paks; there should be none."""
        found = set()
        for table, column in _KNOWS_PAKS.items():
            for chunk in chunks(list(pak_ids)):
                if self._db.all(
                    f"SELECT 1 FROM {table} WHERE {column} IN ({marks(chunk)}) LIMIT 1", *chunk
                ):
                    found.add(table)
        return sorted(found)

    def reinforce(self, pak_ids: Sequence[str], *, active_hours: float) -> list[Used]:
        """Count one more use of each of these Paks, now, and return those that exist."""
        where = f"WHERE pak_id IN ({marks(pak_ids)})"
        self._db.run(
            "UPDATE memories SET reinforced = reinforced + 1, last_reinforced = ?, changed = ?"
            f" {where}",
            active_hours,
            self._db.revision(),
            *pak_ids,
        )
        found = self._db.all(
            f"SELECT row_id, reinforced, last_reinforced FROM memories {where}", *pak_ids
        )
        return [Used(*row) for row in found]

    def edges(self, row_ids: Iterable[int]) -> list[Edge]:
        """Return all edges that touch any of these rows."""
        return [
            Edge(low, high, weight, bool(automatic))
            for chunk in chunks(list(row_ids))
            for low, high, weight, automatic in self._db.all(
                "SELECT low, high, weight, automatic FROM memory_edges"
                f" WHERE low IN ({marks(chunk)}) AND weight > 0"
                " UNION SELECT low, high, weight, automatic FROM memory_edges"
                f" WHERE high IN ({marks(chunk)}) AND weight > 0",
                *chunk,
                *chunk,
            )
        ]

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Write edges as given; a weight of 0 removes one."""
        revision = self._db.revision()
        self._db.conn.executemany(
            "INSERT INTO memory_edges (low, high, weight, automatic, changed)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (low, high) DO UPDATE SET"
            " weight = excluded.weight, automatic = excluded.automatic, changed = excluded.changed",
            [(edge.low, edge.high, edge.weight, edge.automatic, revision) for edge in edges],
        )

    def dispute(self, first: str, second: str, *, note: str, now: str) -> None:
        """Open a dispute between two Paks that exist."""
        low, high = self._pair(first, second)
        self._db.run(
            "INSERT INTO memory_disputes (low, high, note, is_open, created_at)"
            " VALUES (?, ?, ?, 1, ?) ON CONFLICT (low, high) DO UPDATE SET note = excluded.note,"
            " is_open = 1, created_at = excluded.created_at",
            low,
            high,
            note,
            now,
        )

    def resolve(self, first: str, second: str) -> bool:
        """Close a dispute; return whether there was an open one."""
        low, high = self._pair(first, second)
        closed = self._db.run(
            "UPDATE memory_disputes SET is_open = 0 WHERE low = ? AND high = ? AND is_open = 1",
            low,
            high,
        )
        return closed.rowcount > 0

    def disputes(self) -> list[Dispute]:
        """Return all open disputes; who may know of one is for the caller to see to."""
        return [
            Dispute(first, second, note)
            for first, second, note in self._db.all(
                "SELECT one.pak_id, other.pak_id, note FROM memory_disputes"
                " JOIN memories AS one ON one.row_id = low"
                " JOIN memories AS other ON other.row_id = high"
                " WHERE is_open = 1 ORDER BY low, high"
            )
        ]

    def set_clock(self, clock: ClockState) -> None:
        """Keep the counter of active hours; another process's later count stays."""
        self._db.run(
            "UPDATE engine_state SET active_hours = max(active_hours, ?),"
            " seen_at = max(ifnull(seen_at, ?), ?)",
            clock.active_hours,
            clock.seen_at,
            clock.seen_at,
        )

    def set_model(self, model_id: str, dimension: int) -> None:
        """Keep which model the vectors are of."""
        self._db.run("UPDATE engine_state SET model_id = ?, dimension = ?", model_id, dimension)

    def pending(self, limit: int) -> list[tuple[str, str]]:
        """Return (pak_id, text) of Paks that wait for a vector, oldest first."""
        return self._db.all(
            "SELECT pak_id, content FROM memories WHERE pending = 1 ORDER BY row_id LIMIT ?", limit
        )

    def set_vectors(self, vectors: Mapping[str, NDArray[np.int8] | None]) -> None:
        """Give Paks the vectors that they waited for."""
        revision = self._db.revision()
        self._db.conn.executemany(
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
        return {name: self._db.one(sql)[0] for name, sql in queries.items()}

    def fire(self, event: str) -> None:
        """Record that something happened which cached frames may depend on."""
        self._db.run(
            "INSERT INTO memory_events (event, changed) VALUES (?, ?)"
            " ON CONFLICT (event) DO UPDATE SET changed = excluded.changed",
            event,
            self._db.revision(),
        )

    def events(self) -> Mapping[str, int]:
        """Return the revision at which each event last fired."""
        return dict(self._db.all("SELECT event, changed FROM memory_events"))

    def frames(self, tenant: str) -> Mapping[str, tuple[FrameDefinition, str | None]]:
        """Return the frames of a tenant's own, by name."""
        return {
            name: (FrameDefinition.from_dict(json.loads(definition)), extends)
            for name, definition, extends in self._db.all(
                "SELECT name, definition, extends FROM memory_frames WHERE tenant = ?"
                " ORDER BY name",
                tenant,
            )
        }

    def put_frame(self, tenant: str, definition: FrameDefinition, extends: str | None) -> None:
        """Keep a frame of a tenant's own."""
        self._db.run(
            "INSERT INTO memory_frames (tenant, name, definition, extends) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (tenant, name) DO UPDATE SET definition = excluded.definition,"
            " extends = excluded.extends",
            tenant,
            definition.name,
            json.dumps(definition.to_dict()),
            extends,
        )

    def delete_frame(self, tenant: str, name: str) -> bool:
        """Drop a tenant's frame; return whether there was one."""
        dropped = self._db.run(
            "DELETE FROM memory_frames WHERE tenant = ? AND name = ?", tenant, name
        )
        return dropped.rowcount > 0

    def begin_reembedding(self, model_id: str, dimension: int) -> None:
        """Start, or go on with, giving every Pak a vector of another model."""
        state = self.state()
        if (state.next_model_id, state.next_dimension) == (model_id, dimension):
            return
        self._db.run(f"UPDATE memories SET vector_{1 - self._slot} = NULL")
        self._db.run(
            "UPDATE engine_state SET next_model_id = ?, next_dimension = ?", model_id, dimension
        )

    def without_next_vector(self, after_row: int, limit: int) -> list[tuple[int, str]]:
        """Return (row_id, text) of Paks that the new model has not seen yet."""
        self.state()
        return self._db.all(
            f"SELECT row_id, content FROM memories WHERE vector_{1 - self._slot} IS NULL"
            " AND row_id > ? ORDER BY row_id LIMIT ?",
            after_row,
            limit,
        )

    def set_next_vectors(self, vectors: Mapping[int, NDArray[np.int8]]) -> None:
        """Keep vectors of the new model; the old ones go on serving."""
        self._db.conn.executemany(
            f"UPDATE memories SET vector_{1 - self._slot} = ? WHERE row_id = ?",
            [(rows.vector_bytes(vector), row_id) for row_id, vector in vectors.items()],
        )

    def finish_reembedding(self) -> None:
        """Switch to the new model's vectors, all at once."""
        dimension = self.state().next_dimension
        self._db.run(
            "UPDATE engine_state SET model_id = next_model_id, dimension = next_dimension,"
            " next_model_id = NULL, next_dimension = NULL, vector_slot = 1 - vector_slot,"
            " oldest_change = revision"
        )
        self._db.run(
            f"UPDATE memories SET pending = (? > 0 AND vector_{1 - self._slot} IS NULL),"
            f" vector_{self._slot} = NULL, changed = ?",
            dimension,
            self._db.revision(),
        )
        self.state()

    def set_cache_token(self, token: str) -> None:
        """Name the one cache file that belongs to this store's history."""
        self._db.run("UPDATE engine_state SET cache_token = ?", token)

    def tidy(self) -> None:
        """Drop the marks of deleted rows and edges; older indexes must start anew."""
        self._db.run("DELETE FROM memories_gone")
        self._db.run("DELETE FROM memory_edges WHERE weight = 0")
        self._db.run("UPDATE engine_state SET oldest_change = revision")

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the stored data, in words."""
        with self._db.lock:
            problems = list(self._catalogue.check().problems)
        state = self.state()
        if state.dimension:
            odd = self._db.one(
                f"SELECT count(*) FROM memories WHERE vector_{self._slot} IS NOT NULL"
                f" AND length(vector_{self._slot}) != ?",
                state.dimension,
            )[0]
            if odd:
                problems.append(f"{odd} vectors are not of the model's size")
        ahead = self._db.one(
            "SELECT count(*) FROM memories, engine_state WHERE memories.changed > revision"
        )[0]
        if ahead:
            problems.append(f"{ahead} memories are newer than the store's revision")
        return (*problems, *self._likenesses.problems())

    def _prepare(self, store_id: str) -> None:
        with self._db.translated:
            # Refuses a catalogue of a newer release before anything of ours is written.
            self._catalogue.count_paks(PakListFilters(project=""))
            version = _engine_version(self._db.conn)
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
        self._db.conn.create_function("name_key", 1, _name_key, deterministic=True)
        self._db.conn.create_function("found_risks", -1, _found_risks, deterministic=True)
        with write(self._db.conn):
            version = _engine_version(self._db.conn)
            for migration in ENGINE_MIGRATIONS:
                if migration.version > version:
                    for statement in migration.statements:
                        self._db.conn.execute(statement)
            self._db.conn.execute(
                "INSERT INTO engine_state (id, version, store_id) VALUES (1, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET version = excluded.version",
                (ENGINE_VERSION, store_id),
            )

    def _shown(self, key: str, values: list[Any]) -> Iterator[tuple[Any, ...]]:
        """Yield what readers are shown of memories, and their row ids, in no order."""
        for chunk in chunks(values):
            yield from self._db.all(f"{_SELECT} WHERE {key} IN ({marks(chunk)})", *chunk)

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
        changed = self._db.column(
            "SELECT row_id FROM memories INDEXED BY idx_memories_changed WHERE changed > ?"
            " ORDER BY row_id",
            since,
        )
        for numbers in chunks(changed, _BATCH_ROWS):
            yield [
                rows.index_row(row)
                for chunk in chunks(numbers)
                for row in self._db.all(
                    f"SELECT {rows.INDEX_COLUMNS}, vector_{self._slot}"
                    " FROM memories JOIN paks USING (pak_id)"
                    f" WHERE memories.row_id IN ({marks(chunk)}) ORDER BY memories.row_id",
                    *chunk,
                )
            ]

    def _pair(self, first: str, second: str) -> tuple[int, int]:
        ids = self.row_ids((first, second))
        return (min(ids[first], ids[second]), max(ids[first], ids[second]))


def _name_key(name: str | None) -> str | None:
    return None if name is None else name_key(name)


def _found_risks(*texts: str | None) -> str:
    return ",".join(risks(*(text for text in texts if text)))


def _engine_version(conn: sqlite3.Connection) -> int:
    found = conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'engine_state'").fetchone()
    if not found:
        return 0
    row = conn.execute("SELECT version FROM engine_state").fetchone()
    return int(row[0]) if row else 0


def _readable(memories: Iterable[Memory | None], view: View) -> dict[str, Memory]:
    return {one.pak_id: one for one in memories if one is not None and view.shows(one)}
