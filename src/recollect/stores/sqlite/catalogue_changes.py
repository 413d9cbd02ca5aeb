"""What one connection has changed in the catalogue since somebody last asked.

Triggers in the connection's temporary schema note row numbers; nothing is written to the file. What
other connections do is not noted but noticed, by SQLite's `data_version`. A change that is taken
back takes its note with it.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.ports.catalogue import Changes, Touched

__all__ = ["ChangeNotes", "numbers"]

_NOTES = "CREATE TABLE IF NOT EXISTS temp.recollect_notes (kind TEXT, number INTEGER)"
# No note is ever refused: a conflict would end the statement that is being noted.
_ROW = "INSERT INTO recollect_notes VALUES ('row', {end}.rowid)"
_CODE = (
    "INSERT INTO recollect_notes SELECT 'row', paks.rowid FROM paks"
    " WHERE paks.pak_id = {end}.pak_id"
)
_DOCUMENT = "INSERT INTO recollect_notes VALUES ('document', {end}.id)"
_NOTED = {
    "main.paks": _ROW,
    "main.pak_reason_codes": _CODE,
    "main.paks_fts_content": _DOCUMENT,
}
_EVENTS = {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}
_TAKE = "SELECT group_concat(number) FROM temp.recollect_notes WHERE kind = ?"


class _Mark(NamedTuple):
    """A state of the catalogue: what others and VACUUM did, and how much this connection did."""

    data_version: int
    schema_version: int
    own_changes: int


class ChangeNotes:
    """The notes of one connection. A mark is good until the next one is given."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._mark: _Mark | None = None

    def since(self, mark: object) -> Changes:
        """Return what was noted since a mark, with a new one."""
        touched = self._touched() if mark is not None and mark is self._mark else None
        if touched is None:
            self._begin()
        now = self._now()
        if now != self._mark:
            self._mark = now
        return Changes(self._mark, touched)

    def _touched(self) -> Touched | None:
        before, now = self._mark, self._now()
        if before is None or before[:2] != now[:2]:
            return None
        return _NOTHING if before == now else self._take()

    def _now(self) -> _Mark:
        (data_version,) = self._conn.execute("PRAGMA main.data_version").fetchone()
        (schema_version,) = self._conn.execute("PRAGMA main.schema_version").fetchone()
        return _Mark(data_version, schema_version, self._conn.total_changes)

    def _begin(self) -> None:
        """Note changes from now on; forget what was noted before."""
        self._conn.execute(_NOTES)
        for number, (table, note) in enumerate(_NOTED.items()):
            for event, ends in _EVENTS.items():
                body = " ".join(f"{note.format(end=end)};" for end in ends)
                self._conn.execute(
                    f"CREATE TEMP TRIGGER IF NOT EXISTS recollect_{event.lower()}_{number}"
                    f" AFTER {event} ON {table} BEGIN {body} END"
                )
        self._conn.execute("DELETE FROM temp.recollect_notes")

    def _take(self) -> Touched:
        """Return what was noted, and forget it."""
        rows, documents = (
            numbers(self._conn.execute(_TAKE, (kind,)).fetchone()[0])
            for kind in ("row", "document")
        )
        self._conn.execute("DELETE FROM temp.recollect_notes")
        return Touched(rows, documents)


def numbers(listed: str | None) -> NDArray[np.int64]:
    """Return the whole numbers that SQLite's group_concat listed."""
    return np.fromstring(listed or "", dtype=np.int64, sep=",")


_NOTHING = Touched(np.empty(0, np.int64), np.empty(0, np.int64))
