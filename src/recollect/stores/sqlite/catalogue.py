"""The catalogue's rows and words as a selection reads them, in sets, from its SQLite tables.

In: a connection, and row numbers. Out: records of the port. Where a word stands is read from FTS5's
own index through `fts5vocab`, lengths and totals from FTS5's own records (ADR-0007). Whether what
was read before still holds is asked of `catalogue_changes`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recollect.model.pak import PakListFilters, RiskFlagEntry
from recollect.paks.listing import conditions, where
from recollect.paks.tolerant import fetch_all, shown
from recollect.ports.catalogue import (
    FIELDS,
    CodeColumns,
    DocumentColumns,
    Occurrences,
    PakColumns,
    Posting,
    Statistics,
    TextRecord,
)
from recollect.stores.sqlite.catalogue_changes import ChangeNotes, numbers
from recollect.stores.sqlite.catalogue_words import words_of

if TYPE_CHECKING:
    from recollect.ports.catalogue import (
        Changes,
    )

__all__ = ["SqliteRecords"]

Ints = NDArray[np.int64]

_VOCABULARY = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.recollect_words"
    " USING fts5vocab('main', 'paks_fts', 'instance')"
)
_POSTING = "SELECT group_concat(doc) FROM temp.recollect_words WHERE term = ?"
_FIELD = " ".join(f"WHEN '{name}' THEN {number}" for number, name in enumerate(FIELDS))
_OCCURRENCES = (
    f"SELECT group_concat(doc), group_concat(CASE col {_FIELD} END), group_concat(offset)"
    " FROM temp.recollect_words WHERE "
)
_PAKS = """
SELECT p.rowid, p.pak_id, p.updated_at, p.content_hash, p.project, p.pak_type, p.superseded_by,
       r.reason_code, r.weight
  FROM json_each(?) AS wanted CROSS JOIN main.paks AS p ON p.rowid = wanted.value
  LEFT JOIN main.pak_reason_codes AS r ON r.pak_id = p.pak_id AND r.weight BETWEEN 0 AND 1"""
_DOCUMENTS = """
SELECT f.id, coalesce(p.rowid, -1), d.sz
  FROM json_each(?) AS wanted CROSS JOIN main.paks_fts_content AS f ON f.id = wanted.value
 CROSS JOIN main.paks_fts_docsize AS d ON d.id = f.id
  LEFT JOIN main.paks AS p ON p.pak_id = f.c0"""
_SIZES = """
SELECT d.sz
  FROM json_each(?) AS wanted CROSS JOIN main.paks_fts_content AS f ON f.c0 = wanted.value
 CROSS JOIN main.paks_fts_docsize AS d ON d.id = f.id"""
# FTS5's own count of rows and, column by column, of words.
_TOTALS = "SELECT block FROM main.paks_fts_data WHERE id = 1"
_NEWEST = "SELECT rowid FROM main.paks ORDER BY updated_at DESC, pak_id DESC LIMIT ?"
_WANTED = "json_each(?) AS wanted CROSS JOIN main.paks AS p ON p.rowid = wanted.value"
_TEXTS = f"SELECT p.rowid, p.title, p.summary FROM {_WANTED}"
_FLAGS = (
    f"SELECT p.rowid, f.risk_flag, f.severity FROM {_WANTED}"
    " CROSS JOIN main.pak_risk_flags AS f ON f.pak_id = p.pak_id"
    " WHERE f.severity IN ('info', 'warn', 'block') ORDER BY f.risk_flag"
)


class SqliteRecords:
    """The catalogue behind one connection, by numbers."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._notes = ChangeNotes(conn)

    def prepare(self) -> None:
        """Give the connection its view of the full-text index; one that has it keeps it.

        Asked before every use: a rollback of the caller's takes the view with it.
        """
        self._conn.execute(_VOCABULARY)

    def changes(self, since: object) -> Changes:
        """Return what this connection changed since `since`; None for touched if others did."""
        return self._notes.since(since)

    def words_of(self, text: str) -> Sequence[str]:
        """Return the words of a text as FTS5 itself reads them."""
        return words_of(text)

    def posting(self, word: str) -> Posting:
        """Return which documents hold a word."""
        found = numbers(self._conn.execute(_POSTING, (word,)).fetchone()[0])
        return Posting(*np.unique(found, return_counts=True))

    def occurrences(self, word: str, *, prefix: bool = False) -> Occurrences:
        """Return where a word stands, or every word that begins with it."""
        # No word holds the last code point of all, so nothing with this prefix sorts after it.
        test, values = (
            ("term >= ? AND term <= ?", (word, f"{word}\U0010ffff"))
            if prefix
            else ("term = ?", (word,))
        )
        found = self._conn.execute(f"{_OCCURRENCES}{test}", values).fetchone()
        return Occurrences(*map(numbers, found))

    def documents(self, documents: Ints) -> DocumentColumns:
        """Return those documents that are there."""
        found = [
            row
            for row in fetch_all(self._conn, _DOCUMENTS, (_listed(documents),))
            if type(row[2]) is bytes
        ]
        if not found:
            return DocumentColumns()
        numbers, rows, sizes = zip(*found, strict=True)
        return DocumentColumns(numbers, rows, [_length(size) for size in sizes])

    def statistics(self, pak_ids: Collection[str] | None) -> Statistics:
        """Return how much text some Paks have together, or all documents."""
        if pak_ids is None:
            totals = self._conn.execute(_TOTALS).fetchone()
            documents, *words = varints(totals[0] if totals else b"") or [0]
            return Statistics(documents, sum(words))
        found = self._conn.execute(_SIZES, (json.dumps(sorted(pak_ids)),)).fetchall()
        sizes = [size for (size,) in found if type(size) is bytes]
        return Statistics(len(sizes), sum(map(_length, sizes)))

    def paks(self, rows: Ints) -> tuple[PakColumns, CodeColumns]:
        """Return those rows that are there, and their reason codes."""
        # A row stands as often as it has codes, and once if it has none.
        found = [_pak(row) for row in fetch_all(self._conn, _PAKS, (_listed(rows),))]
        paks = {row[0]: row for row in found}
        codes = [(row[0], row[7], row[8]) for row in found if row[7] is not None]
        *columns, _, _ = zip(*paks.values(), strict=True) if paks else [()] * 9
        return PakColumns(*columns), CodeColumns(*zip(*codes, strict=True))

    def texts(self, rows: Ints) -> Sequence[TextRecord]:
        """Return what those rows say that are there."""
        wanted = (_listed(rows),)
        flags: dict[int, list[RiskFlagEntry]] = {}
        for row, *flag in fetch_all(self._conn, _FLAGS, wanted):
            flags.setdefault(row, []).append(RiskFlagEntry(*flag))
        return [
            TextRecord(row, shown(title), shown(summary), tuple(flags.get(row, ())))
            for row, title, summary in fetch_all(self._conn, _TEXTS, wanted)
        ]

    def equal_to(self, project: str | None, pak_type: str | None) -> Ints:
        """Return the rows that equal all that is given."""
        tests, values = conditions(PakListFilters(project, pak_type))
        sql = f"SELECT group_concat(paks.rowid) FROM main.paks{where(tests)}"
        return numbers(self._conn.execute(sql, values).fetchone()[0])

    def newest(self, count: int) -> Ints:
        """Return so many rows, newest first."""
        found = self._conn.execute(_NEWEST, (count,)).fetchall()
        return np.fromiter((row for (row,) in found), np.int64, len(found))


def _pak(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row of `_PAKS` in which every text is one, whatever is left of it."""
    if all(type(value) is str for value in (*row[1:4], row[5])) and bytes not in map(type, row):
        return row
    number, *texts, weight = row
    optional = (3, 5, 6)
    return (
        number,
        *(
            None if text is None and place in optional else shown(text)
            for place, text in enumerate(texts)
        ),
        weight,
    )


def varints(data: bytes) -> list[int]:
    """Return the numbers in one of FTS5's own records."""
    found, number = [], 0
    for byte in data:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(number)
            number = 0
    return found


def _length(size: bytes) -> int:
    """Return how many words a document has; FTS5 counts them column by column."""
    return sum(size) if max(size, default=0) < 0x80 else sum(varints(size))


def _listed(rows: Ints) -> str:
    """Return row numbers as the JSON that the statements take."""
    return f"[{','.join(map(str, rows.tolist()))}]"
