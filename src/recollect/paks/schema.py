"""The catalogue's tables, indexes and triggers as SQL text. Data only: nothing runs here.

`paks` has twelve columns and no more. `paks_fts` keeps its own copy of title and summary; the
triggers keep it in step. They find a Pak's full-text row through an index on the table in which
FTS5 keeps that copy, because asking `paks_fts` by `pak_id` scans all of it (ADR-0002).
"""

from __future__ import annotations

__all__ = [
    "ALL_DDL_V1",
    "ALL_DDL_V2",
    "ALL_DDL_V3",
    "EXPECTED_INDEXES_V1",
    "EXPECTED_TABLES_V1",
    "RECONCILE_FULLTEXT",
    "SCHEMA_VERSION",
    "SPEED_OBJECTS",
    "TOKENIZER",
    "TRIGGERS",
]

SCHEMA_VERSION = 3
TOKENIZER = "unicode61 remove_diacritics 2"

_TABLES_V1 = {
    "schema_version": """
CREATE TABLE IF NOT EXISTS schema_version (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    version     INTEGER NOT NULL,
    applied_at  TEXT NOT NULL
)""",
    "paks": """
CREATE TABLE IF NOT EXISTS paks (
    pak_id         TEXT PRIMARY KEY,
    pak_type       TEXT NOT NULL,
    project        TEXT,
    topic          TEXT,
    source_type    TEXT NOT NULL,
    authority      TEXT NOT NULL,
    title          TEXT NOT NULL,
    summary        TEXT NOT NULL DEFAULT '',
    content_hash   TEXT NOT NULL,
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL,
    superseded_by  TEXT REFERENCES paks (pak_id) ON DELETE SET NULL
)""",
    "paks_fts": f"""
CREATE VIRTUAL TABLE IF NOT EXISTS paks_fts USING fts5 (
    pak_id UNINDEXED,
    title,
    summary,
    tokenize = '{TOKENIZER}'
)""",
    "pak_anchors": """
CREATE TABLE IF NOT EXISTS pak_anchors (
    pak_id       TEXT NOT NULL REFERENCES paks (pak_id) ON DELETE CASCADE,
    anchor_id    TEXT NOT NULL,
    source_path  TEXT NOT NULL,
    kind         TEXT NOT NULL,
    PRIMARY KEY (pak_id, anchor_id)
)""",
    "pak_relations": """
CREATE TABLE IF NOT EXISTS pak_relations (
    pak_id          TEXT NOT NULL REFERENCES paks (pak_id) ON DELETE CASCADE,
    related_pak_id  TEXT NOT NULL REFERENCES paks (pak_id) ON DELETE CASCADE,
    relation_type   TEXT NOT NULL,
    created_at      TEXT NOT NULL,
    PRIMARY KEY (pak_id, related_pak_id, relation_type)
)""",
}

_INDEXES_V1 = {
    "idx_paks_project": "paks (project)",
    "idx_paks_topic": "paks (topic)",
    "idx_paks_pak_type": "paks (pak_type)",
    "idx_paks_updated": "paks (updated_at)",
    "idx_paks_content_hash": "paks (content_hash)",
    "idx_pak_anchors_source": "pak_anchors (source_path)",
    "idx_relations_related": "pak_relations (related_pak_id)",
}

# In the order of a listing, so that every page is one seek: all Paks, a project's, a type's. A
# project's also holds the type, so that both filters together read nothing but the index. The
# last finds who names a Pak as its successor, which each delete must ask.
_INDEXES_FOR_SPEED = {
    "idx_paks_walk": "paks (updated_at, pak_id)",
    "idx_paks_walk_project": "paks (project, updated_at, pak_id, pak_type)",
    "idx_paks_walk_type": "paks (pak_type, updated_at, pak_id)",
    "idx_paks_superseded_by": "paks (superseded_by) WHERE superseded_by IS NOT NULL",
}

# FTS5 keeps its own columns in this table as id, c0, c1, c2; c0 is the pak_id.
_FULLTEXT_INDEX = {"idx_paks_fts_pak_id": "paks_fts_content (c0)"}
_FULLTEXT_ROWS = "(SELECT id FROM paks_fts_content WHERE c0 = {id})"

# Every one-row write adds a segment; merging sixteen of them half as often saves writers a tenth
# and costs a search nothing that can be measured.
_FULLTEXT_MERGES = (
    "INSERT INTO paks_fts (paks_fts, rank) VALUES ('automerge', 8)",
    "INSERT INTO paks_fts (paks_fts, rank) VALUES ('crisismerge', 32)",
)

_FORGET = f"\n    DELETE FROM paks_fts WHERE rowid IN {_FULLTEXT_ROWS};"
_FORGET_OLD = _FORGET.format(id="OLD.pak_id")
_FORGET_NEW = _FORGET.format(id="NEW.pak_id")
_INDEX_NEW = """
    INSERT INTO paks_fts (pak_id, title, summary) VALUES (NEW.pak_id, NEW.title, NEW.summary);"""
_STANDS = f"EXISTS {_FULLTEXT_ROWS.format(id='NEW.pak_id')}"

# INSERT OR REPLACE drops the old row without firing the delete trigger, and UPDATE OR REPLACE the
# row it runs over, so both clear what stood under the new id. For an insert that is a trigger of
# its own: a delete from a full-text table costs as much as a whole insert even if it finds nothing.
TRIGGERS = {
    "paks_ai_fts": f"""CREATE TRIGGER paks_ai_fts AFTER INSERT ON paks
WHEN NOT {_STANDS}
BEGIN{_INDEX_NEW}
END""",
    "paks_ai_fts_again": f"""CREATE TRIGGER paks_ai_fts_again AFTER INSERT ON paks
WHEN {_STANDS}
BEGIN{_FORGET_NEW}{_INDEX_NEW}
END""",
    "paks_au_fts": f"""CREATE TRIGGER paks_au_fts AFTER UPDATE OF pak_id, title, summary ON paks
WHEN OLD.pak_id IS NOT NEW.pak_id
  OR OLD.title IS NOT NEW.title
  OR OLD.summary IS NOT NEW.summary
BEGIN{_FORGET_OLD}{_FORGET_NEW}{_INDEX_NEW}
END""",
    "paks_ad_fts": f"""CREATE TRIGGER paks_ad_fts AFTER DELETE ON paks
BEGIN{_FORGET_OLD}
END""",
}

# Makes the full-text table say what `paks` says, whatever state it was in: rows of an older
# release, rows from before the triggers, duplicates that an origin's REPLACE left behind.
RECONCILE_FULLTEXT = (
    """
DELETE FROM paks_fts WHERE rowid IN (
    SELECT found.rowid FROM paks_fts AS found LEFT JOIN paks USING (pak_id)
     WHERE paks.pak_id IS NULL
        OR paks.title IS NOT found.title
        OR paks.summary IS NOT found.summary)""",
    """
DELETE FROM paks_fts WHERE rowid NOT IN (SELECT max(rowid) FROM paks_fts GROUP BY pak_id)""",
    """
INSERT INTO paks_fts (pak_id, title, summary)
SELECT pak_id, title, summary FROM paks WHERE pak_id NOT IN (SELECT pak_id FROM paks_fts)""",
)

_TABLES_V3 = {
    "pak_reason_codes": """
CREATE TABLE IF NOT EXISTS pak_reason_codes (
    pak_id       TEXT NOT NULL REFERENCES paks (pak_id) ON DELETE CASCADE,
    reason_code  TEXT NOT NULL,
    weight       REAL NOT NULL DEFAULT 1.0 CHECK (weight BETWEEN 0.0 AND 1.0),
    created_at   TEXT NOT NULL,
    PRIMARY KEY (pak_id, reason_code)
)""",
    "pak_risk_flags": """
CREATE TABLE IF NOT EXISTS pak_risk_flags (
    pak_id      TEXT NOT NULL REFERENCES paks (pak_id) ON DELETE CASCADE,
    risk_flag   TEXT NOT NULL,
    severity    TEXT NOT NULL CHECK (severity IN ('info', 'warn', 'block')),
    created_at  TEXT NOT NULL,
    PRIMARY KEY (pak_id, risk_flag)
)""",
}

_INDEXES_V3 = {
    "idx_pak_reason_codes_code": "pak_reason_codes (reason_code)",
    "idx_pak_risk_flags_flag": "pak_risk_flags (risk_flag)",
    "idx_pak_risk_flags_severity": "pak_risk_flags (severity)",
}


def _indexes(indexes: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"CREATE INDEX IF NOT EXISTS {name} ON {on}" for name, on in indexes.items())


ALL_DDL_V1 = (*_TABLES_V1.values(), *_indexes(_INDEXES_V1), *_indexes(_INDEXES_FOR_SPEED))
ALL_DDL_V2 = (
    *_indexes(_FULLTEXT_INDEX),
    *_FULLTEXT_MERGES,
    *(f"DROP TRIGGER IF EXISTS {name}" for name in TRIGGERS),
    *(sql.replace("TRIGGER", "TRIGGER IF NOT EXISTS", 1) for sql in TRIGGERS.values()),
    *RECONCILE_FULLTEXT,
)
ALL_DDL_V3 = (*_TABLES_V3.values(), *_indexes(_INDEXES_V3))

EXPECTED_TABLES_V1 = frozenset(_TABLES_V1)
EXPECTED_INDEXES_V1 = frozenset(_INDEXES_V1)

# What a database made by the origin project lacks; one missing means that it was never adopted.
SPEED_OBJECTS = frozenset({*_INDEXES_FOR_SPEED, *_FULLTEXT_INDEX})
