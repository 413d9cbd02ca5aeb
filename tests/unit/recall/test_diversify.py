"""Whoever asks for novelty gets what is unlike the rest earlier."""

from __future__ import annotations

import numpy as np
from tests.unit.recall.builders import ranked

from recollect.recall.diversify import spread

CANDIDATES = [ranked("a", 0.9), ranked("like a", 0.8), ranked("b", 0.7)]
COSINES = np.array([[1.0, 0.95, 0.1], [0.95, 1.0, 0.1], [0.1, 0.1, 1.0]])


def order(diversity: float) -> list[str]:
    return [one.pak_id for one in spread(CANDIDATES, COSINES, diversity=diversity)]


def test_what_is_unlike_the_first_comes_before_what_is_like_it() -> None:
    assert order(0.5) == ["a", "b", "like a"]


def test_a_diversity_of_one_leaves_the_order_as_it_is() -> None:
    assert order(1.0) == ["a", "like a", "b"]


def test_the_best_is_always_first_unless_novelty_is_all_that_counts() -> None:
    assert all(order(share / 10)[0] == "a" for share in range(1, 11))


def test_nobody_can_be_spread() -> None:
    assert spread([], np.empty((0, 0)), diversity=0.5) == ()
