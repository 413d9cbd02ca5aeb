"""Find what may answer: by words, by meaning, by links. Arrays in, arrays out.

In: an index, what may be read, and the question. Out: `Candidates`, one row a Pak, with the
signals that depend on the question. Only rows of the selections given are ever looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recollect.index.index import MemoryIndex
from recollect.index.lexical import Lexical
from recollect.index.selection import Selection
from recollect.recall.question import Question

__all__ = ["SEEDS_PER_RESULT", "Candidates", "everything", "matching"]

SEEDS_PER_RESULT = 4

# Similarity is this share of meaning and the rest of words; chosen on LoCoMo dev (ADR-0006).
SEMANTIC_SHARE = 0.5

# How many of the best by words, and by meaning, are compared on both.
_POOL = 400

Slots = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Rows to be scored. `lexical` and `semantic` are None when there was no such source."""

    slots: Slots
    similarity: Floats
    expanded: NDArray[np.bool_]
    lexical: Floats | None = None
    semantic: Floats | None = None
    words: Lexical | None = None
    seeds: Slots = field(default_factory=lambda: np.empty(0, np.int64))


def everything(selection: Selection) -> Candidates:
    """Return all selected rows: there is no question to choose by."""
    slots = selection.slots
    return Candidates(slots, np.zeros(len(slots)), np.zeros(len(slots), bool))


def matching(
    index: MemoryIndex,
    question: Question,
    *,
    selection: Selection,
    reach: Selection,
    seeds: int,
    always: Slots,
    only_similar: bool,
) -> Candidates:
    """Return the best matches in `selection`, their neighbours in `reach`, and `always`.

    With `only_similar`, rows that match in nothing are no seeds.
    """
    words = index.lexical(question.terms, selection)
    pool = _pool(index, question, words, selection, max(_POOL, 4 * seeds))
    similarity, lexical, semantic = _compare(index, question, words, pool)
    if only_similar:
        similar = similarity > 0
        pool, similarity = pool[similar], similarity[similar]
    chosen = index.best(pool, similarity, seeds)
    neighbours = index.neighbours(chosen, reach)
    promised = np.setdiff1d(always, chosen)
    expanded = np.setdiff1d(neighbours, promised)
    compared = np.concatenate([chosen, promised])
    similarity, lexical, semantic = _compare(index, question, words, compared)
    blank = np.zeros(len(expanded))
    return Candidates(
        slots=np.concatenate([compared, expanded]),
        similarity=np.concatenate([similarity, blank]),
        expanded=np.concatenate([np.zeros(len(compared), bool), np.ones(len(expanded), bool)]),
        lexical=np.concatenate([lexical, blank]),
        semantic=None if semantic is None else np.concatenate([semantic, blank]),
        words=words,
        seeds=chosen,
    )


def _pool(
    index: MemoryIndex, question: Question, words: Lexical, selection: Selection, keep: int
) -> Slots:
    by_words = words.top(keep)
    if question.vector is None:
        return by_words if len(by_words) else selection.slots
    by_meaning = index.nearest(question.vector, selection, keep)
    return np.union1d(by_words, by_meaning.slots)


def _compare(
    index: MemoryIndex, question: Question, words: Lexical, slots: Slots
) -> tuple[Floats, Floats, Floats | None]:
    lexical = words.scores_at(slots)
    if question.vector is None:
        return np.round(lexical, 9), lexical, None
    semantic = np.clip(index.cosines(question.vector, slots), 0.0, 1.0)
    mixed = SEMANTIC_SHARE * semantic + (1 - SEMANTIC_SHARE) * lexical
    return np.round(mixed, 9), lexical, semantic
