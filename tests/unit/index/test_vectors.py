from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.embed.quantise import quantise
from recollect.errors import InvalidInput
from recollect.index.selection import Selection
from recollect.index.vectors import Vectors, most_sign_changes

Matrix = np.ndarray[Any, np.dtype[np.int8]]


def filled(matrix: Matrix) -> Vectors:
    vectors = Vectors(matrix.shape[1])
    vectors.extend(list(matrix))
    return vectors


def everyone(count: int) -> Selection:
    return Selection(np.ones(count, dtype=np.bool_), count, is_all=True, generation=0)


def clustered(count: int, dimension: int = 64) -> Matrix:
    random = np.random.default_rng(4)
    centres = random.standard_normal((50, dimension))
    return quantise(
        centres[random.integers(0, 50, count)] + random.standard_normal((count, dimension))
    )


def exact_cosine(one: list[int], other: list[int]) -> float:
    """Divide Python's own integers; their squares' product is a float without loss."""
    product = sum(a * b for a, b in zip(one, other, strict=True))
    squares = sum(a * a for a in one) * sum(b * b for b in other)
    return product / sqrt(squares) if squares else 0.0


@settings(deadline=None)
@given(
    st.integers(1, 80).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(-127, 127), min_size=size, max_size=size), min_size=2, max_size=6
        )
    )
)
def test_cosines_are_those_of_whole_numbers(rows: list[list[int]]) -> None:
    vectors = filled(np.array(rows[1:], dtype=np.int8))
    found = vectors.cosines(np.array(rows[0], dtype=np.int8), np.arange(len(rows) - 1))

    assert found.tolist() == [exact_cosine(rows[0], row) for row in rows[1:]]


def test_the_largest_products_stay_exact() -> None:
    rows = np.full((3, 1040), 127, dtype=np.int8)
    rows[1, 0], rows[2] = 126, -127
    found = filled(rows).cosines(rows[0], np.arange(3))

    assert found.tolist() == [1.0, exact_cosine(rows[0].tolist(), rows[1].tolist()), -1.0]
    assert Fraction(found[0]) == 1


@pytest.mark.parametrize("count", [0, 1, 1024, 1025, 3000])
def test_those_inside_a_selection_are_compared_as_slots_are(count: int) -> None:
    *matrix, query = clustered(3001, dimension=256)
    vectors = filled(np.array(matrix))
    inside = Selection(np.arange(3000) < count, count, is_all=False, generation=0)

    found = vectors.cosines_inside(query, inside)

    assert found.tolist() == vectors.cosines(query, inside.slots).tolist()


def test_a_slot_without_a_vector_is_nobodys_neighbour() -> None:
    vectors = Vectors(2)
    vectors.extend([np.array([1, 0], np.int8), None, np.array([0, 0], np.int8)])
    found = vectors.nearest(np.array([-1, 0], np.int8), everyone(3), 3)

    assert (found.slots.tolist(), found.cosines.tolist()) == ([0], [-1.0])
    assert vectors.has_vector(np.arange(3)).tolist() == [True, False, False]
    assert vectors.cosines(np.array([1, 1], np.int8), np.arange(3))[1:].tolist() == [0.0, 0.0]


def test_a_query_without_direction_finds_nothing() -> None:
    vectors = filled(clustered(10))

    assert len(vectors.nearest(np.zeros(64, np.int8), everyone(10), 3).slots) == 0
    assert len(vectors.nearest(np.ones(64, np.int8), everyone(10), 0).slots) == 0


def test_all_who_tie_with_the_last_are_among_the_nearest() -> None:
    rows = np.array([[1, 0], [2, 0], [1, 1], [3, 0], [0, 1]], dtype=np.int8)

    assert filled(rows).nearest(rows[0], everyone(5), 1).slots.tolist() == [0, 1, 3]


def test_among_many_the_nearest_are_those_of_the_exact_comparison() -> None:
    matrix = clustered(20_000)
    vectors = filled(matrix)
    for query in clustered(300)[-5:]:
        found = vectors.nearest(query, everyone(len(matrix)), 10)
        every = vectors.cosines(query, np.arange(len(matrix)))
        assert found.slots.tolist() == np.flatnonzero(every >= np.sort(every)[-10]).tolist()


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_among_many_the_order_of_rows_makes_no_difference(share: float) -> None:
    matrix = clustered(60_000, 16)
    order = np.random.default_rng(5).permutation(len(matrix))
    mask = np.random.default_rng(6).random(len(matrix)) < share
    here, there = filled(matrix), filled(matrix[order])
    count = int(mask.sum())
    found = here.nearest(matrix[7], Selection(mask, count, False, 0), 50)
    again = there.nearest(matrix[7], Selection(mask[order], count, False, 0), 50)

    assert sorted(order[again.slots].tolist()) == found.slots.tolist()
    assert sorted(again.cosines.tolist()) == sorted(found.cosines.tolist())


def test_what_is_not_selected_is_not_found_among_many() -> None:
    matrix = clustered(30_000, 16)
    vectors = filled(matrix)
    mask = np.ones(len(matrix), dtype=np.bool_)
    mask[vectors.nearest(matrix[0], everyone(len(matrix)), 100).slots] = False
    chosen = Selection(mask, int(mask.sum()), is_all=False, generation=0)

    assert mask[vectors.nearest(matrix[0], chosen, 100).slots].all()


@pytest.mark.parametrize("dimension", [3, 16, 256])
def test_alike_are_all_of_at_least_the_threshold(dimension: int) -> None:
    matrix = clustered(3_000, dimension)
    vectors, slots = filled(matrix), np.arange(0, 3_000, 2)
    some = Selection(np.arange(3_000) % 2 == 0, len(slots), is_all=False, generation=0)
    for query in matrix[:40]:
        cosines = vectors.cosines(query, slots)
        found = vectors.alike(query, some, 0.6)
        assert found.slots.tolist() == slots[cosines >= 0.6].tolist()
        assert found.cosines.tolist() == cosines[cosines >= 0.6].tolist()


def test_alike_is_the_same_from_both_sides_whoever_else_is_there() -> None:
    """Noise in all but one number: a cosine near the threshold, and signs that contradict it."""
    random = np.random.default_rng(3)
    noise = random.standard_normal((400, 256))
    noise[:, 0] = 19.0
    matrix = quantise(noise)
    vectors = filled(matrix)
    found = {
        (one, int(other))
        for one in range(400)
        for other in vectors.alike(matrix[one], everyone(400), 0.6).slots
    }
    assert found == {(other, one) for one, other in found}
    assert 0 < len(found) < 160_000
    for one, other in [(0, 1), (2, 3), (4, 5), (6, 7)]:
        alone = filled(matrix[[one, other]]).alike(matrix[one], everyone(2), 0.6).slots
        assert (1 in alone.tolist()) == ((one, other) in found)


def test_nobody_is_alike_nothing() -> None:
    vectors = filled(np.array([[0, 0], [1, 0]], np.int8))
    assert vectors.alike(np.zeros(2, np.int8), everyone(2), 0.6).slots.tolist() == []
    assert vectors.alike(np.array([1, 0], np.int8), everyone(2), 0.6).slots.tolist() == [1]
    assert Vectors(2).alike(np.array([1, 0], np.int8), everyone(0), 0.6).slots.tolist() == []


def test_signs_may_differ_by_chance_and_no_more() -> None:
    assert most_sign_changes(256, 0.6) == 104
    assert [most_sign_changes(short, 0.6) for short in (4, 8)] == [4, 7]
    assert most_sign_changes(256, 1.0) == 0


@pytest.mark.parametrize("wrong", [np.zeros(3, np.int8), np.zeros(2, np.float32)])
def test_a_vector_of_the_wrong_kind_is_refused(wrong: Matrix) -> None:
    with pytest.raises(InvalidInput, match="2 int8 numbers"):
        filled(np.zeros((1, 2), np.int8)).nearest(wrong, everyone(1), 1)


def test_without_dimensions_there_is_nothing_near() -> None:
    vectors = Vectors(0)
    vectors.extend([None, None])

    assert len(vectors.nearest(np.empty(0, np.int8), everyone(2), 5).slots) == 0
    assert vectors.cosines(np.empty(0, np.int8), np.arange(2)).tolist() == [0.0, 0.0]


def test_who_holds_which_vector_is_known_also_of_those_without_one() -> None:
    vectors = filled(clustered(5))
    vectors.extend([None])

    assert vectors.holds(2, clustered(5)[2])
    assert not vectors.holds(2, clustered(5)[3])
    assert not vectors.holds(2, None)
    assert vectors.holds(5, None)


def test_a_successor_is_extended_and_the_vectors_before_it_are_not() -> None:
    vectors = filled(clustered(5))
    longer = vectors.successor()
    longer.extend([clustered(6)[5]])

    assert longer.nearest(clustered(6)[5], everyone(6), 1).slots.tolist() == [5]
    assert len(vectors.nearest(clustered(6)[5], everyone(5), 9).slots) == 5
