from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.index.test_vectors import everyone, filled

from recollect.embed.quantise import quantise
from recollect.index.alike import Wanted, alike_each, that_matter

WANTED = Wanted(threshold=0.6, first=3, most=8, close=0.95)
Matrix = np.ndarray[Any, np.dtype[np.int8]]


def crowd(count: int, seed: int, spread: float) -> Matrix:
    """Return vectors that lie around three spots, some of them on the same spot."""
    centres, random = np.random.default_rng(9).standard_normal((3, 64)), np.random.default_rng(seed)
    noise = random.standard_normal((count, 64)) * random.choice([0.0, spread], (count, 1))
    return quantise(centres[random.integers(0, 3, count)] + noise)


def wanted_of(
    vector: Matrix, matrix: Matrix, bars: np.ndarray[Any, Any] | None
) -> dict[int, float]:
    """Return who matters by comparing with each one, and ranking them all."""
    near = filled(matrix).alike(vector, everyone(len(matrix)), WANTED.threshold)
    ranked = sorted(zip(near.cosines.tolist(), near.slots.tolist(), strict=True), reverse=True)
    own = ranked[: WANTED.first] + [one for one in ranked[: WANTED.most] if one[0] >= WANTED.close]
    if bars is not None:
        own += [(cosine, slot) for cosine, slot in ranked if cosine >= bars[slot]]
    return {slot: cosine for cosine, slot in own}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.7, 2.0]), st.booleans(), st.integers(2, 40))
def test_a_batch_finds_for_each_what_it_would_have_found_alone(
    seed: int, spread: float, has_bars: bool, lookers: int
) -> None:
    matrix, queries = crowd(1500, seed, spread), crowd(lookers, seed + 1, spread)
    queries[0] = 0
    random = np.random.default_rng(seed)
    bars = random.choice([0.0, 0.8, 0.97, 1.1], len(matrix)) if has_bars else None
    slots = np.arange(len(matrix))
    found = alike_each(filled(matrix), queries, slots, WANTED, bars)
    for query, near in zip(queries, found, strict=True):
        alike = filled(matrix).alike(query, everyone(len(matrix)), WANTED.threshold)
        true = dict(zip(alike.slots.tolist(), alike.cosines.tolist(), strict=True))
        said = dict(zip(near.slots.tolist(), near.cosines.tolist(), strict=True))
        assert said.items() <= true.items()
        assert wanted_of(query, matrix, bars).items() <= said.items()
        narrowed = that_matter(alike, WANTED, None if bars is None else bars[alike.slots])
        alone = dict(zip(narrowed.slots.tolist(), narrowed.cosines.tolist(), strict=True))
        assert wanted_of(query, matrix, bars).items() <= alone.items() <= true.items()


def test_of_a_crowd_only_few_matter() -> None:
    matrix, queries = crowd(4000, 1, 0.2), crowd(30, 2, 0.2)
    full = np.full(len(matrix), 1.1)
    found = alike_each(filled(matrix), queries, np.arange(len(matrix)), WANTED, full)
    alike = [
        filled(matrix).alike(query, everyone(len(matrix)), WANTED.threshold) for query in queries
    ]
    assert sum(len(near.slots) for near in alike) > 30 * 1000
    # But for those on the very same spot, which are equally alike.
    assert np.median([len(near.slots) for near in found]) < 800


@pytest.mark.parametrize("slots", [[2, 3, 4], [4, 2, 3], [2, 4, 3], [5, 1]])
def test_rows_are_made_wide_in_the_order_asked_for(slots: list[int]) -> None:
    matrix = crowd(8, 3, 1.0)
    wide = filled(matrix).wide(np.array(slots))
    assert wide.tolist() == matrix[slots].tolist()
