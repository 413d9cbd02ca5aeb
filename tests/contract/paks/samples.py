"""What the catalogue's tests share: the fields of a Pak, and ways to look beneath the calls."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.paks import RecallStore

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from recollect.paks.catalogue import PakCatalogue

NOON = "2026-05-11T12:00:00Z"
LATER = "2026-05-12T08:30:00Z"


def pak(pak_id: str = "p1", **changes: Any) -> dict[str, Any]:
    """Return the arguments of an upsert: the six that must be there, and what a test adds."""
    fields = {
        "pak_id": pak_id,
        "pak_type": "vault",
        "source_type": "doc",
        "authority": "human",
        "title": f"title of {pak_id}",
        "content_hash": "0" * 64,
    }
    return fields | changes


def fulltext_rows(conn: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Return what the full-text table holds."""
    return sorted(conn.execute("SELECT pak_id, title, summary FROM paks_fts").fetchall())


def catalogue_rows(conn: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Return what the full-text table ought to hold."""
    return sorted(conn.execute("SELECT pak_id, title, summary FROM paks").fetchall())


def is_in_step(store: PakCatalogue) -> bool:
    """Return whether full text says what the catalogue says, and no transaction was left open."""
    if not isinstance(store, RecallStore):
        return store.check().ok
    return not store.conn.in_transaction and fulltext_rows(store.conn) == catalogue_rows(store.conn)


def matches(conn: sqlite3.Connection, word: str) -> list[str]:
    """Ask the full-text table itself, past the join with the catalogue that `search` makes."""
    found = conn.execute("SELECT pak_id FROM paks_fts WHERE paks_fts MATCH ?", (word,))
    return sorted(row[0] for row in found)


@dataclass
class Work:
    """How many steps SQLite's virtual machine took: the cost of a call without a clock."""

    steps: int = 0


@contextmanager
def counted(conn: sqlite3.Connection) -> Iterator[Work]:
    work = Work()

    def tick() -> None:
        work.steps += 1

    conn.set_progress_handler(tick, 1)
    try:
        yield work
    finally:
        conn.set_progress_handler(None, 0)
