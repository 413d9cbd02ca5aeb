"""Find what may answer: by words, by meaning, by links. Arrays in, arrays out.

In: an index, what may be read, and the question. Out: `Candidates`, one row a Pak, with the
signals that depend on the question. Only rows of the selections given are ever looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recollect.index.arrays import distinct, without
from recollect.index.index import MemoryIndex
from recollect.index.lexical import Lexical
from recollect.index.selection import Selection
from recollect.recall.question import Question

__all__ = ["SEEDS_PER_RESULT", "Candidates", "everything", "matching"]

SEEDS_PER_RESULT = 4

# Similarity is this share of meaning and the rest of words; chosen on LoCoMo dev (ADR-0006).
SEMANTIC_SHARE = 0.4

# How many of the best by words, and by meaning, are compared on both.
_POOL = 400
# So few rows are all compared: choosing would cost more than it saves.
_COMPARE_ALL = 2000

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
    spoken: Mapping[str, str] = field(default_factory=dict)
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

    With `only_similar`, rows that match in nothing are no seeds; else they fill up their number.
    """
    words = index.lexical(question.terms, selection)
    pool = _pooled(index, question, words, selection, max(_POOL, 4 * seeds))
    if not only_similar and len(pool.slots) < min(seeds, selection.count):
        pool = _compared(index, question, words, selection.slots)
    compared = pool.at(index.best(pool.slots, pool.similarity, seeds))
    if only_similar:
        compared = compared.at(compared.similarity > 0)
    chosen = compared.slots
    promised = without(always, chosen)
    if len(promised):
        compared = compared.joined(_compared(index, question, words, promised))
    expanded = without(index.neighbours(chosen, reach), promised)
    if len(expanded):
        compared = compared.joined(_unmatched(expanded, semantic=question.vector is not None))
    return Candidates(
        slots=compared.slots,
        similarity=compared.similarity,
        expanded=np.arange(len(compared.slots)) >= len(chosen) + len(promised),
        lexical=compared.lexical,
        semantic=compared.semantic,
        words=words,
        spoken=question.spoken,
        seeds=chosen,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """Rows with what they have in common with the question."""

    slots: Slots
    similarity: Floats
    lexical: Floats
    semantic: Floats | None

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> _Compared:
        """Return some of the rows."""
        semantic = None if self.semantic is None else self.semantic[rows]
        return _Compared(self.slots[rows], self.similarity[rows], self.lexical[rows], semantic)

    def joined(self, other: _Compared) -> _Compared:
        """Return these rows, then the others."""
        both = None
        if self.semantic is not None and other.semantic is not None:
            both = np.concatenate([self.semantic, other.semantic])
        return _Compared(
            np.concatenate([self.slots, other.slots]),
            np.concatenate([self.similarity, other.similarity]),
            np.concatenate([self.lexical, other.lexical]),
            both,
        )


def _pooled(
    index: MemoryIndex, question: Question, words: Lexical, selection: Selection, keep: int
) -> _Compared:
    """Compare the best by words and the best by meaning; slots ascending."""
    if selection.count <= _COMPARE_ALL:
        return _all_compared(index, question, words, selection)
    by_words = words.top(keep)
    if question.vector is None:
        return _compared(index, question, words, np.sort(by_words))
    near = index.nearest(question.vector, selection, keep)
    slots = distinct(np.concatenate([by_words, near.slots]))
    cosines = np.full(len(slots), np.nan)
    cosines[np.searchsorted(slots, near.slots)] = near.cosines
    others = np.isnan(cosines)
    cosines[others] = index.cosines(question.vector, slots[others])
    return _mixed(slots, words.scores_at(slots), cosines)


def _all_compared(
    index: MemoryIndex, question: Question, words: Lexical, selection: Selection
) -> _Compared:
    if question.vector is None:
        return _compared(index, question, words, selection.slots)
    cosines = index.cosines_inside(question.vector, selection)
    return _mixed(selection.slots, words.scores_at(selection.slots), cosines)


def _compared(index: MemoryIndex, question: Question, words: Lexical, slots: Slots) -> _Compared:
    lexical = words.scores_at(slots)
    if question.vector is None:
        return _Compared(slots, np.round(lexical, 9), lexical, None)
    return _mixed(slots, lexical, index.cosines(question.vector, slots))


def _mixed(slots: Slots, lexical: Floats, cosines: Floats) -> _Compared:
    semantic = np.minimum(np.maximum(cosines, 0.0), 1.0)
    mixed = SEMANTIC_SHARE * semantic + (1 - SEMANTIC_SHARE) * lexical
    return _Compared(slots, mixed.round(9), lexical, semantic)


def _unmatched(slots: Slots, *, semantic: bool) -> _Compared:
    blank = np.zeros(len(slots))
    return _Compared(slots, blank, blank, blank if semantic else None)
