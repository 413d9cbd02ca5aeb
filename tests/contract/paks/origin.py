"""Databases as the origin project leaves them, made by raw SQL: its tables, its plainer triggers.

Its triggers follow inserts, deletes and changes of title or summary. They miss a REPLACE, which
leaves the old full-text row beside the new one, and a changed pak_id, which leaves it under the
old id; and rows from before version 2 were never indexed at all.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

STAMP = "2025-11-02T09:15:00Z"

VERSION_1 = """
CREATE TABLE schema_version (
    id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, applied_at TEXT NOT NULL);
CREATE TABLE paks (
    pak_id TEXT PRIMARY KEY, pak_type TEXT NOT NULL, project TEXT, topic TEXT,
    source_type TEXT NOT NULL, authority TEXT NOT NULL, title TEXT NOT NULL,
    summary TEXT NOT NULL DEFAULT '', content_hash TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    superseded_by TEXT REFERENCES paks(pak_id) ON DELETE SET NULL);
CREATE VIRTUAL TABLE paks_fts USING fts5(
    pak_id UNINDEXED, title, summary, tokenize='unicode61 remove_diacritics 2');
CREATE TABLE pak_anchors (
    pak_id TEXT NOT NULL REFERENCES paks(pak_id) ON DELETE CASCADE, anchor_id TEXT NOT NULL,
    source_path TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (pak_id, anchor_id));
CREATE TABLE pak_relations (
    pak_id TEXT NOT NULL REFERENCES paks(pak_id) ON DELETE CASCADE,
    related_pak_id TEXT NOT NULL REFERENCES paks(pak_id) ON DELETE CASCADE,
    relation_type TEXT NOT NULL, created_at TEXT NOT NULL,
    PRIMARY KEY (pak_id, related_pak_id, relation_type));
CREATE INDEX idx_paks_project ON paks(project);
CREATE INDEX idx_paks_topic ON paks(topic);
CREATE INDEX idx_paks_pak_type ON paks(pak_type);
CREATE INDEX idx_paks_updated ON paks(updated_at);
CREATE INDEX idx_paks_content_hash ON paks(content_hash);
CREATE INDEX idx_pak_anchors_source ON pak_anchors(source_path);
CREATE INDEX idx_relations_related ON pak_relations(related_pak_id);
"""

VERSION_2 = """
CREATE TRIGGER paks_ai_fts AFTER INSERT ON paks BEGIN
    INSERT INTO paks_fts(pak_id, title, summary) VALUES (new.pak_id, new.title, new.summary);
END;
CREATE TRIGGER paks_au_fts AFTER UPDATE OF title, summary ON paks BEGIN
    DELETE FROM paks_fts WHERE pak_id = old.pak_id;
    INSERT INTO paks_fts(pak_id, title, summary) VALUES (new.pak_id, new.title, new.summary);
END;
CREATE TRIGGER paks_ad_fts AFTER DELETE ON paks BEGIN
    DELETE FROM paks_fts WHERE pak_id = old.pak_id;
END;
"""

VERSION_3 = """
CREATE TABLE pak_reason_codes (
    pak_id TEXT NOT NULL REFERENCES paks(pak_id) ON DELETE CASCADE, reason_code TEXT NOT NULL,
    weight REAL NOT NULL DEFAULT 1.0 CHECK (weight >= 0.0 AND weight <= 1.0),
    created_at TEXT NOT NULL, PRIMARY KEY (pak_id, reason_code));
CREATE TABLE pak_risk_flags (
    pak_id TEXT NOT NULL REFERENCES paks(pak_id) ON DELETE CASCADE, risk_flag TEXT NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('info', 'warn', 'block')),
    created_at TEXT NOT NULL, PRIMARY KEY (pak_id, risk_flag));
CREATE INDEX idx_pak_reason_codes_code ON pak_reason_codes(reason_code);
CREATE INDEX idx_pak_risk_flags_flag ON pak_risk_flags(risk_flag);
CREATE INDEX idx_pak_risk_flags_severity ON pak_risk_flags(severity);
"""

STEPS = (VERSION_1, VERSION_2, VERSION_3)


def build(path: Path, version: int) -> None:
    """Make a used database of that version at `path`, as stale as the version lets it become."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute("PRAGMA foreign_keys = ON")
        conn.executescript(VERSION_1)
        put(conn, "early", "written before triggers", "aardvark")
        put(conn, "plain", "an untouched one", "badger")
        conn.execute("INSERT INTO pak_anchors VALUES ('plain', 'a1', 'src/shop.py', 'file')")
        conn.execute("INSERT INTO pak_relations VALUES ('plain', 'early', 'refines', ?)", (STAMP,))
        for statements in STEPS[1:version]:
            conn.executescript(statements)
        if version >= 2:
            go_stale(conn)
        if version == 3:
            conn.execute(
                "INSERT INTO pak_reason_codes VALUES ('plain', 'mandatory', 0.5, ?)", (STAMP,)
            )
            conn.execute(
                "INSERT INTO pak_risk_flags VALUES ('plain', 'mine', 'block', ?)", (STAMP,)
            )
        conn.execute("INSERT INTO schema_version VALUES (1, ?, ?)", (version, STAMP))


def go_stale(conn: sqlite3.Connection) -> None:
    put(conn, "replaced", "first words", "cormorant")
    put(conn, "replaced", "second words", "dromedary", verb="INSERT OR REPLACE")
    put(conn, "old-name", "a renamed one", "echidna")
    conn.execute("UPDATE paks SET pak_id = 'new-name' WHERE pak_id = 'old-name'")
    put(conn, "fresh", "indexed as it should be", "flamingo")


def put(
    conn: sqlite3.Connection, pak_id: str, title: str, summary: str, *, verb: str = "INSERT"
) -> None:
    conn.execute(
        f"{verb} INTO paks"
        " VALUES (?, 'vault', 'shop', NULL, 'doc', 'human', ?, ?, 'h', ?, ?, NULL)",
        (pak_id, title, summary, STAMP, STAMP),
    )


def expected_paks(version: int) -> dict[str, str]:
    """Return the Paks that such a database holds, with the one word that finds each."""
    early = {"early": "aardvark", "plain": "badger"}
    later = {"replaced": "dromedary", "new-name": "echidna", "fresh": "flamingo"}
    return early if version == 1 else early | later
