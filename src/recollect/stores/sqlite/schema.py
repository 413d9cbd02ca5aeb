"""The engine's tables beside the catalogue's, and their own chain of migrations.

Everything about a Pak that `paks` has no column for lives in `memories`, keyed by `pak_id` and gone
with it. `changed` holds the revision of a row's last change: it is how an index follows the store.
"""

from __future__ import annotations

from recollect.paks.migrations import Migration

__all__ = ["ENGINE_MIGRATIONS", "ENGINE_VERSION"]

_TABLES = (
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

_INDEXES = (
    "CREATE INDEX IF NOT EXISTS idx_memories_changed ON memories (changed)",
    "CREATE INDEX IF NOT EXISTS idx_memories_thread ON memories (thread, position)"
    " WHERE thread IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS idx_memories_pending ON memories (pending) WHERE pending = 1",
    "CREATE INDEX IF NOT EXISTS idx_memories_gone_changed ON memories_gone (changed)",
    "CREATE INDEX IF NOT EXISTS idx_memory_edges_high ON memory_edges (high)",
    "CREATE INDEX IF NOT EXISTS idx_memory_edges_changed ON memory_edges (changed)",
    "CREATE INDEX IF NOT EXISTS idx_memory_disputes_high ON memory_disputes (high)",
)

_NEXT_REVISION = "UPDATE engine_state SET revision = revision + 1;"
_REVISION = "(SELECT revision FROM engine_state)"


def _self_changed(condition: str) -> str:
    """Return the statements that fire the event of a changed self block on a condition."""
    return f"""DELETE FROM memory_events WHERE event = 'self_block_change' AND {condition};
    INSERT INTO memory_events (event, changed)
    SELECT 'self_block_change', {_REVISION} WHERE {condition};"""


_SELF_TAGS = """LIKE '%"self/%'"""

# Whoever deletes or edits a Pak, through the engine, the catalogue or plain SQL: it is a change.
_TRIGGERS = {
    "memories_ad": f"""CREATE TRIGGER memories_ad AFTER DELETE ON memories
BEGIN
    {_NEXT_REVISION}
    DELETE FROM memories_gone WHERE row_id = OLD.row_id;
    INSERT INTO memories_gone (row_id, changed) VALUES (OLD.row_id, {_REVISION});
    {_self_changed(f"OLD.tags {_SELF_TAGS}")}
END""",
    "paks_au_memories": f"""CREATE TRIGGER paks_au_memories AFTER UPDATE ON paks
WHEN EXISTS (SELECT 1 FROM memories WHERE pak_id = NEW.pak_id)
BEGIN
    {_NEXT_REVISION}
    UPDATE memories SET changed = {_REVISION} WHERE pak_id = NEW.pak_id;
    {_self_changed(f"(SELECT tags FROM memories WHERE pak_id = NEW.pak_id) {_SELF_TAGS}")}
END""",
}

ENGINE_MIGRATIONS = (
    Migration(
        1,
        "memory_engine",
        (
            *_TABLES,
            *_INDEXES,
            *(f"DROP TRIGGER IF EXISTS {name}" for name in _TRIGGERS),
            *_TRIGGERS.values(),
        ),
    ),
)
ENGINE_VERSION = ENGINE_MIGRATIONS[-1].version
