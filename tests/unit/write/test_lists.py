"""How lists change, which automatic edges are made, and which give way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from recollect.ports.edges import Edge, Likeness
from recollect.write.link import MAX_AUTOMATIC, weight_of
from recollect.write.lists import (
    Entries,
    LikenessLists,
    PairNumbers,
    closest_first,
    distinct_pairs,
    edges_to_write,
    weights_of,
)


def held(row: int, others: Mapping[int, float]) -> list[Likeness]:
    return [Likeness(row, other, closeness) for other, closeness in others.items()]


def changed(
    stored: Iterable[Likeness],
    *offered: Likeness,
    given: Mapping[int, Mapping[int, float]] | None = None,
) -> LikenessLists:
    whole = given or {}
    return LikenessLists(
        Entries.of(stored),
        np.array([*whole], dtype=np.int64),
        Entries.of(one for row, others in whole.items() for one in held(row, others)),
        Entries.of(offered),
    )


def edges(lists: LikenessLists, *known: Edge) -> list[Edge]:
    return edges_to_write(lists.joined(), lists.removed, known)


def test_a_list_holds_ten_and_gives_up_its_weakest() -> None:
    full = held(1, {row: 0.60 + row / 100 for row in range(2, 12)})
    lists = changed(full, Likeness(1, 98, 0.61))
    assert (list(lists.added.each()), list(lists.removed.each())) == ([], [])
    lists = changed(full, Likeness(1, 98, 0.61), Likeness(1, 99, 0.63))
    assert list(lists.added.each()) == [Likeness(1, 99, 0.63)]
    assert list(lists.removed.each()) == [Likeness(1, 2, 0.62)]


def test_a_list_that_is_given_whole_tells_what_came_and_went() -> None:
    lists = changed(held(1, {2: 0.7, 3: 0.8}), given={1: {3: 0.8, 4: 0.9}, 5: {}})
    assert list(lists.added.each()) == [Likeness(1, 4, 0.9)]
    assert list(lists.removed.each()) == [Likeness(1, 2, 0.7)]
    assert lists.bars() == {1: 0.0, 5: 0.0}


def test_two_are_joined_when_each_holds_the_other() -> None:
    lists = changed([*held(1, {2: 0.7}), *held(2, {1: 0.7, 3: 0.8})])
    asked = Entries.of([(1, 2, 0.7), (2, 1, 0.7), (2, 3, 0.8)])
    assert lists.hold_each_other(asked).tolist() == [True, True, False]


def test_an_edge_follows_when_the_second_of_two_holds_the_first() -> None:
    stored = held(1, {2: 0.7000000003})
    assert edges(changed(stored)) == []
    lists = changed(stored, Likeness(2, 1, 0.7000000003))
    assert edges(lists) == [Edge(1, 2, 0.7, True)]


def test_an_edge_goes_when_one_of_two_lets_go() -> None:
    lists = changed([*held(1, {2: 0.7}), *held(2, {1: 0.7})], given={2: {}})
    assert edges(lists, Edge(1, 2, 0.9, True)) == [Edge(1, 2, 0.0, True)]


def test_edges_by_hand_neither_change_nor_go() -> None:
    by_hand = [Edge(1, 2, 0.05, False), Edge(1, 3, 0.05, False)]
    stored = [*held(1, {2: 0.7}), *held(2, {1: 0.7}), *held(3, {1: 0.8})]
    assert edges(changed(stored, given={1: {3: 0.8}}), *by_hand) == []


def test_an_edge_keeps_what_it_won_by_use() -> None:
    lists = changed([*held(1, {2: 0.7}), *held(2, {1: 0.7})], given={1: {2: 0.7, 3: 0.9}})
    assert edges(lists, Edge(1, 2, 1.0, True)) == []


def test_a_pair_is_asked_for_once_whichever_end_comes_first() -> None:
    entries = Entries.of([(5, 2, 0.7), (1, 9, 0.8)]), Entries.of([(2, 5, 0.7), (1, 3, 0.9)])
    assert distinct_pairs(*entries) == [(1, 3), (1, 9), (2, 5)]
    assert distinct_pairs(Entries.of(()), Entries.of(())) == []


def test_two_that_come_to_hold_each_other_at_once_are_joined_once() -> None:
    near = 0.7000000003
    lists = changed([], given={1: {2: near}, 2: {1: near}})
    assert edges(lists) == [Edge(1, 2, 0.7, True)]


NUMBERS = st.sampled_from([*range(1, 16), 2**40, 2**62])
CLOSENESS = st.sampled_from([0.6, 0.7, 0.7000000001, 0.8, 0.95])
LISTS = st.dictionaries(NUMBERS, st.dictionaries(NUMBERS, CLOSENESS, max_size=MAX_AUTOMATIC))
OFFERS = st.dictionaries(st.tuples(NUMBERS, NUMBERS), CLOSENESS, max_size=40)


@settings(max_examples=examples(200), deadline=None)
@given(LISTS, LISTS, OFFERS)
def test_all_at_once_is_what_one_after_the_other_comes_to(
    before: dict[int, dict[int, float]],
    whole: dict[int, dict[int, float]],
    offers: dict[tuple[int, int], float],
) -> None:
    now = {row: dict(others) for row, others in (before | whole).items()}
    offered = [Likeness(*ends, near) for ends, near in offers.items() if ends[0] not in whole]
    for row, other, closeness in offered:
        one = now.setdefault(row, {})
        one[other] = closeness
        if len(one) > MAX_AUTOMATIC:
            del one[min(one, key=lambda each: (one[each], -each))]
    stored = [one for row, others in before.items() for one in held(row, others)]
    lists = changed(stored, *offered, given=whole)
    gone = {(row, other) for row, others in before.items() for other in others.keys() - now[row]}
    come = {
        (row, other): near
        for row, others in now.items()
        for other, near in others.items()
        if other not in before.get(row, {})
    }
    assert {one[:2]: one[2] for one in list(lists.added.each())} == come
    assert {one[:2] for one in list(lists.removed.each())} == gone
    mutual = {ends for ends in come if ends[0] in now.get(ends[1], {})}
    assert {one[:2] for one in list(lists.joined().each())} == mutual
    for row, others in now.items():
        bar = min(others.values()) if len(others) >= MAX_AUTOMATIC else 0.0
        assert lists.bars().get(row, 0.0) == bar


ROWS = st.one_of(st.integers(0, 40), st.sampled_from([2**31 - 1, 2**31, 2**40, 2**62]))


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(ROWS, ROWS), max_size=20))
def test_pairs_have_numbers_in_their_own_order(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    numbers = PairNumbers(first, second)
    asked = numbers.of(first, second)
    assert list(zip(*(end.tolist() for end in numbers.ends(asked)), strict=True)) == pairs
    order = sorted(range(len(pairs)), key=lambda place: pairs[place])
    assert np.argsort(asked, kind="stable").tolist() == order


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 60), st.sampled_from([1, 7, 70_000]), st.booleans())
def test_the_closest_come_first_whether_or_not_two_are_equally_close(
    seed: int, count: int, groups: int, some_are_equal: bool
) -> None:
    chance = np.random.default_rng(seed)
    count = count if groups < 70_000 else count + groups
    group = chance.integers(0, groups, count) * 2**33
    closeness = chance.integers(0, 4, count) / 4 if some_are_equal else chance.random(count)
    others = chance.permutation(count)
    expected = np.lexsort((others, -closeness, group))
    assert closest_first(group, closeness, others).tolist() == expected.tolist()


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(-(10**9), 10**9), st.integers(0, 2**20))
def test_weights_of_many_are_what_they_are_of_each(cosine: int, tie: int) -> None:
    closeness = cosine / 10**9 + tie / 2**20 * 4e-10
    assert weights_of(np.array([closeness])).tolist() == [weight_of(closeness)]
