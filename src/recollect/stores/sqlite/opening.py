"""Bring the engine's tables of a file to the newest version, or refuse a file from the future.

In: a connection of ours, and an id for a store that is new. All steps are one transaction, so many
processes may open a file at once, and one that is killed leaves it as it was. Before tables that
hold something are changed, a copy of the file is made.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from recollect.errors import StoreOutdated, StoreTooNew
from recollect.model import name_key
from recollect.paks.database import write
from recollect.policy import risks
from recollect.stores.sqlite import seals
from recollect.stores.sqlite.migrations import ENGINE_MIGRATIONS, ENGINE_VERSION

__all__ = ["prepare"]


def prepare(
    conn: sqlite3.Connection, path: Path, *, store_id: str, read_only: bool = False
) -> None:
    """Make or migrate the engine's tables, or see that they need not be."""
    version = _engine_version(conn)
    if version > ENGINE_VERSION:
        raise StoreTooNew(
            f"{path} holds engine tables of version {version};"
            f" this release knows up to {ENGINE_VERSION}.",
            hint="upgrade recollect, or open another database.",
        )
    if version < ENGINE_VERSION and read_only:
        raise StoreOutdated(
            f"{path} has engine tables of version {version} and must be migrated before it is"
            " read.",
            hint="open it once without read_only=True.",
        )
    if version < ENGINE_VERSION:
        _migrate(conn, path, store_id)


def _migrate(conn: sqlite3.Connection, path: Path, store_id: str) -> None:
    conn.create_function("name_key", 1, _name_key, deterministic=True)
    conn.create_function("found_risks", -1, _found_risks, deterministic=True)
    seals.register(conn)
    with write(conn):
        version = _engine_version(conn)
        if version < ENGINE_VERSION and _holds_anything(conn, version):
            # Few files are ever migrated.
            from recollect.stores.sqlite.copy_before import copy_before

            copy_before(path, ENGINE_VERSION)
        for migration in ENGINE_MIGRATIONS:
            if migration.version > version:
                for statement in migration.statements:
                    conn.execute(statement)
        conn.execute(
            "INSERT INTO engine_state (id, version, store_id) VALUES (1, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET version = excluded.version",
            (ENGINE_VERSION, store_id),
        )


def _holds_anything(conn: sqlite3.Connection, version: int) -> bool:
    """Return whether the engine ever wrote to it; to a catalogue alone, tables are only added."""
    return version > 0 and conn.execute("SELECT revision FROM engine_state").fetchone()[0] > 0


def _name_key(name: str | None) -> str | None:
    return None if name is None else name_key(name)


def _found_risks(*texts: str | None) -> str:
    return ",".join(risks(*(text for text in texts if text)))


def _engine_version(conn: sqlite3.Connection) -> int:
    found = conn.execute("SELECT 1 FROM sqlite_master WHERE name = 'engine_state'").fetchone()
    if not found:
        return 0
    row = conn.execute("SELECT version FROM engine_state").fetchone()
    return int(row[0]) if row else 0
