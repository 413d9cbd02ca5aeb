from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tests.contract.paks.samples import NOON, catalogue_rows, fulltext_rows, matches, pak

from recollect.paks import RecallStore, migrations
from recollect.paks.migrations import (
    MIGRATIONS,
    Migration,
    adopt,
    apply_migrations,
    current_version,
)
from recollect.paks.schema import ALL_DDL_V1, EXPECTED_INDEXES_V1, EXPECTED_TABLES_V1

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.sql

JOIN_TABLES = {"pak_reason_codes", "pak_risk_flags"}


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "recall.db", isolation_level=None)) as opened:
        yield opened


def names(conn: sqlite3.Connection, kind: str) -> set[str]:
    return {
        row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,))
    }


def dump(conn: sqlite3.Connection) -> list[tuple[object, ...]]:
    return conn.execute("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2").fetchall()


def run_to(conn: sqlite3.Connection, version: int) -> None:
    for migration in MIGRATIONS[:version]:
        for statement in migration.statements:
            conn.execute(statement)
    conn.execute("INSERT INTO schema_version VALUES (1, ?, ?)", (version, NOON))


def put(conn: sqlite3.Connection, pak_id: str, title: str) -> None:
    conn.execute(
        "INSERT INTO paks VALUES (?, 't', NULL, NULL, 's', 'a', ?, '', 'h', ?, ?, NULL)",
        (pak_id, title, NOON, NOON),
    )


def test_the_chain_is_three_named_steps() -> None:
    assert [(step.version, step.name) for step in MIGRATIONS] == [
        (1, "initial_schema"),
        (2, "paks_fts_triggers"),
        (3, "pak_reason_codes_and_risk_flags"),
    ]
    assert MIGRATIONS[0].statements == ALL_DDL_V1


def test_the_first_step_has_the_tables_and_indexes_and_no_triggers(
    conn: sqlite3.Connection,
) -> None:
    run_to(conn, 1)

    assert names(conn, "table") >= EXPECTED_TABLES_V1
    assert not names(conn, "table") & JOIN_TABLES
    assert names(conn, "index") >= EXPECTED_INDEXES_V1
    assert names(conn, "trigger") == set()


def test_the_second_step_brings_the_triggers_only(conn: sqlite3.Connection) -> None:
    run_to(conn, 2)

    assert names(conn, "trigger") >= {"paks_ai_fts", "paks_au_fts", "paks_ad_fts"}
    assert not names(conn, "table") & JOIN_TABLES


def test_the_third_step_brings_the_join_tables(conn: sqlite3.Connection) -> None:
    run_to(conn, 3)

    assert names(conn, "table") >= JOIN_TABLES
    assert names(conn, "index") >= {
        "idx_pak_reason_codes_code",
        "idx_pak_risk_flags_flag",
        "idx_pak_risk_flags_severity",
    }


@pytest.mark.parametrize("times", [2, 3])
def test_every_statement_can_be_run_again(conn: sqlite3.Connection, times: int) -> None:
    run_to(conn, 3)
    put(conn, "p1", "zebra")
    before = dump(conn)

    for _ in range(times):
        for migration in MIGRATIONS:
            for statement in migration.statements:
                conn.execute(statement)

    assert dump(conn) == before
    assert fulltext_rows(conn) == [("p1", "zebra", "")]


def test_each_statement_can_be_run_twice_in_a_row(conn: sqlite3.Connection) -> None:
    for migration in MIGRATIONS:
        for statement in migration.statements:
            conn.execute(statement)
            conn.execute(statement)

    with closing(sqlite3.connect(":memory:")) as once:
        apply_migrations(once)
        assert dump(conn) == dump(once)


def test_a_fresh_database_has_version_0_and_stays_untouched(conn: sqlite3.Connection) -> None:
    assert current_version(conn) == 0
    assert dump(conn) == []


def test_applying_goes_to_the_head_and_says_so(conn: sqlite3.Connection) -> None:
    assert apply_migrations(conn) == 3
    assert current_version(conn) == 3
    assert conn.execute("SELECT count(*) FROM schema_version").fetchone() == (1,)


def test_applying_twice_changes_nothing(conn: sqlite3.Connection) -> None:
    apply_migrations(conn)
    applied = conn.execute("SELECT * FROM schema_version").fetchall()
    before = dump(conn)

    assert apply_migrations(conn) == 3
    assert conn.execute("SELECT * FROM schema_version").fetchall() == applied
    assert dump(conn) == before


def test_applying_works_on_a_connection_of_pythons_default_mode(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "recall.db")) as conn:
        assert apply_migrations(conn) == 3
    with closing(sqlite3.connect(tmp_path / "recall.db")) as conn:
        assert current_version(conn) == 3


def test_the_chain_is_read_when_it_is_applied(
    conn: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = Migration(4, "extra", ("CREATE TABLE extra (x)",))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS, extra))

    assert apply_migrations(conn) == 4
    assert "extra" in names(conn, "table")


def test_a_shortened_chain_stops_early(
    conn: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", MIGRATIONS[:1])
    assert apply_migrations(conn) == 1
    monkeypatch.undo()
    assert apply_migrations(conn) == 3


def test_a_failing_step_leaves_the_version_before_it_and_none_of_its_work(
    conn: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Migration(3, "broken", ("CREATE TABLE halfway (x)", "SELECT no_such_column"))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*MIGRATIONS[:2], broken))

    with pytest.raises(sqlite3.OperationalError, match="no_such_column"):
        apply_migrations(conn)

    assert current_version(conn) == 2
    assert "halfway" not in names(conn, "table")
    assert not conn.in_transaction
    monkeypatch.undo()
    assert apply_migrations(conn) == 3


def test_each_step_is_one_immediate_transaction(conn: sqlite3.Connection) -> None:
    ran: list[str] = []
    conn.set_trace_callback(ran.append)
    apply_migrations(conn)
    conn.set_trace_callback(None)

    bounds = [statement for statement in ran if statement in ("BEGIN IMMEDIATE", "COMMIT")]
    assert bounds == ["BEGIN IMMEDIATE", "COMMIT"] * 3


@pytest.mark.parametrize("step", [apply_migrations, adopt])
def test_what_another_process_did_while_this_one_waited_is_not_done_again(
    tmp_path: Path, conn: sqlite3.Connection, step: Callable[[sqlite3.Connection], object]
) -> None:
    ran: list[str] = []

    def between(statement: str) -> None:
        ran.append(statement)
        if ran.count("BEGIN IMMEDIATE") == 1 and statement == "BEGIN IMMEDIATE":
            with closing(sqlite3.connect(tmp_path / "recall.db")) as other:
                apply_migrations(other)

    conn.set_trace_callback(between)
    step(conn)
    conn.set_trace_callback(None)

    assert current_version(conn) == 3
    assert "BEGIN IMMEDIATE" in ran
    assert [statement for statement in ran if statement.lstrip().startswith("CREATE")] == []


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_database_finds_its_old_rows_by_full_text_after_migrating(
    tmp_path: Path, conn: sqlite3.Connection, version: int
) -> None:
    run_to(conn, version)
    put(conn, "p1", "zebra crossing")
    put(conn, "p2", "giraffe")
    if version == 1:
        assert matches(conn, "zebra") == []
    conn.close()

    with RecallStore.open(tmp_path / "recall.db") as store:
        assert store.schema_version == 3
        assert [hit.pak.pak_id for hit in store.search("zebra")] == ["p1"]
        assert fulltext_rows(store.conn) == catalogue_rows(store.conn)
        assert store.check() == (True, 2, ())


def test_rows_that_somebody_indexed_by_hand_under_version_1_are_not_doubled(
    tmp_path: Path, conn: sqlite3.Connection
) -> None:
    run_to(conn, 1)
    put(conn, "p1", "zebra")
    put(conn, "p2", "giraffe")
    conn.execute("INSERT INTO paks_fts VALUES ('p1', 'zebra', '')")
    conn.execute("INSERT INTO paks_fts VALUES ('p2', 'something else', '')")
    conn.execute("INSERT INTO paks_fts VALUES ('gone', 'an orphan', '')")
    conn.close()

    with RecallStore.open(tmp_path / "recall.db") as store:
        assert fulltext_rows(store.conn) == [("p1", "zebra", ""), ("p2", "giraffe", "")]


def test_a_database_that_lost_its_version_row_gets_it_back(tmp_path: Path) -> None:
    with RecallStore.open(tmp_path / "recall.db") as store:
        store.upsert_pak(**pak())
        before = dump(store.conn)
        store.conn.execute("DELETE FROM schema_version")
        assert store.schema_version == 0

    with RecallStore.open(tmp_path / "recall.db") as store:
        assert store.schema_version == 3
        assert dump(store.conn) == before
        assert store.check() == (True, 1, ())
        assert store.conn.execute("SELECT id, version FROM schema_version").fetchall() == [(1, 3)]


@pytest.mark.parametrize("name", ["idx_paks_walk", "idx_paks_walk_project", "idx_paks_fts_pak_id"])
def test_a_lost_speed_index_comes_back(tmp_path: Path, name: str) -> None:
    with RecallStore.open(tmp_path / "recall.db") as store:
        store.conn.execute(f"DROP INDEX {name}")

    with RecallStore.open(tmp_path / "recall.db") as store:
        assert name in names(store.conn, "index")


def test_a_newer_database_is_left_alone_by_the_chain(conn: sqlite3.Connection) -> None:
    conn.execute("CREATE TABLE schema_version (id INTEGER PRIMARY KEY, version INT, applied_at)")
    conn.execute("INSERT INTO schema_version VALUES (1, 9, 'later')")
    before = dump(conn)

    assert apply_migrations(conn) == 9
    assert dump(conn) == before
    assert conn.execute("SELECT * FROM schema_version").fetchall() == [(1, 9, "later")]


def test_migrating_within_a_callers_transaction_can_be_rolled_back(
    conn: sqlite3.Connection,
) -> None:
    conn.execute("BEGIN")
    assert apply_migrations(conn) == 3
    conn.execute("ROLLBACK")

    assert current_version(conn) == 0
