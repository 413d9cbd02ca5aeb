from __future__ import annotations

import base64
import string
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.paks.samples import pak
from tests.examples import examples

from recollect.errors import InvalidInput
from recollect.paks import PakListFilters, PakListResult, RecallStore

# A busy machine is no reason to fail.
modest = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])

ids = st.text("abç\0 ~", min_size=1, max_size=3).filter(str.strip)
projects = st.sampled_from([None, "", "shop", "office"])
types = st.sampled_from(["note", "vault"])
times = st.sampled_from(["2026-05-11T12:00:00Z", "2026-05-11T12:00:01Z", "2026-05-12T00:00:00Z"])
rows = st.fixed_dictionaries({"pak_id": ids, "project": projects, "pak_type": types, "now": times})
filters_ = st.builds(
    PakListFilters,
    project=projects,
    pak_type=st.none() | types,
    limit=st.integers(1, 4),
    cursor=st.none(),
)


def fields_of(row: dict[str, str | None]) -> dict[str, str | None]:
    return pak(**row)


def matching(store: RecallStore, filters: PakListFilters) -> list[tuple[str, str]]:
    """Return what a listing ought to show, worked out without SQL."""
    everything = store.conn.execute("SELECT updated_at, pak_id, project, pak_type FROM paks")
    return sorted(
        (
            (updated_at, pak_id)
            for updated_at, pak_id, project, pak_type in everything
            if filters.project in (None, project) and filters.pak_type in (None, pak_type)
        ),
        reverse=True,
    )


@modest
@given(stored=st.lists(rows, max_size=25), filters=filters_)
def test_a_walk_yields_each_matching_row_once_and_in_order(
    stored: list[dict[str, str | None]], filters: PakListFilters
) -> None:
    with RecallStore.open(":memory:") as store:
        store.upsert_paks(fields_of(row) for row in stored)
        expected = matching(store, filters)

        walked = [(row.updated_at, row.pak_id) for row in store.iter_paks(filters)]

        assert walked == expected
        assert store.count_paks(filters) == len(expected)


@modest
@given(stored=st.lists(rows, max_size=25), filters=filters_)
def test_every_page_is_full_but_the_last(
    stored: list[dict[str, str | None]], filters: PakListFilters
) -> None:
    with RecallStore.open(":memory:") as store:
        store.upsert_paks(fields_of(row) for row in stored)
        left = len(matching(store, filters))
        page = store.list_paks(filters)
        while True:
            left -= len(page.items)
            assert page.limit == filters.limit
            assert page.truncated is (left > 0)
            assert (page.next_cursor is not None) is (left > 0)
            if page.next_cursor is None:
                break
            assert len(page.items) == filters.limit
            page = store.list_paks(filters._replace(cursor=page.next_cursor))
        assert left == 0


@settings(modest, max_examples=40)
@given(
    stored=st.lists(rows, min_size=1, max_size=20, unique_by=lambda row: row["pak_id"]),
    meanwhile=st.lists(st.lists(rows, max_size=4), max_size=12),
    filters=filters_,
)
def test_a_walk_under_concurrent_inserts_yields_each_row_exactly_once(
    stored: list[dict[str, str | None]],
    meanwhile: list[list[dict[str, str | None]]],
    filters: PakListFilters,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "recall.db"
        with RecallStore.open(place) as reader, RecallStore.open(place) as writer:
            writer.upsert_paks(fields_of(row) for row in stored)
            expected = {pak_id for _, pak_id in matching(reader, filters)}
            before = {row["pak_id"] for row in stored}

            walked: list[str] = []
            batches = enumerate(meanwhile)
            page = reader.list_paks(filters)
            walked += [row.pak_id for row in page.items]
            while page.next_cursor:
                # New ids each time: a Pak that is written again moves, and may be met again.
                number, batch = next(batches, (0, []))
                new = [row | {"pak_id": f"{row['pak_id']} {number}"} for row in batch]
                writer.upsert_paks(fields_of(row) for row in new if row["pak_id"] not in before)
                page = reader.list_paks(filters._replace(cursor=page.next_cursor))
                walked += [row.pak_id for row in page.items]

            assert len(walked) == len(set(walked))
            assert {pak_id for pak_id in walked if pak_id in before} == expected
            assert set(walked) <= {pak_id for _, pak_id in matching(reader, filters)}


@modest
@given(stored=st.lists(rows, min_size=1, max_size=20), gone=st.sets(ids), filters=filters_)
def test_rows_deleted_between_pages_cost_no_other_row(
    stored: list[dict[str, str | None]], gone: set[str], filters: PakListFilters
) -> None:
    with RecallStore.open(":memory:") as store:
        store.upsert_paks(fields_of(row) for row in stored)
        expected = [pak_id for _, pak_id in matching(store, filters)]
        walk = store.iter_paks(filters)
        walked = [row.pak_id for row in [next(walk, None)] if row]
        for pak_id in gone:
            store.delete_pak(pak_id)
        walked += [row.pak_id for row in walk]

        assert [pak_id for pak_id in walked if pak_id not in gone] == [
            pak_id for pak_id in expected if pak_id not in gone
        ]


TOKEN = string.ascii_letters + string.digits + "-_=+/"


def page_or_refusal(store: RecallStore, filters: PakListFilters) -> PakListResult | None:
    try:
        return store.list_paks(filters)
    except InvalidInput as refusal:
        assert refusal.hint
        return None


@settings(modest, max_examples=examples(250))
@given(
    filters=filters_,
    at=st.integers(0, 200),
    cut=st.integers(0, 3),
    put=st.text(TOKEN, max_size=3),
)
def test_a_tampered_cursor_is_refused_or_just_another_place(
    filters: PakListFilters, at: int, cut: int, put: str
) -> None:
    with RecallStore.open(":memory:") as store:
        for project in (None, "", "shop", "office"):
            store.upsert_paks(
                pak(f"{project}{number}", project=project, pak_type=pak_type)
                for number, pak_type in enumerate(["note", "vault"] * 5)
            )
        page = store.list_paks(filters)
        assert page.next_cursor is not None
        tampered = page.next_cursor[:at] + put + page.next_cursor[at + cut :]

        answer = page_or_refusal(store, filters._replace(cursor=tampered))

        if answer is not None:
            allowed = [pak_id for _, pak_id in matching(store, filters)]
            assert {row.pak_id for row in answer.items} <= set(allowed)


@settings(modest, max_examples=examples(250))
@given(
    cursor=st.one_of(
        st.text(),
        st.text(st.characters(exclude_categories=())),
        st.text(TOKEN),
        st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()),
        st.integers(),
        st.binary(min_size=1),
        st.lists(st.none(), min_size=1),
    )
)
def test_a_made_up_cursor_is_a_value_error(cursor: object) -> None:
    with RecallStore.open(":memory:") as store:
        store.upsert_paks([pak("a"), pak("b")])

        answer = page_or_refusal(store, PakListFilters(cursor=cursor))  # type: ignore[arg-type]

        assert (answer is not None) is (not cursor)


@modest
@given(stored=st.lists(rows, min_size=1, max_size=20), one=filters_, other=filters_)
def test_a_cursor_serves_its_own_filters_only(
    stored: list[dict[str, str | None]], one: PakListFilters, other: PakListFilters
) -> None:
    with RecallStore.open(":memory:") as store:
        store.upsert_paks(fields_of(row) for row in stored)
        page = store.list_paks(one)
        if page.next_cursor is None:
            return
        answer = page_or_refusal(store, other._replace(cursor=page.next_cursor))

        assert (answer is not None) is (one[:2] == other[:2])
