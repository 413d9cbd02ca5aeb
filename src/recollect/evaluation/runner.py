"""Run a task through the shipped engine: `remember_many` once a store, `recall` once a k.

In: a task. Out: an outcome for each question: what came back for each k, how long it took, how many
tokens it has. Stores live in a temporary folder. Their clock stands still at the newest moment
among the texts, so that a run can be repeated to the byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from recollect import check
from recollect.dates import read_moment
from recollect.engine import Recollect
from recollect.errors import InvalidInput
from recollect.evaluation.metrics import NDCG_AT, judge
from recollect.evaluation.task import Collection, Item, Question, Task
from recollect.ports.embedder import Embedder

__all__ = ["DEFAULT_K", "Outcome", "RememberCost", "Run", "run"]

DEFAULT_K = (5, 10, 20)

Progress = Callable[[int, int], None]

# Where texts tell no time: any will do, as long as it is the same in every run.
_ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)
_ITEM = re.compile(r"item (\d+): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question: answers, times and tokens for each k, and its metrics."""

    question: Question
    ranked: Mapping[int, tuple[str, ...]]
    seconds: Mapping[int, float]
    tokens: Mapping[int, int]
    degraded: bool
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RememberCost:
    """What remembering a collection took."""

    items: int
    seconds: float
    pending: int


@dataclass(frozen=True, slots=True)
class Run:
    """All outcomes of a task."""

    task: Task
    k: tuple[int, ...]
    model_id: str | None
    remembering: tuple[RememberCost, ...]
    outcomes: tuple[Outcome, ...]


def run(
    task: Task,
    *,
    k: Sequence[int] = DEFAULT_K,
    embedder: str | Embedder | None = None,
    progress: Progress = lambda _done, _total: None,
    timer: Callable[[], float] = perf_counter,
) -> Run:
    """Answer every question of the task; 10 is always among the k, because ndcg@10 needs it."""
    cutoffs = tuple(sorted({*k, NDCG_AT}))
    _check(task, cutoffs)
    steps = _Steps(task, cutoffs, progress)
    remembering: list[RememberCost] = []
    outcomes: list[Outcome] = []
    model_id = None
    for collection in task.collections:
        with (
            TemporaryDirectory(prefix="recollect-eval-") as folder,
            _open_store(Path(folder), collection, embedder) as memory,
        ):
            remembering.append(_remember(memory, collection, steps, timer))
            outcomes += _recall(memory, collection, cutoffs, steps, timer)
            model_id = memory.stats()["model_id"]
    return Run(task, cutoffs, model_id, tuple(remembering), tuple(outcomes))


class _Clock:
    """A clock that stands still."""

    def __init__(self, now: datetime) -> None:
        self._now = now.timestamp()

    def now(self) -> float:
        return self._now


class _Steps:
    """Counts what is done of all there is to do."""

    def __init__(self, task: Task, k: Sequence[int], progress: Progress) -> None:
        self._total = sum(len(one.items) + len(one.questions) * len(k) for one in task.collections)
        self._done = 0
        self._progress = progress

    def add(self, count: int) -> None:
        self._done += count
        self._progress(self._done, self._total)


def _check(task: Task, k: Sequence[int]) -> None:
    if min(k) < 1:
        raise InvalidInput(f"k must be 1 or more, not {min(k)}.", hint="5, 10 and 20 are usual.")
    if not any(collection.questions for collection in task.collections):
        raise InvalidInput(f"{task.name} has no question.", hint="see what was skipped, and why.")


def _open_store(folder: Path, collection: Collection, embedder: str | Embedder | None) -> Recollect:
    return Recollect.open(
        folder / "memory.db", embedder=embedder, clock=_Clock(_newest(collection))
    )


def _newest(collection: Collection) -> datetime:
    """Return the newest moment that the texts tell: the questions are asked then."""
    moments = (_moment(item) for item in collection.items)
    return max((one for one in moments if one is not None), default=_ANY_TIME)


def _moment(item: Item) -> datetime | None:
    given = item.arguments.get("occurred_at")
    return check.instant(read_moment(given)) if isinstance(given, str) else None


def _remember(
    memory: Recollect, collection: Collection, steps: _Steps, timer: Callable[[], float]
) -> RememberCost:
    before = 0

    def report(done: int, _total: int) -> None:
        nonlocal before
        steps.add(done - before)
        before = done

    start = timer()
    try:
        done = memory.remember_many([item.arguments for item in collection.items], progress=report)
    except InvalidInput as error:
        raise _with_source(error, collection) from error
    seconds = timer() - start
    return RememberCost(len(done), seconds, sum(one.state == "pending" for one in done))


def _with_source(error: InvalidInput, collection: Collection) -> InvalidInput:
    """Say where in the user's files the item stands that the engine refused."""
    found = _ITEM.fullmatch(error.message)
    if found is None:
        return error
    source = collection.items[int(found[1])].source
    return InvalidInput(f"{source}: {found[2]}", hint=error.hint)


def _recall(
    memory: Recollect,
    collection: Collection,
    cutoffs: Sequence[int],
    steps: _Steps,
    timer: Callable[[], float],
) -> list[Outcome]:
    runs = [_QuestionRun(question) for question in collection.questions]
    if runs:
        memory.recall(runs[0].question.text)  # loads the index, which no later recall has to
    for k in cutoffs:
        for one in runs:
            one.ask(memory, k, timer)
            steps.add(1)
    return [one.outcome() for one in runs]


class _QuestionRun:
    """A question while its answers come in."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._ranked: dict[int, tuple[str, ...]] = {}
        self._seconds: dict[int, float] = {}
        self._tokens: dict[int, int] = {}
        self._degraded = False

    def ask(self, memory: Recollect, k: int, timer: Callable[[], float]) -> None:
        start = timer()
        answer = memory.recall(self.question.text, top_k=k)
        self._seconds[k] = timer() - start
        self._ranked[k] = tuple(result.fact.pak_id for result in answer.results)
        self._tokens[k] = answer.tokens_used
        self._degraded |= bool(answer.degraded)

    def outcome(self) -> Outcome:
        return Outcome(
            question=self.question,
            ranked=self._ranked,
            seconds=self._seconds,
            tokens=self._tokens,
            degraded=self._degraded,
            metrics=judge(self.question.gold, self._ranked),
        )
