"""The catalogue's rows as columns, read once and kept until the store changes.

In: row numbers. Out: arrays with one entry a row. Rows are fetched when a query first meets them,
all that are missing in one statement, so a query costs what it finds, not what there is. `kept`
says when what was read may be used again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from recollect.paks import RecallStore
from recollect.recall.select.journal import Touched, begin, taken
from recollect.recall.select.values import moment
from recollect.recall.select.words import Hit, Statistics, posting

__all__ = ["NEVER", "Columns", "Documents", "Kept", "Names", "Rows", "kept", "listed", "varints"]

NEVER = np.iinfo(np.int64).min
# So many occurrences of words are kept, three numbers each.
_MOST_HELD = 1_000_000
# Forgotten rows leave holes; with more than so many it is better to start anew.
_MOST_FORGOTTEN = 50_000

Ints = NDArray[np.int64]
Objects = NDArray[np.object_]
Bools = NDArray[np.bool_]


class Names:
    """Numbers for texts that are compared for equality only; 0 stands for None."""

    def __init__(self) -> None:
        self._numbers: dict[str | None, int] = {None: 0}

    def numbers(self, texts: Sequence[str | None]) -> Ints:
        """Return the numbers of texts, giving one to each that is new."""
        known = self._numbers
        return _ints([known.setdefault(text, len(known)) for text in texts])

    def known(self, text: str) -> int:
        """Return the number of a text, or -1 for one that no row has."""
        return self._numbers.get(text, -1)

    def all(self) -> list[str | None]:
        """Return all texts by their numbers."""
        return list(self._numbers)

    def equal(self, numbers: Ints, text: str | None) -> Bools:
        """Return which of the numbers stand for `text`; none of them if there is no text."""
        alike: Bools = numbers == (self.known(text) if text else -1)
        return alike


class _Places:
    """Where the entry of a key is: whole numbers in, positions out, -1 for a key not there."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.int64)
        self._values = np.empty(0, np.int64)

    def of(self, keys: Ints) -> Ints:
        if not len(self._keys):
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._values[at], -1)

    def keys(self) -> Ints:
        return self._keys

    def remove(self, keys: Ints) -> None:
        left = ~np.isin(self._keys, keys)
        self._keys, self._values = self._keys[left], self._values[left]

    def add(self, keys: Ints, values: Ints) -> None:
        everything = np.concatenate([self._keys, keys])
        order = np.argsort(everything, kind="stable")
        self._keys = everything[order]
        self._values = np.concatenate([self._values, values])[order]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What is known of some rows; `starts` and `ends` say where each row's codes are."""

    row_ids: Ints
    pak_ids: Objects
    updated_at: Objects
    updated_us: Ints
    contents: Ints
    projects: Ints
    types: Ints
    superseded_by: Objects
    is_superseded: Bools
    starts: Ints
    ends: Ints


class Rows:
    """Rows of `paks` with their reason codes. A row's place here is its slot."""

    def __init__(self) -> None:
        self.contents, self.projects, self.types, self.codes = Names(), Names(), Names(), Names()
        self._places = _Places()
        self._columns = _no_columns()
        self.entry_codes = np.empty(0, np.int64)
        self.entry_weights = np.empty(0, np.float64)

    @property
    def columns(self) -> Columns:
        """All rows that were ever met, by slot."""
        return self._columns

    def slots(self, conn: sqlite3.Connection, row_ids: Ints) -> Ints:
        """Return the slots of rows, fetching those that are not here yet."""
        slots = self._places.of(row_ids)
        missing = np.unique(row_ids[slots < 0])
        if not len(missing):
            return slots
        self._fetch(conn, missing)
        return self._places.of(row_ids)

    def forget(self, row_ids: Ints) -> None:
        """Let rows be fetched anew; whoever holds their slots may still look at what they were."""
        self._places.remove(row_ids)

    def _fetch(self, conn: sqlite3.Connection, row_ids: Ints) -> None:
        found = conn.execute(_ROWS, (listed(row_ids),)).fetchall()
        # A row stands as often as it has codes, and once if it has none.
        fresh = self._made(list({row[0]: row for row in found}.values()), found)
        first = len(self._columns.row_ids)
        self._columns = Columns(
            *(
                np.concatenate([getattr(self._columns, name), getattr(fresh, name)])
                for name in Columns.__slots__
            )
        )
        self._places.add(fresh.row_ids, np.arange(first, first + len(fresh.row_ids)))

    def _made(self, rows: list[Any], found: list[Any]) -> Columns:
        codes = sorted((row[0], row[7], row[8]) for row in found if row[7] is not None)
        owners, names, weights = _transposed(codes, 3)
        entries, before = _ints(owners), len(self.entry_codes)
        self.entry_codes = np.concatenate([self.entry_codes, self.codes.numbers(names)])
        self.entry_weights = np.concatenate([self.entry_weights, np.array(weights, np.float64)])
        row_ids, pak_ids, times, contents, projects, types, successors, *_ = _transposed(rows, 9)
        ids = _ints(row_ids)
        return Columns(
            row_ids=ids,
            pak_ids=_objects(pak_ids),
            updated_at=_objects(times),
            updated_us=_ints([_microseconds(time) for time in times]),
            contents=self.contents.numbers(contents),
            projects=self.projects.numbers(projects),
            types=self.types.numbers(types),
            superseded_by=_objects(successors),
            is_superseded=np.array([one is not None for one in successors], np.bool_),
            starts=before + np.searchsorted(entries, ids, "left"),
            ends=before + np.searchsorted(entries, ids, "right"),
        )


class Documents:
    """Rows of the full-text table: which Pak each belongs to, and how many words it has."""

    def __init__(self) -> None:
        self._places = _Places()
        self._row_ids = np.empty(0, np.int64)
        self._lengths = np.empty(0, np.int64)

    def of(self, conn: sqlite3.Connection, documents: Ints) -> tuple[Ints, Ints]:
        """Return each document's row number in `paks`, -1 if it belongs to none, and its length."""
        places = self._places.of(documents)
        missing = np.unique(documents[places < 0])
        if len(missing):
            self._fetch(conn, missing)
            places = self._places.of(documents)
        if not len(self._row_ids):
            return places, np.zeros(len(places), np.int64)
        found = places >= 0
        return np.where(found, self._row_ids[places], -1), np.where(found, self._lengths[places], 0)

    def forget(self, touched: Touched) -> None:
        """Let documents be fetched anew: those that were touched, and those of touched Paks."""
        known = self._places.keys()
        of_touched = np.isin(self._row_ids[self._places.of(known)], touched.rows)
        self._places.remove(np.concatenate([touched.documents, known[of_touched]]))

    def _fetch(self, conn: sqlite3.Connection, documents: Ints) -> None:
        found = conn.execute(_DOCUMENTS, (listed(documents),)).fetchall()
        first = len(self._row_ids)
        ids, row_ids, sizes = _transposed(found, 3)
        self._row_ids = np.concatenate([self._row_ids, _ints(row_ids)])
        self._lengths = np.concatenate([self._lengths, _ints([_length(size) for size in sizes])])
        self._places.add(_ints(ids), np.arange(first, len(self._row_ids)))


class Kept:
    """What was read of one store, good for one state of it.

    What the store's own connection changes is forgotten row by row.
    """

    def __init__(self) -> None:
        self._forgotten = 0
        self.rows = Rows()
        self._documents = Documents()
        self._hits: dict[str, Hit] = {}
        self._held = 0
        self._counted: tuple[Collection[str] | None, Statistics] | None = None

    def forget(self, touched: Touched) -> bool:
        """Forget what was changed; return whether what is left is worth keeping."""
        if len(touched.rows) or len(touched.documents):
            self.rows.forget(touched.rows)
            self._documents.forget(touched)
            self._hits, self._held, self._counted = {}, 0, None
            self._forgotten += len(touched.rows) + len(touched.documents)
        return self._forgotten <= _MOST_FORGOTTEN

    def hit(self, conn: sqlite3.Connection, token: str) -> Hit:
        """Return the Paks that hold a word."""
        known = self._hits.get(token)
        if known is None:
            known = self._hit(conn, token)
            self._held += len(known.slots)
            if self._held > _MOST_HELD:
                self._hits, self._held = {}, len(known.slots)
            self._hits[token] = known
        return known

    def _hit(self, conn: sqlite3.Connection, token: str) -> Hit:
        found = posting(conn, token)
        row_ids, lengths = self._documents.of(conn, found.documents)
        # Full text may hold rows of no Pak; nobody can pick those.
        stands = row_ids >= 0
        slots = self.rows.slots(conn, row_ids[stands])
        return Hit(token, slots, found.counts[stands], lengths[stands])

    def statistics(self, conn: sqlite3.Connection, readable: Collection[str] | None) -> Statistics:
        """Return how many documents count and how long they are together."""
        if self._counted is None or self._counted[0] is not readable:
            self._counted = (readable, _statistics(conn, readable))
        return self._counted[1]


class _State(NamedTuple):
    """What differs whenever rows may have changed that nobody noted: by others, by VACUUM."""

    data_version: int
    schema_version: int


@dataclass(slots=True)
class _Memory:
    """What is kept of one store, as of a state and a count of the connection's own changes."""

    state: _State
    changes: int
    kept: Kept


_MEMORIES: WeakKeyDictionary[RecallStore, _Memory] = WeakKeyDictionary()


def kept(store: RecallStore, *, alone: bool) -> Kept:
    """Return what is known of the store as it is now.

    Inside a transaction of the caller, who may yet take it back, nothing is kept: pass
    `alone=False` there.
    """
    if not alone:
        return Kept()
    conn, state = store.conn, _state(store.conn)
    memory = _MEMORIES.get(store)
    if memory is None or memory.state != state:
        begin(conn)
        memory = _MEMORIES[store] = _Memory(state, conn.total_changes, Kept())
    elif memory.changes != conn.total_changes:
        if not memory.kept.forget(taken(conn)):
            memory.kept = Kept()
        memory.changes = conn.total_changes
    return memory.kept


def varints(data: bytes) -> list[int]:
    """Return the numbers in one of FTS5's own records."""
    found, number = [], 0
    for byte in data:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(number)
            number = 0
    return found


_ROWS = """
SELECT p.rowid, p.pak_id, p.updated_at, p.content_hash, p.project, p.pak_type, p.superseded_by,
       r.reason_code, r.weight
  FROM json_each(?) AS wanted CROSS JOIN main.paks AS p ON p.rowid = wanted.value
  LEFT JOIN main.pak_reason_codes AS r ON r.pak_id = p.pak_id"""
_DOCUMENTS = """
SELECT f.id, coalesce(p.rowid, -1), d.sz
  FROM json_each(?) AS wanted CROSS JOIN main.paks_fts_content AS f ON f.id = wanted.value
 CROSS JOIN main.paks_fts_docsize AS d ON d.id = f.id
  LEFT JOIN main.paks AS p ON p.pak_id = f.c0"""
_READABLE = """
SELECT d.sz
  FROM json_each(?) AS wanted CROSS JOIN main.paks_fts_content AS f ON f.c0 = wanted.value
 CROSS JOIN main.paks_fts_docsize AS d ON d.id = f.id"""
# FTS5's own count of rows and, column by column, of words.
_TOTALS = "SELECT block FROM main.paks_fts_data WHERE id = 1"


def _statistics(conn: sqlite3.Connection, readable: Collection[str] | None) -> Statistics:
    if readable is None:
        rows, *words = varints(conn.execute(_TOTALS).fetchone()[0]) or [0]
        return Statistics(rows, sum(words))
    sizes = conn.execute(_READABLE, (json.dumps(sorted(readable)),)).fetchall()
    return Statistics(len(sizes), sum(_length(size) for (size,) in sizes))


def _state(conn: sqlite3.Connection) -> _State:
    (data_version,) = conn.execute("PRAGMA main.data_version").fetchone()
    (schema_version,) = conn.execute("PRAGMA main.schema_version").fetchone()
    return _State(data_version, schema_version)


def _length(size: bytes) -> int:
    """Return how many words a document has; FTS5 counts them column by column."""
    return sum(size) if max(size, default=0) < 0x80 else sum(varints(size))


def _microseconds(text: str) -> int:
    at = moment(text)
    return NEVER if at is None else at


def _transposed(rows: list[Any], width: int) -> Sequence[Sequence[Any]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def listed(values: Ints) -> str:
    """Return row numbers as the JSON that the statements take."""
    return f"[{','.join(map(str, values.tolist()))}]"


def _no_columns() -> Columns:
    ints, objects, bools = np.empty(0, np.int64), np.empty(0, np.object_), np.empty(0, np.bool_)
    return Columns(ints, objects, objects, ints, ints, ints, ints, objects, bools, ints, ints)


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


def _objects(values: Sequence[object]) -> Objects:
    column = np.empty(len(values), np.object_)
    column[:] = values
    return column
