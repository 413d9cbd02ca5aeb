from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model import Signals
from recollect.recall.strength import match_of

WORST_FIRST = ("weak", "fair", "strong")


def of(similarity: float) -> str:
    return match_of(Signals(similarity, 1.0, 1.0, 1.0, 1.0))


@pytest.mark.parametrize(
    ("similarity", "match"),
    [(0.0, "weak"), (0.09, "weak"), (0.25, "fair"), (0.42, "strong"), (1.0, "strong")],
)
def test_how_alike_it_is_says_how_well_it_fits(similarity: float, match: str) -> None:
    assert of(similarity) == match


@given(st.lists(st.floats(0.0, 1.0), min_size=2).map(sorted))
def test_what_is_more_alike_fits_no_worse(similarities: list[float]) -> None:
    found = [WORST_FIRST.index(of(one)) for one in similarities]

    assert all(one <= other for one, other in pairwise(found))
