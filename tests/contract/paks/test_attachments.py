from __future__ import annotations

import sqlite3
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.contract.paks.samples import LATER, NOON, is_in_step, pak

from recollect.errors import InvalidInput
from recollect.paks import (
    PakAnchorEntry,
    PakRelationEntry,
    ReasonCodeEntry,
    RecallStore,
    RiskFlagEntry,
    UnknownPak,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Kind(NamedTuple):
    """One of the four kinds of entry, with the calls and the values to try on it."""

    name: str
    table: str
    key: str
    entries: tuple[Any, Any, Any]  # ascending
    changed: Any  # the first one's key, other values
    dated: bool

    def set(self, store: RecallStore, *args: Any, **kwargs: Any) -> None:
        getattr(store, f"set_pak_{self.name}s")(*args, **kwargs)

    def get(self, store: RecallStore, pak_id: Any) -> list[Any]:
        return getattr(store, f"get_pak_{self.name}s")(pak_id)

    def add(self, store: RecallStore, *args: Any, **kwargs: Any) -> None:
        getattr(store, f"add_pak_{self.name}")(*args, **kwargs)

    def remove(self, store: RecallStore, pak_id: Any, entry: Any) -> bool:
        key = entry if self.name == "relation" else entry[0]
        return getattr(store, f"remove_pak_{self.name}")(pak_id, key)


CODES = Kind(
    "reason_code",
    "pak_reason_codes",
    "reason_code",
    (ReasonCodeEntry("a", 0.0), ReasonCodeEntry("b", 0.25), ReasonCodeEntry("c")),
    ReasonCodeEntry("a", 1.0),
    True,
)
FLAGS = Kind(
    "risk_flag",
    "pak_risk_flags",
    "risk_flag",
    (RiskFlagEntry("a", "info"), RiskFlagEntry("b", "warn"), RiskFlagEntry("c", "block")),
    RiskFlagEntry("a", "block"),
    True,
)
ANCHORS = Kind(
    "anchor",
    "pak_anchors",
    "anchor_id",
    (
        PakAnchorEntry("a", "src/a.py", "file"),
        PakAnchorEntry("b", "src/a.py", "symbol"),
        PakAnchorEntry("c", "src/b.py", "file"),
    ),
    PakAnchorEntry("a", "src/z.py", "symbol"),
    False,
)
RELATIONS = Kind(
    "relation",
    "pak_relations",
    "related_pak_id",
    (
        PakRelationEntry("p2", "refines"),
        PakRelationEntry("p3", "contradicts"),
        PakRelationEntry("p3", "refines"),
    ),
    PakRelationEntry("p2", "refines"),
    True,
)
KINDS = pytest.mark.parametrize("kind", [CODES, FLAGS, ANCHORS, RELATIONS], ids=lambda k: k.name)
DATED = pytest.mark.parametrize("kind", [CODES, FLAGS, RELATIONS], ids=lambda k: k.name)


@pytest.fixture
def paks(store: RecallStore) -> RecallStore:
    store.upsert_paks([pak("p1"), pak("p2"), pak("p3")])
    return store


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[RecallStore]:
    with RecallStore.open(tmp_path / "strict.db", strict=True) as store:
        store.upsert_pak(**pak("p1"))
        yield store


# What all four kinds have in common


@KINDS
def test_what_is_set_is_read_back_ascending(paks: RecallStore, kind: Kind) -> None:
    kind.set(paks, "p1", list(reversed(kind.entries)))

    assert kind.get(paks, "p1") == list(kind.entries)
    assert {type(entry) for entry in kind.get(paks, "p1")} == {type(kind.entries[0])}
    assert kind.get(paks, "p2") == []


@KINDS
def test_setting_replaces_the_whole_set(paks: RecallStore, kind: Kind) -> None:
    kind.set(paks, "p1", kind.entries[:2])
    kind.set(paks, "p1", kind.entries[2:])

    assert kind.get(paks, "p1") == list(kind.entries[2:])


@KINDS
def test_setting_twice_is_setting_once(paks: RecallStore, kind: Kind) -> None:
    kind.set(paks, "p1", kind.entries)
    kind.set(paks, "p1", kind.entries)

    assert kind.get(paks, "p1") == list(kind.entries)


@KINDS
@pytest.mark.parametrize("nothing", [[], (), iter(())])
def test_an_empty_set_clears_and_spares_the_pak_and_other_paks(
    paks: RecallStore, kind: Kind, nothing: Any
) -> None:
    kind.set(paks, "p1", kind.entries[:1])
    if kind is not RELATIONS:
        kind.set(paks, "p2", kind.entries[:1])

    kind.set(paks, "p1", nothing)

    assert kind.get(paks, "p1") == []
    assert paks.get_pak("p1") is not None
    if kind is not RELATIONS:
        assert kind.get(paks, "p2") == list(kind.entries[:1])


@KINDS
def test_clearing_the_set_of_an_unknown_pak_is_harmless(paks: RecallStore, kind: Kind) -> None:
    kind.set(paks, "unknown", [])

    assert kind.get(paks, "unknown") == []


@pytest.mark.sql
@DATED
def test_setting_again_renews_the_time_of_creation(paks: RecallStore, kind: Kind) -> None:
    kind.set(paks, "p1", kind.entries, now=NOON)
    kind.set(paks, "p1", kind.entries[:1], now=LATER)

    times = paks.conn.execute(f"SELECT created_at FROM {kind.table}").fetchall()
    assert times == [(LATER,)]


@DATED
@pytest.mark.parametrize("now", ["soon", "2026-05-11T12:00:00+01:00", 5])
def test_a_time_that_is_not_utc_is_refused_before_anything_is_written(
    paks: RecallStore, kind: Kind, now: object
) -> None:
    kind.set(paks, "p1", kind.entries)

    with pytest.raises(InvalidInput, match="now"):
        kind.set(paks, "p1", [], now=now)
    with pytest.raises(InvalidInput, match="now"):
        kind.add(paks, "p1", kind.changed, now=now)

    assert kind.get(paks, "p1") == list(kind.entries)


@KINDS
@pytest.mark.parametrize("pak_id", ["", "  ", None, 5, b"p1", ["p1"], "p1\ud800"])
def test_setting_needs_a_pak_id_that_says_something(
    paks: RecallStore, kind: Kind, pak_id: object
) -> None:
    with pytest.raises(InvalidInput, match="pak_id") as caught:
        kind.set(paks, pak_id, kind.entries)
    assert caught.value.hint
    with pytest.raises(InvalidInput, match="pak_id"):
        kind.add(paks, pak_id, kind.entries[0])


@KINDS
@pytest.mark.parametrize("pak_id", ["", "  ", None, "unknown", 5, b"p1", ["p1"], {}, "p\ud800"])
def test_reading_never_raises(paks: RecallStore, kind: Kind, pak_id: object) -> None:
    kind.set(paks, "p1", kind.entries)

    assert kind.get(paks, pak_id) == []


@KINDS
@pytest.mark.parametrize("key", ["", " \n", None, 5, b"key", "\udc80"])
def test_an_entry_needs_a_key_that_says_something(
    paks: RecallStore, kind: Kind, key: object
) -> None:
    kind.set(paks, "p1", kind.entries)
    bad = kind.entries[0]._replace(**{kind.key: key})

    with pytest.raises(InvalidInput, match=kind.key):
        kind.set(paks, "p1", [kind.entries[1], bad])
    with pytest.raises(InvalidInput, match=kind.key):
        kind.add(paks, "p1", bad)

    assert kind.get(paks, "p1") == list(kind.entries)


@KINDS
@pytest.mark.parametrize("entries", [None, 5, "current_task", [None], ["x"], [("x", 1.0)], [{}]])
def test_entries_of_the_wrong_type_are_a_value_error(
    paks: RecallStore, kind: Kind, entries: object
) -> None:
    with pytest.raises(InvalidInput, match=kind.key):
        kind.set(paks, "p1", entries)


@KINDS
def test_a_duplicate_is_refused_before_anything_is_written(paks: RecallStore, kind: Kind) -> None:
    kind.set(paks, "p1", kind.entries[1:])

    with pytest.raises(InvalidInput, match="duplicate"):
        kind.set(paks, "p1", [kind.entries[0], kind.changed])

    assert kind.get(paks, "p1") == list(kind.entries[1:])


@pytest.mark.sql
@KINDS
def test_checks_come_before_any_transaction(paks: RecallStore, kind: Kind) -> None:
    ran: list[str] = []
    paks.conn.set_trace_callback(ran.append)
    for call in (
        lambda: kind.set(paks, " ", kind.entries),
        lambda: kind.set(paks, "p1", [kind.entries[0]._replace(**{kind.key: ""})]),
        lambda: kind.set(paks, "p1", [kind.entries[0], kind.changed]),
    ):
        with pytest.raises(InvalidInput):
            call()  # type: ignore[no-untyped-call]
    paks.conn.set_trace_callback(None)

    assert ran == []


@pytest.mark.sql
@KINDS
def test_setting_is_one_immediate_transaction(paks: RecallStore, kind: Kind) -> None:
    ran: list[str] = []
    paks.conn.set_trace_callback(ran.append)
    kind.set(paks, "p1", kind.entries)
    paks.conn.set_trace_callback(None)

    verbs = [statement.split()[0] for statement in ran if not statement.startswith("--")]
    assert ran[0] == "BEGIN IMMEDIATE"
    assert verbs == ["BEGIN", "DELETE", "INSERT", "INSERT", "INSERT", "COMMIT"]


@KINDS
def test_an_unknown_pak_is_refused_and_nothing_is_written(paks: RecallStore, kind: Kind) -> None:
    for call in (kind.set, kind.add):
        entries = kind.entries[0] if call == kind.add else kind.entries
        with pytest.raises(UnknownPak) as caught:
            call(paks, "unknown", entries)
        assert isinstance(caught.value, sqlite3.IntegrityError) == isinstance(paks, RecallStore)
        assert caught.value.hint

    assert kind.get(paks, "unknown") == []
    assert is_in_step(paks)


@pytest.mark.sql
def test_a_write_that_fails_halfway_leaves_the_earlier_set(paks: RecallStore) -> None:
    paks.set_pak_relations("p1", RELATIONS.entries, now=NOON)

    with pytest.raises(UnknownPak):
        paks.set_pak_relations("p1", [PakRelationEntry("p2", "x"), PakRelationEntry("no", "x")])

    assert paks.get_pak_relations("p1") == list(RELATIONS.entries)


@pytest.mark.sql
@pytest.mark.parametrize("kind", [CODES, FLAGS], ids=lambda k: k.name)
def test_a_set_that_loses_its_pak_midway_leaves_the_earlier_rows(
    paks: RecallStore, kind: Kind
) -> None:
    kind.set(paks, "p1", kind.entries)
    paks.conn.execute(
        f"CREATE TRIGGER refuse BEFORE INSERT ON {kind.table} WHEN NEW.{kind.key} = 'z'"
        " BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY imitation'); END"
    )

    with pytest.raises(UnknownPak):
        kind.set(paks, "p1", [kind.entries[1], kind.entries[0]._replace(**{kind.key: "z"})])

    assert kind.get(paks, "p1") == list(kind.entries)


@KINDS
def test_deleting_the_pak_deletes_what_hangs_on_it(paks: RecallStore, kind: Kind) -> None:
    kind.set(paks, "p1", kind.entries)

    paks.delete_pak("p1")
    assert kind.get(paks, "p1") == []
    paks.upsert_pak(**pak("p1"))
    assert kind.get(paks, "p1") == []


@KINDS
@pytest.mark.sql
def test_deleting_by_sql_deletes_what_hangs_on_it(paks: RecallStore, kind: Kind) -> None:
    kind.set(paks, "p1", kind.entries)

    paks.conn.execute("DELETE FROM paks WHERE pak_id = 'p1'")

    assert kind.get(paks, "p1") == []
    assert paks.conn.execute(f"SELECT count(*) FROM {kind.table}").fetchone() == (0,)


@KINDS
def test_one_entry_can_be_added_changed_and_removed(paks: RecallStore, kind: Kind) -> None:
    kind.set(paks, "p1", kind.entries[1:])

    kind.add(paks, "p1", kind.entries[0])
    assert kind.get(paks, "p1") == list(kind.entries)
    kind.add(paks, "p1", kind.changed)
    assert kind.get(paks, "p1") == [kind.changed, *kind.entries[1:]]

    assert kind.remove(paks, "p1", kind.changed) is True
    assert kind.remove(paks, "p1", kind.changed) is False
    assert kind.get(paks, "p1") == list(kind.entries[1:])


@pytest.mark.sql
@DATED
def test_adding_again_renews_the_time(paks: RecallStore, kind: Kind) -> None:
    kind.add(paks, "p1", kind.entries[0], now=NOON)
    kind.add(paks, "p1", kind.changed, now=LATER)

    assert paks.conn.execute(f"SELECT created_at FROM {kind.table}").fetchall() == [(LATER,)]


@KINDS
@pytest.mark.parametrize("pak_id", ["", None, 5, "unknown", "p\ud800"])
def test_removing_from_what_names_no_pak_removes_nothing(
    paks: RecallStore, kind: Kind, pak_id: object
) -> None:
    kind.set(paks, "p1", kind.entries)

    assert kind.remove(paks, pak_id, kind.entries[0]) is False
    assert kind.get(paks, "p1") == list(kind.entries)


@pytest.mark.parametrize("key", ["", None, 5, "x\ud800", ["a"]])
def test_removing_by_what_is_no_key_removes_nothing(paks: RecallStore, key: object) -> None:
    for kind in (CODES, FLAGS, ANCHORS):
        kind.set(paks, "p1", kind.entries)
        assert kind.remove(paks, "p1", (key,)) is False
        assert kind.get(paks, "p1") == list(kind.entries)


# Weights and severities


NUMBERS_OUTSIDE = (-0.0001, 1.0001, 2, -1, float("nan"), float("inf"), float("-inf"), 10**400)
NO_NUMBERS = ("1.0", None, b"1", [1.0], Decimal("0.5"), 1j)


@pytest.mark.parametrize("weight", [*NUMBERS_OUTSIDE, *NO_NUMBERS])
def test_a_weight_outside_0_to_1_is_refused(paks: RecallStore, weight: object) -> None:
    paks.set_pak_reason_codes("p1", CODES.entries)

    with pytest.raises(InvalidInput, match="weight") as caught:
        paks.set_pak_reason_codes("p1", [ReasonCodeEntry("z", weight)])  # type: ignore[arg-type]

    assert caught.value.hint
    assert paks.get_pak_reason_codes("p1") == list(CODES.entries)


@pytest.mark.parametrize("weight", [0, 1, 0.0, 1.0, 0.1, 5e-324])
def test_a_weight_from_0_to_1_is_stored_exactly(paks: RecallStore, weight: float) -> None:
    paks.set_pak_reason_codes("p1", [ReasonCodeEntry("z", weight)])

    (entry,) = paks.get_pak_reason_codes("p1")
    assert entry == ReasonCodeEntry("z", weight)
    assert isinstance(entry.weight, float)


def test_a_code_without_a_weight_has_full_weight(paks: RecallStore) -> None:
    paks.set_pak_reason_codes("p1", [ReasonCodeEntry("current_task")])

    assert paks.get_pak_reason_codes("p1") == [ReasonCodeEntry("current_task", 1.0)]


@pytest.mark.parametrize("severity", ["", "fatal", "WARN", "warn ", None, 5, ["warn"], b"warn"])
def test_a_severity_outside_the_three_is_refused(paks: RecallStore, severity: object) -> None:
    paks.set_pak_risk_flags("p1", FLAGS.entries)

    with pytest.raises(InvalidInput, match="severity") as caught:
        paks.set_pak_risk_flags("p1", [RiskFlagEntry("z", severity)])  # type: ignore[arg-type]

    assert caught.value.hint
    assert paks.get_pak_risk_flags("p1") == list(FLAGS.entries)


def test_block_is_stored_like_any_other_and_refuses_nothing(paks: RecallStore) -> None:
    paks.set_pak_risk_flags("p1", [RiskFlagEntry("mandatory_context_missing", "block")])

    assert paks.get_pak_risk_flags("p1") == [RiskFlagEntry("mandatory_context_missing", "block")]
    assert paks.get_pak("p1") is not None
    assert paks.count_paks() == 3
    assert [hit.pak.pak_id for hit in paks.search("p1")] == ["p1"]
    assert paks.upsert_pak(**pak("p1")).inserted is False


def test_codes_do_not_change_a_listing(paks: RecallStore) -> None:
    before = paks.list_paks()
    paks.set_pak_reason_codes("p1", [ReasonCodeEntry("stale_context", 1.0)])

    assert paks.list_paks() == before


def test_the_paks_of_each_flag_are_found(paks: RecallStore) -> None:
    paks.set_pak_risk_flags("p2", [RiskFlagEntry("raw_logs_deferred", "warn")])
    both = [RiskFlagEntry("governance_applies", "warn"), RiskFlagEntry("raw_logs_deferred", "warn")]
    paks.set_pak_risk_flags("p1", both)

    found = paks.find_flagged_paks()

    assert found == {"governance_applies": ["p1"], "raw_logs_deferred": ["p1", "p2"]}
    assert list(found) == sorted(found)


# Anchors and relations


def test_the_paks_of_a_source_are_found(paks: RecallStore) -> None:
    paks.set_pak_anchors("p2", ANCHORS.entries)
    paks.set_pak_anchors("p1", ANCHORS.entries[:1])

    assert paks.find_paks_by_source("src/a.py") == ["p1", "p2"]
    assert paks.find_paks_by_source("src/b.py") == ["p2"]
    assert paks.find_paks_by_source("src/A.py") == []
    with pytest.raises(InvalidInput, match="source_path"):
        paks.find_paks_by_source(" ")


@pytest.mark.parametrize("field", ["source_path", "kind"])
@pytest.mark.parametrize("value", ["", None, 5])
def test_an_anchor_needs_all_its_fields(paks: RecallStore, field: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=field):
        paks.add_pak_anchor("p1", ANCHORS.entries[0]._replace(**{field: value}))


@pytest.mark.parametrize("value", ["", None, 5])
def test_a_relation_needs_a_type(paks: RecallStore, value: object) -> None:
    with pytest.raises(InvalidInput, match="relation_type"):
        paks.add_pak_relation("p1", PakRelationEntry("p2", value))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="relation_type"):
        paks.remove_pak_relation("p1", PakRelationEntry("p2", value))  # type: ignore[arg-type]


def test_a_relation_goes_when_its_far_end_goes(paks: RecallStore) -> None:
    paks.set_pak_relations("p1", RELATIONS.entries)

    paks.delete_pak("p3")

    assert paks.get_pak_relations("p1") == [PakRelationEntry("p2", "refines")]


# Strictness


def test_without_strictness_any_name_is_stored(paks: RecallStore) -> None:
    paks.set_pak_reason_codes("p1", [ReasonCodeEntry("my_own_reason", 0.5)])
    paks.set_pak_risk_flags("p1", [RiskFlagEntry("my_own_flag", "info")])
    paks.add_pak_risk_flag("p1", RiskFlagEntry("governance_applies", "block"))

    assert paks.get_pak_reason_codes("p1") == [ReasonCodeEntry("my_own_reason", 0.5)]
    assert len(paks.get_pak_risk_flags("p1")) == 2


STRICT_REFUSALS: dict[str, tuple[str, Callable[[RecallStore], None]]] = {
    "set code": (
        "reason_code.*'mine'",
        lambda s: s.set_pak_reason_codes("p1", [ReasonCodeEntry("mine")]),
    ),
    "add code": (
        "reason_code.*'mine'",
        lambda s: s.add_pak_reason_code("p1", ReasonCodeEntry("mine")),
    ),
    "set flag": (
        "risk_flag.*'mine'",
        lambda s: s.set_pak_risk_flags("p1", [RiskFlagEntry("mine", "warn")]),
    ),
    "add flag": (
        "risk_flag.*'mine'",
        lambda s: s.add_pak_risk_flag("p1", RiskFlagEntry("mine", "warn")),
    ),
    "set severity": (
        "severity of governance_applies is warn",
        lambda s: s.set_pak_risk_flags("p1", [RiskFlagEntry("governance_applies", "block")]),
    ),
    "add severity": (
        "severity of mandatory_context_missing is block",
        lambda s: s.add_pak_risk_flag("p1", RiskFlagEntry("mandatory_context_missing", "info")),
    ),
}


@pytest.mark.parametrize("name", STRICT_REFUSALS)
def test_a_strict_store_refuses_what_is_not_in_the_registry(strict: RecallStore, name: str) -> None:
    words, call = STRICT_REFUSALS[name]
    strict.set_pak_reason_codes("p1", [ReasonCodeEntry("current_task", 0.3)])
    strict.set_pak_risk_flags("p1", [RiskFlagEntry("raw_logs_deferred", "warn")])

    with pytest.raises(InvalidInput, match=words) as caught:
        call(strict)

    # What may be said instead, which is of use at every door.
    assert "known names: " in caught.value.hint or "the registry has" in caught.value.hint
    assert strict.get_pak_reason_codes("p1") == [ReasonCodeEntry("current_task", 0.3)]
    assert strict.get_pak_risk_flags("p1") == [RiskFlagEntry("raw_logs_deferred", "warn")]


def test_the_duplicate_check_comes_before_the_registry(strict: RecallStore) -> None:
    with pytest.raises(InvalidInput, match="duplicate"):
        strict.set_pak_reason_codes("p1", [ReasonCodeEntry("mine"), ReasonCodeEntry("mine")])
    with pytest.raises(InvalidInput, match="duplicate"):
        strict.set_pak_risk_flags(
            "p1",
            [
                RiskFlagEntry("governance_applies", "block"),
                RiskFlagEntry("governance_applies", "info"),
            ],
        )


def test_a_strict_store_still_reads_and_removes_what_others_wrote(
    strict: RecallStore, tmp_path: Path
) -> None:
    with RecallStore.open(strict.path) as lenient:
        lenient.set_pak_reason_codes("p1", [ReasonCodeEntry("mine", 0.5)])

    assert strict.get_pak_reason_codes("p1") == [ReasonCodeEntry("mine", 0.5)]
    assert strict.remove_pak_reason_code("p1", "mine") is True


@pytest.mark.sql
def test_a_broken_reference_is_ours_and_the_drivers(store: RecallStore) -> None:
    """Callers of old catch the driver's error, callers of the engine ours; both get this one."""
    with pytest.raises(UnknownPak) as caught:
        store.set_pak_reason_codes("nowhere", [ReasonCodeEntry("mandatory")])
    assert isinstance(caught.value, sqlite3.IntegrityError)
    assert isinstance(caught.value, LookupError)
    assert caught.value.code == "unknown_pak"
    assert not issubclass(UnknownPak, sqlite3.Error)


def test_flags_of_many_are_those_of_each(paks: RecallStore) -> None:
    flagged = {"p1": [RiskFlagEntry("pii", "warn"), RiskFlagEntry("stale", "info")], "p2": []}
    for pak_id, flags in flagged.items():
        paks.upsert_pak(**pak(pak_id=pak_id))
        paks.set_pak_risk_flags(pak_id, flags)
    found = paks.get_pak_risk_flags_of_each(["p2", "p1", "p1", "nobody", None])
    assert found == {"p2": [], "p1": flagged["p1"], "nobody": []}
    assert {name: paks.get_pak_risk_flags(name) for name in found} == found
