"""How much objects take is told about right, at a price that does not grow with them."""

from __future__ import annotations

import sys

import numpy as np

from recollect.weigh import weigh


class Pair:
    def __init__(self, first: object, second: object) -> None:
        self.first, self.second = first, second


def test_an_array_counts_to_the_byte_and_once() -> None:
    array = np.zeros(10_000)
    assert 80_000 <= weigh(array) <= 80_200
    assert weigh(Pair(array, array)) < 80_600
    assert 160_000 <= weigh(Pair(array, array.copy())) <= 160_800


def test_a_part_of_an_array_holds_all_of_it() -> None:
    assert weigh(np.zeros(10_000)[:10]) >= 80_000


def test_many_of_a_kind_are_told_by_a_few() -> None:
    texts = [f"text number {number:06d}" for number in range(50_000)]
    exact = sys.getsizeof(texts) + sum(map(sys.getsizeof, texts))
    assert 0.9 * exact <= weigh(texts) <= 1.1 * exact
    table = dict.fromkeys(texts, 1.5)
    exact = sys.getsizeof(table) + sum(map(sys.getsizeof, texts))
    assert 0.9 * exact <= weigh(table) <= 1.1 * exact


def test_what_all_share_is_nobody_s_and_a_ring_has_an_end() -> None:
    assert weigh(int, sys, len, None, True) == 0
    ring = Pair(1, 2)
    ring.first = ring
    assert 0 < weigh(ring) < 1_000
