from __future__ import annotations

import sqlite3

import pytest
from tests.contract.paks.samples import NOON, matches, pak

from recollect.paks import RecallStore

pytestmark = pytest.mark.sql

# name, type, not null, default, position in the primary key
PAKS = [
    ("pak_id", "TEXT", 0, None, 1),
    ("pak_type", "TEXT", 1, None, 0),
    ("project", "TEXT", 0, None, 0),
    ("topic", "TEXT", 0, None, 0),
    ("source_type", "TEXT", 1, None, 0),
    ("authority", "TEXT", 1, None, 0),
    ("title", "TEXT", 1, None, 0),
    ("summary", "TEXT", 1, "''", 0),
    ("content_hash", "TEXT", 1, None, 0),
    ("created_at", "TEXT", 1, None, 0),
    ("updated_at", "TEXT", 1, None, 0),
    ("superseded_by", "TEXT", 0, None, 0),
]

# table: {column: (type, default, position in the primary key)}
TABLES = {
    "schema_version": {
        "id": ("INTEGER", None, 1),
        "version": ("INTEGER", None, 0),
        "applied_at": ("TEXT", None, 0),
    },
    "pak_anchors": {
        "pak_id": ("TEXT", None, 1),
        "anchor_id": ("TEXT", None, 2),
        "source_path": ("TEXT", None, 0),
        "kind": ("TEXT", None, 0),
    },
    "pak_relations": {
        "pak_id": ("TEXT", None, 1),
        "related_pak_id": ("TEXT", None, 2),
        "relation_type": ("TEXT", None, 3),
        "created_at": ("TEXT", None, 0),
    },
    "pak_reason_codes": {
        "pak_id": ("TEXT", None, 1),
        "reason_code": ("TEXT", None, 2),
        "weight": ("REAL", "1.0", 0),
        "created_at": ("TEXT", None, 0),
    },
    "pak_risk_flags": {
        "pak_id": ("TEXT", None, 1),
        "risk_flag": ("TEXT", None, 2),
        "severity": ("TEXT", None, 0),
        "created_at": ("TEXT", None, 0),
    },
}

# table: {(column, what happens when the Pak is deleted)}
FOREIGN_KEYS = {
    "paks": {("superseded_by", "SET NULL")},
    "pak_anchors": {("pak_id", "CASCADE")},
    "pak_relations": {("pak_id", "CASCADE"), ("related_pak_id", "CASCADE")},
    "pak_reason_codes": {("pak_id", "CASCADE")},
    "pak_risk_flags": {("pak_id", "CASCADE")},
}

ONE_COLUMN_INDEXES = {
    "idx_paks_project": ("paks", "project"),
    "idx_paks_topic": ("paks", "topic"),
    "idx_paks_pak_type": ("paks", "pak_type"),
    "idx_paks_updated": ("paks", "updated_at"),
    "idx_paks_content_hash": ("paks", "content_hash"),
    "idx_pak_anchors_source": ("pak_anchors", "source_path"),
    "idx_relations_related": ("pak_relations", "related_pak_id"),
    "idx_pak_reason_codes_code": ("pak_reason_codes", "reason_code"),
    "idx_pak_risk_flags_flag": ("pak_risk_flags", "risk_flag"),
    "idx_pak_risk_flags_severity": ("pak_risk_flags", "severity"),
}


def test_paks_has_exactly_twelve_columns(store: RecallStore) -> None:
    columns = [row[1:] for row in store.conn.execute("PRAGMA table_info(paks)")]

    assert columns == PAKS


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_its_columns_and_key(store: RecallStore, table: str) -> None:
    rows = store.conn.execute(f"PRAGMA table_info({table})")

    assert {name: (kind, default, key) for _, name, kind, _, default, key in rows} == TABLES[table]


@pytest.mark.parametrize("table", FOREIGN_KEYS)
def test_a_table_refers_to_paks(store: RecallStore, table: str) -> None:
    rows = store.conn.execute(f"PRAGMA foreign_key_list({table})").fetchall()

    assert {(row[3], row[6]) for row in rows} == FOREIGN_KEYS[table]
    assert {row[2] for row in rows} == {"paks"}
    assert {row[4] for row in rows} <= {"pak_id", None}


@pytest.mark.parametrize("index", ONE_COLUMN_INDEXES)
def test_an_index_has_its_one_column(store: RecallStore, index: str) -> None:
    table, column = ONE_COLUMN_INDEXES[index]
    on = store.conn.execute(
        "SELECT tbl_name FROM sqlite_master WHERE type = 'index' AND name = ?", (index,)
    ).fetchone()

    assert on == (table,)
    assert [row[2] for row in store.conn.execute(f"PRAGMA index_info({index})")] == [column]


def test_the_version_table_holds_one_row(store: RecallStore) -> None:
    rows = store.conn.execute("SELECT id, version FROM schema_version").fetchall()

    assert rows == [(1, 3)]
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        store.conn.execute("INSERT INTO schema_version VALUES (2, 3, ?)", (NOON,))


def test_the_triggers_have_their_names(store: RecallStore) -> None:
    triggers = store.conn.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'paks'"
    )

    assert {"paks_ai_fts", "paks_au_fts", "paks_ad_fts"} <= {row[0] for row in triggers}


@pytest.mark.parametrize(
    "column", [column for column, _, not_null, default, _ in PAKS if not_null and default is None]
)
def test_a_column_that_must_say_something_refuses_null(store: RecallStore, column: str) -> None:
    store.upsert_pak(**pak())

    with pytest.raises(sqlite3.IntegrityError, match=f"NOT NULL.*{column}"):
        store.conn.execute(f"UPDATE paks SET {column} = NULL")


def test_a_raw_insert_without_a_summary_has_an_empty_one(store: RecallStore) -> None:
    store.conn.execute(
        "INSERT INTO paks (pak_id, pak_type, source_type, authority, title, content_hash,"
        " created_at, updated_at) VALUES ('p1', 'a', 'b', 'c', 'd', 'e', 'f', 'g')"
    )

    assert store.get_pak("p1").summary == ""


def test_a_pak_id_is_unique(store: RecallStore) -> None:
    store.upsert_pak(**pak())

    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        store.conn.execute("INSERT INTO paks SELECT * FROM paks")


@pytest.mark.parametrize("weight", [-0.01, 1.01])
def test_the_table_itself_refuses_a_weight_outside_0_to_1(
    store: RecallStore, weight: float
) -> None:
    store.upsert_pak(**pak())

    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        store.conn.execute("INSERT INTO pak_reason_codes VALUES ('p1', 'x', ?, ?)", (weight, NOON))


def test_the_table_itself_gives_a_code_full_weight(store: RecallStore) -> None:
    store.upsert_pak(**pak())
    store.conn.execute(
        "INSERT INTO pak_reason_codes (pak_id, reason_code, created_at) VALUES ('p1', 'x', ?)",
        (NOON,),
    )

    assert store.get_pak_reason_codes("p1") == [("x", 1.0)]


@pytest.mark.parametrize("severity", ["fatal", "WARN", ""])
def test_the_table_itself_refuses_another_severity(store: RecallStore, severity: str) -> None:
    store.upsert_pak(**pak())

    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        store.conn.execute("INSERT INTO pak_risk_flags VALUES ('p1', 'x', ?, ?)", (severity, NOON))


def test_the_full_text_table_is_fts5_with_content_of_its_own(store: RecallStore) -> None:
    (sql,) = store.conn.execute("SELECT sql FROM sqlite_master WHERE name = 'paks_fts'").fetchone()
    columns = [row[1] for row in store.conn.execute("PRAGMA table_info(paks_fts)")]

    assert "fts5" in sql
    assert "content" not in sql
    assert "pak_id UNINDEXED" in sql
    assert "unicode61 remove_diacritics 2" in sql
    assert columns == ["pak_id", "title", "summary"]
    assert store.conn.execute("SELECT count(*) FROM paks_fts_content").fetchone() == (0,)


def test_a_direct_insert_into_the_full_text_table_needs_no_pak(store: RecallStore) -> None:
    store.conn.execute("INSERT INTO paks_fts (pak_id, title, summary) VALUES ('o', 'lone', 'wolf')")

    assert matches(store.conn, "wolf") == ["o"]
    assert store.conn.execute("SELECT title FROM paks_fts").fetchall() == [("lone",)]


@pytest.mark.parametrize("query", ["cafe", "café", "CAFÉ", "cafe\u0301"])
@pytest.mark.parametrize("stored", ["café", "cafe", "CAFE\u0301"])
def test_accents_and_case_do_not_matter_to_full_text(
    store: RecallStore, query: str, stored: str
) -> None:
    store.upsert_pak(**pak(title=f"the {stored} around the corner"))

    assert matches(store.conn, f'"{query}"') == ["p1"]
    assert [hit.pak.pak_id for hit in store.search(query)] == ["p1"]


def test_a_pak_id_is_not_itself_searched(store: RecallStore) -> None:
    store.upsert_pak(**pak("zebra", title="stripes"))

    assert matches(store.conn, "zebra") == []
