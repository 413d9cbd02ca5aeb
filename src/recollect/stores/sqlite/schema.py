"""The engine's tables beside the catalogue's, and their own chain of migrations.

Everything about a Pak that `paks` has no column for lives in `memories`, keyed by `pak_id` and gone
with it. `changed` holds the revision of a row's last change: it is how an index follows the store.
"""

from __future__ import annotations

from recollect.paks.migrations import Migration

__all__ = ["ENGINE_MIGRATIONS", "ENGINE_VERSION"]

# `name_key` and `found_risks` are functions of ours, given to SQLite before it migrates. When the
# sanitizer learns a new shape, a migration looks at the old texts again.

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

# Whoever deletes or edits a Pak, through the engine, the catalogue or plain SQL: it is a change.
_TRIGGERS = {
    "memories_ad": f"""CREATE TRIGGER memories_ad AFTER DELETE ON memories
BEGIN
    {_NEXT_REVISION}
    DELETE FROM memories_gone WHERE row_id = OLD.row_id;
    INSERT INTO memories_gone (row_id, changed) VALUES (OLD.row_id, {_REVISION});
END""",
    "paks_au_memories": f"""CREATE TRIGGER paks_au_memories AFTER UPDATE ON paks
WHEN EXISTS (SELECT 1 FROM memories WHERE pak_id = NEW.pak_id)
BEGIN
    {_NEXT_REVISION}
    UPDATE memories SET changed = {_REVISION} WHERE pak_id = NEW.pak_id;
END""",
}
_RENEW_TRIGGERS = (
    *(f"DROP TRIGGER IF EXISTS {name}" for name in _TRIGGERS),
    *_TRIGGERS.values(),
)

# Who may read what, whom we trust, and who did what about it. A frame belongs to a tenant.
_ACCESS = (
    "ALTER TABLE memories ADD COLUMN risks TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE memories ADD COLUMN entity_key TEXT",
    "ALTER TABLE memories ADD COLUMN value_key TEXT",
    "UPDATE memories SET risks = (SELECT found_risks(content, title, summary, project, topic, tags,"
    " category, source, entity, relation, value, thread, speaker, occurred_at)"
    " FROM paks WHERE paks.pak_id = memories.pak_id)",
    "UPDATE memories SET entity_key = name_key(entity), value_key = name_key(value)"
    " WHERE entity IS NOT NULL OR value IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS idx_memories_entity ON memories (entity_key)"
    " WHERE entity_key IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS idx_memories_value ON memories (value_key)"
    " WHERE value_key IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS idx_memories_source ON memories (source) WHERE source IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS idx_memories_garden ON memories (tenant, garden)"
    " WHERE garden IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS idx_memories_held_back ON memories (status)"
    " WHERE status = 'quarantined'",
    """
CREATE TABLE gardens (
    tenant      TEXT NOT NULL,
    slug        TEXT NOT NULL,
    name        TEXT NOT NULL,
    scope       TEXT NOT NULL,
    team        TEXT,
    tier        REAL NOT NULL CHECK (tier BETWEEN 0 AND 1),
    created_at  TEXT NOT NULL,
    PRIMARY KEY (tenant, slug)
) WITHOUT ROWID""",
    """
CREATE TABLE garden_members (
    tenant     TEXT NOT NULL,
    slug       TEXT NOT NULL,
    principal  TEXT NOT NULL,
    role       TEXT NOT NULL,
    PRIMARY KEY (tenant, principal, slug),
    FOREIGN KEY (tenant, slug) REFERENCES gardens (tenant, slug) ON DELETE CASCADE
) WITHOUT ROWID""",
    "CREATE INDEX idx_garden_members_slug ON garden_members (tenant, slug)",
    """
CREATE TABLE access_keys (
    prefix       TEXT PRIMARY KEY,
    digest       TEXT NOT NULL,
    tenant       TEXT NOT NULL,
    principal    TEXT NOT NULL,
    teams        TEXT NOT NULL,
    permissions  TEXT NOT NULL,
    name         TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    expires_at   TEXT,
    revoked_at   TEXT
) WITHOUT ROWID""",
    """
CREATE TABLE source_trust (
    tenant  TEXT NOT NULL,
    source  TEXT NOT NULL,
    trust   REAL NOT NULL CHECK (trust BETWEEN 0 AND 1),
    PRIMARY KEY (tenant, source)
) WITHOUT ROWID""",
    """
CREATE TABLE audit_log (
    number     INTEGER PRIMARY KEY,
    at         TEXT NOT NULL,
    tenant     TEXT NOT NULL,
    principal  TEXT NOT NULL,
    act        TEXT NOT NULL,
    target     TEXT NOT NULL,
    detail     TEXT NOT NULL
)""",
    "CREATE INDEX idx_audit_log_tenant ON audit_log (tenant, number)",
    "ALTER TABLE memory_frames RENAME TO memory_frames_of_all",
    """
CREATE TABLE memory_frames (
    tenant      TEXT NOT NULL,
    name        TEXT NOT NULL,
    definition  TEXT NOT NULL,
    extends     TEXT,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID""",
    "INSERT INTO memory_frames SELECT 'local', name, definition, extends FROM memory_frames_of_all",
    "DROP TABLE memory_frames_of_all",
    "DELETE FROM memory_events WHERE event = 'self_block_change'",
)

# Lists of the most alike start as the automatic edges that there were. What has an end or looks
# like an injection has none from now on: it must not take a place in the list of what stays.
_UNSETTLED = "SELECT row_id FROM memories WHERE valid_until IS NOT NULL OR risks != ''"
_LIKENESSES = (
    """
CREATE TABLE memory_likenesses (
    row_id     INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    other      INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    closeness  REAL NOT NULL,
    PRIMARY KEY (row_id, other)
) WITHOUT ROWID""",
    "CREATE INDEX idx_memory_likenesses_other ON memory_likenesses (other)",
    "UPDATE engine_state SET revision = revision + 1",
    f"UPDATE memory_edges SET weight = 0, changed = {_REVISION} WHERE automatic = 1 AND weight > 0"
    f" AND (low IN ({_UNSETTLED}) OR high IN ({_UNSETTLED}))",
    "INSERT INTO memory_likenesses SELECT low, high, weight FROM memory_edges"
    " WHERE automatic = 1 AND weight > 0"
    " UNION ALL SELECT high, low, weight FROM memory_edges WHERE automatic = 1 AND weight > 0",
)

ENGINE_MIGRATIONS = (
    Migration(1, "memory_engine", (*_TABLES, *_INDEXES)),
    Migration(2, "authorised_recall", (*_RENEW_TRIGGERS, *_ACCESS)),
    Migration(3, "likenesses", _LIKENESSES),
)
ENGINE_VERSION = ENGINE_MIGRATIONS[-1].version
