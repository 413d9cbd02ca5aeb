from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index import arrays
from recollect.index.arrays import distinct, exclude, grow, is_in, kth_largest, ranges

NUMBERS = st.lists(st.integers(-20, 20), max_size=40)


@pytest.mark.parametrize("few", [0, 400])
@settings(deadline=None)
@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=400), keep=st.integers(1, 400))
def test_the_kth_largest_is_what_sorting_says(few: int, values: list[int], keep: int) -> None:
    keep = min(keep, len(values))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_FEW_VALUES", few)
        assert kth_largest(np.array(values), keep) == sorted(values, reverse=True)[keep - 1]


def test_the_kth_largest_is_found_among_many_blocks() -> None:
    values = np.random.default_rng(1).permutation(10_000).astype(np.float64)

    assert kth_largest(values, 20) == 9980


def test_growth_keeps_what_is_there_and_leaves_room_for_a_quarter_more() -> None:
    array = np.arange(1000)
    larger = grow(array, 1000, 1001)

    assert larger[:1000].tolist() == array.tolist()
    assert len(larger) == 1250 + 64
    assert grow(larger, 1000, 1200) is larger


def test_ranges_follow_each_other() -> None:
    assert ranges(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert ranges(np.array([], dtype=np.int64), np.array([], dtype=np.int64)).tolist() == []


@settings(deadline=None)
@given(NUMBERS, NUMBERS)
def test_sets_of_numbers_are_what_python_says(values: list[int], others: list[int]) -> None:
    array, against = np.array(values, dtype=np.int64), np.array(others, dtype=np.int64)

    assert distinct(array).tolist() == sorted(set(values))
    assert exclude(array, against).tolist() == [one for one in values if one not in others]
    assert is_in(array, against).tolist() == [one in others for one in values]
