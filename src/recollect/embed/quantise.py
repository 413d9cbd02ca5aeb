"""Exact arithmetic: vectors as small integers whose dot products float32 holds exactly.

Vectors come in; int8 rows, their integer squared norms and their packed signs go out. Each row is
scaled by its own largest component (cosine does not mind), so a row never depends on the others.
With at most `levels_for(dimension)` levels every partial sum of a product stays below 2**24, and
a float32 BLAS product is the same integer in any order, on any machine.
"""

from __future__ import annotations

from math import isfinite, isqrt
from typing import TYPE_CHECKING

import numpy as np

from recollect.errors import EmbedderBadAnswer, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["levels_for", "pack_signs", "quantise", "squared_norms"]

_MOST_LEVELS = 127
_EXACT_BELOW = 2**24
# Rows worked on at a time: 100k x 256 in float64 would take 200 MB at once.
_BLOCK_ROWS = 4096


def levels_for(dimension: int) -> int:
    """Return the largest integer a component may take in vectors of this dimension."""
    levels = min(_MOST_LEVELS, isqrt((_EXACT_BELOW - 1) // max(dimension, 1)))
    if levels < 1:
        raise InvalidInput(f"Vectors of {dimension} dimensions are too long to be exact.")
    return levels


def quantise(vectors: NDArray[np.floating]) -> NDArray[np.int8]:
    """Return one vector, or a matrix of them, as integers; zero stays zero.

    NaN and infinity raise `EmbedderBadAnswer`: they have no place among integers.
    """
    if vectors.ndim == 1:
        return _quantise_one(vectors.astype(np.float64), levels_for(len(vectors)))
    matrix = vectors
    result = np.empty(matrix.shape, dtype=np.int8)
    levels = levels_for(matrix.shape[1])
    for rows in _blocks(len(matrix)):
        result[rows] = _quantise_rows(matrix[rows].astype(np.float64), levels)
    return result


def squared_norms(quantised: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return each row's squared length, exactly."""
    result = np.empty(len(quantised), dtype=np.int64)
    for rows in _blocks(len(quantised)):
        block = quantised[rows].astype(np.int32)
        np.einsum("ij,ij->i", block, block, out=result[rows])
    return result


def pack_signs(quantised: NDArray[np.int8]) -> NDArray[np.uint64]:
    """Return each row's signs as bits, component 0 lowest; a bit is set where a number is > 0."""
    count, dimension = quantised.shape
    octets = np.zeros((count, -(-dimension // 64) * 8), dtype=np.uint8)
    for rows in _blocks(count):
        packed = np.packbits(quantised[rows] > 0, axis=1, bitorder="little")
        octets[rows, : packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64, copy=False)


def _quantise_one(vector: NDArray[np.float64], levels: int) -> NDArray[np.int8]:
    """Return a question's vector as `_quantise_rows` would, in a third of the time."""
    peak = float(np.abs(vector).max(initial=0.0))
    if not isfinite(peak):
        raise _not_finite()
    return np.rint(vector / (peak or 1.0) * levels).astype(np.int8)


def _quantise_rows(block: NDArray[np.float64], levels: int) -> NDArray[np.float64]:
    if not np.isfinite(block).all():
        raise _not_finite()
    peaks = np.abs(block).max(axis=1, keepdims=True, initial=0.0)
    peaks[peaks == 0.0] = 1.0
    # Divide first: levels / peak overflows when the peak is tiny.
    scaled: NDArray[np.float64] = np.rint(block / peaks * levels)
    return scaled


def _not_finite() -> EmbedderBadAnswer:
    return EmbedderBadAnswer(
        "A vector holds NaN or infinity.", hint="Check the embedder; its answer is unusable."
    )


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK_ROWS) for start in range(0, count, _BLOCK_ROWS))
