"""How well recall finds evidence in real conversations; only where LoCoMo's dev share is at hand.

The bars are those of the product with a margin below what was measured (ADR-0008), so that a change
that costs quality fails here and noise does not.
"""

from __future__ import annotations

import os
from pathlib import Path
from statistics import fmean

import pytest

from recollect.evaluation import Outcome, load_locomo, run

BESIDE = Path(__file__).parents[4] / "shared" / "data" / "locomo-dev"
DATA = Path(os.environ.get("RECOLLECT_LOCOMO", BESIDE))

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="LoCoMo's dev share is not here")


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return list(run(load_locomo(DATA), k=(5, 10, 20)).outcomes)


@pytest.mark.parametrize(
    ("metric", "bar"),
    [("recall@5", 0.73), ("recall@10", 0.795), ("recall@20", 0.845), ("mrr", 0.63)],
)
def test_the_evidence_is_found(outcomes: list[Outcome], metric: str, bar: float) -> None:
    assert fmean(one.metrics[metric] for one in outcomes) >= bar


def test_evidence_in_several_places_is_found(outcomes: list[Outcome]) -> None:
    several = [one for one in outcomes if one.question.category == "1 multi-hop"]
    assert fmean(one.metrics["recall@10"] for one in several) >= 0.50
