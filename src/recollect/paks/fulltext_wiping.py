"""Get deleted words out of full text: as they are deleted where SQLite can do that, or by merging.

In: a connection inside a transaction that writes. Out: full text that holds nothing of what was
deleted, whoever deleted it. From SQLite 3.42 on a full-text table can be told to erase what is
deleted (`secure-delete`); before, deleted words stay until all parts are merged. A table that does
so has a format that an older SQLite refuses, so nobody can delete there in the old way (ADR-0052).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from recollect.paks.database import CACHE_KIB, ROOM_KIB
from recollect.paks.fulltext_beginnings import is_left

__all__ = ["can_erase", "leave_to_merging", "make_readable", "wipe"]

# Merging costs what the table is worth, erasing each row some pages: at 100,000 short texts as much
# as a hundred rows, and less in a smaller table.
_MOST_ERASED = 64
_ERASING_FORMAT, _OLD_FORMAT = 5, 4
_SETTINGS = "SELECT k, v FROM paks_fts_config WHERE k IN ('secure-delete', 'version')"
_SET = "INSERT INTO paks_fts (paks_fts, rank) VALUES ('secure-delete', ?)"
_MERGE_SOME = "INSERT INTO paks_fts (paks_fts, rank) VALUES ('merge', ?)"
_MERGE = "INSERT INTO paks_fts (paks_fts) VALUES ('optimize')"
# Pages that a part leaves are free for the next pages of the whole: a quarter fewer are written.
_PAGES_AT_ONCE = 64
# What SQLite counts as changed where there was nothing left to merge.
_NO_CHANGE = 1
_ONCE_MORE = (
    "INSERT INTO paks_fts (title, summary)"
    " SELECT title, summary FROM paks_fts ORDER BY rowid DESC LIMIT 1"
)


def can_erase() -> bool:
    """Return whether this SQLite can erase words as they are deleted."""
    return sqlite3.sqlite_version_info >= (3, 42)


def wipe(conn: sqlite3.Connection, erased: Sequence[bytes] | None = None) -> None:
    """Get everything out of full text that was deleted: these texts, or nobody knows which."""
    if not can_erase():
        # An older SQLite deletes by adding, so that there is nothing to do where nobody deleted.
        if erased is None or erased:
            _merge(conn)
    elif not _erases(conn) or is_left(conn, erased):
        _merge_and_erase_from_now_on(conn)


def leave_to_merging(conn: sqlite3.Connection, rows: int) -> None:
    """Let so many rows be deleted in the old way, if that is cheaper: `wipe` has to come after."""
    if rows > _MOST_ERASED and can_erase() and _erases(conn):
        conn.execute(_SET, (0,))


def make_readable(conn: sqlite3.Connection) -> None:
    """Make full text anew in the format of an older SQLite, which refuses even to do that."""
    if can_erase() or _settings(conn).get("version") != _ERASING_FORMAT:
        return
    conn.execute("DELETE FROM paks_fts_config WHERE k = 'secure-delete'")
    conn.execute("UPDATE paks_fts_config SET v = ? WHERE k = 'version'", (_OLD_FORMAT,))
    conn.execute("INSERT INTO paks_fts (paks_fts) VALUES ('rebuild')")


def _erases(conn: sqlite3.Connection) -> bool:
    """Return whether nothing can have been deleted in the old way since all was last merged."""
    return _settings(conn) == {"secure-delete": 1, "version": _ERASING_FORMAT}


def _settings(conn: sqlite3.Connection) -> dict[str, int]:
    return dict(conn.execute(_SETTINGS).fetchall())


def _merge_and_erase_from_now_on(conn: sqlite3.Connection) -> None:
    conn.execute(_SET, (1,))
    # Of one row there is a second for a while: a table of one part would not be merged, and to
    # erase something changes the format. Its words stay in the first.
    row = conn.execute(_ONCE_MORE).lastrowid
    _merge(conn)
    conn.execute("DELETE FROM paks_fts WHERE rowid = ?", (row,))


def _merge(conn: sqlite3.Connection) -> None:
    """Merge all parts into one."""
    conn.execute(f"PRAGMA cache_size = -{ROOM_KIB}")
    try:
        changes = _NO_CHANGE + 1
        while changes > _NO_CHANGE:
            before = conn.total_changes
            conn.execute(_MERGE_SOME, (-_PAGES_AT_ONCE,))
            changes = conn.total_changes - before
        conn.execute(_MERGE)
    finally:
        conn.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
