from __future__ import annotations

import numpy as np
from bench.pool import shares

from recollect.embed.quantise import quantise
from recollect.index.vectors import Vectors


def filled(rows: np.ndarray) -> Vectors:
    vectors = Vectors(rows.shape[1])
    vectors.extend(list(rows))
    return vectors


def test_of_so_few_that_all_are_compared_the_nearest_are_all_found() -> None:
    rows = quantise(np.random.default_rng(1).standard_normal((1_000, 64)))
    for one in shares(filled(rows), len(rows), list(rows[:3])):
        assert (one.found, one.less) == (1.0, 0.0)


def test_what_signs_do_not_let_through_is_told() -> None:
    chance = np.random.default_rng(2)
    # Most signs are the same, so that they say little.
    rows = quantise(1.5 + chance.standard_normal((60_000, 64)))
    question = quantise(chance.standard_normal((1, 64)))[0]
    (one,) = shares(filled(rows), len(rows), [question])
    assert one.found < 1.0
    assert one.less > 0.0
