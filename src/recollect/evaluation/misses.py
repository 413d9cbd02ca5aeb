"""Questions that were not answered, and what came instead; the first thing to look at after a run.

In: a run. Out: the questions whose gold is not among the first results, in their order.
"""

from __future__ import annotations

from recollect.evaluation.metrics import NDCG_AT
from recollect.evaluation.runner import Outcome, Run
from recollect.values import dataclass

__all__ = ["FEW", "Miss", "misses"]

# Below so many questions a mean says little: one of them moves it by more than three hundredths.
FEW = 30


@dataclass(frozen=True, slots=True)
class Miss:
    """A question of which the first ten results hold too little: what lacks, and what came."""

    question_id: str
    question: str
    category: str | None
    missing: tuple[str, ...]
    came: tuple[str, ...]
    is_partial: bool


def misses(run: Run) -> tuple[Miss, ...]:
    """Return the questions whose gold is not all among the first ten, those with none first."""
    found = [miss for outcome in run.outcomes if (miss := _miss(outcome)) is not None]
    return tuple(sorted(found, key=lambda miss: miss.is_partial))


def _miss(outcome: Outcome) -> Miss | None:
    at = min(k for k in outcome.ranked if k >= NDCG_AT)
    came = outcome.ranked[at][:NDCG_AT]
    missing = tuple(name for name in outcome.question.gold if name not in came)
    if not missing:
        return None
    question = outcome.question
    return Miss(
        question.question_id,
        question.text,
        question.category,
        missing,
        came[:3],
        is_partial=len(missing) < len(question.gold),
    )
