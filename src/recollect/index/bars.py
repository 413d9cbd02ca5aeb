"""How close another must be to get into a memory's likeness list: asked once, then followed.

In: what the store said of lists, and what a commit makes of them. Out: the bar of a row, as far as
it is known. A bar that is too low costs a look at the list; one that is too high would lose a link.
So what a commit learns counts once the index is of that commit, and never if it came to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.index.arrays import grow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from recollect.ports.state import Head

__all__ = ["Bars"]

# Of one in so many rows it is asked for, what a commit learned is put where it belongs first.
_MANY = 16


class Bars:
    """The least closeness in the list of each row; 0 if it is not full, not a number if unknown."""

    def __init__(self, known: NDArray[np.float64] | None = None) -> None:
        self._known = np.empty(0) if known is None else known
        self._learned: dict[int, float] = {}
        self._learned_in: Head | None = None

    def of(self, rows: NDArray[np.int64], head: Head) -> NDArray[np.float64]:
        """Return the bars of some rows inside of the commit that leads to a head."""
        learned = self._learned if self._learned_in == head else {}
        if learned and len(rows) * _MANY > len(self._known):
            return _at(_with(self._known, learned), rows)
        known = _at(self._known, rows)
        if learned:
            each = (learned.get(row, np.nan) for row in rows.tolist())
            newer = np.fromiter(each, np.float64, count=len(rows))
            known = np.where(np.isnan(newer), known, newer)
        return known

    def learn(self, bars: Mapping[int, float], head: Head) -> None:
        """Know the bars of rows as they are once the commit that leads to a head has happened."""
        if self._learned_in != head:
            self._learned, self._learned_in = {}, head
        self._learned.update(bars)

    def following(self, head: Head, *, only_came: bool) -> Bars:
        """Return the bars as of a later head, in the place of these.

        `only_came`: memories came and none changed or went, which raises bars and lowers none.
        """
        known, learned = self._known, self._learned
        self._known, self._learned = np.empty(0), {}
        if self._learned_in != head:
            # Somebody else's commit: whose list lost a member is not known here.
            return Bars(known if only_came else None)
        return Bars(_put(known, learned) if learned else known)


def _at(known: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what is known of some rows."""
    if len(rows) and rows.max() < len(known):
        return known.take(rows)
    found = np.full(len(rows), np.nan)
    within = rows < len(known)
    found[within] = known[rows[within]]
    return found


def _with(known: NDArray[np.float64], learned: Mapping[int, float]) -> NDArray[np.float64]:
    """Return what is known and what was learned, and leave what is known as it is."""
    return _put(known.copy(), learned)


def _put(known: NDArray[np.float64], learned: Mapping[int, float]) -> NDArray[np.float64]:
    """Put what was learned to what is known, in its place if there is room."""
    rows = np.fromiter(learned, np.int64, count=len(learned))
    known = grow(known, len(known), int(rows.max()) + 1, fill=np.nan)
    known[rows] = np.fromiter(learned.values(), np.float64, count=len(learned))
    return known
