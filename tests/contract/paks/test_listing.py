from __future__ import annotations

import base64
import json
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from tests.contract.paks.samples import LATER, NOON, counted, pak

from recollect.errors import InvalidInput
from recollect.paks import PakListFilters, PakListResult, RecallStore

if TYPE_CHECKING:
    from collections.abc import Iterator


def ids(page: PakListResult) -> list[str]:
    return [row.pak_id for row in page.items]


def token(*fields: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


# Order and filters


def test_an_empty_catalogue_lists_an_empty_page(store: RecallStore) -> None:
    assert store.list_paks() == PakListResult([], None, 100, False)


def test_the_newest_comes_first_and_equal_times_go_by_id_downwards(store: RecallStore) -> None:
    store.upsert_paks([pak("a"), pak("c"), pak("b")], now=NOON)
    store.upsert_paks([pak("x")], now=LATER)

    assert ids(store.list_paks()) == ["x", "c", "b", "a"]


def test_the_time_of_the_last_change_counts_not_that_of_creation(store: RecallStore) -> None:
    store.upsert_paks([pak("a"), pak("b")], now=NOON)
    store.upsert_pak(**pak("a"), now=LATER)

    assert ids(store.list_paks()) == ["a", "b"]


def test_items_are_whole_rows(store: RecallStore) -> None:
    store.upsert_pak(**pak(project="shop", summary="s"), now=NOON)

    assert store.list_paks().items == [store.get_pak("p1")]


@pytest.fixture
def shop(store: RecallStore) -> RecallStore:
    store.upsert_paks(
        [
            pak("a", project="shop", pak_type="note"),
            pak("b", project="shop", pak_type="vault"),
            pak("c", project="Shop", pak_type="note"),
            pak("d", project="shop ", pak_type="note"),
            pak("e", project=None, pak_type="note"),
            pak("f", project="", pak_type="note"),
            pak("g", project="café", pak_type="note"),
        ],
        now=NOON,
    )
    return store


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (PakListFilters(), "gfedcba"),
        (PakListFilters(project="shop"), "ba"),
        (PakListFilters(pak_type="note"), "gfedca"),
        (PakListFilters(project="shop", pak_type="note"), "a"),
        (PakListFilters("shop", "vault"), "b"),
        (PakListFilters(project="SHOP"), ""),
        (PakListFilters(project="shop "), "d"),
        (PakListFilters(project=""), "f"),
        (PakListFilters(project="cafe\u0301"), ""),
        (PakListFilters(project="café"), "g"),
        (PakListFilters(project="shop%"), ""),
        (PakListFilters(project="' OR 1=1 --"), ""),
    ],
)
def test_filters_are_exact_and_joined_by_and(
    shop: RecallStore, filters: PakListFilters, expected: str
) -> None:
    assert "".join(ids(shop.list_paks(filters))) == expected
    assert "".join(row.pak_id for row in shop.iter_paks(filters)) == expected
    assert shop.count_paks(filters) == len(expected)


@pytest.mark.parametrize("field", ["project", "pak_type"])
@pytest.mark.parametrize("value", [5, b"shop", ["shop"], "half \ud800"])
def test_a_filter_that_is_no_text_is_a_value_error(
    store: RecallStore, field: str, value: object
) -> None:
    filters = PakListFilters(**{field: value})  # type: ignore[arg-type]
    for call in (store.list_paks, store.count_paks, lambda f: list(store.iter_paks(f))):
        with pytest.raises(ValueError, match=field):
            call(filters)


@pytest.mark.parametrize("filters", [5, "shop", {"project": "shop"}, ("shop", None, 100, None)])
def test_filters_of_another_type_are_a_value_error(store: RecallStore, filters: object) -> None:
    for call in (store.list_paks, store.count_paks, lambda f: list(store.iter_paks(f))):
        with pytest.raises(ValueError, match="filters"):
            call(filters)  # type: ignore[arg-type]


# Page size


@pytest.mark.parametrize(
    ("limit", "effective"),
    [
        (1, 1),
        (99, 99),
        (100, 100),
        (101, 100),
        (10**30, 100),
        (0, 100),
        (-1, 100),
        ("5", 100),
        (5.0, 100),
        (None, 100),
        (True, 100),
    ],
)
def test_the_limit_in_force_is_within_bounds(
    store: RecallStore, limit: object, effective: int
) -> None:
    store.upsert_paks(pak(f"p{at}") for at in range(103))

    page = store.list_paks(PakListFilters(limit=limit))  # type: ignore[arg-type]

    assert page.limit == effective
    assert len(page.items) == effective
    assert page.truncated is True


@pytest.mark.parametrize(("rows", "more"), [(2, False), (3, False), (4, True)])
def test_a_page_says_more_only_when_more_rows_exist(
    store: RecallStore, rows: int, more: bool
) -> None:
    store.upsert_paks(pak(f"p{at}") for at in range(rows))

    page = store.list_paks(PakListFilters(limit=3))

    assert len(page.items) == min(rows, 3)
    assert page.truncated is more
    assert (page.next_cursor is not None) is more


# Cursors


@pytest.mark.parametrize("cursor", ["", None])
def test_no_cursor_means_the_first_page(store: RecallStore, cursor: str | None) -> None:
    store.upsert_paks([pak("a"), pak("b")])

    assert store.list_paks(PakListFilters(cursor=cursor)) == store.list_paks()


def test_a_cursor_goes_on_where_the_page_ended(store: RecallStore) -> None:
    store.upsert_paks([pak(name) for name in "abcde"], now=NOON)

    first = store.list_paks(PakListFilters(limit=2))
    second = store.list_paks(PakListFilters(limit=2, cursor=first.next_cursor))
    third = store.list_paks(PakListFilters(limit=2, cursor=second.next_cursor))

    assert [ids(first), ids(second), ids(third)] == [["e", "d"], ["c", "b"], ["a"]]
    assert (third.next_cursor, third.truncated) == (None, False)


def test_the_page_size_may_change_between_pages(store: RecallStore) -> None:
    store.upsert_paks([pak(name) for name in "abcde"], now=NOON)
    first = store.list_paks(PakListFilters(limit=1))

    assert ids(store.list_paks(PakListFilters(limit=9, cursor=first.next_cursor))) == list("dcba")


def test_a_row_deleted_between_pages_does_not_lose_the_place(store: RecallStore) -> None:
    store.upsert_paks([pak(name) for name in "abcd"], now=NOON)
    first = store.list_paks(PakListFilters(limit=2))
    store.delete_pak("c")

    assert ids(store.list_paks(PakListFilters(cursor=first.next_cursor))) == ["b", "a"]


@pytest.mark.parametrize(
    "cursor",
    [
        "garbage",
        "!!!!",
        "ünï",
        " ",
        "\ud800",
        "a",
        token(),
        token(NOON),
        token(NOON, "p1"),
        token(NOON, "p1", None, None, None),
        token(NOON, 5, None, None),
        token(None, "p1", None, None),
        token(NOON, "p1", None, 5),
        token(NOON, "\ud800", None, None),
        base64.urlsafe_b64encode(b'{"updated_at": 1}').decode(),
        base64.urlsafe_b64encode(b"[" * 5000).decode(),
        base64.urlsafe_b64encode(b"1" * 9000).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        5,
        b"bytes",
        ["list"],
        object(),
    ],
    # Without an address: every process of a run must name a case alike.
    ids=lambda cursor: ascii(cursor).partition(" at 0x")[0][:30],
)
def test_a_malformed_cursor_is_a_value_error_with_a_hint(
    store: RecallStore, cursor: object
) -> None:
    store.upsert_paks([pak("a"), pak("b")])
    filters = PakListFilters(cursor=cursor)  # type: ignore[arg-type]

    for call in (store.list_paks, lambda f: list(store.iter_paks(f))):
        with pytest.raises(InvalidInput, match="cursor") as caught:
            call(filters)
        assert caught.value.hint


@pytest.mark.parametrize(
    "others",
    [
        PakListFilters(),
        PakListFilters(project="office"),
        PakListFilters(pak_type="vault"),
        PakListFilters(project="shop", pak_type="vault"),
        PakListFilters(project="vault", pak_type="shop"),
    ],
)
def test_a_cursor_used_under_other_filters_is_a_value_error(
    store: RecallStore, others: PakListFilters
) -> None:
    store.upsert_paks(pak(name, project="shop") for name in "abc")
    page = store.list_paks(PakListFilters(project="shop", limit=1))

    with pytest.raises(InvalidInput, match="other filters") as caught:
        store.list_paks(others._replace(cursor=page.next_cursor))

    assert caught.value.hint


def test_a_cursor_without_filters_is_refused_under_some(store: RecallStore) -> None:
    store.upsert_paks(pak(name, project="shop") for name in "abc")
    page = store.list_paks(PakListFilters(limit=1))

    with pytest.raises(InvalidInput, match="other filters"):
        store.list_paks(PakListFilters(project="shop", cursor=page.next_cursor))


def test_a_cursor_holds_any_id_and_any_filter(store: RecallStore) -> None:
    odd = 'é "quoted", [1] 📦\0\n'
    store.upsert_paks(pak(f"{odd}{at}", project=odd) for at in range(3))

    walked = [row.pak_id for row in store.iter_paks(PakListFilters(project=odd, limit=1))]

    assert walked == [f"{odd}2", f"{odd}1", f"{odd}0"]


# Walking and counting


def test_a_walk_meets_every_row_once_over_many_pages(store: RecallStore) -> None:
    store.upsert_paks(pak(f"p{at:04}") for at in range(350))

    assert [row.pak_id for row in store.iter_paks()] == [f"p{at:04}" for at in reversed(range(350))]


def test_a_walk_may_start_at_a_cursor(store: RecallStore) -> None:
    store.upsert_paks(pak(name) for name in "abcd")
    page = store.list_paks(PakListFilters(limit=2))

    assert [row.pak_id for row in store.iter_paks(PakListFilters(cursor=page.next_cursor))] == [
        "b",
        "a",
    ]


@pytest.mark.sql
def test_a_walk_leaves_no_transaction_open_between_pages(store: RecallStore) -> None:
    store.upsert_paks((pak(f"p{at}") for at in range(5)), now=NOON)
    walk = store.iter_paks(PakListFilters(limit=2))
    next(walk)

    assert not store.conn.in_transaction
    store.upsert_pak(**pak("another"), now=LATER)
    assert len(list(walk)) == 4


def test_counting_ignores_limit_and_cursor(store: RecallStore) -> None:
    store.upsert_paks(pak(f"p{at}") for at in range(7))
    page = store.list_paks(PakListFilters(limit=2))

    assert store.count_paks() == 7
    assert store.count_paks(PakListFilters(limit=2, cursor=page.next_cursor)) == 7


# The cost of a page

LISTINGS = {
    "all": PakListFilters(),
    "a project": PakListFilters(project="shop"),
    "a type": PakListFilters(pak_type="note"),
    "both": PakListFilters(project="shop", pak_type="note"),
}
PAGE = 5


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecallStore]:
    with RecallStore.open(tmp_path_factory.mktemp("large") / "recall.db") as store:
        store.upsert_paks(
            pak(
                f"p{at:05}",
                project="shop" if at % 6 else "office",
                pak_type="vault" if at % 6 == 1 else "note",
                now=f"2026-05-{at % 28 + 1:02}T12:00:00Z",
            )
            for at in range(8400)
        )
        yield store


@pytest.mark.parametrize("name", LISTINGS)
def test_page_1000_costs_what_page_1_costs(large: RecallStore, name: str) -> None:
    filters = LISTINGS[name]._replace(limit=PAGE)
    costs = []
    for _ in range(1000):
        with counted(large.conn) as work:
            page = large.list_paks(filters)
        costs.append(work.steps)
        assert len(page.items) == PAGE
        filters = filters._replace(cursor=page.next_cursor)

    assert min(costs) > PAGE
    assert costs[999] < 1.5 * costs[0] + 50
    assert max(costs) < 2 * costs[0] + 50


@pytest.mark.parametrize("name", LISTINGS)
@pytest.mark.parametrize("with_cursor", [False, True])
def test_a_page_is_one_walk_along_an_index_with_nothing_to_sort(
    large: RecallStore, name: str, with_cursor: bool
) -> None:
    filters = LISTINGS[name]._replace(limit=PAGE)
    if with_cursor:
        filters = filters._replace(cursor=large.list_paks(filters).next_cursor)
    ran: list[str] = []
    large.conn.set_trace_callback(ran.append)
    large.list_paks(filters)
    large.conn.set_trace_callback(None)

    (sql,) = ran
    plan = [row[3] for row in large.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert len(plan) == 1
    assert "INDEX idx_paks_walk" in plan[0]
    assert "TEMP B-TREE" not in plan[0]


def test_the_whole_walk_is_in_order(large: RecallStore) -> None:
    rows = list(large.iter_paks())

    assert len(rows) == 8400
    assert all(
        (one.updated_at, one.pak_id) > (next_.updated_at, next_.pak_id)
        for one, next_ in pairwise(rows)
    )
