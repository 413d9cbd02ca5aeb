"""Which rows of the catalogue this connection has changed since somebody last asked.

Triggers in the connection's temporary schema note row numbers; nothing is written to the file. What
other connections do is not noted here. A change that is taken back takes its note with it.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.recall.select.words import numbers

__all__ = ["Touched", "begin", "taken"]

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


class Touched(NamedTuple):
    """Row numbers of Paks and of full-text documents that were added, changed or removed."""

    rows: NDArray[np.int64]
    documents: NDArray[np.int64]


def begin(conn: sqlite3.Connection) -> None:
    """Note changes from now on; forget what was noted before."""
    conn.execute(_NOTES)
    for number, (table, note) in enumerate(_NOTED.items()):
        for event, ends in _EVENTS.items():
            body = " ".join(f"{note.format(end=end)};" for end in ends)
            conn.execute(
                f"CREATE TEMP TRIGGER IF NOT EXISTS recollect_{event.lower()}_{number}"
                f" AFTER {event} ON {table} BEGIN {body} END"
            )
    conn.execute("DELETE FROM temp.recollect_notes")


def taken(conn: sqlite3.Connection) -> Touched:
    """Return what was noted, and forget it."""
    found = Touched(
        *(numbers(conn.execute(_TAKE, (kind,)).fetchone()[0]) for kind in ("row", "document"))
    )
    conn.execute("DELETE FROM temp.recollect_notes")
    return found
