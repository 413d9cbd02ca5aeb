"""What an edge between two is, and how use strengthens it."""

from __future__ import annotations

import pytest

from recollect.ports.uses import MOST_LINK_USES, strength
from recollect.write.link import edge_between, weight_of


def test_an_edge_lies_in_its_canonical_order() -> None:
    assert edge_between(7, 3, 0.5, automatic=False) == edge_between(3, 7, 0.5, automatic=False)
    assert edge_between(7, 3, 0.5, automatic=False).low == 3


@pytest.mark.parametrize(
    ("weight", "uses", "after"),
    [(0.65, 1, 0.75), (0.1, 1, 0.2), (0.95, 1, 1.0), (0.6, 3, 0.9), (0.1, 10, 1.0), (0.5, 0, 0.5)],
)
def test_being_given_together_adds_a_tenth_up_to_one(
    weight: float, uses: int, after: float
) -> None:
    assert strength(weight, uses) == after


def test_so_many_uses_as_are_counted_make_any_link_as_strong_as_links_get() -> None:
    assert strength(1e-9, MOST_LINK_USES) == 1.0


@pytest.mark.parametrize(
    ("closeness", "weight"), [(0.65, 0.65), (0.6500000004, 0.65), (1 + 3e-10, 1)]
)
def test_a_weight_is_the_cosine_without_its_hair(closeness: float, weight: float) -> None:
    assert weight_of(closeness) == weight
