"""A run in numbers: means with their bounds, by category too, times and tokens for each k.

In: a run. Out: one frozen value that turns into the JSON of `recollect eval`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from recollect.evaluation.metrics import percentile
from recollect.evaluation.outcomes import digest
from recollect.evaluation.runner import Outcome, Run
from recollect.evaluation.significance import bounds
from recollect.values import dataclass

__all__ = ["Category", "Cost", "Estimate", "Summary", "summarise"]

_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions, and where it would lie in 95 of 100 draws of such questions."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Category:
    """The means of one kind of question."""

    questions: int
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Cost:
    """What an answer with so many results takes: milliseconds, and tokens of text."""

    p50_ms: float
    p95_ms: float
    tokens: float


@dataclass(frozen=True, slots=True)
class Summary:
    """All numbers of a run."""

    task: str
    stores: int
    memories: int
    questions: int
    skipped: Mapping[str, int]
    model_id: str | None
    k: tuple[int, ...]
    metrics: Mapping[str, Estimate]
    categories: Mapping[str, Category]
    costs: Mapping[int, Cost]
    remembered_per_second: float
    pending: int
    degraded: int
    per_question_sha256: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        plain = asdict(self)
        plain["costs"] = {str(k): cost for k, cost in plain["costs"].items()}
        return plain


def summarise(run: Run) -> Summary:
    """Return the numbers of a run."""
    seconds = sum(one.seconds for one in run.remembering)
    memories = sum(one.items for one in run.remembering)
    return Summary(
        task=run.task.name,
        stores=len(run.remembering),
        memories=memories,
        questions=len(run.outcomes),
        skipped=dict(run.task.skipped),
        model_id=run.model_id,
        k=run.k,
        metrics=_estimates(run.outcomes),
        categories=_categories(run.outcomes),
        costs={k: _cost(run.outcomes, k) for k in run.k},
        remembered_per_second=round(memories / seconds, 1) if seconds else 0.0,
        pending=sum(one.pending for one in run.remembering),
        degraded=sum(one.degraded for one in run.outcomes),
        per_question_sha256=digest(run),
    )


def _estimates(outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
    return {name: _estimate(_column(outcomes, name)) for name in outcomes[0].metrics}


def _estimate(values: Sequence[float]) -> Estimate:
    low, high = bounds(values)
    return Estimate(
        mean=round(fmean(values), _DECIMALS),
        low=round(low, _DECIMALS),
        high=round(high, _DECIMALS),
    )


def _categories(outcomes: Sequence[Outcome]) -> dict[str, Category]:
    """Return the means of each category, if there are any."""
    grouped: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.question.category is not None:
            grouped.setdefault(outcome.question.category, []).append(outcome)
    return {name: _category(grouped[name]) for name in sorted(grouped)}


def _category(outcomes: Sequence[Outcome]) -> Category:
    names = outcomes[0].metrics
    means = {name: round(fmean(_column(outcomes, name)), _DECIMALS) for name in names}
    return Category(len(outcomes), means)


def _cost(outcomes: Sequence[Outcome], k: int) -> Cost:
    times = [1000 * outcome.seconds[k] for outcome in outcomes]
    return Cost(
        p50_ms=round(percentile(times, 0.50), 3),
        p95_ms=round(percentile(times, 0.95), 3),
        tokens=round(fmean(outcome.tokens[k] for outcome in outcomes), 1),
    )


def _column(outcomes: Sequence[Outcome], name: str) -> list[float]:
    return [outcome.metrics[name] for outcome in outcomes]
