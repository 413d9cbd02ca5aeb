"""Compare memories with a question, each by words, meaning, thread, speaker and time.

In: an index, a question, and what may be read. Out: `Likeness`, columns of numbers from 0 to 1 for
the rows asked about. A column is None where the question, or what may be read, gives no cause for
it; then it costs nothing and counts nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.index.analyse import ASKS, TELLS_TIME
from recollect.index.arrays import distinct, is_in
from recollect.index.index import MemoryIndex
from recollect.index.lexical import Lexical
from recollect.index.selection import Selection
from recollect.index.threads import Turns
from recollect.index.vectors import Nearest
from recollect.recall.context import Context, context
from recollect.recall.question import Question
from recollect.recall.recipe import RECIPE, Recipe
from recollect.recall.similarity import Compared, Tables, mixed, nearby
from recollect.recall.times import closeness
from recollect.values import dataclass

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
    asks: Floats | None = None
    tells_time: Floats | None = None
    word_for_word: Floats | None = None

    def at(self, rows: NDArray[np.int64], others: Slots) -> Likeness:
        """Return some of the rows, then others, which were not compared with the question."""
        columns: dict[str, Any] = {
            name: _extended(column, rows, len(others), blank)
            for name, blank in _BLANKS.items()
            if (column := getattr(self, name)) is not None
        }
        slots = _extended(self.slots, rows, len(others), 0)
        slots[len(rows) :] = others
        return Likeness(slots=slots, **columns)


# The columns beside the slots, with what a row has there that was not compared.
_BLANKS = {name: 0.0 for name in Likeness.__slots__ if name != "slots"}
_BLANKS |= {"nearby": np.nan, "thread": np.nan, "best": -1}
_NOBODY: Slots = np.empty(0, np.int64)


def _extended(
    column: NDArray[Any], rows: NDArray[np.int64], more: int, blank: float
) -> NDArray[Any]:
    """Return some rows of a column, and blank ones after them."""
    extended = np.empty(len(rows) + more, column.dtype)
    extended[: len(rows)] = column[rows]
    extended[len(rows) :] = blank
    return extended


class Comparison:
    """One question against the memories of one selection."""

    def __init__(
        self,
        index: MemoryIndex,
        question: Question,
        selection: Selection,
        recipe: Recipe = RECIPE,
    ) -> None:
        self.selection = selection
        self.line: Turns | None = index.turns(selection)
        self.tables = Tables(recipe.notes, recipe.turns)
        if self.line is not None:
            turns = recipe.of_turns(index.average_turn(selection))
            self.tables = Tables(recipe.notes, turns)
        self._recipe = recipe
        self._index = index
        self._question = question
        self._said = index.lexical(question.terms, selection, stressed=question.stressed)
        self._about = self._with_names()
        # The rows whose text is the question, word for word.
        self.said_so: Slots = _NOBODY
        if question.words is not None:
            self.said_so = index.saying(question.words, selection)

    @property
    def words(self) -> Lexical:
        """The words that were looked for."""
        return self._about or self._said

    def of_all(self) -> Likeness:
        """Compare everything that is selected."""
        return self._likeness(self.selection.slots, self._all_cosines())

    def of(self, slots: Slots, near: Nearest) -> Likeness:
        """Compare some rows, given in ascending order; the cosines of some are known."""
        if self._question.vector is None:
            return self._likeness(slots, None)
        cosines = np.full(len(slots), np.nan)
        cosines[slots.searchsorted(near.slots)] = near.cosines
        others = np.isnan(cosines)
        cosines[others] = self._index.cosines(self._question.vector, slots[others])
        return self._likeness(slots, cosines)

    def parts_of_all(self) -> Compared:
        """Return what the likeness of everything that is selected is made of."""
        return self._compared(self.selection.slots, self._all_cosines())[0]

    def _all_cosines(self) -> Floats | None:
        vector = self._question.vector
        return None if vector is None else self._index.cosines_inside(vector, self.selection)

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
        origin = Compared(
            np.zeros(len(slots)), speaker=self._speaker(slots), date=self._date(slots)
        )
        return slots[self._index.best(slots, mixed(origin, self.tables), keep)]

    def _with_names(self) -> Lexical | None:
        """Return the words with names of speakers; None if all that is selected was said by one.

        Who speaks says a name to address somebody; in any other text it is what the text is about.
        """
        names = self._question.names
        if not names or not self._unspoken(self.selection.slots).any():
            return None
        every = (*self._question.terms, *names)
        return self._index.lexical(every, self.selection, stressed=self._question.stressed)

    def _likeness(self, slots: Slots, cosines: Floats | None) -> Likeness:
        compared, best = self._compared(slots, cosines)
        return Likeness(
            slots,
            mixed(compared, self.tables),
            compared.words,
            compared.meaning,
            nearby(compared, self.tables.turns),
            compared.thread,
            best,
            compared.speaker,
            compared.date,
            compared.time_words,
            compared.asks,
            compared.tells_time,
            compared.word_for_word,
        )

    def _compared(self, slots: Slots, cosines: Floats | None) -> tuple[Compared, Slots | None]:
        words, meaning = self._lexical(slots), self._meaning(cosines)
        around = self._around(slots, meaning)
        compared = Compared(
            words,
            meaning,
            speaker=self._speaker(slots),
            date=self._date(slots),
            time_words=self._time_words(slots, words, meaning),
            word_for_word=self._word_for_word(slots),
        )
        if around is None:
            return compared, None
        marks, on_line = self._index.column("marks")[slots], around.best >= 0
        return replace(
            compared,
            near_words=around.words,
            near_meaning=around.meaning,
            thread=around.thread,
            asks=(((marks & ASKS) > 0) & on_line).astype(np.float64),
            tells_time=(((marks & TELLS_TIME) > 0) & on_line).astype(np.float64),
        ), around.best

    def _meaning(self, cosines: Floats | None) -> Floats | None:
        if cosines is None:
            return None
        near = cosines * self._question.agreement - self._question.base
        return np.minimum(np.maximum(near, 0.0), 1.0)

    def _word_for_word(self, slots: Slots) -> Floats | None:
        if not len(self.said_so):
            return None
        return is_in(slots, self.said_so).astype(np.float64)

    def _lexical(self, slots: Slots) -> Floats:
        scores = self._said.scores_at(slots)
        if self._about is None:
            return scores
        return np.where(self._unspoken(slots), self._about.scores_at(slots), scores)

    def _unspoken(self, slots: Slots) -> NDArray[np.bool_]:
        nobody = self._index.code("speaker", None)
        unspoken: NDArray[np.bool_] = self._index.column("speaker")[slots] == nobody
        return unspoken

    def _around(self, slots: Slots, semantic: Floats | None) -> Context | None:
        if self.line is None:
            return None
        return context(
            self._index,
            self._said,
            self.line,
            slots,
            semantic=semantic,
            cosines=self._semantic,
            share_of_meaning=self._recipe.thread_meaning,
        )

    def _semantic(self, slots: Slots) -> Floats:
        vector = self._question.vector
        found = None if vector is None else self._meaning(self._index.cosines(vector, slots))
        return np.zeros(len(slots)) if found is None else found

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

    def _time_words(self, slots: Slots, words: Floats, meaning: Floats | None) -> Floats | None:
        if not self._question.wants_time:
            return None
        tells = (self._index.column("marks")[slots] & TELLS_TIME) > 0
        is_alike = words > 0 if meaning is None else (words > 0) | (meaning > 0)
        return (tells & is_alike).astype(np.float64)
