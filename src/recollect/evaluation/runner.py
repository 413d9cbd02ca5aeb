"""Run a task through the shipped engine: `remember_many` once a store, `recall` once a k.

In: a task. Out: an outcome for each question: what came back for each k, how long it took, how many
tokens it has. Stores live in a temporary folder. Their clock stands still at the newest moment
among the texts, so that a run can be repeated to the byte. A store of somebody's own is only read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
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
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.values import dataclass

__all__ = ["DEFAULT_K", "Outcome", "RememberCost", "Run", "clock_of", "run"]

DEFAULT_K = (5, 10, 20)

Progress = Callable[[int, int], None]

# Where texts tell no time: any will do, as long as it is the same in every run.
_ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)
_ITEM = re.compile(r"item (\d+): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question: answers, scores, times and tokens for each k, and metrics."""

    question: Question
    ranked: Mapping[int, tuple[str, ...]]
    seconds: Mapping[int, float]
    tokens: Mapping[int, int]
    degraded: bool
    metrics: Mapping[str, float]
    scores: Mapping[int, tuple[float, ...]] = field(default_factory=dict)


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
    frame: str = "evidence",
    now: str | None = None,
    db: Path | str | None = None,
    progress: Progress = lambda _done, _total: None,
    timer: Callable[[], float] = perf_counter,
) -> Run:
    """Answer every question of the task; 10 is always among the k, because ndcg@10 needs it.

    `frame` is whose weights count. With `now` all clocks stand there. With `db` the questions are
    asked of that memory, which is only read, and nothing is remembered.
    """
    cutoffs = tuple(sorted({*k, NDCG_AT}))
    _check(task, cutoffs)
    asking = _Asking(cutoffs, frame, _Steps(task, cutoffs, progress), timer)
    remembering: list[RememberCost] = []
    outcomes: list[Outcome] = []
    model_id = None
    for collection in task.collections:
        with _filled_store(collection, embedder, now, db) as memory:
            if db is None:
                remembering.append(_remember(memory, collection, asking))
            else:
                remembering.append(RememberCost(int(memory.stats()["memories"]), 0.0, 0))
                _need_gold(memory, collection)
            outcomes += _recall(memory, collection, asking)
            model_id = memory.stats()["model_id"]
    return Run(task, cutoffs, model_id, tuple(remembering), tuple(outcomes))


@contextmanager
def _filled_store(
    collection: Collection,
    embedder: str | Embedder | None,
    now: str | None,
    db: Path | str | None,
) -> Iterator[Recollect]:
    """Give the store that questions are asked of: somebody's own, or an empty one for a while."""
    moment = None if now is None else check.instant(check.time("now", now))
    if db is not None:
        clock = None if moment is None else _Clock(moment)
        with Recollect.open(db, embedder=embedder, clock=clock, read_only=True) as memory:
            yield memory
        return
    clock = _Clock(moment or _newest(collection))
    with (
        TemporaryDirectory(prefix="recollect-eval-") as folder,
        Recollect.open(Path(folder) / "memory.db", embedder=embedder, clock=clock) as memory,
    ):
        yield memory


def _need_gold(memory: Recollect, collection: Collection) -> None:
    """Refuse answers that are not there: nobody could find them."""
    for question in collection.questions:
        for name in question.gold:
            if memory.get(name) is None:
                raise InvalidInput(
                    f"question {question.question_id!r} is answered by {name!r}, and there is no"
                    " such memory.",
                    hint="judgements name memories by their id.",
                )


@dataclass(frozen=True, slots=True)
class _Asking:
    """How the questions of a run are asked, and who counts and times that."""

    cutoffs: tuple[int, ...]
    frame: str
    steps: _Steps
    timer: Callable[[], float]


def clock_of(collection: Collection) -> Clock:
    """Return a clock that stands still at the newest moment that the texts tell."""
    return _Clock(_newest(collection))


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


def _newest(collection: Collection) -> datetime:
    """Return the newest moment that the texts tell: the questions are asked then."""
    moments = (_moment(item) for item in collection.items)
    return max((one for one in moments if one is not None), default=_ANY_TIME)


def _moment(item: Item) -> datetime | None:
    given = item.arguments.get("occurred_at")
    return check.instant(read_moment(given)) if isinstance(given, str) else None


def _remember(memory: Recollect, collection: Collection, asking: _Asking) -> RememberCost:
    before = 0

    def report(done: int, _total: int) -> None:
        nonlocal before
        asking.steps.add(done - before)
        before = done

    start = asking.timer()
    try:
        done = memory.remember_many([item.arguments for item in collection.items], progress=report)
    except InvalidInput as error:
        raise _with_source(error, collection) from error
    seconds = asking.timer() - start
    return RememberCost(len(done), seconds, sum(one.state == "pending" for one in done))


def _with_source(error: InvalidInput, collection: Collection) -> InvalidInput:
    """Say where in the user's files the item stands that the engine refused."""
    found = _ITEM.fullmatch(error.message)
    if found is None:
        return error
    source = collection.items[int(found[1])].source
    return InvalidInput(f"{source}: {found[2]}", hint=error.hint)


def _recall(memory: Recollect, collection: Collection, asking: _Asking) -> list[Outcome]:
    runs = [_QuestionRun(question) for question in collection.questions]
    if runs:
        # It loads the index, which no later recall has to.
        memory.recall(runs[0].question.text, frame=asking.frame)
    for k in asking.cutoffs:
        for one in runs:
            one.ask(memory, k, asking)
            asking.steps.add(1)
    return [one.outcome() for one in runs]


class _QuestionRun:
    """A question while its answers come in."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self._ranked: dict[int, tuple[str, ...]] = {}
        self._scores: dict[int, tuple[float, ...]] = {}
        self._seconds: dict[int, float] = {}
        self._tokens: dict[int, int] = {}
        self._degraded = False

    def ask(self, memory: Recollect, k: int, asking: _Asking) -> None:
        start = asking.timer()
        answer = memory.recall(self.question.text, top_k=k, frame=asking.frame)
        self._seconds[k] = asking.timer() - start
        self._ranked[k] = tuple(result.fact.pak_id for result in answer.results)
        self._scores[k] = tuple(result.score for result in answer.results)
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
            scores=self._scores,
        )
