"""How sure the numbers are: seeded resampling, so that the same outcomes give the same bounds.

In: a number for each question. Out: bounds of 95 % and p-values. numpy's `RandomState` is used
because its stream is frozen for good, unlike that of the newer generators.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["RESAMPLES", "bounds", "p_value"]

RESAMPLES = 10_000
_SEED = 20_260_511
_LOW, _HIGH = 2.5, 97.5
_AT_ONCE = 500
# Sums of the same numbers in another order may differ in the last bits.
_TOLERANCE = 1e-12


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean, by bootstrap over the questions."""
    numbers = np.asarray(values, dtype=np.float64)
    random = np.random.RandomState(_SEED)
    means = np.concatenate(
        [
            numbers[random.randint(0, len(numbers), size=(_AT_ONCE, len(numbers)))].mean(axis=1)
            for _ in range(RESAMPLES // _AT_ONCE)
        ]
    )
    low, high = np.percentile(means, [_LOW, _HIGH])
    return float(low), float(high)


def p_value(differences: Sequence[float]) -> float:
    """Return how often chance alone makes as large a mean difference: paired, two-sided.

    If neither run were better, each difference could as well have the other sign.
    """
    numbers = np.asarray([one for one in differences if one != 0.0], dtype=np.float64)
    if len(numbers) == 0:
        return 1.0
    seen = abs(numbers.sum()) - _TOLERANCE
    random = np.random.RandomState(_SEED)
    as_large = sum(
        int(np.count_nonzero(abs(_sums_with_random_signs(numbers, random)) >= seen))
        for _ in range(RESAMPLES // _AT_ONCE)
    )
    return (1 + as_large) / (1 + RESAMPLES)


def _sums_with_random_signs(
    numbers: NDArray[np.float64], random: np.random.RandomState
) -> NDArray[np.float64]:
    signs = random.randint(0, 2, size=(_AT_ONCE, len(numbers))) * 2 - 1
    sums: NDArray[np.float64] = (signs * numbers).sum(axis=1)
    return sums
