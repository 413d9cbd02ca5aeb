"""A set measured: our answers, those of the simple rows, and who is ahead by how much.

In: a task. Out: a `SetResult` with a row for everybody; `p` is that of a paired test over the
questions. bm25s answers in an environment of its own, once for the same texts and questions.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.peer import python_with
from bench.peers.corpora import as_text
from bench.quality import simple
from recollect.evaluation import Task, judge, run
from recollect.evaluation.significance import p_value

__all__ = [
    "BESIDE",
    "METRICS",
    "OURS",
    "WITH_MINILM",
    "Ahead",
    "Row",
    "SetResult",
    "allowed",
    "beside_simple",
    "judged",
    "keeps_up",
    "measured",
    "simply",
]

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "bench" / ".stores" / "quality"
OURS = "recollect"
BM25S = "bm25s"
METRICS = ("recall@10", "mrr")
# How a bar calls it.
BESIDE = "recall@10 and mrr over the best simple row's"
WITH_MINILM = "recall@10 with minilm"
_CUTOFFS = (10, 20)
_ALLOWED = 0.01
# Means are rounded to six decimals.
_TOLERANCE = 2e-6

Metrics = Sequence[Mapping[str, float]]


@dataclass(frozen=True)
class Row:
    """One way to search on one set: the mean of every metric, and of each kind of question."""

    name: str
    metrics: Mapping[str, float]
    categories: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Ahead:
    """A row that is better than ours by so much; chance alone would be so in a share `p`."""

    row: str
    metric: str
    by: float
    p: float


@dataclass(frozen=True)
class SetResult:
    """Everybody on one set, ours first; `absent` says why a row is not there."""

    name: str
    questions: int
    memories: int
    rows: tuple[Row, ...]
    ahead: tuple[Ahead, ...]
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def ours(self) -> Row:
        """Our row."""
        return self.rows[0]

    def best(self, metric: str) -> Row:
        """Return the best of the simple rows."""
        return max(self.rows[1:], key=lambda one: one.metrics[metric])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)


def allowed(result: SetResult) -> float:
    """Return how far a row may be ahead: .01 or a question, whichever is more."""
    return max(_ALLOWED, 1 / result.questions) + _TOLERANCE


def keeps_up(result: SetResult) -> bool:
    """Return whether no simple row is further ahead of us than is allowed."""
    return all(one.by <= allowed(result) for one in result.ahead)


def beside_simple(result: SetResult) -> float:
    """Return how many times the best simple row ours is, with what is allowed; 1 keeps up."""
    return min(
        (result.ours.metrics[metric] + allowed(result)) / result.best(metric).metrics[metric]
        for metric in METRICS
    )


def measured(task: Task, *, embedder: str | None = None, simply_too: bool = True) -> SetResult:
    """Ask everybody every question of a set."""
    ours = [one.metrics for one in run(task, k=_CUTOFFS, embedder=embedder).outcomes]
    rows, absent = simply(task) if simply_too else ({}, {})
    return judged(task, {OURS: ours, **rows}, absent)


def judged(
    task: Task, rows: Mapping[str, Metrics], absent: Mapping[str, str] | None = None
) -> SetResult:
    """Set everybody's numbers side by side; the first row is ours."""
    kinds = [one.category for each in task.collections for one in each.questions]
    named = {name: _row(name, numbers, kinds) for name, numbers in rows.items()}
    ours = next(iter(rows))
    ahead = [one for name in rows if name != ours for one in _ahead(name, rows[name], rows[ours])]
    return SetResult(
        name=task.name,
        questions=len(kinds),
        memories=sum(len(one.items) for one in task.collections),
        rows=tuple(named.values()),
        ahead=tuple(ahead),
        absent=dict(absent or {}),
    )


def simply(task: Task) -> tuple[dict[str, Metrics], dict[str, str]]:
    """Return the metrics of the simple rows, and why one is missing."""
    asked = [_asked(one.items, one.questions) for one in task.collections]
    absent: dict[str, str] = {}
    answers: dict[str, list[list[list[str]]]] = {}
    try:
        answers[BM25S] = _with_bm25s(asked)
    except (RuntimeError, subprocess.CalledProcessError) as error:
        absent[BM25S] = str(error).splitlines()[0]
    for each in asked:
        for name, found in simple.searched(each["texts"], each["questions"], _CUTOFFS[-1]).items():
            answers.setdefault(name, []).append(found)
    return {name: _metrics(task, found) for name, found in answers.items()}, absent


def _asked(items: Sequence[Any], questions: Sequence[Any]) -> dict[str, Any]:
    return {
        "texts": {one.arguments["pak_id"]: as_text(one.arguments) for one in items},
        "questions": [one.text for one in questions],
    }


def _with_bm25s(asked: Sequence[Mapping[str, Any]]) -> list[list[list[str]]]:
    """Return the library's answers; those to the same texts and questions are kept."""
    told = json.dumps({"k": _CUTOFFS[-1], "collections": asked})
    kept = CACHE / f"bm25s-{hashlib.sha256(told.encode()).hexdigest()[:24]}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        python = python_with(BM25S, "PyStemmer")
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            question, answer = Path(folder) / "asked.json", Path(folder) / "found.json"
            question.write_text(told, encoding="utf-8")
            command = [str(python), "-m", "bench.quality.with_bm25s", str(question), str(answer)]
            subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, check=True)
            answer.replace(kept)
    answers: list[list[list[str]]] = json.loads(kept.read_text(encoding="utf-8"))
    return answers


def _metrics(task: Task, answers: Sequence[Sequence[Sequence[str]]]) -> Metrics:
    return [
        judge(question.gold, {k: found[:k] for k in _CUTOFFS})
        for collection, answered in zip(task.collections, answers, strict=True)
        for question, found in zip(collection.questions, answered, strict=True)
    ]


def _row(name: str, numbers: Metrics, kinds: Sequence[str | None]) -> Row:
    grouped: dict[str, list[Mapping[str, float]]] = {}
    for kind, one in zip(kinds, numbers, strict=True):
        if kind is not None:
            grouped.setdefault(kind, []).append(one)
    categories = {kind: _means(grouped[kind]) for kind in sorted(grouped)}
    return Row(name, _means(numbers), categories)


def _means(numbers: Metrics) -> dict[str, float]:
    return {name: round(fmean(one[name] for one in numbers), 6) for name in numbers[0]}


def _ahead(name: str, theirs: Metrics, ours: Metrics) -> Iterator[Ahead]:
    for metric in METRICS:
        changes = [one[metric] - mine[metric] for one, mine in zip(theirs, ours, strict=True)]
        if fmean(changes) > 0:
            yield Ahead(name, metric, round(fmean(changes), 6), round(p_value(changes), 4))
