"""The table of weights for turns, fitted: `python -m bench.quality --leave-one-out`.

In: a set of conversations. Out: for each of them the table that the others give, and how well that
finds what answers its questions, through the engine. A listwise softmax over all turns of a
conversation: the weights are those that make the evidence most likely. The problem is convex, the
steps are fixed, so the same conversations give the same table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.quality.compared import Beside, all_of, filled, recipe_of
from recollect import Recollect
from recollect.evaluation.metrics import judge
from recollect.evaluation.task import Collection, Question, Task
from recollect.recall.recipe import Recipe, Table

__all__ = ["Fitted", "fit", "leave_one_out", "measured_with"]

_NAMES = (
    *("near_words", "near_meaning", "thread", "speaker", "date", "time_words"),
    *("asks", "tells_time"),
)
_SHARES = 3  # of the first so many there is 1 in all
_STEPS, _PACE = 300, 0.05
_AT = 10


@dataclass(frozen=True, slots=True)
class Fitted:
    """A conversation that was left out, the table of the others, and what it finds there."""

    name: str
    table: Table
    scores: tuple[dict[str, float], ...]
    categories: tuple[str | None, ...]

    def mean(self, metric: str, category: str | None = None) -> float:
        """Return the mean of a metric, of one category or of all."""
        wanted = [
            one[metric]
            for one, own in zip(self.scores, self.categories, strict=True)
            if category in (None, own)
        ]
        return sum(wanted) / len(wanted) if wanted else 0.0


def leave_one_out(task: Task, embedder: str | None = None) -> Iterator[Fitted]:
    """Fit on all conversations but one, measure on that one; each in turn."""
    recipe = recipe_of(embedder)
    compared = list(all_of(task, recipe, embedder))
    for number, collection in enumerate(task.collections):
        others = [one for at, each in enumerate(compared) if at != number for one in each]
        table = fit(others, recipe.turns)
        with filled(collection, embedder) as memory:
            scores = tuple(measured_with(memory, collection, replace(recipe, turns=table)))
        asked: Sequence[Question] = collection.questions
        yield Fitted(collection.name, table, scores, tuple(one.category for one in asked))


def measured_with(
    memory: Recollect, collection: Collection, recipe: Recipe
) -> Iterator[dict[str, float]]:
    """Yield the metrics of each question, asked of a memory with another recipe."""
    memory._open_store.recipe = recipe
    for question in collection.questions:
        answer = memory.recall(question.text, top_k=_AT)
        yield judge(question.gold, {_AT: [one.fact.pak_id for one in answer.results]})


def fit(questions: Sequence[Beside], start: Table) -> Table:
    """Return the table for turns under which the evidence of some questions is most likely."""
    columns = np.concatenate([_columns(one) for one in questions])
    sizes = np.array([len(one.gold) for one in questions])
    gold = np.concatenate([one.gold / max(one.gold.sum(), 1) for one in questions])
    weights = _climbed(columns, sizes, gold)
    weights = weights / weights[:_SHARES].sum()
    found = {name: round(float(value), 3) for name, value in zip(_NAMES, weights, strict=True)}
    return replace(start, **found)


def _columns(one: Beside) -> NDArray[np.float64]:
    columns = (getattr(one.compared, name) for name in _NAMES)
    blank = np.zeros(len(one.gold))
    return np.stack([blank if c is None else np.nan_to_num(c) for c in columns], axis=1)


def _climbed(
    columns: NDArray[np.float64], sizes: NDArray[np.int64], gold: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weights after a fixed number of steps uphill (Adam's)."""
    starts = np.cumsum(sizes) - sizes
    weights = np.zeros(columns.shape[1])
    weights[:_SHARES] = 10.0 / _SHARES
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        scores = columns @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, starts), sizes)
        likely = np.exp(scores)
        likely /= np.repeat(np.add.reduceat(likely, starts), sizes)
        slope = columns.T @ (gold - likely) / len(sizes)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        bias = np.sqrt(square / (1 - 0.99**step)) + 1e-9
        weights = weights + _PACE * 4 * (mean / (1 - 0.9**step)) / bias
    return weights
