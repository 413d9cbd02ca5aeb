from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.embed import EmbedderBadAnswer
from recollect.embed.quantise import levels_for, pack_signs, quantise, squared_norms
from recollect.errors import InvalidInput

DIMENSIONS = st.one_of(st.integers(1, 300), st.sampled_from([1024, 1040, 1041, 1536, 3072, 4096]))


def matrix(
    seed: int, rows: int, dimension: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Make rows of very different lengths and shapes, flat ones (the largest products) among."""
    random = np.random.default_rng(seed)
    values = random.standard_normal((rows, dimension)) * 10.0 ** random.integers(-20, 20, (rows, 1))
    flat = random.random(rows) < 0.3
    values[flat] = random.choice([-1.0, 1.0], size=(int(flat.sum()), dimension))
    return values.astype(np.float32)


@pytest.mark.parametrize(
    ("dimension", "levels"),
    [(0, 127), (1, 127), (256, 127), (1040, 127), (1041, 126), (1536, 104), (3072, 73), (4096, 63)],
)
def test_levels_are_the_most_that_stay_exact(dimension: int, levels: int) -> None:
    assert levels_for(dimension) == levels


@given(st.integers(1, 100_000))
def test_the_largest_product_stays_below_two_to_the_24(dimension: int) -> None:
    levels = levels_for(dimension)

    assert dimension * levels**2 < 2**24
    assert levels == 127 or dimension * (levels + 1) ** 2 >= 2**24


def test_a_dimension_without_any_level_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too long"):
        levels_for(2**24)


@given(seed=st.integers(0, 2**32), rows=st.integers(1, 40), dimension=DIMENSIONS)
@settings(max_examples=80, deadline=None)
def test_a_float32_product_is_the_integer_product_in_any_order(
    seed: int, rows: int, dimension: int
) -> None:
    left, right = quantise(matrix(seed, rows, dimension)), quantise(matrix(seed + 1, 7, dimension))
    order = np.random.default_rng(seed).permutation(dimension)

    exact = left.astype(np.int64) @ right.astype(np.int64).T
    floats = left.astype(np.float32) @ right.astype(np.float32).T
    shuffled = left[:, order].astype(np.float32) @ right[:, order].astype(np.float32).T
    single = [row @ right[0].astype(np.float32) for row in left.astype(np.float32)]

    assert np.array_equal(floats, exact)
    assert np.array_equal(shuffled, exact)
    assert np.array_equal(single, exact[:, 0])
    assert np.abs(exact).max() < 2**24


@given(seed=st.integers(0, 2**32), rows=st.integers(1, 20), dimension=DIMENSIONS)
@settings(max_examples=50, deadline=None)
def test_a_row_does_not_depend_on_its_batch(seed: int, rows: int, dimension: int) -> None:
    values = matrix(seed, rows, dimension)
    whole = quantise(values)

    assert np.array_equal(quantise(values[::-1]), whole[::-1])
    assert all(
        np.array_equal(quantise(value), row) for value, row in zip(values, whole, strict=True)
    )


def test_more_rows_than_one_block_are_quantised_alike() -> None:
    values = matrix(5, 9_000, 3)
    whole = quantise(values)

    assert np.array_equal(whole, np.concatenate([quantise(values[:5]), quantise(values[5:])]))
    assert np.array_equal(squared_norms(whole), (whole.astype(np.int64) ** 2).sum(axis=1))
    assert np.array_equal(pack_signs(whole)[8_000:], pack_signs(whole[8_000:]))


def test_the_largest_component_takes_the_last_level() -> None:
    assert quantise(np.array([0.2, -0.4, 0.1])).tolist() == [64, -127, 32]


@pytest.mark.parametrize("scale", [5e-324, 1e-45, 1e-30, 1.0, 1e30, 1e308])
def test_the_length_of_a_vector_does_not_matter(scale: float) -> None:
    assert quantise(np.array([scale, 0.0, -scale])).tolist() == [127, 0, -127]


def test_cosine_survives_within_a_fraction_of_a_percent() -> None:
    values = np.random.default_rng(3).standard_normal((200, 256))
    whole = quantise(values).astype(np.float64)

    def cosines(rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Any:
        lengths = np.sqrt((rows**2).sum(axis=1))
        return rows @ rows.T / np.outer(lengths, lengths)

    assert np.abs(cosines(values) - cosines(whole)).max() < 0.004


def test_zero_stays_zero() -> None:
    zero = quantise(np.zeros((2, 5), dtype=np.float32))

    assert zero.tolist() == [[0] * 5] * 2
    assert squared_norms(zero).tolist() == [0, 0]


def test_vectors_without_dimension_pass_through() -> None:
    empty = quantise(np.zeros((3, 0), dtype=np.float32))

    assert empty.shape == (3, 0)
    assert squared_norms(empty).tolist() == [0, 0, 0]
    assert pack_signs(empty).shape == (3, 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(EmbedderBadAnswer, match="NaN or infinity"):
        quantise(np.array([[1.0, 2.0], [bad, 0.0]]))


def test_squared_norms_are_exact_integers() -> None:
    rows = np.full((1, 1040), -127, dtype=np.int8)

    assert squared_norms(rows).dtype == np.int64
    assert squared_norms(rows).tolist() == [1040 * 127**2]


@given(seed=st.integers(0, 2**32), dimension=st.integers(1, 200))
@settings(deadline=None)
def test_signs_are_packed_bit_by_bit(seed: int, dimension: int) -> None:
    rows = quantise(matrix(seed, 4, dimension))
    packed = pack_signs(rows)

    assert packed.dtype == np.uint64
    assert packed.shape == (4, -(-dimension // 64))
    for row, words in zip(rows, packed.tolist(), strict=True):
        bits = sum(word << (64 * at) for at, word in enumerate(words))
        assert bits == sum(1 << at for at, value in enumerate(row) if value > 0)
