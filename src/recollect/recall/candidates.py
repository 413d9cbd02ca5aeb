"""Find what may answer: by words, by meaning, by thread, by links. Arrays in, arrays out.

In: an index, what may be read, and the question. Out: `Candidates`, one row a memory, with the
signals that depend on the question. Only rows of the selections given are ever looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from recollect.index.arrays import distinct, exclude, kth_largest
from recollect.index.index import MemoryIndex
from recollect.index.lexical import Lexical
from recollect.index.selection import Selection
from recollect.ports.embedder import Embedder
from recollect.recall.authorise import Authorised
from recollect.recall.compare import Comparison, Likeness
from recollect.recall.context import with_neighbours
from recollect.recall.question import Question, ask
from recollect.recall.recipe import RECIPE, Recipe
from recollect.recall.sequence import in_sequence
from recollect.recall.similarity import Tables
from recollect.recall.strength import BESIDE
from recollect.values import dataclass

__all__ = [
    "SEEDS_PER_RESULT",
    "Candidates",
    "everything",
    "find_candidates",
    "matching",
]

SEEDS_PER_RESULT = 4

# A frame that is mostly about the question leaves out what has nothing to do with it.
_ABOUT_THE_QUESTION = 0.5
# How many of the best by words, and by meaning, are compared on both.
_POOL = 400
# So many times as many where the latest is asked for: it need not be among the most alike.
_POOL_IN_ORDER = 8
# So few rows are all compared: choosing would cost more than it saves.
_COMPARE_ALL = 2000

_TABLES = Tables(RECIPE.notes, RECIPE.turns)

Slots = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Rows to be scored, and what each has in common with the question.

    `degraded` names the sources that could not take part. `background` is how alike the eleventh of
    all that was compared is; None where there are not as many.
    """

    likeness: Likeness
    expanded: NDArray[np.bool_]
    question: Question | None = None
    words: Lexical | None = None
    seeds: Slots = field(default_factory=lambda: np.empty(0, np.int64))
    degraded: tuple[str, ...] = ()
    tables: Tables = _TABLES
    background: float | None = None

    @property
    def slots(self) -> Slots:
        """Where the rows lie."""
        return self.likeness.slots

    @property
    def spoken(self) -> Mapping[str, str]:
        """The question's terms in the asker's own spelling."""
        return {} if self.question is None else self.question.spoken


def find_candidates(
    authorised: Authorised, embedder: Embedder, recipe: Recipe = RECIPE
) -> Candidates:
    """Return what may answer a request; without a question, everything it may look through."""
    request, selection, index = authorised.request, authorised.selection, authorised.sight.index
    if request.query is None:
        return everything(selection)
    question = ask(
        request.query,
        embedder=embedder,
        index=index,
        selection=selection,
        asked=authorised.asked,
        recipe=recipe,
    )
    found = matching(
        index,
        question,
        selection=selection,
        reach=authorised.reach,
        seeds=request.top_k * SEEDS_PER_RESULT,
        always=authorised.promised,
        only_similar=authorised.frame.weights.similarity >= _ABOUT_THE_QUESTION,
        lift=_lift(authorised),
        recipe=recipe,
    )
    missing = question.embedder_failed or index.any_pending(selection)
    return replace(found, degraded=("vector",)) if missing else found


def _lift(authorised: Authorised) -> Callable[[Likeness], Floats] | None:
    """Return how rows are chosen where the latest or the first is asked for."""
    order = authorised.asked.order
    if order is None:
        return None

    def lifted(rows: Likeness) -> Floats:
        alike = rows.similarity
        return in_sequence(alike, alike, authorised.sight.moments(rows.slots), order).scores

    return lifted


def everything(selection: Selection) -> Candidates:
    """Return all selected rows: there is no question to choose by."""
    slots = selection.slots
    return Candidates(Likeness(slots, np.zeros(len(slots))), np.zeros(len(slots), bool))


def matching(
    index: MemoryIndex,
    question: Question,
    *,
    selection: Selection,
    reach: Selection,
    seeds: int,
    always: Slots,
    only_similar: bool,
    lift: Callable[[Likeness], Floats] | None = None,
    recipe: Recipe = RECIPE,
) -> Candidates:
    """Return the best matches in `selection`, their neighbours in `reach`, and `always`.

    With `only_similar`, rows that match in nothing are no seeds; else they fill up their number.
    `lift` says what rows are chosen by, which is how alike they are unless told.
    """
    comparison = Comparison(index, question, selection, recipe)
    keep = max(_POOL, 4 * seeds)
    pool = _pooled(comparison, keep if lift is None else _POOL_IN_ORDER * keep, always)
    if not only_similar and len(pool.slots) < min(seeds, selection.count):
        pool = comparison.of_all()
    claims = pool.similarity if lift is None else lift(pool)
    best = index.best(pool.slots, claims, seeds)
    rows = best[pool.similarity[best] > 0] if only_similar else best
    chosen = pool.slots[rows]
    expanded = index.neighbours(chosen, reach)
    if len(always):
        promised = exclude(always, chosen)
        rows = np.concatenate([rows, pool.slots.searchsorted(promised)])
        expanded = exclude(expanded, promised)
    found = pool.at(rows, expanded)
    return Candidates(
        likeness=found,
        expanded=np.arange(len(found.slots)) >= len(rows),
        question=question,
        words=comparison.words,
        seeds=chosen,
        tables=comparison.tables,
        background=_background(pool, selection, best if lift is None else None),
    )


def _background(pool: Likeness, selection: Selection, best: Slots | None) -> float | None:
    """Return how alike the eleventh is; None where there are not as many.

    `best` are the rows that are most alike, in order, as far as these are known.
    """
    if selection.count <= BESIDE:
        return None
    if len(pool.slots) <= BESIDE:
        return 0.0
    if best is not None and len(best) > BESIDE:
        return float(pool.similarity[best[BESIDE]])
    return float(kth_largest(pool.similarity, BESIDE + 1))


def _pooled(comparison: Comparison, keep: int, always: Slots) -> Likeness:
    """Compare the best by words, the best by meaning, the turns beside them, and `always`."""
    if comparison.selection.count <= _COMPARE_ALL:
        return comparison.of_all()
    near = comparison.nearest(keep)
    found = [comparison.best_by_words(keep), comparison.best_by_origin(keep), always]
    found.append(comparison.said_so[:keep])
    slots = distinct(np.concatenate([*found, near.slots]))
    if comparison.line is not None:
        slots = with_neighbours(comparison.line, slots)
    return comparison.of(slots, near)
