"""What the turns of a thread lend each other when they are matched with a question.

In: the line of threads that the caller may read, the question's words, and rows that are being
compared. Out: for each row how well it matches together with the turns around it, and the best
such match in its thread. A turn counts less the further away it is; but the words of a question
count in full for the reply to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from recollect.index.analyse import ASKS
from recollect.index.arrays import distinct
from recollect.index.index import MemoryIndex
from recollect.index.lexical import Lexical
from recollect.index.threads import Turns
from recollect.recall.similarity import weighed
from recollect.values import dataclass

__all__ = ["Context", "context", "with_neighbours"]

# What a turn lends to one that is so many steps away. Two steps, because an answer often stands
# behind a greeting or a joke; what the second is worth was measured (ADR-0008).
_LENT = (0.5, 0.25)
_REACH = len(_LENT)
# What a question lends to the turn that follows it: the reply rarely repeats the words that it
# answers ("Where to?" "Lisbon, in May."), so it is found by them as if they were its own.
_LENT_TO_REPLY = 1.0

# So many counts of words in turns are held at once.
_CELLS = 1 << 19

Floats = NDArray[np.float64]
Slots = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """For each row: its words and meaning with its neighbours', the best in its thread, and whose.

    Not a number, and -1, where a row is in no thread.
    """

    words: Floats
    meaning: Floats | None
    thread: Floats
    best: Slots


def with_neighbours(line: Turns, slots: Slots) -> Slots:
    """Return some slots and the turns right before and after each of them; ascending."""
    beside = line.slots[line.around(line.places(slots), 1)]
    return distinct(np.concatenate([slots, beside]))


def context(
    index: MemoryIndex,
    words: Lexical,
    line: Turns,
    slots: Slots,
    *,
    semantic: Floats | None,
    cosines: Callable[[Slots], Floats],
    share_of_meaning: float,
) -> Context:
    """Return the context of rows, given ascending with their cosines; others' are asked for.

    `share_of_meaning` against words makes a turn the best of its thread.
    """
    # The whole line costs less than picking from it once most of it would be picked.
    everyone = len(line) <= len(slots)
    part = line if everyone else line.at(line.around(line.places(slots), _REACH))
    found = Context(
        np.full(len(slots), np.nan),
        None if semantic is None else np.full(len(slots), np.nan),
        np.full(len(slots), np.nan),
        np.full(len(slots), -1),
    )
    if not len(part):
        return found
    at = slots.searchsorted(part.slots)
    compared = slots.take(at, mode="clip") == part.slots
    meaning = None
    if semantic is not None:
        meaning = semantic.take(at, mode="clip")
        if not compared.all():
            meaning[~compared] = cosines(part.slots[~compared])
    asked = (index.column("marks")[part.slots] & ASKS) > 0
    near_words = _words(index, words, part, asked)
    near_meaning = None if meaning is None else _smooth(part, meaning)
    together = weighed(near_words, near_meaning, share_of_meaning)
    # At the rim of the part some neighbours are missing, so what is not compared is not the best.
    best, leads = _best_of_thread(part, np.where(compared, together, -1.0))
    rows = at[compared]
    found.words[rows], found.thread[rows] = near_words[compared], best[compared]
    if found.meaning is not None and near_meaning is not None:
        found.meaning[rows] = near_meaning[compared]
    found.best[rows] = leads[compared]
    return found


def _words(index: MemoryIndex, words: Lexical, part: Turns, asked: NDArray[np.bool_]) -> Floats:
    """Return BM25 of each turn with what its neighbours lend to it."""
    # Counts are lent and not scores: a word that two neighbours share must not count twice over,
    # and BM25 sees to that only when it has the sum of counts before it.
    lengths = _smooth(part, index.column("length")[part.slots].astype(np.float64))
    scores = np.zeros(len(part))
    # A few words at a time: all of a long question's beside all turns would fill the memory.
    step = max(1, _CELLS // len(part))
    for first in range(0, len(words.terms), step):
        some = slice(first, first + step)
        counts = _lent(part, words.counts_at(part.slots, some), asked)
        words.add_scores(scores, counts, lengths, some)
    return scores


def _lent(part: Turns, counts: Floats, asked: NDArray[np.bool_]) -> Floats:
    """Return how often each turn holds each word, with what its neighbours lend to it."""
    together = counts.copy()
    for away, (share, linked) in enumerate(zip(_LENT, _links(part), strict=True), 1):
        lent = counts * share
        earlier = counts * np.where(asked, _LENT_TO_REPLY, share) if away == 1 else lent
        together[:, away:] += np.where(linked, earlier[:, :-away], 0.0)
        together[:, :-away] += np.where(linked, lent[:, away:], 0.0)
    return together


def _smooth(part: Turns, values: Floats) -> Floats:
    """Return a weighted mean with the neighbours; a turn stands in for those it lacks."""
    total = values * (1.0 + 2.0 * sum(_LENT))
    for away, (share, linked) in enumerate(zip(_LENT, _links(part), strict=True), 1):
        # What two turns would give each other, if each gets the other's value for its own.
        gap = np.where(linked, (values[away:] - values[:-away]) * share, 0.0)
        total[:-away] += gap
        total[away:] -= gap
    return total / (1.0 + 2.0 * sum(_LENT))


def _links(part: Turns) -> Iterator[NDArray[np.bool_]]:
    """Yield which turns, from the second on, have a turn right before them; then two before."""
    linked = part.follows
    for away in range(1, _REACH + 1):
        linked = part.follows[1:] if away == 1 else linked[1:] & part.follows[1 : 1 - away]
        yield linked


def _best_of_thread(part: Turns, values: Floats) -> tuple[Floats, Slots]:
    """Return for each turn the largest value in its thread, and the first slot that has it."""
    is_first = np.ones(len(part), np.bool_)
    np.not_equal(part.threads[1:], part.threads[:-1], out=is_first[1:])
    starts = is_first.nonzero()[0]
    lengths = np.append(starts[1:], len(part)) - starts
    best = np.repeat(np.maximum.reduceat(values, starts), lengths)
    has_it = np.flatnonzero(values == best)
    first = has_it[np.searchsorted(has_it, starts)]
    return best, np.repeat(part.slots[first], lengths)
