from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from tests.contract.paks.samples import pak

from recollect.errors import InvalidInput, StoreDamaged, StoreReadOnly, StoreUnavailable
from recollect.paks import (
    RecallStore,
    UnknownPak,
    default_recall_db_path,
    migrations,
    open_recall_store,
)
from recollect.paks.migrations import MIGRATIONS

pytestmark = pytest.mark.sql

VARIABLES = ("RECOLLECT_DB", "TOKENPAK_RECALL_DB", "RECOLLECT_HOME")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def open_files_under(folder: Path) -> list[str]:
    links = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the descriptor of the listing itself
            links.append(str(descriptor.readlink()))
    return [link for link in links if link.startswith(str(folder))]


# The path


@pytest.mark.parametrize("opened_by", [RecallStore.open, open_recall_store])
@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_may_be_text_or_a_path(tmp_path: Path, opened_by: Any, kind: Any) -> None:
    with opened_by(kind(tmp_path / "recall.db")) as store:
        assert isinstance(store, RecallStore)
        assert store.path == tmp_path / "recall.db"

    assert (tmp_path / "recall.db").is_file()


@pytest.mark.parametrize("opened_by", [RecallStore.open, open_recall_store])
def test_no_path_means_the_default_place(home: Path, opened_by: Any) -> None:
    with opened_by() as store:
        assert store.path == home / ".recollect" / "companion" / "recall.db"

    assert (home / ".recollect" / "companion" / "recall.db").is_file()


def test_the_product_has_a_home_that_can_be_moved(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", "~/elsewhere")

    assert default_recall_db_path() == home / "elsewhere" / "companion" / "recall.db"


def test_the_origins_variable_wins_over_the_home(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(home / "elsewhere"))
    monkeypatch.setenv("TOKENPAK_RECALL_DB", str(home / "origin.db"))

    assert default_recall_db_path() == home / "origin.db"


def test_our_variable_wins_over_the_origins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENPAK_RECALL_DB", str(home / "origin.db"))
    monkeypatch.setenv("RECOLLECT_DB", str(home / "ours.db"))

    with RecallStore.open() as store:
        assert store.path == home / "ours.db"
    assert not (home / "origin.db").exists()


@pytest.mark.parametrize("variable", ["RECOLLECT_DB", "TOKENPAK_RECALL_DB"])
def test_a_tilde_in_a_variable_is_the_users_home(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "~/paks/recall.db")

    with RecallStore.open() as store:
        assert store.path == home / "paks" / "recall.db"
    assert (home / "paks" / "recall.db").is_file()


@pytest.mark.parametrize("variable", VARIABLES)
def test_an_empty_variable_counts_as_unset(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "")

    assert default_recall_db_path() == home / ".recollect" / "companion" / "recall.db"


def test_the_environment_is_read_when_opening_not_when_importing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_DB", str(home / "first.db"))
    before = default_recall_db_path()
    monkeypatch.setenv("RECOLLECT_DB", str(home / "second.db"))

    assert (before, default_recall_db_path()) == (home / "first.db", home / "second.db")


def test_an_explicit_path_wins_over_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOLLECT_DB", str(home / "ours.db"))

    with RecallStore.open(tmp_path / "named.db") as store:
        assert store.path == tmp_path / "named.db"


def test_missing_folders_are_made(tmp_path: Path) -> None:
    with RecallStore.open(tmp_path / "a" / "b" / "recall.db"):
        assert (tmp_path / "a" / "b" / "recall.db").is_file()


@pytest.mark.parametrize(
    "name", ["odd name? #%41&mode=x.db", "größe 📦.db", os.fsdecode(b"\xff.db")]
)
def test_a_file_name_is_only_a_name_however_odd(tmp_path: Path, name: str) -> None:
    with RecallStore.open(tmp_path / name) as store:
        store.upsert_pak(**pak())
    with RecallStore.open(tmp_path / name, read_only=True) as store:
        assert store.get_pak("p1") is not None

    assert {
        entry.name.removesuffix("-wal").removesuffix("-shm") for entry in tmp_path.iterdir()
    } == {name}


@pytest.mark.parametrize("path", ["", "  ", 5, b"recall.db", "a\0b", Path("a\0b"), ["recall.db"]])
def test_what_is_no_path_is_refused_with_a_hint(path: object) -> None:
    with pytest.raises(InvalidInput, match="path") as caught:
        RecallStore.open(path)  # type: ignore[arg-type]

    assert caught.value.hint


# The connection


def test_the_connection_is_sqlites_own_in_autocommit_with_tuples(store: RecallStore) -> None:
    row = store.conn.execute("SELECT 1, 'two'").fetchone()

    assert isinstance(store.conn, sqlite3.Connection)
    assert type(row) is tuple
    assert row == (1, "two")
    assert store.conn.isolation_level is None
    store.conn.execute("CREATE TABLE scratch (x)")
    store.conn.execute("INSERT INTO scratch VALUES (1)")
    assert not store.conn.in_transaction


def test_a_raw_write_is_there_for_others_without_a_commit(store: RecallStore) -> None:
    store.upsert_pak(**pak())

    store.conn.execute("UPDATE paks SET title = 'raw'")

    with RecallStore.open(store.path) as other:
        assert other.get_pak("p1").title == "raw"


@pytest.mark.parametrize("again", [False, True])
def test_every_open_sets_the_pragmas(tmp_path: Path, again: bool) -> None:
    if again:
        RecallStore.open(tmp_path / "recall.db").close()
    with RecallStore.open(tmp_path / "recall.db") as store:
        assert pragmas(store) == ("wal", 1, 1, 5000)


def test_a_read_only_open_sets_the_pragmas_too(store: RecallStore) -> None:
    with RecallStore.open(store.path, read_only=True) as reader:
        assert pragmas(reader) == ("wal", 1, 1, 5000)


def pragmas(store: RecallStore) -> tuple[object, ...]:
    names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
    return tuple(store.conn.execute(f"PRAGMA {name}").fetchone()[0] for name in names)


def test_a_new_database_has_the_newest_schema_version(store: RecallStore) -> None:
    assert store.schema_version == 3


def test_closing_twice_is_fine_and_closes(tmp_path: Path) -> None:
    store = RecallStore.open(tmp_path / "recall.db")

    store.close()
    store.close()

    with pytest.raises(sqlite3.ProgrammingError):
        store.conn.execute("SELECT 1")
    assert open_files_under(tmp_path) == []


def test_a_with_statement_closes_even_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), RecallStore.open(tmp_path / "recall.db") as store:
        raise KeyError

    with pytest.raises(sqlite3.ProgrammingError):
        store.conn.execute("SELECT 1")


def test_a_with_statement_hands_out_the_store_itself(tmp_path: Path) -> None:
    store = RecallStore.open(tmp_path / "recall.db")

    with store as entered:
        assert entered is store


def test_a_catalogue_can_live_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with RecallStore.open(":memory:") as store:
        store.upsert_pak(**pak())
        assert store.check() == (True, 1, ())

    assert list(tmp_path.iterdir()) == []


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    with RecallStore.open(tmp_path / "recall.db") as store:
        store.upsert_pak(**pak(title="kept"))
        row = store.get_pak("p1")
    with RecallStore.open(tmp_path / "recall.db") as store:
        assert store.get_pak("p1") == row


# A failed open


def not_a_database(path: Path) -> None:
    path.write_bytes(b"This is a text file that somebody named like a database. " * 100)


def a_folder(path: Path) -> None:
    path.mkdir()


def another_programs(path: Path) -> None:
    with sqlite3.connect(path) as conn:
        conn.execute("CREATE TABLE schema_version (version TEXT PRIMARY KEY, dirty INTEGER)")
        conn.execute("INSERT INTO schema_version VALUES ('20240101', 0)")
    conn.close()


def another_programs_with_a_text_version(path: Path) -> None:
    with sqlite3.connect(path) as conn:
        conn.execute("CREATE TABLE schema_version (id INTEGER PRIMARY KEY, version TEXT)")
        conn.execute("INSERT INTO schema_version VALUES (1, '1.2.3')")
    conn.close()


def another_programs_without_a_version(path: Path) -> None:
    with sqlite3.connect(path) as conn:
        conn.execute("CREATE TABLE schema_version (id INTEGER PRIMARY KEY, version INTEGER)")
        conn.execute("INSERT INTO schema_version VALUES (1, NULL)")
    conn.close()


def another_programs_without_versions(path: Path) -> None:
    with sqlite3.connect(path) as conn:
        conn.execute("CREATE TABLE bookmarks (url TEXT)")
    conn.close()


def a_truncated_database(path: Path) -> None:
    with RecallStore.open(path) as store:
        store.upsert_paks(pak(f"p{at}") for at in range(200))
    os.truncate(path, path.stat().st_size // 2)


def a_database_cut_within_its_header(path: Path) -> None:
    RecallStore.open(path).close()
    os.truncate(path, 60)


UNUSABLE = {
    not_a_database: (StoreDamaged, "not a SQLite database"),
    a_folder: (StoreUnavailable, "is a directory"),
    another_programs: (StoreDamaged, "another program"),
    another_programs_with_a_text_version: (StoreDamaged, "another program"),
    another_programs_without_a_version: (StoreDamaged, "another program"),
    another_programs_without_versions: (StoreDamaged, "another program"),
    a_truncated_database: (StoreDamaged, "is damaged"),
    a_database_cut_within_its_header: (StoreDamaged, "is damaged"),
}


@pytest.mark.parametrize("make", UNUSABLE)
@pytest.mark.parametrize("read_only", [False, True])
def test_an_unusable_path_is_refused_left_alone_and_closed(
    tmp_path: Path, make: Any, read_only: bool
) -> None:
    path = tmp_path / "recall.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    kind, words = UNUSABLE[make]
    if path.is_dir() and read_only:
        words = "no database file"

    with pytest.raises(kind, match=words) as caught:
        RecallStore.open(path, read_only=read_only)

    # The error is still held, and with it every frame that could hold a connection.
    assert open_files_under(tmp_path) == []
    assert caught.value.hint
    assert str(path) in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_parent_that_is_a_file_is_refused_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")

    with pytest.raises(StoreUnavailable) as caught:
        RecallStore.open(tmp_path / "file" / "recall.db")

    assert caught.value.hint
    assert (tmp_path / "file").read_text() == "mine"


def test_a_name_that_is_too_long_is_refused_with_a_hint(tmp_path: Path) -> None:
    for read_only in (False, True):
        with pytest.raises(StoreUnavailable) as caught:
            RecallStore.open(tmp_path / ("n" * 300), read_only=read_only)
        assert caught.value.hint


def test_a_failing_migration_leaves_no_connection_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = migrations.Migration(4, "broken", ("SELECT no_such_column",))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, broken))

    with pytest.raises(StoreDamaged, match="no_such_column") as caught:
        RecallStore.open(tmp_path / "recall.db")

    assert caught.value.__traceback__ is not None
    assert open_files_under(tmp_path) == []


def test_an_empty_file_becomes_a_catalogue(tmp_path: Path) -> None:
    (tmp_path / "recall.db").touch()

    with RecallStore.open(tmp_path / "recall.db") as store:
        assert store.schema_version == 3


def test_an_open_waits_for_a_writer_that_keeps_the_journal_from_changing(tmp_path: Path) -> None:
    path = tmp_path / "recall.db"
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writer.execute(MIGRATIONS[0].statements[0])  # else the file would be somebody else's
    writer.execute("BEGIN IMMEDIATE")
    leaves = Timer(0.3, writer.close)
    leaves.start()

    with RecallStore.open(path) as store:
        assert pragmas(store)[0] == "wal"
    leaves.join()


def test_errors_have_stable_codes_and_fit_the_built_in_ones() -> None:
    assert (StoreDamaged.code, StoreUnavailable.code) == ("store_damaged", "store_unavailable")
    assert (StoreReadOnly.code, UnknownPak.code) == ("store_read_only", "unknown_pak")
    assert issubclass(StoreDamaged, ValueError)
    assert issubclass(StoreUnavailable, OSError)
    assert issubclass(StoreReadOnly, PermissionError)
    assert issubclass(UnknownPak, LookupError)


# Read-only


def test_a_read_only_store_reads_everything_and_writes_nothing(store: RecallStore) -> None:
    store.upsert_pak(**pak(title="green tea"))

    with RecallStore.open(store.path, read_only=True) as reader:
        assert reader.get_pak("p1") == store.get_pak("p1")
        assert reader.list_paks() == store.list_paks()
        assert reader.search("tea") == store.search("tea")
        assert reader.check() == (True, 1, ())
        for write in (
            lambda: reader.upsert_pak(**pak("p2")),
            lambda: reader.upsert_paks([pak("p2")]),
            lambda: reader.delete_pak("p1"),
            lambda: reader.set_pak_reason_codes("p1", []),
            lambda: reader.remove_pak_anchor("p1", "a1"),
            lambda: reader.repair(),
        ):
            with pytest.raises(StoreReadOnly) as caught:
                write()
            assert "read_only=True" in caught.value.hint

    assert store.count_paks() == 1


def test_a_read_only_store_sees_what_others_write_meanwhile(store: RecallStore) -> None:
    with RecallStore.open(store.path, read_only=True) as reader:
        assert reader.count_paks() == 0
        store.upsert_pak(**pak())
        assert reader.count_paks() == 1


def test_a_read_only_open_never_makes_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no database file") as caught:
        RecallStore.open(tmp_path / "a" / "recall.db", read_only=True)

    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_open_of_an_older_schema_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "recall.db"
    with sqlite3.connect(path) as conn:
        for statement in migrations.MIGRATIONS[0].statements:
            conn.execute(statement)
        conn.execute("INSERT INTO schema_version VALUES (1, 1, '2026-01-01T00:00:00Z')")
    conn.close()
    before = path.read_bytes()

    with pytest.raises(StoreUnavailable, match="version 1") as caught:
        RecallStore.open(path, read_only=True)

    assert "without read_only=True" in caught.value.hint
    assert path.read_bytes() == before
    assert open_files_under(tmp_path) == []


def test_a_copy_of_the_file_alone_is_the_whole_catalogue_once_closed(tmp_path: Path) -> None:
    with RecallStore.open(tmp_path / "recall.db") as store:
        store.upsert_pak(**pak())
    shutil.copy(tmp_path / "recall.db", tmp_path / "copy.db")
    (tmp_path / "copy.db").chmod(stat.S_IRUSR)

    with RecallStore.open(tmp_path / "copy.db", read_only=True) as copy:
        assert copy.check() == (True, 1, ())
