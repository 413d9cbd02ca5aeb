from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.answer import MATCHES
from recollect.recall.strength import strength

BACKGROUND = st.none() | st.floats(0.0, 1.0)


@pytest.mark.parametrize(
    ("similarity", "background", "match"),
    [
        (0.10, 0.05, "weak"),
        (0.30, 0.28, "weak"),
        (0.30, 0.10, "fair"),
        (0.45, 0.15, "strong"),
        (0.60, 0.60, "fair"),
        (0.97, 0.90, "strong"),
        (0.10, None, "weak"),
        (0.30, None, "fair"),
        (0.60, None, "strong"),
    ],
)
def test_what_is_alike_and_stands_out_fits(
    similarity: float, background: float | None, match: str
) -> None:
    assert strength(similarity, background) == match


@given(st.lists(st.floats(0.0, 1.0), min_size=2).map(sorted), BACKGROUND)
def test_what_is_more_alike_fits_no_worse(
    similarities: list[float], background: float | None
) -> None:
    found = [MATCHES.index(strength(one, background)) for one in similarities]

    assert all(one <= other for one, other in pairwise(found))


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_less_others_are_alike_the_better_it_fits(
    similarity: float, one: float, other: float
) -> None:
    less, more = sorted((one, other))
    found = [MATCHES.index(strength(similarity, value)) for value in (more, less)]

    assert found == sorted(found)
