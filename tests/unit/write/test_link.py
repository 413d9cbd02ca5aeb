"""Which automatic edges are made, which give way, and how use strengthens them."""

from __future__ import annotations

import pytest

from recollect.ports.store import Edge
from recollect.write.link import (
    MAX_AUTOMATIC,
    AutomaticEdges,
    Likeness,
    edge,
    near_duplicates,
    strengthened,
)


def like(row_id: int, cosine: float) -> Likeness:
    return Likeness(row_id, f"p{row_id:02d}", cosine)


def test_an_edge_lies_in_its_canonical_order() -> None:
    assert edge(7, 3, 0.5, automatic=False) == edge(3, 7, 0.5, automatic=False)
    assert edge(7, 3, 0.5, automatic=False).low == 3


@pytest.mark.parametrize(("weight", "after"), [(0.65, 0.75), (0.1, 0.2), (0.95, 1.0)])
def test_being_returned_together_adds_a_tenth_up_to_one(weight: float, after: float) -> None:
    (stronger,) = strengthened([Edge(1, 2, weight, True)], [1, 2, 3])
    assert stronger == Edge(1, 2, after, True)


def test_one_end_alone_or_a_full_edge_changes_nothing() -> None:
    edges = [Edge(1, 2, 0.5, True), Edge(2, 3, 1.0, False)]
    assert strengthened(edges, [1]) == []
    assert strengthened(edges, [2, 3]) == []
    assert strengthened([], [1, 2]) == []


def test_a_new_row_is_joined_to_its_ten_most_alike() -> None:
    edges = AutomaticEdges([])
    likes = [like(row, 0.60 + row / 100) for row in range(1, 16)]
    joined = edges.join(99, likes)
    assert [one.row_id for one in joined] == list(range(15, 5, -1))
    assert len(edges.changed) == MAX_AUTOMATIC
    assert edges.changed[15, 99] == Edge(15, 99, 0.75, True)


def test_equal_likenesses_are_taken_by_id() -> None:
    joined = AutomaticEdges([]).join(99, [like(row, 0.7) for row in range(20, 0, -1)])
    assert [one.row_id for one in joined] == list(range(1, 11))


def test_a_full_row_gives_up_its_weakest_for_a_stronger_only() -> None:
    full = [Edge(1, row, 0.60 + row / 100, True) for row in range(2, 12)]
    edges = AutomaticEdges(full)
    assert edges.join(98, [like(1, 0.61)]) == []
    assert edges.changed == {}
    (joined,) = edges.join(99, [like(1, 0.63)])
    assert joined.row_id == 1
    assert edges.changed == {(1, 2): Edge(1, 2, 0.0, True), (1, 99): Edge(1, 99, 0.63, True)}


def test_edges_by_hand_neither_count_nor_give_way() -> None:
    by_hand = [Edge(1, row, 0.01, False) for row in range(2, 30)]
    edges = AutomaticEdges(by_hand)
    assert len(edges.join(99, [like(1, 0.7)])) == 1
    assert edges.changed == {(1, 99): Edge(1, 99, 0.7, True)}
    assert edges.join(1, [like(2, 0.9)]) == []


def test_dropping_all_leaves_what_was_made_by_hand() -> None:
    edges = AutomaticEdges([Edge(1, 2, 0.7, True), Edge(1, 3, 0.7, False)])
    edges.drop_all(1)
    assert edges.changed == {(1, 2): Edge(1, 2, 0.0, True)}


def test_near_duplicates_begin_at_95_percent_and_come_by_id() -> None:
    likes = [like(3, 0.95), like(1, 1.0), like(2, 0.949999999)]
    assert near_duplicates(likes) == ("p01", "p03")
