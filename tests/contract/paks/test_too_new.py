from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tests.contract.paks.samples import pak

from recollect.errors import StoreTooNew
from recollect.paks import (
    PakAnchorEntry,
    PakRelationEntry,
    ReasonCodeEntry,
    RecallStore,
    RiskFlagEntry,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.sql


def enter(store: RecallStore) -> None:
    with store.transaction():
        pass


def look(store: RecallStore) -> None:
    with store.snapshot():
        pass


CALLS: dict[str, Callable[[RecallStore], object]] = {
    "upsert_pak": lambda s: s.upsert_pak(**pak()),
    "upsert_paks": lambda s: s.upsert_paks([pak()]),
    "upsert_paks of none": lambda s: s.upsert_paks([]),
    "keep_rows": lambda s: s.keep_rows([]),
    "delete_pak": lambda s: s.delete_pak("p1"),
    "get_pak": lambda s: s.get_pak("p1"),
    "get_paks": lambda s: s.get_paks(["p1"]),
    "list_paks": lambda s: s.list_paks(),
    "iter_paks": lambda s: list(s.iter_paks()),
    "count_paks": lambda s: s.count_paks(),
    "search": lambda s: s.search("title"),
    "set_pak_reason_codes": lambda s: s.set_pak_reason_codes("p1", []),
    "get_pak_reason_codes": lambda s: s.get_pak_reason_codes("p1"),
    "add_pak_reason_code": lambda s: s.add_pak_reason_code("p1", ReasonCodeEntry("x")),
    "remove_pak_reason_code": lambda s: s.remove_pak_reason_code("p1", "x"),
    "set_pak_risk_flags": lambda s: s.set_pak_risk_flags("p1", []),
    "get_pak_risk_flags": lambda s: s.get_pak_risk_flags("p1"),
    "get_pak_risk_flags_of_each": lambda s: s.get_pak_risk_flags_of_each(["p1"]),
    "add_pak_risk_flag": lambda s: s.add_pak_risk_flag("p1", RiskFlagEntry("x", "warn")),
    "remove_pak_risk_flag": lambda s: s.remove_pak_risk_flag("p1", "x"),
    "set_pak_anchors": lambda s: s.set_pak_anchors("p1", []),
    "get_pak_anchors": lambda s: s.get_pak_anchors("p1"),
    "add_pak_anchor": lambda s: s.add_pak_anchor("p1", PakAnchorEntry("a", "b", "c")),
    "remove_pak_anchor": lambda s: s.remove_pak_anchor("p1", "a"),
    "find_flagged_paks": lambda s: s.find_flagged_paks(),
    "find_paks_by_source": lambda s: s.find_paks_by_source("b"),
    "set_pak_relations": lambda s: s.set_pak_relations("p1", []),
    "get_pak_relations": lambda s: s.get_pak_relations("p1"),
    "add_pak_relation": lambda s: s.add_pak_relation("p1", PakRelationEntry("p1", "x")),
    "remove_pak_relation": lambda s: s.remove_pak_relation("p1", PakRelationEntry("p1", "x")),
    "transaction": enter,
    "snapshot": look,
    "records": lambda s: s.records(),
    "check": lambda s: s.check(),
    "repair": lambda s: s.repair(),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a database whose version says that a later release wrote it."""
    place = tmp_path / "recall.db"
    with RecallStore.open(place) as store:
        store.upsert_pak(**pak())
    with closing(sqlite3.connect(place)) as conn, conn:
        conn.execute("UPDATE schema_version SET version = 4")
        conn.execute("DROP TRIGGER paks_ad_fts")  # what a later release may have done
    return place


def test_every_public_call_is_tried() -> None:
    public = {name for name in dir(RecallStore) if not name.startswith("_")}
    free = {"open", "conn", "path", "schema_version", "close"}

    assert {name.split()[0] for name in CALLS} == public - free


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_database_opens_far_enough_to_say_its_version(path: Path, read_only: bool) -> None:
    with RecallStore.open(path, read_only=read_only) as store:
        assert store.schema_version == 4
        assert store.path == path


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("read_only", [False, True])
def test_every_other_call_refuses_with_a_hint(path: Path, name: str, read_only: bool) -> None:
    with (
        RecallStore.open(path, read_only=read_only) as store,
        pytest.raises(StoreTooNew, match="schema version 4") as caught,
    ):
        CALLS[name](store)

    assert isinstance(caught.value, RuntimeError)
    assert caught.value.code == "store_too_new"
    assert "upgrade" in caught.value.hint


def test_a_newer_database_is_left_byte_for_byte_as_it_is(path: Path) -> None:
    before = path.read_bytes()

    with RecallStore.open(path) as store:
        for call in CALLS.values():
            with pytest.raises(StoreTooNew):
                call(store)

    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["recall.db"]


def test_a_newer_database_keeps_its_journal_mode(tmp_path: Path) -> None:
    place = tmp_path / "recall.db"
    with closing(sqlite3.connect(place)) as conn, conn:
        conn.execute(
            "CREATE TABLE schema_version (id INTEGER PRIMARY KEY, version INT, applied_at)"
        )
        conn.execute("INSERT INTO schema_version VALUES (1, 99, 'later')")
    before = place.read_bytes()

    with RecallStore.open(place) as store:
        assert store.schema_version == 99

    assert place.read_bytes() == before


def test_refusing_again_and_again_does_not_pile_up_tracebacks(path: Path) -> None:
    def depth(error: BaseException) -> int:
        frames, at = 0, error.__traceback__
        while at is not None:
            frames, at = frames + 1, at.tb_next
        return frames

    depths = []
    with RecallStore.open(path) as store:
        for _ in range(3):
            with pytest.raises(StoreTooNew) as caught:
                store.get_pak("p1")
            depths.append(depth(caught.value))

    assert len(set(depths)) == 1


def test_a_refused_database_works_again_once_its_version_is_known(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE schema_version SET version = 3")

    with RecallStore.open(path) as store:
        assert store.get_pak("p1") is not None
        assert store.check().ok
