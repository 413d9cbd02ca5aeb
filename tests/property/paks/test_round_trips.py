from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.paks.samples import LATER, NOON, catalogue_rows, fulltext_rows, pak

from recollect.paks import (
    PakAnchorEntry,
    PakListFilters,
    PakRelationEntry,
    PakRow,
    ReasonCodeEntry,
    RecallStore,
    RiskFlagEntry,
    UpsertResult,
)

# A busy machine is no reason to fail.
modest = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])

any_text = st.text(st.characters(codec="utf-8"), max_size=40)
said = any_text.filter(str.strip)
maybe = st.none() | any_text

paks = st.fixed_dictionaries(
    {
        "pak_id": said,
        "pak_type": said,
        "source_type": said,
        "authority": said,
        "title": said,
        "content_hash": said,
    },
    optional={"summary": maybe, "project": maybe, "topic": maybe},
)
weights = st.floats(0, 1) | st.sampled_from([0, 1])
codes = st.lists(st.builds(ReasonCodeEntry, said, weights), max_size=8, unique_by=lambda e: e[0])
flags = st.lists(
    st.builds(RiskFlagEntry, said, st.sampled_from(["info", "warn", "block"])),
    max_size=8,
    unique_by=lambda e: e[0],
)
anchors = st.lists(
    st.builds(PakAnchorEntry, said, said, said), max_size=8, unique_by=lambda e: e[0]
)


def row_of(fields: dict[str, str | None], created_at: str, updated_at: str) -> PakRow:
    optional = {"summary": "", "project": None, "topic": None, "superseded_by": None}
    times = {"created_at": created_at, "updated_at": updated_at}
    return PakRow(**(optional | fields | {"summary": fields.get("summary") or ""} | times))


@modest
@given(fields=paks)
def test_what_is_upserted_is_what_is_got(fields: dict[str, str | None]) -> None:
    with RecallStore.open(":memory:") as store:
        result = store.upsert_pak(**fields, now=NOON)

        assert result == UpsertResult(fields["pak_id"], inserted=True, body_changed=False)
        row = store.get_pak(fields["pak_id"])
        assert row == row_of(fields, NOON, NOON)
        assert store.list_paks().items == [row]
        filters = PakListFilters(project=row.project, pak_type=row.pak_type)
        assert store.list_paks(filters).items == [row]
        assert store.check().ok


@modest
@given(first=paks, second=paks)
def test_the_second_upsert_replaces_all_but_the_time_of_creation(
    first: dict[str, str | None], second: dict[str, str | None]
) -> None:
    second = second | {"pak_id": first["pak_id"]}
    with RecallStore.open(":memory:") as store:
        store.upsert_pak(**first, now=NOON)
        result = store.upsert_pak(**second, now=LATER)

        changed = first["content_hash"] != second["content_hash"]
        assert result == UpsertResult(first["pak_id"], inserted=False, body_changed=changed)
        assert store.get_pak(first["pak_id"]) == row_of(second, NOON, LATER)
        assert fulltext_rows(store.conn) == catalogue_rows(store.conn)
        assert store.check().ok


@modest
@given(batch=st.lists(paks, max_size=12), repeats=st.integers(1, 3))
def test_a_batch_is_its_upserts_one_by_one_and_idempotent(
    batch: list[dict[str, str | None]], repeats: int
) -> None:
    with RecallStore.open(":memory:") as at_once, RecallStore.open(":memory:") as one_by_one:
        singles = [one_by_one.upsert_pak(**fields, now=NOON) for fields in batch]
        assert at_once.upsert_paks(batch, now=NOON) == singles
        for _ in range(repeats):
            results = at_once.upsert_paks(batch, now=NOON)
            assert not any(result.inserted for result in results)

        assert list(at_once.iter_paks()) == list(one_by_one.iter_paks())
        assert fulltext_rows(at_once.conn) == catalogue_rows(at_once.conn)


@modest
@given(
    kind=st.sampled_from(["reason_codes", "risk_flags", "anchors"]),
    data=st.data(),
    repeats=st.integers(1, 3),
)
def test_a_set_is_read_back_sorted_however_often_it_is_set(
    kind: str, data: st.DataObject, repeats: int
) -> None:
    strategy = {"reason_codes": codes, "risk_flags": flags, "anchors": anchors}[kind]
    before, after = data.draw(strategy), data.draw(strategy)
    with RecallStore.open(":memory:") as store:
        store.upsert_pak(**pak())
        put, got = getattr(store, f"set_pak_{kind}"), getattr(store, f"get_pak_{kind}")
        put("p1", before)
        for _ in range(repeats):
            put("p1", after)

        # SQLite orders text by its UTF-8 bytes, which is also the order of its code points.
        assert got("p1") == sorted(after, key=lambda entry: entry[0])  # type: ignore[call-overload]


@modest
@given(entries=codes)
def test_adding_one_by_one_and_removing_again_is_setting_and_clearing(
    entries: list[ReasonCodeEntry],
) -> None:
    with RecallStore.open(":memory:") as store:
        store.upsert_paks([pak("p1"), pak("p2")])
        store.set_pak_reason_codes("p2", entries)
        for entry in entries:
            store.add_pak_reason_code("p1", entry)
        assert store.get_pak_reason_codes("p1") == store.get_pak_reason_codes("p2")

        for entry in entries:
            assert store.remove_pak_reason_code("p1", entry.reason_code) is True
        assert store.get_pak_reason_codes("p1") == []


@modest
@given(
    relations=st.sets(
        st.builds(PakRelationEntry, st.sampled_from(["p1", "p2", "p3"]), said), max_size=8
    )
)
def test_relations_are_read_back_sorted(relations: set[PakRelationEntry]) -> None:
    with RecallStore.open(":memory:") as store:
        store.upsert_paks([pak("p1"), pak("p2"), pak("p3")])
        store.set_pak_relations("p1", list(relations))

        assert store.get_pak_relations("p1") == sorted(relations)
