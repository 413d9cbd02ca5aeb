"""The engine's tables as the first release made them, beside the catalogue's.

Everything about a memory that `paks` has no column for lives in `memories`, keyed by `pak_id` and
gone with it. `changed` holds the revision of a row's last change: it is how an index follows the
store. What became of these tables since is in `migrations`.
"""

from __future__ import annotations

__all__ = ["INDEXES", "TABLES"]

TABLES = (
    """
CREATE TABLE IF NOT EXISTS engine_state (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    version         INTEGER NOT NULL,
    store_id        TEXT NOT NULL,
    revision        INTEGER NOT NULL DEFAULT 0,
    oldest_change   INTEGER NOT NULL DEFAULT 0,
    model_id        TEXT,
    dimension       INTEGER,
    vector_slot     INTEGER NOT NULL DEFAULT 0,
    next_model_id   TEXT,
    next_dimension  INTEGER,
    active_hours    REAL NOT NULL DEFAULT 0,
    seen_at         REAL,
    cache_token     TEXT
)""",
    """
CREATE TABLE IF NOT EXISTS memories (
    row_id           INTEGER PRIMARY KEY,
    pak_id           TEXT NOT NULL UNIQUE
                     REFERENCES paks (pak_id) ON DELETE CASCADE ON UPDATE CASCADE,
    changed          INTEGER NOT NULL,
    content          TEXT NOT NULL,
    tags             TEXT NOT NULL DEFAULT '[]',
    category         TEXT NOT NULL,
    source           TEXT,
    entity           TEXT,
    relation         TEXT,
    value            TEXT,
    confidence       REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    thread           TEXT,
    position         INTEGER,
    speaker          TEXT,
    occurred_at      TEXT,
    valid_until      TEXT,
    status           TEXT NOT NULL,
    decay            REAL NOT NULL,
    reinforced       INTEGER NOT NULL,
    last_reinforced  REAL NOT NULL,
    tenant           TEXT NOT NULL,
    owner            TEXT NOT NULL,
    scope            TEXT NOT NULL,
    team             TEXT,
    garden           TEXT,
    pending          INTEGER NOT NULL DEFAULT 0,
    vector_0         BLOB,
    vector_1         BLOB
)""",
    # Row ids that were deleted, so that other processes' indexes can drop them too.
    """
CREATE TABLE IF NOT EXISTS memories_gone (
    row_id   INTEGER PRIMARY KEY,
    changed  INTEGER NOT NULL
)""",
    # A weight of 0 marks an edge that was displaced: it stays until the next reindex.
    """
CREATE TABLE IF NOT EXISTS memory_edges (
    low        INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    high       INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    weight     REAL NOT NULL CHECK (weight BETWEEN 0 AND 1),
    automatic  INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    PRIMARY KEY (low, high),
    CHECK (low < high)
) WITHOUT ROWID""",
    """
CREATE TABLE IF NOT EXISTS memory_disputes (
    low         INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    high        INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    note        TEXT NOT NULL,
    is_open     INTEGER NOT NULL,
    created_at  TEXT NOT NULL,
    PRIMARY KEY (low, high),
    CHECK (low < high)
) WITHOUT ROWID""",
    """
CREATE TABLE IF NOT EXISTS memory_frames (
    name        TEXT PRIMARY KEY,
    definition  TEXT NOT NULL,
    extends     TEXT
)""",
    """
CREATE TABLE IF NOT EXISTS memory_events (
    event    TEXT PRIMARY KEY,
    changed  INTEGER NOT NULL
)""",
)

INDEXES = (
    "CREATE INDEX IF NOT EXISTS idx_memories_changed ON memories (changed)",
    "CREATE INDEX IF NOT EXISTS idx_memories_thread ON memories (thread, position)"
    " WHERE thread IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS idx_memories_pending ON memories (pending) WHERE pending = 1",
    "CREATE INDEX IF NOT EXISTS idx_memories_gone_changed ON memories_gone (changed)",
    "CREATE INDEX IF NOT EXISTS idx_memory_edges_high ON memory_edges (high)",
    "CREATE INDEX IF NOT EXISTS idx_memory_edges_changed ON memory_edges (changed)",
    "CREATE INDEX IF NOT EXISTS idx_memory_disputes_high ON memory_disputes (high)",
)
