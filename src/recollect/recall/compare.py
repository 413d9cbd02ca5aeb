"""Compare memories with a question, each by words, meaning, thread, speaker and time.

In: an index, a question, and what may be read. Out: `Likeness`, columns of numbers from 0 to 1 for
the rows asked about. A column is None where the question, or what may be read, gives no cause for
it; then it costs nothing and counts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.index.analyse import TELLS_TIME
from recollect.index.arrays import distinct
from recollect.index.index import MemoryIndex
from recollect.index.lexical import Lexical
from recollect.index.selection import Selection
from recollect.index.threads import Turns
from recollect.index.vectors import Nearest
from recollect.recall.context import context
from recollect.recall.question import Question
from recollect.recall.similarity import match, mixed
from recollect.recall.times import closeness

__all__ = ["Comparison", "Likeness"]

Slots = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Rows, how alike each is to a question, and what that is made of.

    `nearby` and `thread` are not a number, and `best` is -1, where a row is in no thread; `best` is
    the row of the thread that matches best.
    """

    slots: Slots
    similarity: Floats
    lexical: Floats | None = None
    semantic: Floats | None = None
    nearby: Floats | None = None
    thread: Floats | None = None
    best: Slots | None = None
    speaker: Floats | None = None
    date: Floats | None = None
    time_words: Floats | None = None

    def at(self, rows: NDArray[np.int64]) -> Likeness:
        """Return some of the rows."""
        return Likeness(**{name: column[rows] for name, column in self._known().items()})

    def joined(self, other: Likeness) -> Likeness:
        """Return these rows, then the others; both know the same columns."""
        others = other._known()
        return Likeness(
            **{name: np.concatenate([c, others[name]]) for name, c in self._known().items()}
        )

    def unmatched(self, slots: Slots) -> Likeness:
        """Return other rows that were not compared, with the columns of these."""
        blank = {name: np.full(len(slots), _BLANK.get(name, 0.0)) for name in self._known()}
        return Likeness(**{**blank, "slots": slots})

    def _known(self) -> dict[str, NDArray[Any]]:
        columns = ((name, getattr(self, name)) for name in self.__slots__)
        return {name: column for name, column in columns if column is not None}


# What a row has that was not compared, where that is not 0.
_BLANK = {"nearby": np.nan, "thread": np.nan, "best": -1}


class Comparison:
    """One question against the memories of one selection."""

    def __init__(self, index: MemoryIndex, question: Question, selection: Selection) -> None:
        self.selection = selection
        self.line: Turns | None = index.turns(selection)
        self._index = index
        self._question = question
        self._said = index.lexical(question.terms, selection, stressed=question.stressed)

    @property
    def words(self) -> Lexical:
        """The words that were looked for."""
        return self._about or self._said

    def of_all(self) -> Likeness:
        """Compare everything that is selected."""
        slots, vector = self.selection.slots, self._question.vector
        if vector is None:
            return self._mixed(slots, None)
        return self._mixed(slots, self._index.cosines_inside(vector, self.selection))

    def of(self, slots: Slots, near: Nearest) -> Likeness:
        """Compare some rows, given in ascending order; the cosines of some are known."""
        if self._question.vector is None:
            return self._mixed(slots, None)
        cosines = np.full(len(slots), np.nan)
        cosines[slots.searchsorted(near.slots)] = near.cosines
        others = np.isnan(cosines)
        cosines[others] = self._index.cosines(self._question.vector, slots[others])
        return self._mixed(slots, cosines)

    def nearest(self, keep: int) -> Nearest:
        """Return the best rows by meaning."""
        if self._question.vector is None:
            return Nearest(np.empty(0, np.int64), np.empty(0))
        return self._index.nearest(self._question.vector, self.selection, keep)

    def best_by_words(self, keep: int) -> Slots:
        """Return the best rows by words."""
        best = self._said.top(keep)
        return (
            best if self._about is None else distinct(np.concatenate([best, self._about.top(keep)]))
        )

    def best_by_origin(self, keep: int) -> Slots:
        """Return the best rows by speaker and time, for a question that says nothing else."""
        question = self._question
        if question.terms or not (question.people or question.times or question.is_of_time):
            return np.empty(0, np.int64)
        slots = self.selection.slots
        raised = mixed(np.zeros(len(slots)), speaker=self._speaker(slots), date=self._date(slots))
        return slots[self._index.best(slots, raised, keep)]

    @cached_property
    def _about(self) -> Lexical | None:
        """The words with the names of speakers; None if all that is selected was said by somebody.

        Who speaks says a name to address somebody; in any other text it is what the text is about.
        """
        names = self._question.names
        if not names or not self._unspoken(self.selection.slots).any():
            return None
        every = (*self._question.terms, *names)
        return self._index.lexical(every, self.selection, stressed=self._question.stressed)

    def _mixed(self, slots: Slots, cosines: Floats | None) -> Likeness:
        semantic = None if cosines is None else np.minimum(np.maximum(cosines, 0.0), 1.0)
        lexical = self._lexical(slots)
        own = match(lexical, semantic)
        around = self._around(slots, semantic)
        nearby, thread, best = around or (None, None, None)
        speaker, date = self._speaker(slots), self._date(slots)
        time_words = self._time_words(slots, own)
        similarity = mixed(
            own, nearby=nearby, thread=thread, speaker=speaker, date=date, time_words=time_words
        )
        return Likeness(
            slots,
            similarity,
            lexical,
            semantic,
            nearby,
            thread,
            best,
            speaker,
            date,
            time_words,
        )

    def _lexical(self, slots: Slots) -> Floats:
        scores = self._said.scores_at(slots)
        if self._about is None:
            return scores
        return np.where(self._unspoken(slots), self._about.scores_at(slots), scores)

    def _unspoken(self, slots: Slots) -> NDArray[np.bool_]:
        nobody = self._index.code("speaker", None)
        unspoken: NDArray[np.bool_] = self._index.column("speaker")[slots] == nobody
        return unspoken

    def _around(self, slots: Slots, semantic: Floats | None) -> tuple[Floats, Floats, Slots] | None:
        if self.line is None:
            return None
        around = context(
            self._index, self._said, self.line, slots, semantic=semantic, cosines=self._semantic
        )
        return around.nearby, around.thread, around.best

    def _semantic(self, slots: Slots) -> Floats:
        vector = self._question.vector
        if vector is None:
            return np.zeros(len(slots))
        return np.clip(self._index.cosines(vector, slots), 0.0, 1.0)

    def _speaker(self, slots: Slots) -> Floats | None:
        if not self._question.people:
            return None
        heard = self._index.column("speaker")[slots]
        said = np.zeros(len(slots), np.bool_)
        for person in self._question.people:
            said |= heard == person.code
        return said.astype(np.float64)

    def _date(self, slots: Slots) -> Floats | None:
        if self._question.is_of_time:
            return np.ones(len(slots))
        if not self._question.times:
            return None
        return closeness(self._index.column("day")[slots], self._question.times)

    def _time_words(self, slots: Slots, own: Floats) -> Floats | None:
        if not self._question.wants_time:
            return None
        tells = (self._index.column("marks")[slots] & TELLS_TIME) > 0
        return (tells & (own > 0)).astype(np.float64)
