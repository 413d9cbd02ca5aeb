from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index import lookup as module
from recollect.index.lookup import Lookup


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(-3, 12), max_size=4, unique=True), max_size=12))
def test_the_living_slot_of_a_key_is_found_however_often_it_moved(
    batches: list[list[int]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LEAST_TAIL", 3)
        lookup, alive, expected = Lookup(), np.zeros(100, dtype=np.bool_), dict[int, int]()
        size = 0
        for keys in batches:
            for key in keys:
                if key in expected:
                    alive[expected[key]] = False
            expected.update({key: slot for slot, key in enumerate(keys, size)})
            alive[size : size + len(keys)] = True
            lookup.extend(np.array(keys, dtype=np.int64), size, alive)
            size += len(keys)

    asked = np.arange(-4, 14)
    assert lookup.find(asked, alive).tolist() == [expected.get(int(key), -1) for key in asked]
    for key, slot in expected.items():
        assert [found for found in lookup.candidates(key, len(alive)) if alive[found]] == [slot]


def test_two_slots_may_share_a_key() -> None:
    lookup, alive = Lookup(), np.ones(3, dtype=np.bool_)
    lookup.extend(np.array([7, 8, 7]), 0, alive)
    assert sorted(lookup.candidates(7, 3)) == [0, 2]

    lookup.export(alive)

    assert sorted(lookup.candidates(7, 3)) == [0, 2]


def test_the_key_of_a_slot_is_told_once_it_is_sorted_in() -> None:
    lookup, alive = Lookup(), np.ones(6, dtype=np.bool_)
    lookup.extend(np.array([7, -8, 9]), 0, alive)
    assert lookup.keys_of(np.array([2, 0]), 6).tolist() == [0, 0]
    lookup.export(alive)
    lookup.extend(np.array([5, 4, 3]), 3, alive)
    assert lookup.keys_of(np.array([2, 4, 0, 1, 1]), 6).tolist() == [9, 0, 7, -8, -8]
