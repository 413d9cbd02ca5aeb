"""Bring a catalogue to the newest schema: forward only, one transaction a step, safe to race.

In: a connection to any database that this project or its origin ever wrote. Out: its version.
Every statement can be run again, which is also how a database of the origin's is adopted.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import NamedTuple

from recollect.paks.database import write
from recollect.paks.schema import (
    ALL_DDL_V1,
    ALL_DDL_V2,
    ALL_DDL_V3,
    SCHEMA_VERSION,
    SPEED_OBJECTS,
    TRIGGERS,
)

__all__ = [
    "MIGRATIONS",
    "SCHEMA_VERSION",
    "Migration",
    "adopt",
    "apply_migrations",
    "current_version",
    "is_adopted",
]


class Migration(NamedTuple):
    """One step forward; its statements and the new version number commit together."""

    version: int
    name: str
    statements: tuple[str, ...]


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "initial_schema", ALL_DDL_V1),
    Migration(2, "paks_fts_triggers", ALL_DDL_V2),
    Migration(3, "pak_reason_codes_and_risk_flags", ALL_DDL_V3),
)


def current_version(conn: sqlite3.Connection) -> int:
    """Return the schema version of `conn`'s database; 0 when it has none. Writes nothing."""
    if not _exists(conn, "schema_version"):
        return 0
    row = conn.execute("SELECT version FROM schema_version WHERE id = 1").fetchone()
    return int(row[0]) if row else 0


def apply_migrations(conn: sqlite3.Connection) -> int:
    """Apply what is missing and return the version reached. A newer database is left alone."""
    if conn.isolation_level is not None:
        conn.isolation_level = None  # explicit BEGIN below; legacy mode would commit around DDL
    for migration in MIGRATIONS:
        if current_version(conn) < migration.version:
            _apply(conn, migration)
    return current_version(conn)


def is_adopted(conn: sqlite3.Connection) -> bool:
    """Return whether the database has our triggers and the objects that speed needs."""
    found = dict(conn.execute("SELECT name, sql FROM sqlite_master"))
    return found.keys() >= SPEED_OBJECTS and all(
        found.get(name) == sql for name, sql in TRIGGERS.items()
    )


def adopt(conn: sqlite3.Connection) -> None:
    """Give a database of the origin's what ours has, and mend its full-text table."""
    with write(conn):
        if is_adopted(conn):
            return
        for migration in MIGRATIONS:
            for statement in migration.statements:
                conn.execute(statement)


def _apply(conn: sqlite3.Connection, migration: Migration) -> None:
    with write(conn):
        # Another process may have applied it while this one waited for the write lock.
        if current_version(conn) >= migration.version:
            return
        for statement in migration.statements:
            conn.execute(statement)
        conn.execute(
            "INSERT INTO schema_version (id, version, applied_at) VALUES (1, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET"
            " version = excluded.version, applied_at = excluded.applied_at",
            (migration.version, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")),
        )


def _exists(conn: sqlite3.Connection, name: str) -> bool:
    found = conn.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,))
    return found.fetchone() is not None
