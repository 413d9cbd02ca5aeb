"""Bounds and p-values: the same every time, and sensible."""

from __future__ import annotations

from math import comb

import pytest

from recollect.evaluation.significance import bounds, p_value


def test_bounds_are_the_same_every_time_and_hold_the_mean() -> None:
    values = [0.0] * 40 + [1.0] * 60
    low, high = bounds(values)
    assert (low, high) == bounds(values)
    # The normal approximation: 0.6 give or take 1.96 * sqrt(0.24 / 100).
    assert low == pytest.approx(0.504, abs=0.01)
    assert high == pytest.approx(0.696, abs=0.01)


def test_bounds_of_what_never_differs_are_a_point() -> None:
    assert bounds([0.25] * 7) == (0.25, 0.25)


def test_no_difference_at_all_is_chance() -> None:
    assert p_value([0.0] * 50) == 1.0


def test_a_p_value_is_close_to_the_exact_one() -> None:
    # Eight questions up and two down by the same amount: a sign test, two-sided.
    exact = 2 * sum(comb(10, down) for down in (0, 1, 2)) / 2**10
    assert p_value([1.0] * 8 + [-1.0] * 2) == pytest.approx(exact, abs=0.01)


def test_questions_that_stay_the_same_say_nothing_either_way() -> None:
    changed = [0.5] * 9 + [-0.5]
    assert p_value(changed) == p_value(changed + [0.0] * 500)


def test_up_and_down_are_the_same_evidence() -> None:
    changes = [0.3, 0.2, 0.7, -0.1, 0.4, 0.25]
    assert p_value(changes) == pytest.approx(p_value([-one for one in changes]), abs=0.01)
