"""The tables of what hangs on a Pak: one way to read, replace, add and remove for all four.

Values are checked before they get here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from recollect.paks.tolerant import fetch_all, shown

if TYPE_CHECKING:
    from recollect.paks.entries import Attachment

__all__ = ["add", "read", "remove", "replace"]

Entry = TypeVar("Entry", bound=tuple[object, ...])


def read(conn: sqlite3.Connection, kind: Attachment[Entry], pak_id: str) -> list[Entry]:
    """Return a Pak's entries in ascending order of their key."""
    sql = (
        f"SELECT {', '.join(kind.columns)} FROM {kind.table}"
        f" WHERE pak_id = ? ORDER BY {', '.join(kind.key)}"
    )
    return [kind.make(*row) for row in fetch_all(conn, sql, (pak_id,), otherwise=shown)]


def replace(
    conn: sqlite3.Connection,
    kind: Attachment[Entry],
    *,
    pak_id: str,
    entries: Sequence[Entry],
    now: str,
) -> None:
    """Make `entries` the whole set of a Pak."""
    conn.execute(f"DELETE FROM {kind.table} WHERE pak_id = ?", (pak_id,))
    for entry in entries:
        add(conn, kind, pak_id=pak_id, entry=entry, now=now)


def add(
    conn: sqlite3.Connection, kind: Attachment[Entry], *, pak_id: str, entry: Entry, now: str
) -> None:
    """Add one entry, or give the one with its key these values."""
    columns = ("pak_id", *kind.columns, *(("created_at",) if kind.dated else ()))
    values = (pak_id, *entry, *((now,) if kind.dated else ()))
    changed = [column for column in columns if column not in ("pak_id", *kind.key)]
    updates = ", ".join(f"{column} = excluded.{column}" for column in changed)
    conn.execute(
        f"INSERT INTO {kind.table} ({', '.join(columns)})"
        f" VALUES ({', '.join('?' * len(columns))})"
        f" ON CONFLICT (pak_id, {', '.join(kind.key)}) DO UPDATE SET {updates}",
        values,
    )


def remove(
    conn: sqlite3.Connection, kind: Attachment[Entry], *, pak_id: str, key: tuple[str, ...]
) -> bool:
    """Remove the entry with this key; return whether there was one."""
    matches = " AND ".join(f"{column} = ?" for column in ("pak_id", *kind.key))
    cursor = conn.execute(f"DELETE FROM {kind.table} WHERE {matches}", (pak_id, *key))
    return cursor.rowcount > 0
