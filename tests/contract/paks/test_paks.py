from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from tests.contract.paks.samples import LATER, NOON, catalogue_rows, fulltext_rows, is_in_step, pak

from recollect.errors import InvalidInput
from recollect.paks import (
    PakAnchorEntry,
    PakRelationEntry,
    PakRow,
    ReasonCodeEntry,
    RecallStore,
    RiskFlagEntry,
    UnknownPak,
    UpsertResult,
)

REQUIRED = ("pak_id", "pak_type", "source_type", "authority", "title", "content_hash")
OPTIONAL = ("summary", "project", "topic", "superseded_by")


# upsert_pak: what it takes


@pytest.mark.parametrize("field", REQUIRED)
@pytest.mark.parametrize("value", ["", " \t\n", None, 5, b"bytes", ["list"], "half \ud800"])
def test_a_required_field_that_says_nothing_is_refused_by_name(
    store: RecallStore, field: str, value: object
) -> None:
    with pytest.raises(InvalidInput, match=rf"\b{field}\b") as caught:
        store.upsert_pak(**pak(**{field: value}))  # type: ignore[arg-type]

    assert isinstance(caught.value, ValueError)
    assert caught.value.hint
    assert store.count_paks() == 0
    assert is_in_step(store)


@pytest.mark.parametrize("field", OPTIONAL)
@pytest.mark.parametrize("value", [5, b"bytes", ["list"], object(), "half \udfff"])
def test_an_optional_field_that_is_no_text_is_refused_by_name(
    store: RecallStore, field: str, value: object
) -> None:
    with pytest.raises(InvalidInput, match=rf"\b{field}\b"):
        store.upsert_pak(**pak(**{field: value}))  # type: ignore[arg-type]

    assert store.count_paks() == 0


@pytest.mark.parametrize("field", REQUIRED)
def test_a_required_field_cannot_be_left_out(store: RecallStore, field: str) -> None:
    fields = pak()
    del fields[field]

    with pytest.raises(TypeError, match=field):
        store.upsert_pak(**fields)


def test_arguments_are_keyword_only(store: RecallStore) -> None:
    with pytest.raises(TypeError, match="positional"):
        store.upsert_pak(*pak().values())  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "now", ["2026-05-11T12:00:00Z", "2026-05-11T12:00:00+00:00", "2026-05-11T12:00:00.25Z"]
)
def test_the_callers_time_is_used_as_given(store: RecallStore, now: str) -> None:
    store.upsert_pak(**pak(), now=now)

    row = store.get_pak("p1")
    assert (row.created_at, row.updated_at) == (now, now)


@pytest.mark.parametrize(
    "now",
    [
        "",
        "yesterday",
        "2026-05-11",
        "2026-05-11T12:00:00",
        "2026-05-11T12:00:00+02:00",
        "2026-13-01T00:00:00Z",
        5,
        datetime(2026, 5, 11, tzinfo=UTC),
    ],
)
def test_a_time_that_is_not_utc_iso_8601_is_refused(store: RecallStore, now: Any) -> None:
    with pytest.raises(InvalidInput, match="now"):
        store.upsert_pak(**pak(), now=now)

    assert store.count_paks() == 0


def test_without_a_time_the_clock_is_read_in_utc_to_the_second(store: RecallStore) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    store.upsert_pak(**pak())
    after = datetime.now(UTC)

    stamp = store.get_pak("p1").created_at
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stamp)
    assert before <= datetime.fromisoformat(stamp) <= after


# upsert_pak: what it does


def test_a_new_pak_is_stored_in_every_column(store: RecallStore) -> None:
    store.upsert_pak(**pak("new"), now=NOON)
    result = store.upsert_pak(
        pak_id="p1",
        pak_type="vault",
        source_type="doc",
        authority="human",
        title="a title",
        content_hash="hash",
        summary="a summary",
        project="shop",
        topic="billing",
        superseded_by="new",
        now=NOON,
    )

    assert result == UpsertResult("p1", inserted=True, body_changed=False)
    assert store.get_pak("p1") == PakRow(
        "p1",
        "vault",
        "shop",
        "billing",
        "doc",
        "human",
        "a title",
        "a summary",
        "hash",
        NOON,
        NOON,
        "new",
    )


def test_what_is_left_out_is_empty_or_null(store: RecallStore) -> None:
    store.upsert_pak(**pak())

    row = store.get_pak("p1")
    assert (row.summary, row.project, row.topic, row.superseded_by) == ("", None, None, None)


def test_no_summary_is_an_empty_one(store: RecallStore) -> None:
    store.upsert_pak(**pak(summary=None))

    assert store.get_pak("p1").summary == ""


def test_an_existing_pak_keeps_only_its_time_of_creation(store: RecallStore) -> None:
    store.upsert_pak(**pak("other"))
    store.upsert_pak(
        **pak(summary="old", project="shop", topic="billing", superseded_by="other"), now=NOON
    )

    result = store.upsert_pak(
        pak_id="p1",
        pak_type="note",
        source_type="chat",
        authority="model",
        title="new title",
        content_hash="1" * 64,
        now=LATER,
    )

    assert result == UpsertResult("p1", inserted=False, body_changed=True)
    assert store.get_pak("p1") == PakRow(
        "p1",
        "note",
        None,
        None,
        "chat",
        "model",
        "new title",
        "",
        "1" * 64,
        NOON,
        LATER,
        None,
    )


@pytest.mark.sql
def test_an_upsert_keeps_what_hangs_on_the_pak(store: RecallStore) -> None:
    store.upsert_paks([pak("p1"), pak("p2", superseded_by="p1")])
    store.conn.execute(
        "INSERT INTO pak_reason_codes VALUES ('p1', 'current_task', 1.0, ?)", (NOON,)
    )

    store.upsert_pak(**pak("p1", title="changed", content_hash="f" * 64))

    assert len(store.get_pak_reason_codes("p1")) == 1
    assert store.get_pak("p2").superseded_by == "p1"


def test_a_changed_body_is_warned_of_once(
    store: RecallStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.upsert_pak(**pak("vault:a#1"))
    with caplog.at_level(logging.DEBUG):
        result = store.upsert_pak(**pak("vault:a#1", content_hash="1" * 64))

    assert result.body_changed
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "vault:a#1" in record.getMessage()
    assert "content_hash changed" in record.getMessage()


def test_an_identical_upsert_says_nothing_and_changes_only_the_time(
    store: RecallStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.upsert_pak(**pak(summary="s", project="shop"), now=NOON)
    before = store.get_pak("p1")
    with caplog.at_level(logging.DEBUG):
        result = store.upsert_pak(**pak(summary="s", project="shop"), now=LATER)

    assert result == UpsertResult("p1", inserted=False, body_changed=False)
    assert store.get_pak("p1") == before._replace(updated_at=LATER)
    assert caplog.records == []


def test_a_new_pak_is_not_warned_of(store: RecallStore, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        store.upsert_pak(**pak())

    assert caplog.records == []


@pytest.mark.parametrize("exists", [False, True])
def test_an_unknown_successor_is_refused_and_changes_nothing(
    store: RecallStore, exists: bool
) -> None:
    if exists:
        store.upsert_pak(**pak(), now=NOON)
    before = store.get_pak("p1")

    with pytest.raises(UnknownPak) as caught:
        store.upsert_pak(**pak(title="other", superseded_by="nobody"))

    assert isinstance(caught.value, UnknownPak)
    assert caught.value.hint
    assert store.get_pak("p1") == before
    assert is_in_step(store)


MEANWHILE = {
    "writes the same body": (
        lambda other: other.upsert_pak(**pak(content_hash="new")),
        UpsertResult("p1", inserted=False, body_changed=False),
    ),
    "writes another body": (
        lambda other: other.upsert_pak(**pak(content_hash="third")),
        UpsertResult("p1", inserted=False, body_changed=True),
    ),
    "deletes the Pak": (
        lambda other: other.delete_pak("p1"),
        UpsertResult("p1", inserted=True, body_changed=False),
    ),
}


@pytest.mark.sql
@pytest.mark.parametrize("does", MEANWHILE)
def test_an_upsert_reports_what_it_really_replaced_when_another_comes_between(
    store: RecallStore, does: str
) -> None:
    interfere, expected = MEANWHILE[does]
    store.upsert_pak(**pak(content_hash="old"))
    waiting = [interfere]
    with RecallStore.open(store.path) as other:

        def between(statement: str) -> None:
            if statement.startswith("UPDATE paks") and waiting:
                waiting.pop()(other)  # type: ignore[no-untyped-call]

        store.conn.set_trace_callback(between)
        result = store.upsert_pak(**pak(content_hash="new"))
        store.conn.set_trace_callback(None)

    assert waiting == []
    assert result == expected
    assert store.get_pak("p1").content_hash == "new"


def test_a_pak_may_be_its_own_successor(store: RecallStore) -> None:
    store.upsert_pak(**pak(superseded_by="p1"))

    assert store.get_pak("p1").superseded_by == "p1"


# get_pak, get_paks


@pytest.mark.parametrize("pak_id", ["", "  ", None, "unknown", 5, b"p1", ["p1"], "p1\ud800"])
def test_what_names_no_pak_finds_none(store: RecallStore, pak_id: object) -> None:
    store.upsert_pak(**pak())

    assert store.get_pak(pak_id) is None  # type: ignore[arg-type]


def test_ids_are_compared_byte_for_byte(store: RecallStore) -> None:
    store.upsert_paks([pak("Café"), pak("a b")])

    assert store.get_pak("café") is None
    assert store.get_pak("Cafe\u0301") is None
    assert store.get_pak("a b ") is None
    assert store.get_pak("Café").pak_id == "Café"


def test_many_paks_come_in_the_order_asked_for(store: RecallStore) -> None:
    store.upsert_paks(pak(f"p{at}") for at in range(1200))
    wanted = [f"p{at}" for at in reversed(range(1200))]

    found = store.get_paks(["missing", *wanted, "p7", None, "", 5])  # type: ignore[list-item]

    assert list(found) == wanted
    assert found["p7"] == store.get_pak("p7")


@pytest.mark.parametrize("ids", [[], iter([]), ["unknown"]])
def test_asking_for_nothing_known_gives_an_empty_dict(store: RecallStore, ids: Any) -> None:
    assert store.get_paks(ids) == {}


@pytest.mark.parametrize("ids", [None, 5, "p1"])
def test_ids_that_are_no_list_are_a_value_error(store: RecallStore, ids: object) -> None:
    with pytest.raises(ValueError, match="pak_id"):
        store.get_paks(ids)  # type: ignore[arg-type]


# delete_pak


def test_deleting_says_whether_there_was_a_pak(store: RecallStore) -> None:
    store.upsert_paks([pak("p1"), pak("p2")])

    assert store.delete_pak("p1") is True
    assert store.delete_pak("p1") is False
    assert [row.pak_id for row in store.iter_paks()] == ["p2"]


@pytest.mark.parametrize("pak_id", ["", None, 5, "p1\ud800", ["p1"]])
def test_deleting_what_names_no_pak_deletes_none(store: RecallStore, pak_id: object) -> None:
    store.upsert_pak(**pak())

    assert store.delete_pak(pak_id) is False  # type: ignore[arg-type]
    assert store.count_paks() == 1


def test_deleting_a_successor_leaves_the_superseded_pak(store: RecallStore) -> None:
    store.upsert_paks([pak("old", superseded_by="new"), pak("new")])

    store.delete_pak("new")

    assert store.get_pak("old").superseded_by is None
    assert is_in_step(store)


# upsert_paks


def test_a_batch_reports_each_pak_in_order(
    store: RecallStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.upsert_pak(**pak("same"))
    store.upsert_pak(**pak("changed"))

    results = store.upsert_paks(
        [pak("new"), pak("same"), pak("changed", content_hash="1"), pak("new", content_hash="2")]
    )

    assert results == [
        UpsertResult("new", inserted=True, body_changed=False),
        UpsertResult("same", inserted=False, body_changed=False),
        UpsertResult("changed", inserted=False, body_changed=True),
        UpsertResult("new", inserted=False, body_changed=True),
    ]
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert store.get_pak("new").content_hash == "2"


@pytest.mark.sql
def test_a_batch_stores_what_single_upserts_store(store: RecallStore) -> None:
    paks = [
        pak(f"p{at:03}", project=f"shop {at % 3}", summary=f"summary {at}", topic=None)
        for at in range(600)
    ]
    with RecallStore.open(":memory:") as other:
        for fields in paks:
            other.upsert_pak(**fields, now=NOON)
        store.upsert_paks(iter(paks), now=NOON)

        assert list(store.iter_paks()) == list(other.iter_paks())
        assert fulltext_rows(store.conn) == fulltext_rows(other.conn)


def test_a_pak_of_a_batch_may_have_its_own_time(store: RecallStore) -> None:
    store.upsert_paks([pak("p1"), pak("p2", now=LATER), pak("p3", now=None)], now=NOON)

    assert [row.updated_at for row in store.get_paks(["p1", "p2", "p3"]).values()] == [
        NOON,
        LATER,
        NOON,
    ]


def test_a_batch_keeps_the_time_of_creation(store: RecallStore) -> None:
    store.upsert_pak(**pak(), now=NOON)
    store.upsert_paks([pak()], now=LATER)

    assert store.get_pak("p1")[9:11] == (NOON, LATER)


@pytest.mark.parametrize("size", [2, 600])
def test_a_pak_of_a_batch_may_name_a_later_one_as_its_successor(
    store: RecallStore, size: int
) -> None:
    names = [f"p{at}" for at in range(size)]
    paks = [pak(name, superseded_by=after) for name, after in pairwise(names)]

    store.upsert_paks([*paks, pak(names[-1])])

    found = store.get_paks(names).values()
    assert [row.superseded_by for row in found] == [*names[1:], None]


def test_the_last_word_on_a_successor_counts(store: RecallStore) -> None:
    filler = [pak(f"f{at}") for at in range(300)]

    store.upsert_paks([pak("a", superseded_by="b"), *filler, pak("b"), pak("a")])

    assert store.get_pak("a").superseded_by is None


@pytest.mark.parametrize("size", [1, 600])
def test_a_batch_with_an_unknown_successor_writes_nothing(store: RecallStore, size: int) -> None:
    store.upsert_pak(**pak("p0", title="before"))

    with pytest.raises(UnknownPak):
        store.upsert_paks([*(pak(f"p{at}") for at in range(size)), pak("z", superseded_by="?")])

    assert [(row.pak_id, row.title) for row in store.iter_paks()] == [("p0", "before")]
    assert is_in_step(store)


def test_a_batch_with_one_bad_pak_writes_nothing(store: RecallStore) -> None:
    with pytest.raises(ValueError, match="title"):
        store.upsert_paks([pak("p1"), pak("p2", title=" ")])

    assert store.count_paks() == 0


def test_a_batch_whose_source_fails_writes_nothing(store: RecallStore) -> None:
    def source() -> Any:
        yield pak("p1")
        raise KeyError("the source ran dry")

    with pytest.raises(KeyError):
        store.upsert_paks(source())

    assert store.count_paks() == 0


def test_an_empty_batch_does_nothing(store: RecallStore) -> None:
    assert store.upsert_paks([]) == []


@pytest.mark.parametrize("paks", [None, 5, "p1", [None], ["p1"], [("pak_id", "p1")], pak()])
def test_a_batch_of_the_wrong_type_is_a_value_error(store: RecallStore, paks: object) -> None:
    with pytest.raises(ValueError, match=r"[Pp]ak"):
        store.upsert_paks(paks)  # type: ignore[arg-type]

    assert store.count_paks() == 0


@pytest.mark.parametrize("field", ["colour", "created_at"])
def test_a_batch_refuses_a_field_that_no_pak_has(store: RecallStore, field: str) -> None:
    with pytest.raises(ValueError, match=field):
        store.upsert_paks([pak(**{field: NOON})])


def test_a_batch_needs_every_required_field(store: RecallStore) -> None:
    for field in REQUIRED:
        fields = pak()
        del fields[field]
        with pytest.raises(ValueError, match=field):
            store.upsert_paks([fields])


# Transactions


def joining_writes(store: RecallStore) -> Any:
    return {
        "upsert_pak": lambda: store.upsert_pak(**pak("p9", superseded_by="nobody")),
        "upsert_paks": lambda: store.upsert_paks([pak("p8"), pak("p9", superseded_by="nobody")]),
        "set_codes": lambda: store.set_pak_reason_codes("nobody", [ReasonCodeEntry("x")]),
        "add_code": lambda: store.add_pak_reason_code("nobody", ReasonCodeEntry("x")),
        "set_flags": lambda: store.set_pak_risk_flags("nobody", [RiskFlagEntry("x", "warn")]),
        "add_flag": lambda: store.add_pak_risk_flag("nobody", RiskFlagEntry("x", "warn")),
        "set_anchors": lambda: store.set_pak_anchors("nobody", [PakAnchorEntry("a", "b", "c")]),
        "add_anchor": lambda: store.add_pak_anchor("nobody", PakAnchorEntry("a", "b", "c")),
        "set_relations": lambda: store.set_pak_relations("p1", [PakRelationEntry("nobody", "x")]),
        "add_relation": lambda: store.add_pak_relation("p1", PakRelationEntry("nobody", "x")),
    }


@pytest.mark.sql
@pytest.mark.parametrize("name", joining_writes(None))  # type: ignore[arg-type]
def test_a_write_that_fails_in_a_callers_transaction_spares_the_callers_rows(
    store: RecallStore, name: str
) -> None:
    store.conn.execute("BEGIN")
    store.upsert_pak(**pak("p1"))
    with pytest.raises(UnknownPak):
        joining_writes(store)[name]()

    assert store.conn.in_transaction
    store.conn.execute("COMMIT")
    assert [row.pak_id for row in store.iter_paks()] == ["p1"]
    assert fulltext_rows(store.conn) == catalogue_rows(store.conn)


@pytest.mark.sql
def test_writes_in_a_callers_transaction_go_when_it_rolls_back(store: RecallStore) -> None:
    store.upsert_pak(**pak("kept"))
    store.conn.execute("BEGIN")
    store.upsert_pak(**pak("p1"))
    store.upsert_paks([pak("p2")])
    store.delete_pak("kept")
    store.conn.execute("ROLLBACK")

    assert [row.pak_id for row in store.iter_paks()] == ["kept"]
    assert fulltext_rows(store.conn) == [("kept", "title of kept", "")]


@pytest.mark.sql
def test_writes_in_a_callers_transaction_are_unseen_until_it_commits(store: RecallStore) -> None:
    with RecallStore.open(store.path) as other:
        store.conn.execute("BEGIN")
        store.upsert_pak(**pak("p1"))
        store.upsert_paks([pak("p2")])
        assert other.count_paks() == 0
        store.conn.execute("COMMIT")
        assert other.count_paks() == 2


@pytest.mark.sql
def test_a_transaction_commits_all_its_writes_at_once(store: RecallStore) -> None:
    with RecallStore.open(store.path) as other:
        with store.transaction() as conn:
            assert conn is store.conn
            store.upsert_pak(**pak("p1"))
            store.upsert_pak(**pak("p2"))
            assert other.count_paks() == 0
        assert other.count_paks() == 2


def test_a_transaction_that_fails_leaves_nothing_behind(store: RecallStore) -> None:
    with pytest.raises(KeyError), store.transaction():
        store.upsert_pak(**pak("p1"))
        raise KeyError

    assert store.count_paks() == 0
    assert is_in_step(store)


def test_a_transaction_within_a_transaction_fails_alone(store: RecallStore) -> None:
    with store.transaction():
        store.upsert_pak(**pak("outer"))
        with pytest.raises(KeyError), store.transaction():
            store.upsert_pak(**pak("inner"))
            raise KeyError

    assert [row.pak_id for row in store.iter_paks()] == ["outer"]


@pytest.mark.parametrize("error", [FileNotFoundError("mine"), TimeoutError("mine"), OSError("x")])
def test_an_error_of_the_callers_own_code_passes_through_a_transaction(
    store: RecallStore, error: OSError
) -> None:
    with pytest.raises(type(error)) as caught, store.transaction():
        raise error

    assert caught.value is error


def test_an_unknown_pak_within_a_transaction_is_called_by_its_name(store: RecallStore) -> None:
    with pytest.raises(UnknownPak), store.transaction():
        store.upsert_pak(**pak(superseded_by="nobody"))
