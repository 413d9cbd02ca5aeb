"""How alike a memory and a question are: one number from 0 to 1, made of named parts.

In: columns of numbers from 0 to 1, and the tables that say what each counts. Out: their mix, and,
for one memory, what each part adds to it. A memory outside of any thread is mixed by the table of
notes, a turn by that of turns. Nothing is looked up here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from recollect.recall.recipe import Table
from recollect.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.model import Signals

__all__ = ["Compared", "Tables", "mixed", "nearby", "parts", "weighed"]

_DECIMALS = 9
# Sums up to here stay as they are; what is above is pressed into what is left to 1, so that who
# has more still has more.
_KNEE = 0.8
# A text that is asked for word for word is nearer to 1 by this much of what is missing.
_WORD_FOR_WORD = 0.95
_ADDED = ("speaker", "date", "time_words", "asks", "tells_time")


@dataclass(frozen=True, slots=True)
class Tables:
    """What counts how much for a text of its own, and for a turn of a thread."""

    notes: Table
    turns: Table


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Rows beside a question, a column a part; None stands for a part that is not in play.

    `near_words`, `near_meaning` and `thread` are not a number for a row outside of any thread.
    """

    words: NDArray[np.float64]
    meaning: NDArray[np.float64] | None = None
    near_words: NDArray[np.float64] | None = None
    near_meaning: NDArray[np.float64] | None = None
    thread: NDArray[np.float64] | None = None
    speaker: NDArray[np.float64] | None = None
    date: NDArray[np.float64] | None = None
    time_words: NDArray[np.float64] | None = None
    asks: NDArray[np.float64] | None = None
    tells_time: NDArray[np.float64] | None = None
    word_for_word: NDArray[np.float64] | None = None


def weighed(
    words: NDArray[np.float64], meaning: NDArray[np.float64] | None, share: float
) -> NDArray[np.float64]:
    """Return the mix of words and meaning; words alone where there is no meaning to compare."""
    return words if meaning is None else share * meaning + (1 - share) * words


def nearby(compared: Compared, table: Table) -> NDArray[np.float64] | None:
    """Return how alike rows are together with the turns around them."""
    if compared.near_words is None:
        return None
    return weighed(compared.near_words, compared.near_meaning, _share_of_meaning(table))


def mixed(compared: Compared, tables: Tables) -> NDArray[np.float64]:
    """Return the similarity, to nine decimals."""
    alike = _alike(compared, tables.notes, threads=False)
    if compared.thread is not None:
        in_thread = _alike(compared, tables.turns, threads=True)
        alike = np.where(np.isnan(compared.thread), alike, in_thread)
    alike = _pressed(np.maximum(alike, 0.0))
    if compared.word_for_word is not None:
        alike = alike + (1.0 - alike) * (_WORD_FOR_WORD * compared.word_for_word)
    return np.round(alike, _DECIMALS)


def _alike(compared: Compared, table: Table, *, threads: bool) -> NDArray[np.float64]:
    own = table.words + table.meaning
    share = table.meaning / own if own else 0.0
    total = own * weighed(compared.words, compared.meaning, share)
    if threads and compared.thread is not None:
        around = nearby(compared, table)
        if around is not None:
            total = total + (table.near_words + table.near_meaning) * around
        total = total + table.thread * compared.thread
    for name in _ADDED:
        column, weight = getattr(compared, name), getattr(table, name)
        if column is not None and weight:
            total = total + weight * column
    return total


def _share_of_meaning(table: Table) -> float:
    both = table.near_words + table.near_meaning
    return table.near_meaning / both if both else 0.0


def _pressed(alike: NDArray[np.float64]) -> NDArray[np.float64]:
    if alike.max(initial=0.0) <= _KNEE:
        return alike
    over = np.maximum(alike - _KNEE, 0.0) / (1.0 - _KNEE)
    return np.where(over > 0.0, _KNEE + (1.0 - _KNEE) * over / (1.0 + over), alike)


def parts(signals: Signals, tables: Tables) -> dict[str, float]:
    """Return what each part adds to a memory's similarity; they add up to it."""
    if signals.lexical is None:
        return {}
    found = dict(_raw_parts(signals, tables))
    total = max(sum(found.values()), 0.0)
    alike = float(_pressed(np.array([total]))[0])
    # What speaks against a turn may outweigh the little that speaks for it: then it is nothing.
    scale = alike / total if total else 0.0
    found = {name: part * scale for name, part in found.items()}
    if signals.word_for_word:
        found["word_for_word"] = (1.0 - alike) * _WORD_FOR_WORD * signals.word_for_word
    return {name: round(part, _DECIMALS) for name, part in found.items() if part}


def _raw_parts(signals: Signals, tables: Tables) -> Iterator[tuple[str, float]]:
    table = tables.notes if signals.thread is None else tables.turns
    words, meaning = table.words, table.meaning
    if signals.semantic is None:
        words, meaning = words + meaning, 0.0
    yield "lexical", words * (signals.lexical or 0.0)
    yield "semantic", meaning * (signals.semantic or 0.0)
    yield "nearby", (table.near_words + table.near_meaning) * (signals.nearby or 0.0)
    yield "thread", table.thread * (signals.thread or 0.0)
    for name in _ADDED:
        yield name, getattr(table, name) * (getattr(signals, name) or 0.0)
