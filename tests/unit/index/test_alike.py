from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.index.test_vectors import everyone, filled

from recollect.embed.quantise import quantise
from recollect.index.alike import Wanted, alike_each, that_matter
from recollect.index.selection import Selection
from recollect.index.short_forms import SLACK, Forms
from recollect.index.vectors import Vectors

WANTED = Wanted(threshold=0.6, first=3, most=8, close=0.95)
Matrix = np.ndarray[Any, np.dtype[np.int8]]


def crowd(count: int, seed: int, spread: float) -> Matrix:
    """Return vectors that lie around three spots, some of them on the same spot."""
    centres, random = np.random.default_rng(9).standard_normal((3, 64)), np.random.default_rng(seed)
    noise = random.standard_normal((count, 64)) * random.choice([0.0, spread], (count, 1))
    return quantise(centres[random.integers(0, 3, count)] + noise)


def crowd_of_a_kind(count: int, seed: int) -> Matrix:
    return crowd(count, seed, 0.4)


def selected(mask: np.ndarray[Any, np.dtype[np.bool_]]) -> Selection:
    return Selection(mask, int(mask.sum()), is_all=False, generation=0)


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


def spread_out(count: int, seed: int) -> Matrix:
    """Return vectors that lie along a few axes, more or less, as those of texts do."""
    axes = np.random.default_rng(7).standard_normal((12, 64))
    random = np.random.default_rng(seed)
    along = random.standard_normal((count, 12)) * np.geomspace(3.0, 0.3, 12)
    return quantise(along @ axes + random.standard_normal((count, 64)) * 0.8)


def forms_of(vectors: Vectors) -> Forms:
    forms = vectors.short_forms.of_all(vectors, looking=1000)
    assert forms is not None
    return forms


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([crowd_of_a_kind, spread_out]),
    st.booleans(),
    st.sampled_from([1, 3, 40]),
)
def test_who_is_left_out_by_its_form_matters_to_nobody(
    seed: int, make: Callable[[int, int], Matrix], has_bars: bool, lookers: int
) -> None:
    matrix, queries = make(5000, seed), make(lookers, seed + 1)
    matrix[::97] = 0
    random = np.random.default_rng(seed)
    bars = random.choice([0.0, 0.7, 0.8, 0.97, 1.1], len(matrix)) if has_bars else None
    vectors = filled(matrix)
    slots = np.flatnonzero(vectors.has_vector(np.arange(len(matrix))) & (random.random(5000) < 0.9))
    forms = forms_of(vectors)
    theirs = None if bars is None else bars[slots]
    found = alike_each(vectors, queries, slots, WANTED, theirs, forms=forms)
    some = np.zeros(len(matrix), dtype=np.bool_)
    some[slots] = True
    for query, near in zip(queries, found, strict=True):
        alike = vectors.alike(query, selected(some), WANTED.threshold)
        true = dict(zip(alike.slots.tolist(), alike.cosines.tolist(), strict=True))
        said = dict(zip(near.slots.tolist(), near.cosines.tolist(), strict=True))
        narrowed = that_matter(alike, WANTED, None if bars is None else bars[alike.slots])
        alone = dict(zip(narrowed.slots.tolist(), narrowed.cosines.tolist(), strict=True))
        assert alone.items() <= said.items() <= true.items()


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([crowd_of_a_kind, spread_out]))
def test_a_product_of_forms_is_no_less_than_the_cosine(
    seed: int, make: Callable[[int, int], Matrix]
) -> None:
    matrix = make(4500, seed)
    vectors = filled(matrix)
    forms = forms_of(vectors)
    slots = np.arange(0, 4500, 9)
    wide = matrix[slots].astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)
    cosines = wide @ wide.T / np.maximum(np.multiply.outer(lengths, lengths), 1.0)
    most = forms.rows[slots] @ forms.rows[slots].T
    assert (most >= cosines - SLACK).all()


def test_forms_are_kept_up_with_what_comes() -> None:
    matrix = spread_out(6000, 1)
    vectors = filled(matrix[:5000])
    forms_of(vectors)
    after = vectors.successor()
    after.extend(list(matrix[5000:]))
    forms = forms_of(after)
    assert forms.count == 6000
    anew = forms.of(matrix[5000:].astype(np.float32), after.squares(np.arange(5000, 6000)))
    assert np.allclose(forms.rows[5000:6000], anew)


def test_few_vectors_and_vectors_of_all_directions_have_no_forms() -> None:
    few = filled(spread_out(4000, 1))
    assert few.short_forms.of_all(few, looking=1000) is None
    noise = filled(quantise(np.random.default_rng(1).standard_normal((5000, 256))))
    assert noise.short_forms.of_all(noise, looking=1000) is None


def test_forms_are_made_once_they_are_worth_it() -> None:
    vectors = filled(spread_out(5000, 1))
    asked = [vectors.short_forms.of_all(vectors, looking=1) is not None for _ in range(12)]
    assert asked[0] is False
    assert asked[-1] is True
