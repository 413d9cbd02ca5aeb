"""Memories in SQLite: rows of `memories` beside the catalogue's, found by keys and conditions.

In: values of `recollect.ports.memories`. Out: the same. A read gives only what its view shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import ceil
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.ports.memories import (
    Changes,
    Claim,
    Facts,
    IndexColumns,
    Texts,
    Written,
)
from recollect.ports.state import START, Head
from recollect.stores.sqlite import rows
from recollect.stores.sqlite.commits import touched_since
from recollect.stores.sqlite.filters import conditions
from recollect.stores.sqlite.seals import (
    OF_MEMORIES,
    OF_MEMORIES_LATER,
    OF_PAKS,
    SEALED_COLUMNS,
    row_seal,
)
from recollect.stores.sqlite.session import chunks, marks
from recollect.stores.sqlite.versions import Author

if TYPE_CHECKING:
    from recollect.model import Memory, Place
    from recollect.model.pak import PakRow
    from recollect.paks import RecallStore
    from recollect.policy import View
    from recollect.ports.memories import (
        NewMemory,
        RowFilter,
        Standing,
    )
    from recollect.stores.sqlite.session import Session
    from recollect.stores.sqlite.versions import SqliteVersions

__all__ = ["SqliteMemories"]

Made = TypeVar("Made")

# Texts and head in one statement: nobody can write between the two. The row of state is there also
# when no memory is.
_READ = (
    f"SELECT revision, commit_id, memories.row_id, {rows.SHOWN_COLUMNS} FROM engine_state"
    " LEFT JOIN memories ON {condition} LEFT JOIN paks ON paks.pak_id = memories.pak_id"
)

# Where a memory's id may stand; `paks_fts_content` is where full text keeps its copy.
_KNOWS_PAKS = {
    "paks": "pak_id",
    "memories": "pak_id",
    "paks_fts_content": "c0",
    "pak_anchors": "pak_id",
    "pak_relations": "pak_id",
    "pak_reason_codes": "pak_id",
    "pak_risk_flags": "pak_id",
    "damaged": "name",
}
# Where the sealed columns stand among `OWN_COLUMNS`, and which of them hold no whole numbers.
_SEALED = tuple(map(rows.OWN_COLUMNS.index, OF_MEMORIES))
_SEALED_LATER = tuple(map(rows.OWN_COLUMNS.index, OF_MEMORIES_LATER))
_of_entry = attrgetter(*OF_PAKS)
_REALS = frozenset(map(rows.OWN_COLUMNS.index, ("confidence", "decay")))
# What an index takes at a time, at most: it builds a segment from each batch.
_BATCH_ROWS = 8192
# So few are read by their numbers, in one statement.
_FEW_ROWS = 500


class SqliteMemories:
    """The memories of one SQLite file."""

    def __init__(self, db: Session, catalogue: RecallStore, versions: SqliteVersions) -> None:
        self._db = db
        self._catalogue = catalogue
        self._versions = versions
        # Replaced, not changed: another thread may be looking at it.
        self._unreadable: frozenset[int] = frozenset()

    def read(self, where: RowFilter, view: View) -> Texts:
        """Return those memories that the view shows, with the head that they are of."""
        queries = list(conditions(where))
        if len(queries) == 1:
            return self._read(where, view, queries)
        with self._db.snapshot():
            return self._read(where, view, queries)

    def rows(self, where: RowFilter) -> list[int]:
        """Return the row ids of some memories, in ascending order."""
        found = [
            row_id
            for condition, values in conditions(where)
            for row_id in self._db.column(f"SELECT row_id FROM memories WHERE {condition}", *values)
        ]
        return sorted(found)

    def facts(self, names: Sequence[str], row_ids: Sequence[int] | None) -> Facts:
        """Return fields of some rows, or of all."""
        query = f"SELECT row_id, {rows.fact_columns(names)} FROM {rows.fact_tables(names)}"
        with self._db.snapshot():
            head = self._db.head()
            if row_ids is None:
                found = self._db.all(query)
            else:
                found = [
                    row
                    for chunk in chunks(row_ids)
                    for row in self._db.all(f"{query} WHERE row_id IN ({marks(chunk)})", *chunk)
                ]
        return Facts(head, [rows.fact_row(names, row) for row in found])

    def standing(self, where: RowFilter) -> dict[str, Standing]:
        """Return where some memories stand, by id."""
        with self._db.snapshot():
            columns = rows.STANDING_COLUMNS.format(vector=f"vector_{self._db.slot}")
            found = [
                row
                for condition, values in conditions(where)
                for row in self._db.all(
                    f"SELECT {columns} FROM memories JOIN paks USING (pak_id) WHERE {condition}",
                    *values,
                )
            ]
        return {
            row[-1]: stands for row in sorted(found) if (stands := self._made(rows.standing, row))
        }

    def claims(self, tenant: str, about: Sequence[tuple[str, str]]) -> list[Claim]:
        """Return what a tenant's memories say of pairs of entity and relation."""
        found = [
            row
            for chunk in chunks(about, 250)
            for row in self._db.all(
                "WITH wanted (entity_key, relation_key) AS (VALUES "
                + ", ".join(["(?, ?)"] * len(chunk))
                + ") SELECT row_id, entity_key, relation_key, value_key"
                " FROM wanted CROSS JOIN memories USING (entity_key, relation_key)"
                " WHERE tenant = ? AND typeof(value_key) = 'text'",
                *chain.from_iterable(chunk),
                tenant,
            )
        ]
        return [Claim(*row) for row in sorted(found)]

    def unreadable(self) -> frozenset[int]:
        """Return the rows that reads left out so far, since they cannot be memories."""
        return self._unreadable

    def unreadable_places(self) -> frozenset[Place]:
        """Return where the rows stood that reads left out and nobody holds back, as far as known.

        Their second copies say so. Where a row itself says something else, nobody knows.
        """
        found: set[Place] = set()
        for chunk in chunks(sorted(self._unreadable)):
            where = f"WHERE row_id IN ({marks(chunk)})"
            query = f"SELECT row_id, {rows.STOOD} FROM memories {{how}} {where}"
            stood = {row[0]: row[1:] for row in self._db.all(query.format(how=""), *chunk)}
            copies = self._db.all(query.format(how="INDEXED BY twin_memories"), *chunk)
            places = (rows.place_of(copy, stood.get(row_id)) for row_id, *copy in copies)
            found.update(place for place in places if place is not None)
        return frozenset(found)

    def unplaced(self) -> frozenset[str]:
        """Return the ids of memories that the catalogue holds and the engine never wrote."""
        return frozenset(
            self._db.column(
                "SELECT pak_id FROM paks WHERE pak_id NOT IN (SELECT pak_id FROM memories)"
            )
        )

    def next_position(self, tenant: str, thread: str) -> int:
        """Return the position after the last one in a tenant's threads of this name."""
        row = self._db.one(
            "SELECT max(position) FROM memories WHERE tenant = ? AND thread = ?"
            " AND typeof(position) = 'integer'",
            tenant,
            thread,
        )
        return 0 if row[0] is None else int(row[0]) + 1

    def changes(self, since: Head) -> Iterator[Changes]:
        """Yield what changed since a head; the last batch holds the new one."""
        with self._db.snapshot():
            head = self._db.head()
            if head == since:
                return
            touched = None if since == START else touched_since(self._db, since)
            # What became of those that could not be read is seen when they are read again.
            if self._unreadable:
                again = self._unreadable if touched is None else touched.gone | touched.rows
                self._unreadable -= again
            if touched is not None and touched.gone:
                yield Changes(since, (), sorted(touched.gone), ())
            if touched is None:
                for batch, to_come in self._every_index_row():
                    yield Changes(since, batch, (), (), to_come=to_come)
            else:
                for batch in self._index_rows(sorted(touched.rows)):
                    yield Changes(since, batch, (), ())
            used = {} if touched is None else dict.fromkeys(touched.users)
            edges = self._edges(None if touched is None else touched.edges)
            yield Changes(head, (), (), edges, used)

    def write(self, memories: Sequence[NewMemory]) -> list[Written]:
        """Add memories, or replace those that exist."""
        touched = self._db.touched
        ids = [new.memory.pak_id for new in memories]
        known = self._row_ids(ids)
        before = self._versions.before(list(known.values())) if known else {}
        entries = self._catalogue.keep_rows(new.pak for new in memories)
        added = [new for new in memories if new.memory.pak_id not in known]
        if known:
            self._replace([new for new in memories if new.memory.pak_id in known])
        numbers = known | self._insert(added, entries)
        touched.rows.update(numbers.values())
        if known:
            self._seal(list(known.values()))
            self._versions.keep(
                before,
                {
                    known[new.memory.pak_id]: Author(new.by, new.memory.updated_at)
                    for new in memories
                    if new.memory.pak_id in known
                },
            )
        return [Written(numbers[pak_id], pak_id not in known) for pak_id in ids]

    def set_standing(self, standing: Iterable[Standing], *, by: str, at: str) -> None:
        """Write where rows stand now."""
        stands = list(standing)
        before = self._versions.before([one.row_id for one in stands])
        self._db.touched.rows.update(one.row_id for one in stands)
        self._db.run_each(
            f"UPDATE memories SET {_assignments(*rows.STANDING_VALUES)} WHERE row_id = ?",
            [(*rows.standing_values(one), one.row_id) for one in stands],
        )
        self._versions.keep(before, dict.fromkeys(before, Author(by, at)))

    def supersede(self, successors: Mapping[str, str | None], *, by: str, at: str) -> None:
        """Name the successor of memories."""
        known = self._row_ids(list(successors))
        before = self._versions.before(list(known.values()))
        self._db.touched.rows.update(known.values())
        self._db.run_each(
            "UPDATE paks SET superseded_by = ? WHERE pak_id = ?",
            [(successors[pak_id], pak_id) for pak_id in known],
        )
        self._versions.keep(before, dict.fromkeys(before, Author(by, at)))

    def set_ends(self, ends: Mapping[int, str]) -> None:
        """Write until when rows hold now."""
        self._db.touched.rows.update(ends)
        self._db.run_each(
            "UPDATE memories SET valid_until = ?, seal = NULL WHERE row_id = ?",
            [(end, row_id) for row_id, end in ends.items()],
        )
        self._seal(list(ends))

    def erase(self, pak_ids: Sequence[str]) -> int:
        """Delete memories and everything that hangs on them; return how many links went along."""
        from recollect.paks.fulltext_wiping import leave_to_merging

        edges = 0
        # Known with the erasure itself: who is killed before the bytes are wiped is made up for.
        self._db.run("UPDATE engine_state SET unwiped = ?", self._db.revision)
        with self._db.writing() as conn:
            leave_to_merging(conn, len(pak_ids))
        if pak_ids:
            # Nobody knows any more which memories a damaged receipt names.
            self._db.run("DELETE FROM damaged WHERE stood_in = 'receipts'")
        for chunk in chunks(pak_ids):
            rows_of = f"SELECT row_id FROM memories WHERE pak_id IN ({marks(chunk)})"
            edges += self._db.one(
                f"SELECT count(*) FROM memory_edges WHERE low IN ({rows_of})"
                f" OR high IN ({rows_of})",
                *chunk,
                *chunk,
            )[0]
            self._db.run(f"DELETE FROM memory_edges WHERE low IN ({rows_of})", *chunk)
            self._db.run(f"DELETE FROM memory_edges WHERE high IN ({rows_of})", *chunk)
            self._db.run(f"DELETE FROM memory_likenesses WHERE row_id IN ({rows_of})", *chunk)
            self._db.run(f"DELETE FROM memory_likenesses WHERE other IN ({rows_of})", *chunk)
            self._db.run(f"DELETE FROM paks WHERE pak_id IN ({marks(chunk)})", *chunk)
            self._db.run(f"DELETE FROM damaged WHERE name IN ({marks(chunk)})", *chunk)
        return edges

    def traces(self, pak_ids: Sequence[str]) -> list[str]:
        """Return the names of tables that still know any of these memories."""
        found = set()
        for table, column in _KNOWS_PAKS.items():
            for chunk in chunks(pak_ids):
                if self._db.all(
                    f"SELECT 1 FROM {table} WHERE {column} IN ({marks(chunk)}) LIMIT 1", *chunk
                ):
                    found.add(table)
        return sorted(found)

    def _read(
        self, where: RowFilter, view: View, queries: Sequence[tuple[str, Sequence[Any]]]
    ) -> Texts:
        found: dict[int, Memory] = {}
        revision, commit_id = 0, None
        for condition, values in queries:
            for row in self._db.all(_reading(condition), *values):
                revision, commit_id, row_id = row[:3]
                memory = self._made(rows.from_row, row[3:], row_id) if row_id is not None else None
                if memory is not None:
                    found[row_id] = memory
        head = Head(revision, commit_id)
        if where.pak_ids is not None:
            by_id = {memory.pak_id: memory for memory in found.values()}
            ordered = [by_id[one] for one in dict.fromkeys(where.pak_ids) if one in by_id]
        else:
            wanted = sorted(found) if where.row_ids is None else dict.fromkeys(where.row_ids)
            ordered = [found[one] for one in wanted if one in found]
        return Texts(head, {one.pak_id: one for one in ordered if view.shows(one)})

    def _row_ids(self, pak_ids: Sequence[str]) -> dict[str, int]:
        return {
            pak_id: row_id
            for chunk in chunks(pak_ids)
            for pak_id, row_id in self._db.all(
                f"SELECT pak_id, row_id FROM memories WHERE pak_id IN ({marks(chunk)})", *chunk
            )
        }

    def _insert(
        self, memories: Sequence[NewMemory], entries: Mapping[str, PakRow]
    ) -> dict[str, int]:
        """Add rows beside their entries in the catalogue; return their numbers."""
        slot = self._db.slot
        columns = (*rows.OWN_COLUMNS, "seal", f"vector_{slot}", f"vector_seal_{slot}")
        numbers: dict[str, int] = {}
        for chunk in chunks(memories, 250):
            values = [
                value
                for new in chunk
                for value in (
                    *_sealed(rows.own_values(new), entries[new.memory.pak_id]),
                    *rows.sealed_vector(new.vector),
                )
            ]
            row = f"({marks(columns)})"
            inserted = self._db.all(
                f"INSERT INTO memories ({', '.join(columns)})"
                f" VALUES {', '.join([row] * len(chunk))} RETURNING pak_id, row_id",
                *values,
            )
            numbers.update(inserted)
        return numbers

    def _replace(self, memories: Sequence[NewMemory]) -> None:
        """Write rows anew; of the same text the vectors stay, but for one that is given."""
        slot = self._db.slot
        serving, other = f"vector_{slot}", f"vector_{1 - slot}"
        seal, other_seal = f"vector_seal_{slot}", f"vector_seal_{1 - slot}"
        vectors = {
            True: f"{serving} = ifnull(?, {serving}), {seal} = ifnull(?, {seal})",
            False: f"{other} = NULL, {other_seal} = NULL, {serving} = ?, {seal} = ?",
        }
        for same_text, vector in vectors.items():
            self._db.run_each(
                f"UPDATE memories SET {_assignments(*rows.OWN_COLUMNS)}, seal = NULL, {vector}"
                " WHERE pak_id = ?",
                [
                    (*rows.own_values(new), *rows.sealed_vector(new.vector), new.memory.pak_id)
                    for new in memories
                    if new.same_text is same_text
                ],
            )

    def _seal(self, row_ids: Sequence[int]) -> None:
        """Seal rows that were replaced as they stand in both tables."""
        for chunk in chunks(row_ids):
            found = self._db.all(
                f"SELECT {SEALED_COLUMNS}, row_id FROM memories JOIN paks USING (pak_id)"
                f" WHERE row_id IN ({marks(chunk)})",
                *chunk,
            )
            self._db.run_each(
                "UPDATE memories SET seal = ? WHERE row_id = ?",
                [(row_seal(*row[:-1]), row[-1]) for row in found],
            )

    def _every_index_row(self) -> Iterator[tuple[IndexColumns, int]]:
        """Yield what an index learns of all rows, and how many come after these."""
        count = int(self._db.one("SELECT count(*) FROM memories")[0])
        if count <= _FEW_ROWS:
            row_ids = self._db.column("SELECT row_id FROM memories ORDER BY row_id")
            yield from ((batch, 0) for batch in self._index_rows(row_ids))
            return
        # Who has few memories need not load it.
        from recollect.stores.sqlite.walk import Walk

        # Of like size: a small rest would be added one by one.
        size = count / ceil(count / _BATCH_ROWS)
        parts, done, batches = list[IndexColumns](), 0, 1
        for part in Walk(self._db, self._one_by_one).parts():
            parts.append(part)
            done += len(part)
            if done >= size * batches:
                yield IndexColumns.joined(parts), max(0, count - done)
                parts, batches = [], batches + 1
        if any(parts):
            yield IndexColumns.joined(parts), 0

    def _index_rows(self, row_ids: Sequence[int]) -> Iterator[IndexColumns]:
        """Yield what an index learns of these rows, as far as they are there."""
        read = ", ".join((*rows.INDEX_COLUMNS, f"vector_{self._db.slot}"))
        batches = max(1, ceil(len(row_ids) / _BATCH_ROWS))
        for numbers in chunks(row_ids, max(1, ceil(len(row_ids) / batches))):
            parts = [
                self._indexable(
                    self._db.all(
                        f"SELECT {read} FROM memories JOIN paks USING (pak_id)"
                        f" WHERE memories.row_id IN ({marks(chunk)}) ORDER BY memories.row_id",
                        *chunk,
                    )
                )
                for chunk in chunks(numbers)
            ]
            yield IndexColumns.joined(parts)

    def _indexable(self, found: Sequence[Sequence[Any]]) -> IndexColumns:
        """Return what an index learns of rows; each is looked at only where one is no memory."""
        try:
            return rows.index_columns(rows.as_columns(found)) if found else IndexColumns.of(())
        except ValueError:
            return self._one_by_one(found)

    def _one_by_one(self, found: Sequence[Sequence[Any]]) -> IndexColumns:
        """Return the same of those rows that are memories."""
        each = (self._made(rows.index_row, row, row[rows.INDEX_ROW_ID]) for row in found)
        return IndexColumns.of([made for made in each if made is not None])

    def _edges(self, pairs: Iterable[tuple[int, int]] | None) -> list[tuple[int, int, float]]:
        """Return the weights of these links, 0 of one that is not there; or all links."""
        if pairs is None:
            return self._db.all(
                "SELECT low, high, weight FROM memory_edges WHERE weight BETWEEN 0 AND 1"
                " AND typeof(low) = 'integer' AND typeof(high) = 'integer'"
                " ORDER BY low, high"
            )
        return [
            edge
            for chunk in chunks(sorted(pairs))
            for edge in self._db.all(
                "WITH wanted (low, high) AS (VALUES "
                + ", ".join(["(?, ?)"] * len(chunk))
                + ") SELECT low, high, iif(weight BETWEEN 0 AND 1, weight, 0.0) FROM wanted"
                " LEFT JOIN memory_edges USING (low, high)",
                *chain.from_iterable(chunk),
            )
        ]

    def _made(
        self, make: Callable[[Sequence[Any]], Made], row: Sequence[Any], row_id: int | None = None
    ) -> Made | None:
        """Return what a row stands for; one that is no memory costs that memory alone."""
        try:
            return make(row)
        except ValueError:
            self._unreadable |= {row[0] if row_id is None else row_id}
            return None


def _assignments(*columns: str) -> str:
    return ", ".join(f"{column} = ?" for column in columns)


def _sealed(own: Sequence[Any], entry: PakRow) -> tuple[Any, ...]:
    """Return the values of a new row with its seal, which is of them as the file will hold them."""
    kept = [float(own[at]) if at in _REALS else own[at] for at in _SEALED]
    later = (own[at] for at in _SEALED_LATER)
    return (*own, row_seal(*kept, *_of_entry(entry), *later))


@lru_cache
def _reading(condition: str) -> str:
    """Return the statement that reads by a condition: the same text, whose hash is known."""
    return _READ.format(condition=condition)
