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


def read(
    conn: sqlite3.Connection, kind: Attachment[Entry], pak_ids: Sequence[str]
) -> dict[str, list[Entry]]:
    """Return the entries of Paks that have some, by id, in ascending order of their key."""
    sql = (
        f"SELECT pak_id, {', '.join(kind.columns)} FROM {kind.table}"
        f" WHERE pak_id IN ({', '.join('?' * len(pak_ids))})"
        f" ORDER BY pak_id, {', '.join(kind.key)}"
    )
    found: dict[str, list[Entry]] = {}
    for pak_id, *row in fetch_all(conn, sql, tuple(pak_ids), otherwise=shown):
        found.setdefault(pak_id, []).append(kind.make(*row))
    return found


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
