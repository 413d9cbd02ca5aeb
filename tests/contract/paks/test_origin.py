from __future__ import annotations

import importlib.util
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tests.contract.paks import origin
from tests.contract.paks.samples import catalogue_rows, fulltext_rows, matches, pak

from recollect.errors import NotACatalogue
from recollect.paks import PakListFilters, ReasonCodeEntry, RecallStore, RiskFlagEntry, migrations
from recollect.paks.schema import TRIGGERS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.sql

VERSIONS = pytest.mark.parametrize("version", [1, 2, 3])


@pytest.fixture
def path(tmp_path: Path, version: int) -> Path:
    origin.build(tmp_path / "recall.db", version)
    return tmp_path / "recall.db"


@VERSIONS
def test_the_origins_database_is_as_stale_as_we_say(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as conn:
        assert fulltext_rows(conn) != catalogue_rows(conn)
        assert matches(conn, "aardvark") == []
        if version > 1:
            assert matches(conn, "cormorant") == ["replaced"]
            assert matches(conn, "echidna") == ["old-name"]


@VERSIONS
def test_a_database_of_the_origins_is_migrated_and_repaired(path: Path, version: int) -> None:
    expected = origin.expected_paks(version)
    with RecallStore.open(path) as store:
        assert store.schema_version == 3
        assert store.check() == (True, len(expected), ())
        assert fulltext_rows(store.conn) == catalogue_rows(store.conn)
        for pak_id, word in expected.items():
            assert [hit.pak.pak_id for hit in store.search(word)] == [pak_id]
        assert matches(store.conn, "cormorant") == []


@VERSIONS
def test_nothing_the_origin_stored_is_lost(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as conn:
        before = sorted(conn.execute("SELECT * FROM paks").fetchall())
    with RecallStore.open(path) as store:
        assert sorted(tuple(row) for row in store.iter_paks()) == before
        assert store.get_pak_anchors("plain") == [("a1", "src/shop.py", "file")]
        assert store.get_pak_relations("plain") == [("early", "refines")]
        if version == 3:
            assert store.get_pak_reason_codes("plain") == [ReasonCodeEntry("mandatory", 0.5)]
            assert store.get_pak_risk_flags("plain") == [RiskFlagEntry("mine", "block")]


@VERSIONS
def test_an_adopted_database_works_like_one_of_ours(path: Path, version: int) -> None:
    with RecallStore.open(path) as store:
        store.upsert_pak(**pak("plain", title="now about giraffes", content_hash="new"))
        store.upsert_pak(**pak("ours", title="hippopotamus", project="shop"))
        store.set_pak_reason_codes("early", [ReasonCodeEntry("current_task")])
        store.delete_pak("early")
        store.conn.execute("INSERT OR REPLACE INTO paks SELECT * FROM paks WHERE pak_id = 'ours'")
        store.conn.execute("UPDATE paks SET pak_id = 'renamed' WHERE pak_id = 'ours'")

        assert matches(store.conn, "giraffes") == ["plain"]
        assert matches(store.conn, "badger") == []
        assert matches(store.conn, "hippopotamus") == ["renamed"]
        assert fulltext_rows(store.conn) == catalogue_rows(store.conn)
        assert store.check().ok
        project = PakListFilters(project="shop", limit=1)
        assert len(list(store.iter_paks(project))) == store.count_paks(project)


@VERSIONS
def test_an_adopted_database_has_every_object_that_a_new_one_has(
    path: Path, version: int, tmp_path: Path
) -> None:
    names = "SELECT type, name, tbl_name FROM sqlite_master"
    with RecallStore.open(path) as adopted, RecallStore.open(tmp_path / "new.db") as new:
        assert set(adopted.conn.execute(names)) == set(new.conn.execute(names))
        triggers = adopted.conn.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        )
        assert dict(triggers) == TRIGGERS


@VERSIONS
def test_adoption_happens_once(path: Path, version: int) -> None:
    RecallStore.open(path).close()
    after_first = path.read_bytes()
    RecallStore.open(path).close()

    assert path.read_bytes() == after_first


def test_a_failed_adoption_leaves_the_origins_database_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "recall.db"
    origin.build(path, 3)
    last = migrations.MIGRATIONS[2]
    broken = last._replace(statements=(*last.statements, "SELECT no_such_column"))
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS[:2], broken))
    with closing(sqlite3.connect(path)) as conn:
        before = list(conn.iterdump())

    with pytest.raises(NotACatalogue):
        RecallStore.open(path)

    with closing(sqlite3.connect(path)) as conn:
        assert list(conn.iterdump()) == before


def test_the_origins_triggers_put_back_are_replaced_at_the_next_open(tmp_path: Path) -> None:
    path = tmp_path / "recall.db"
    with RecallStore.open(path) as store:
        for name in TRIGGERS:
            store.conn.execute(f"DROP TRIGGER {name}")
        store.conn.executescript(origin.VERSION_2)
        origin.go_stale(store.conn)
        assert not store.check().ok

    with RecallStore.open(path) as store:
        assert store.check() == (True, 3, ())


def test_a_large_database_of_the_origins_is_repaired_row_for_row(tmp_path: Path) -> None:
    path = tmp_path / "recall.db"
    origin.build(path, 2)
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("BEGIN")
        for at in range(3000):
            verb = "INSERT OR REPLACE" if at >= 2000 else "INSERT"
            origin.put(conn, f"p{at % 2000}", f"title {at}", f"word{at}", verb=verb)
        conn.execute("COMMIT")

    with RecallStore.open(path) as store:
        assert store.check() == (True, 2005, ())
        assert matches(store.conn, "word5") == []
        assert matches(store.conn, "word2005") == ["p5"]


def test_nothing_of_the_origin_is_needed(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "sys.modules['tokenpak'] = None\n"
        "from recollect.paks import RecallStore\n"
        "with RecallStore.open(sys.argv[1]) as store:\n"
        "    print(store.check().ok)\n"
    )
    origin.build(tmp_path / "recall.db", 3)

    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "recall.db")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "True\n"
    assert importlib.util.find_spec("tokenpak") is None
