"""Two runs over the same questions, side by side: is the difference more than chance?

In: two kept files of outcomes. Out: for every metric that both have, means, difference, its bounds
and a p-value, all paired by question. Other questions, or other gold, are an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from recollect.errors import InvalidInput
from recollect.evaluation.outcomes import SavedRun
from recollect.evaluation.significance import bounds, p_value
from recollect.values import dataclass

__all__ = ["Change", "Comparison", "Difference", "compare"]

_DECIMALS = 4
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric in both runs; `difference` is second less first, with its 95 % interval."""

    metric: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class Change:
    """A question that went up or down: what it scored in both runs, and what came first."""

    question_id: str
    question: str
    first: float
    second: float
    first_answer: tuple[str, ...]
    second_answer: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All metrics that two runs share; `changed` are the questions whose `metric` differs."""

    first: str
    second: str
    questions: int
    differences: tuple[Difference, ...]
    metric: str = ""
    changed: tuple[Change, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)


def compare(first: SavedRun, second: SavedRun) -> Comparison:
    """Compare two runs question by question."""
    _check(first, second)
    names = list(first.questions)
    shared = [
        metric
        for metric in first.questions[names[0]].metrics
        if all(metric in kept.questions[name].metrics for kept in (first, second) for name in names)
    ]
    if not shared:
        raise InvalidInput(
            f"{first.path} and {second.path} share no metric.", hint="run both with the same --k."
        )
    return Comparison(
        first=str(first.path),
        second=str(second.path),
        questions=len(names),
        differences=tuple(
            _difference(
                metric,
                [float(first.questions[name].metrics[metric]) for name in names],
                [float(second.questions[name].metrics[metric]) for name in names],
            )
            for metric in shared
        ),
        metric=_telling(shared),
        changed=_changed(first, second, _telling(shared)),
    )


def _telling(shared: Sequence[str]) -> str:
    """Return the metric by which questions are told apart: how much is among the first ten."""
    return next((one for one in ("recall@10", "ndcg@10") if one in shared), shared[0])


def _changed(first: SavedRun, second: SavedRun, metric: str) -> tuple[Change, ...]:
    """Return the questions that changed, those that fell most first."""
    found = []
    for name, before in first.questions.items():
        after = second.questions[name]
        was, now = float(before.metrics[metric]), float(after.metrics[metric])
        if was != now:
            text = before.text or after.text
            answers = before.answer[:_SHOWN], after.answer[:_SHOWN]
            found.append(Change(name, text, was, now, *answers))
    return tuple(sorted(found, key=lambda one: (one.second - one.first, one.question_id)))


def _difference(metric: str, first: list[float], second: list[float]) -> Difference:
    changes = [after - before for before, after in zip(first, second, strict=True)]
    low, high = bounds(changes)
    return Difference(
        metric=metric,
        first=round(fmean(first), _DECIMALS),
        second=round(fmean(second), _DECIMALS),
        difference=round(fmean(changes), _DECIMALS),
        low=round(low, _DECIMALS),
        high=round(high, _DECIMALS),
        p=round(p_value(changes), _DECIMALS),
        better=sum(change > 0 for change in changes),
        worse=sum(change < 0 for change in changes),
    )


def _check(first: SavedRun, second: SavedRun) -> None:
    for one, other in ((first, second), (second, first)):
        alone = [name for name in one.questions if name not in other.questions]
        if alone:
            raise InvalidInput(
                f"{len(alone):,} of {len(one.questions):,} questions of {one.path} are not in"
                f" {other.path}; the first is {alone[0]!r}.",
                hint="compare two runs over the same questions.",
            )
    for name, question in first.questions.items():
        if dict(question.gold) != dict(second.questions[name].gold):
            raise InvalidInput(
                f"Question {name!r} has other gold in {first.path} than in {second.path}.",
                hint="run both over the same files.",
            )
