"""Which automatic edges are made, which give way, and how use strengthens them."""

from __future__ import annotations

import pytest

from recollect.ports.edges import Likeness
from recollect.ports.store import Edge
from recollect.ports.uses import MOST_LINK_USES, strength
from recollect.write.link import LikenessLists, edge_between, edges_to_write, weight_of


def test_an_edge_lies_in_its_canonical_order() -> None:
    assert edge_between(7, 3, 0.5, automatic=False) == edge_between(3, 7, 0.5, automatic=False)
    assert edge_between(7, 3, 0.5, automatic=False).low == 3


@pytest.mark.parametrize(
    ("weight", "uses", "after"),
    [(0.65, 1, 0.75), (0.1, 1, 0.2), (0.95, 1, 1.0), (0.6, 3, 0.9), (0.1, 10, 1.0), (0.5, 0, 0.5)],
)
def test_being_given_together_adds_a_tenth_up_to_one(
    weight: float, uses: int, after: float
) -> None:
    assert strength(weight, uses) == after


def test_so_many_uses_as_are_counted_make_any_link_as_strong_as_links_get() -> None:
    assert strength(1e-9, MOST_LINK_USES) == 1.0


def held(row: int, others: dict[int, float]) -> list[Likeness]:
    return [Likeness(row, other, closeness) for other, closeness in others.items()]


def test_a_list_holds_ten_and_gives_up_its_weakest() -> None:
    lists = LikenessLists(held(1, {row: 0.60 + row / 100 for row in range(2, 12)}))
    lists.offer(Likeness(1, 98, 0.61))
    assert (lists.added(), lists.removed()) == ([], [])
    lists.offer(Likeness(1, 99, 0.63))
    assert lists.added() == [Likeness(1, 99, 0.63)]
    assert lists.removed() == [Likeness(1, 2, 0.62)]


def test_a_list_that_is_given_whole_tells_what_came_and_went() -> None:
    lists = LikenessLists(held(1, {2: 0.7, 3: 0.8}))
    lists.set(1, {3: 0.8, 4: 0.9})
    lists.set(5, {})
    assert (lists.added(), lists.removed()) == ([Likeness(1, 4, 0.9)], [Likeness(1, 2, 0.7)])


def test_two_are_joined_when_each_holds_the_other() -> None:
    lists = LikenessLists([*held(1, {2: 0.7}), *held(2, {1: 0.7, 3: 0.8})])
    assert lists.hold_each_other(1, 2) and lists.hold_each_other(2, 1)
    assert not lists.hold_each_other(2, 3)
    assert not lists.hold_each_other(8, 9)


def test_an_edge_follows_when_the_second_of_two_holds_the_first() -> None:
    lists = LikenessLists(held(1, {2: 0.7000000003}))
    assert edges_to_write(lists, []) == []
    lists.offer(Likeness(2, 1, 0.7000000003))
    assert edges_to_write(lists, []) == [Edge(1, 2, 0.7, True)]


def test_an_edge_goes_when_one_of_two_lets_go() -> None:
    lists = LikenessLists([*held(1, {2: 0.7}), *held(2, {1: 0.7})])
    lists.set(2, {})
    assert edges_to_write(lists, [Edge(1, 2, 0.9, True)]) == [Edge(1, 2, 0.0, True)]


def test_edges_by_hand_neither_change_nor_go() -> None:
    by_hand = [Edge(1, 2, 0.05, False), Edge(1, 3, 0.05, False)]
    lists = LikenessLists([*held(1, {2: 0.7}), *held(2, {1: 0.7}), *held(3, {1: 0.8})])
    lists.set(1, {3: 0.8})
    assert edges_to_write(lists, by_hand) == []


def test_an_edge_keeps_what_it_won_by_use() -> None:
    lists = LikenessLists([*held(1, {2: 0.7}), *held(2, {1: 0.7})])
    lists.set(1, {2: 0.7, 3: 0.9})
    assert edges_to_write(lists, [Edge(1, 2, 1.0, True)]) == []


@pytest.mark.parametrize(
    ("closeness", "weight"), [(0.65, 0.65), (0.6500000004, 0.65), (1 + 3e-10, 1)]
)
def test_a_weight_is_the_cosine_without_its_hair(closeness: float, weight: float) -> None:
    assert weight_of(closeness) == weight
