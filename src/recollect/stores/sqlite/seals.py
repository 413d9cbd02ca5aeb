"""Checksums of what was written once: a memory's two rows, and its vectors.

In: rows as they stand in the file. Out: their seals. What changes often, or is one small row, needs
no seal: an index holds a second copy of it (`twins`). A row that was changed past the engine has no
seal; triggers see to that (ADR-0026).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any
from zlib import crc32

from recollect.stores.sqlite.triggers import EDIT_OF_MEMORIES

__all__ = [
    "DAMAGED",
    "METADATA",
    "OF_MEMORIES",
    "OF_MEMORIES_LATER",
    "OF_PAKS",
    "RECEIPTS",
    "RECEIPT_COLUMNS",
    "RECEIPT_ITEM_COLUMNS",
    "SEALED_COLUMNS",
    "SEALS",
    "VERSIONS",
    "VERSION_COLUMNS",
    "receipt_seal",
    "register",
    "row_seal",
    "vector_seal",
    "version_seal",
]

OF_MEMORIES = (
    *("pak_id", "content", "tags", "category", "source", "entity", "relation", "value"),
    *("confidence", "thread", "position", "speaker", "occurred_at", "valid_until", "decay"),
    *("risks", "entity_key", "value_key", "relation_key", "source_key"),
)
OF_PAKS = (
    *("pak_type", "project", "topic", "source_type", "authority", "title", "summary"),
    *("content_hash", "created_at", "updated_at"),
)
# Columns that came later. A row that says nothing in them has the seal that it had before.
OF_MEMORIES_LATER = ("valid_from", "ttl", "metadata")
_FIRST_SEALED = (
    *(f"memories.{column}" for column in OF_MEMORIES),
    *(f"paks.{column}" for column in OF_PAKS),
)
# What a seal is of, in the order of `row_seal`.
SEALED_COLUMNS = ", ".join(
    (*_FIRST_SEALED, *(f"memories.{column}" for column in OF_MEMORIES_LATER))
)
# A row of `memory_versions`; a successor that is gone leaves the rest as it was written.
VERSION_COLUMNS = ("row_id", "number", "revision", "at", "principal", "superseded_by", "fields")
_OF_VERSIONS = tuple(column for column in VERSION_COLUMNS if column != "superseded_by")
_SUCCESSOR = VERSION_COLUMNS.index("superseded_by")


# A row of `receipts`, and those of `receipt_items` that belong to it.
RECEIPT_COLUMNS = (
    *("tenant", "principal", "recall_id", "verb", "at", "until", "revision", "commit_id"),
    *("request", "digest", "tokens_used", "degraded", "given"),
)
RECEIPT_ITEM_COLUMNS = ("position", "row_id", "score", "part")


def row_seal(*row: Any) -> bytes:
    """Return the seal of a row of `SEALED_COLUMNS`; two rows that differ in anything have two."""
    first, later = row[: len(_FIRST_SEALED)], row[len(_FIRST_SEALED) :]
    parts = [value if value.__class__ is str else f"\0{value!r}" for value in first]
    for name, value in zip(OF_MEMORIES_LATER, later, strict=False):
        if value is not None:
            parts.append(f"\0{name} {value!r}")
    return _digest(parts)


def version_seal(row: Sequence[Any]) -> bytes:
    """Return the seal of a row of `VERSION_COLUMNS`."""
    sealed = (*row[:_SUCCESSOR], *row[_SUCCESSOR + 1 :])
    return _digest([f"\0{value!r}" for value in sealed])


def receipt_seal(row: Sequence[Any], items: Sequence[Sequence[Any]]) -> bytes:
    """Return the seal of a row of `RECEIPT_COLUMNS` and its rows of `RECEIPT_ITEM_COLUMNS`."""
    return _digest([f"\0{value!r}" for value in (*row, *map(tuple, items))])


def _digest(parts: Sequence[str]) -> bytes:
    text = "\x1f".join(parts)
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest()


def vector_seal(data: bytes | None) -> int | None:
    """Return the seal of a vector as the file holds it."""
    return None if data is None else crc32(data)


def register(conn: sqlite3.Connection) -> None:
    """Give the migration the functions that it seals old rows with."""
    conn.create_function("row_seal", -1, row_seal, deterministic=True)
    conn.create_function("vector_seal", 1, vector_seal, deterministic=True)


def _changed(columns: Sequence[str]) -> str:
    return " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in columns)


_UNSEAL = "UPDATE memories SET seal = NULL WHERE pak_id = NEW.pak_id AND seal IS NOT NULL"


def _unsealing(columns: Sequence[str]) -> str:
    return f"""CREATE TRIGGER memories_au_seal AFTER UPDATE OF {", ".join(columns)} ON memories
WHEN NEW.seal IS NOT NULL AND NEW.seal IS OLD.seal AND ({_changed(columns)})
BEGIN
    {_UNSEAL};
END"""


# Whoever changes a row without sealing it anew leaves it unsealed: that is an edit, not damage.
SEALS = (
    "ALTER TABLE memories ADD COLUMN seal BLOB",
    "ALTER TABLE memories ADD COLUMN vector_seal_0 INTEGER",
    "ALTER TABLE memories ADD COLUMN vector_seal_1 INTEGER",
    # No change that an index or a follower would have to hear of.
    "UPDATE engine_state SET committing = 1",
    f"UPDATE memories SET seal = (SELECT row_seal({', '.join(_FIRST_SEALED)}) FROM paks"
    " WHERE paks.pak_id = memories.pak_id), vector_seal_0 = vector_seal(vector_0),"
    " vector_seal_1 = vector_seal(vector_1)",
    "UPDATE engine_state SET committing = 0",
    "DROP TRIGGER log_memories_update",
    EDIT_OF_MEMORIES,
    _unsealing(OF_MEMORIES),
    f"""CREATE TRIGGER paks_au_seal AFTER UPDATE OF {", ".join(OF_PAKS)} ON paks
WHEN {_changed(OF_PAKS)}
BEGIN
    {_UNSEAL};
END""",
    *(
        f"""CREATE TRIGGER memories_au_vector_{slot} AFTER UPDATE OF vector_{slot} ON memories
WHEN NEW.vector_seal_{slot} IS NOT NULL AND NEW.vector_seal_{slot} IS OLD.vector_seal_{slot}
 AND NEW.vector_{slot} IS NOT OLD.vector_{slot}
BEGIN
    UPDATE memories SET vector_seal_{slot} = NULL WHERE row_id = NEW.row_id;
END"""
        for slot in (0, 1)
    ),
)

# Memories begin to be valid at some time, and what they were before a change is kept.
VERSIONS = (
    "ALTER TABLE memories ADD COLUMN valid_from TEXT",
    "DROP TRIGGER memories_au_seal",
    _unsealing((*OF_MEMORIES, "valid_from")),
    """
CREATE TABLE memory_versions (
    row_id         INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    number         INTEGER NOT NULL,
    revision       INTEGER,
    at             TEXT NOT NULL,
    principal      TEXT NOT NULL,
    superseded_by  TEXT REFERENCES paks (pak_id) ON DELETE SET NULL ON UPDATE CASCADE,
    fields         TEXT,
    seal           BLOB,
    PRIMARY KEY (row_id, number)
)""",
    f"""CREATE TRIGGER memory_versions_au_seal AFTER UPDATE OF {", ".join(_OF_VERSIONS)}
ON memory_versions
WHEN NEW.seal IS NOT NULL AND NEW.seal IS OLD.seal AND ({_changed(_OF_VERSIONS)})
BEGIN
    UPDATE memory_versions SET seal = NULL WHERE rowid = NEW.rowid;
END""",
)

# What else is said of memories, and for how long they hold.
METADATA = (
    "ALTER TABLE memories ADD COLUMN ttl REAL",
    "ALTER TABLE memories ADD COLUMN metadata TEXT",
    "DROP TRIGGER memories_au_seal",
    _unsealing((*OF_MEMORIES, *OF_MEMORIES_LATER)),
)

# What was answered to whom. It is sealed when it is written; a memory that goes takes the question,
# the digest and the seal along, and that something was answered is all that stays.
RECEIPTS = (
    """
CREATE TABLE receipts (
    number       INTEGER PRIMARY KEY,
    tenant       TEXT NOT NULL,
    principal    TEXT NOT NULL,
    recall_id    TEXT NOT NULL,
    verb         TEXT NOT NULL,
    at           TEXT NOT NULL,
    until        TEXT NOT NULL,
    revision     INTEGER NOT NULL,
    commit_id    TEXT,
    request      TEXT,
    digest       TEXT,
    tokens_used  INTEGER NOT NULL,
    degraded     TEXT NOT NULL,
    given        INTEGER NOT NULL,
    seal         BLOB
)""",
    "CREATE UNIQUE INDEX idx_receipts_name ON receipts (tenant, recall_id, principal)",
    "CREATE INDEX idx_receipts_of_all ON receipts (tenant, at, recall_id, principal)",
    "CREATE INDEX idx_receipts_of_one ON receipts (tenant, principal, at, recall_id)",
    "CREATE INDEX idx_receipts_until ON receipts (until)",
    """
CREATE TABLE receipt_items (
    receipt   INTEGER NOT NULL REFERENCES receipts (number) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    row_id    INTEGER NOT NULL,
    score     REAL NOT NULL,
    part      TEXT NOT NULL,
    PRIMARY KEY (receipt, position)
) WITHOUT ROWID""",
    "CREATE INDEX idx_receipt_items_row ON receipt_items (row_id)",
    """
CREATE TRIGGER receipts_memories_delete AFTER DELETE ON memories
WHEN EXISTS (SELECT 1 FROM receipt_items WHERE row_id = OLD.row_id)
BEGIN
    UPDATE receipts SET request = NULL, digest = NULL, seal = NULL
     WHERE number IN (SELECT receipt FROM receipt_items WHERE row_id = OLD.row_id);
    DELETE FROM receipt_items WHERE row_id = OLD.row_id;
END""",
)

# What was put aside: where it stood, under which name, what stood there, and why it does no longer.
DAMAGED = (
    """
CREATE TABLE damaged (
    number   INTEGER PRIMARY KEY,
    at       TEXT NOT NULL,
    stood_in TEXT NOT NULL,
    name     TEXT NOT NULL,
    why      TEXT NOT NULL,
    stood    TEXT NOT NULL
)""",
    "CREATE INDEX idx_damaged_name ON damaged (name)",
)
