"""What hangs on a Pak: reason codes, risk flags, anchors and relations.

Four tables of one shape: a Pak's id, a key, some values. One description each, and one way to
read, replace, add and remove. Values are checked before they get here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from recollect.model.pak import (
    PakAnchorEntry,
    PakRelationEntry,
    ReasonCodeEntry,
    RiskFlagEntry,
)

__all__ = [
    "ANCHORS",
    "REASON_CODES",
    "RELATIONS",
    "RISK_FLAGS",
    "Attachment",
    "add",
    "read",
    "remove",
    "replace",
]

Entry = TypeVar("Entry", bound=tuple[object, ...])


@dataclass(frozen=True)
class Attachment(Generic[Entry]):
    """How one kind of entry is stored: its table, its columns, and which of them are the key."""

    make: Callable[..., Entry]
    table: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    dated: bool = True


REASON_CODES = Attachment(
    ReasonCodeEntry, "pak_reason_codes", ("reason_code", "weight"), key=("reason_code",)
)
RISK_FLAGS = Attachment(
    RiskFlagEntry, "pak_risk_flags", ("risk_flag", "severity"), key=("risk_flag",)
)
ANCHORS = Attachment(
    PakAnchorEntry,
    "pak_anchors",
    ("anchor_id", "source_path", "kind"),
    key=("anchor_id",),
    dated=False,
)
RELATIONS = Attachment(
    PakRelationEntry,
    "pak_relations",
    ("related_pak_id", "relation_type"),
    key=("related_pak_id", "relation_type"),
)


def read(conn: sqlite3.Connection, kind: Attachment[Entry], pak_id: str) -> list[Entry]:
    """Return a Pak's entries in ascending order of their key."""
    sql = (
        f"SELECT {', '.join(kind.columns)} FROM {kind.table}"
        f" WHERE pak_id = ? ORDER BY {', '.join(kind.key)}"
    )
    return [kind.make(*row) for row in conn.execute(sql, (pak_id,))]


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
