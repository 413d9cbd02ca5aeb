"""The engine's own chain of migrations: forward only, all of them in one transaction.

`name_key` and `found_risks` are functions of ours, given to SQLite before it migrates. When the
sanitizer learns a new shape, a migration looks at the old texts again.
"""

from __future__ import annotations

from recollect.model import EXTERNAL
from recollect.paks.migrations import Migration
from recollect.policy.trust import UNKNOWN_SOURCE
from recollect.stores.sqlite.schema import INDEXES, TABLES
from recollect.stores.sqlite.seals import DAMAGED, METADATA, RECEIPTS, SEALS, VERSIONS
from recollect.stores.sqlite.triggers import (
    LOG_TRIGGERS,
    TRIGGERS_OF_FULLTEXT,
    TRIGGERS_OF_USES,
    TRIGGERS_OF_VERSIONS,
)
from recollect.stores.sqlite.twins import LIGHTER_TWINS, TWINS, TWINS_OF_USES, TWINS_OF_VERSIONS

__all__ = ["ENGINE_MIGRATIONS", "ENGINE_VERSION"]

_MOVE = "UPDATE engine_state SET revision = revision + 1"
_REVISION = "(SELECT revision FROM engine_state)"
_EXAMINE = (
    "UPDATE memories SET risks = (SELECT found_risks(content, title, summary, project, topic, tags,"
    " category, source, entity, relation, value, thread, speaker, occurred_at)"
    " FROM paks WHERE paks.pak_id = memories.pak_id)"
)


def _triggers(move: str) -> tuple[str, ...]:
    """Whoever deletes or edits a Pak, by the engine, the catalogue or plain SQL: it is a change."""
    return (
        "DROP TRIGGER IF EXISTS memories_ad",
        "DROP TRIGGER IF EXISTS paks_au_memories",
        f"""CREATE TRIGGER memories_ad AFTER DELETE ON memories
BEGIN
    {move};
    DELETE FROM memories_gone WHERE row_id = OLD.row_id;
    INSERT INTO memories_gone (row_id, changed) VALUES (OLD.row_id, {_REVISION});
END""",
        f"""CREATE TRIGGER paks_au_memories AFTER UPDATE ON paks
WHEN EXISTS (SELECT 1 FROM memories WHERE pak_id = NEW.pak_id)
BEGIN
    {move};
    UPDATE memories SET changed = {_REVISION} WHERE pak_id = NEW.pak_id;
END""",
    )


# Who may read what, whom we trust, and who did what about it. A frame belongs to a tenant.
_ACCESS = (
    "ALTER TABLE memories ADD COLUMN risks TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE memories ADD COLUMN entity_key TEXT",
    "ALTER TABLE memories ADD COLUMN value_key TEXT",
    _EXAMINE,
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
_UNLINK = (
    f"UPDATE memory_edges SET weight = 0, changed = {_REVISION} WHERE automatic = 1 AND weight > 0"
    f" AND (low IN ({_UNSETTLED}) OR high IN ({_UNSETTLED}))"
)
_LIKENESSES = (
    """
CREATE TABLE memory_likenesses (
    row_id     INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    other      INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    closeness  REAL NOT NULL,
    PRIMARY KEY (row_id, other)
) WITHOUT ROWID""",
    "CREATE INDEX idx_memory_likenesses_other ON memory_likenesses (other)",
    _MOVE,
    _UNLINK,
    "INSERT INTO memory_likenesses SELECT low, high, weight FROM memory_edges"
    " WHERE automatic = 1 AND weight > 0"
    " UNION ALL SELECT high, low, weight FROM memory_edges WHERE automatic = 1 AND weight > 0",
)

# One revision a commit: while one is under way the triggers do not move it. A change that comes
# past `commit` still does, and nobody has a name for it.
_MOVE_PAST_COMMITS = f"{_MOVE}, commit_id = NULL WHERE NOT committing"
_COMMITS = (
    "ALTER TABLE engine_state ADD COLUMN commit_id TEXT",
    "ALTER TABLE engine_state ADD COLUMN committing INTEGER NOT NULL DEFAULT 0",
    """
CREATE TABLE commits (
    revision   INTEGER PRIMARY KEY,
    commit_id  TEXT NOT NULL,
    at         TEXT NOT NULL
)""",
    *_triggers(_MOVE_PAST_COMMITS),
    "ALTER TABLE memories ADD COLUMN relation_key TEXT",
    "ALTER TABLE memories ADD COLUMN source_key TEXT",
    "UPDATE memories SET relation_key = name_key(relation), source_key = name_key(source)"
    " WHERE relation IS NOT NULL OR source IS NOT NULL",
    "CREATE INDEX idx_memories_relation_key ON memories (relation_key)"
    " WHERE relation_key IS NOT NULL",
    "CREATE INDEX idx_memories_source_key ON memories (source_key) WHERE source_key IS NOT NULL",
    "DROP INDEX IF EXISTS idx_memories_source",
    # The sanitizer learnt languages and disguises, and to let chat lines be.
    _MOVE,
    _EXAMINE,
    f"UPDATE memories SET changed = {_REVISION}",
    _UNLINK,
    f"DELETE FROM memory_likenesses WHERE row_id IN ({_UNSETTLED}) OR other IN ({_UNSETTLED})",
    # Facts from outside were kept as what they counted, one half at most where nobody spoke for
    # their source; now trust is applied when they are read. They go on counting as much.
    f"UPDATE memories SET confidence = min(1.0, confidence / {UNKNOWN_SOURCE})"
    f" WHERE pak_id IN (SELECT pak_id FROM paks WHERE authority = '{EXTERNAL}')"
    " AND NOT EXISTS (SELECT 1 FROM source_trust AS known WHERE known.tenant = memories.tenant"
    " AND name_key(known.source) = memories.source_key)",
)

# One row in `commits` says what a change touched, instead of a mark in every row. What the log knew
# before cannot be followed: it begins anew, with the migration as its first change.
_LOG = (
    "DROP TRIGGER memories_ad",
    "DROP TRIGGER paks_au_memories",
    "DROP INDEX idx_memories_changed",
    "DROP INDEX idx_memory_edges_changed",
    "DROP TABLE memories_gone",
    "DROP TABLE commits",
    "DELETE FROM memory_edges WHERE weight = 0",
    "ALTER TABLE memories DROP COLUMN changed",
    "ALTER TABLE memory_edges DROP COLUMN changed",
    "ALTER TABLE engine_state DROP COLUMN oldest_change",
    "ALTER TABLE engine_state DROP COLUMN cache_token",
    """
CREATE TABLE commits (
    revision   INTEGER PRIMARY KEY,
    commit_id  TEXT NOT NULL,
    at         TEXT,
    size       INTEGER NOT NULL DEFAULT 0,
    touched    TEXT NOT NULL DEFAULT '[]',
    gone       TEXT NOT NULL DEFAULT '[]',
    edges      TEXT NOT NULL DEFAULT '[]',
    events     TEXT NOT NULL DEFAULT '[]'
)""",
    # What triggers see while a commit is under way; empty between commits.
    "CREATE TABLE commit_notes (row_id INTEGER NOT NULL, gone INTEGER NOT NULL)",
    f"{_MOVE}, commit_id = lower(hex(randomblob(16)))",
    "INSERT INTO commits (revision, commit_id) SELECT revision, commit_id FROM engine_state",
    *LOG_TRIGGERS,
)

# Which erasure still has its bytes in the file, by the revision of its commit; 0 for none.
_WIPING = ("ALTER TABLE engine_state ADD COLUMN unwiped INTEGER NOT NULL DEFAULT 0",)

# Answers to requests that may be repeated. They hold ids; whichever way a memory goes, what answers
# say of it goes too, and that the request was answered is all that stays.
_ANSWERS = (
    """
CREATE TABLE kept_answers (
    request  TEXT PRIMARY KEY,
    at       TEXT NOT NULL,
    body     TEXT,
    answer   TEXT
) WITHOUT ROWID""",
    "CREATE INDEX idx_kept_answers_at ON kept_answers (at)",
    """
CREATE TABLE kept_answer_rows (
    row_id   INTEGER NOT NULL,
    request  TEXT NOT NULL,
    PRIMARY KEY (row_id, request)
) WITHOUT ROWID""",
    "CREATE INDEX idx_kept_answer_rows_request ON kept_answer_rows (request)",
    """
CREATE TRIGGER answers_memories_delete AFTER DELETE ON memories
WHEN EXISTS (SELECT 1 FROM kept_answer_rows WHERE row_id = OLD.row_id)
BEGIN
    UPDATE kept_answers SET body = NULL, answer = NULL
     WHERE request IN (SELECT request FROM kept_answer_rows WHERE row_id = OLD.row_id);
    DELETE FROM kept_answer_rows WHERE row_id = OLD.row_id;
END""",
)

# What is counted or queued is counted within a tenant: acts, turns, and who waits for a vector.
_WITHIN_TENANTS = (
    "ALTER TABLE audit_log RENAME TO audit_log_of_all",
    """
CREATE TABLE audit_log (
    number     INTEGER NOT NULL,
    at         TEXT NOT NULL,
    tenant     TEXT NOT NULL,
    principal  TEXT NOT NULL,
    act        TEXT NOT NULL,
    target     TEXT NOT NULL,
    detail     TEXT NOT NULL,
    PRIMARY KEY (tenant, number)
) WITHOUT ROWID""",
    "INSERT INTO audit_log SELECT row_number() OVER (PARTITION BY tenant ORDER BY number), at,"
    " tenant, principal, act, target, detail FROM audit_log_of_all",
    "DROP TABLE audit_log_of_all",
    "DROP INDEX idx_memories_thread",
    "CREATE INDEX idx_memories_thread ON memories (tenant, thread, position)"
    " WHERE thread IS NOT NULL",
    "DROP INDEX idx_memories_pending",
    "CREATE INDEX idx_memories_pending ON memories (tenant) WHERE pending = 1",
)

# Uses of each principal. What was counted before is what everybody begins with: it stays where it
# is, in `memories` and in the weights of links.
_USES = (
    """
CREATE TABLE memory_uses (
    row_id           INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
    tenant           TEXT NOT NULL,
    principal        TEXT NOT NULL,
    reinforced       INTEGER NOT NULL,
    last_reinforced  REAL NOT NULL,
    PRIMARY KEY (row_id, tenant, principal)
) WITHOUT ROWID""",
    """
CREATE TABLE link_uses (
    low        INTEGER NOT NULL,
    high       INTEGER NOT NULL,
    tenant     TEXT NOT NULL,
    principal  TEXT NOT NULL,
    uses       INTEGER NOT NULL,
    PRIMARY KEY (low, high, tenant, principal),
    FOREIGN KEY (low, high) REFERENCES memory_edges (low, high) ON DELETE CASCADE
) WITHOUT ROWID""",
    *TWINS_OF_USES,
    *TRIGGERS_OF_USES,
)

# Who deleted from full text since somebody looked how the deleted words began: nobody (''), one
# commit, or whoever it was ('?'), as it is where nobody has looked yet.
_LOOKS = (
    "ALTER TABLE engine_state ADD COLUMN unlooked TEXT NOT NULL DEFAULT '?'",
    *TRIGGERS_OF_FULLTEXT,
)

ENGINE_MIGRATIONS = (
    Migration(1, "memory_engine", (*TABLES, *INDEXES)),
    Migration(2, "authorised_recall", (*_triggers(_MOVE), *_ACCESS)),
    Migration(3, "likenesses", _LIKENESSES),
    Migration(4, "commits", _COMMITS),
    Migration(5, "log", _LOG),
    Migration(6, "seals", (*SEALS, *TWINS, *DAMAGED)),
    Migration(7, "wiping", _WIPING),
    Migration(8, "answers", _ANSWERS),
    Migration(9, "lighter_twins", LIGHTER_TWINS),
    Migration(10, "within_tenants", _WITHIN_TENANTS),
    Migration(11, "uses", _USES),
    Migration(12, "versions", (*VERSIONS, *TWINS_OF_VERSIONS, *TRIGGERS_OF_VERSIONS)),
    Migration(13, "metadata", METADATA),
    Migration(14, "receipts", RECEIPTS),
    Migration(15, "looks", _LOOKS),
)
ENGINE_VERSION = ENGINE_MIGRATIONS[-1].version
