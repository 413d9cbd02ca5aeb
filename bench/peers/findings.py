"""What the comparison found: every peer's numbers on every corpus, and where we lose.

In: the answers that the measuring processes wrote. Out: rows judged by `recollect.evaluation`, and
their per-question files, so that everybody is measured by the same yardstick.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recollect.evaluation import (
    Outcome,
    Run,
    Task,
    compare,
    judge,
    read_outcomes,
    summarise,
    write_outcomes,
)
from recollect.evaluation.runner import RememberCost

__all__ = ["OURS", "Absent", "Row", "judged", "losses", "row"]

OURS = "recollect"
_AT = 10
_METRICS = ("recall@5", "recall@10", "recall@20", "mrr")


@dataclass(frozen=True)
class Row:
    """One peer on one corpus. `ahead` is how far Recollect's recall@10 is above, with its p."""

    corpus: str
    peer: str
    versions: Mapping[str, str]
    metrics: Mapping[str, float]
    categories: Mapping[str, Mapping[str, float]]
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    added_per_second: float
    peak_mb: float
    sha256: str
    ahead: float | None = None
    p: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Absent:
    """A peer that could not take part, and why."""

    corpus: str
    peer: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)


def judged(task: Task, result: Mapping[str, Any], peer: str) -> Run:
    """Return a peer's answers as a run of the task."""
    outcomes: list[Outcome] = []
    remembering = []
    for collection, measured in zip(task.collections, result["collections"], strict=True):
        remembering.append(RememberCost(len(collection.items), measured["add_s"], 0))
        answers = {int(k): given for k, given in measured["answers"].items()}
        for number, question in enumerate(collection.questions):
            ranked = {k: tuple(given[number]["found"]) for k, given in answers.items()}
            outcomes.append(
                Outcome(
                    question=question,
                    ranked=ranked,
                    seconds={k: given[number]["s"] for k, given in answers.items()},
                    tokens=dict.fromkeys(answers, 0),
                    degraded=False,
                    metrics=judge(question.gold, ranked),
                )
            )
    # With its model's name, our file is the one that `recollect eval --per-question` writes.
    name = result.get("model_id", peer)
    return Run(task, tuple(sorted(answers)), name, tuple(remembering), tuple(outcomes))


def row(corpus: str, peer: str, result: Mapping[str, Any], task: Task, folder: Path) -> Row:
    """Judge a peer, keep its per-question file, and compare it with ours if that is there."""
    run = judged(task, result, peer)
    kept = folder / corpus / f"{peer}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_outcomes(run, kept)
    numbers = summarise(run)
    ours = kept.with_name(f"{OURS}.json")
    ahead, p = (None, None) if peer == OURS else _ahead(kept, ours)
    return Row(
        corpus=corpus,
        peer=peer,
        versions=result["versions"],
        metrics={name: one.mean for name, one in numbers.metrics.items()},
        categories={name: dict(one.metrics) for name, one in numbers.categories.items()},
        p50_ms=numbers.costs[_AT].p50_ms,
        p95_ms=numbers.costs[_AT].p95_ms,
        cpu_ms=_cpu_ms(result),
        added_per_second=numbers.remembered_per_second,
        peak_mb=round(result["peak_mb"], 1),
        sha256=numbers.per_question_sha256,
        ahead=ahead,
        p=p,
    )


def losses(rows: Sequence[Row]) -> Iterator[str]:
    """Say, corpus by corpus, where a peer is better than we are."""
    for ours in (one for one in rows if one.peer == OURS):
        others = [one for one in rows if one.corpus == ours.corpus and one.peer != OURS]
        for metric in _METRICS:
            yield from _lost(ours, others, metric, ours.metrics, "all questions")
            for category in ours.categories:
                yield from _lost(ours, others, metric, ours.categories[category], category)
        yield from _costs(ours, others)


def _lost(
    ours: Row, others: Sequence[Row], metric: str, mine: Mapping[str, float], category: str
) -> Iterator[str]:
    def theirs(one: Row) -> float:
        return (one.metrics if category == "all questions" else one.categories[category])[metric]

    better = sorted((one for one in others if theirs(one) > mine[metric]), key=theirs, reverse=True)
    if better:
        names = ", ".join(f"{one.peer} {theirs(one):.3f}" for one in better)
        yield f"{ours.corpus}, {category}, {metric} {mine[metric]:.3f}: {names}"


def _costs(ours: Row, others: Sequence[Row]) -> Iterator[str]:
    for what, mine, better in (
        ("CPU ms a query", ours.cpu_ms, [one for one in others if one.cpu_ms < ours.cpu_ms]),
        (
            "texts a second",
            ours.added_per_second,
            [one for one in others if one.added_per_second > ours.added_per_second],
        ),
        ("peak memory", ours.peak_mb, [one for one in others if one.peak_mb < ours.peak_mb]),
    ):
        if better:
            yield f"{ours.corpus}, {what} {mine:,.1f}: {', '.join(one.peer for one in better)}"


def _cpu_ms(result: Mapping[str, Any]) -> float:
    """Return the median CPU time of a question."""
    given = (one for each in result["collections"] for one in each["answers"][str(_AT)])
    return round(1000 * statistics.median(one["cpu_s"] for one in given), 3)


def _ahead(kept: Path, ours: Path) -> tuple[float | None, float | None]:
    if not ours.exists():
        return None, None
    both = compare(read_outcomes(kept), read_outcomes(ours))
    (found,) = (one for one in both.differences if one.metric == f"recall@{_AT}")
    return found.difference, found.p
