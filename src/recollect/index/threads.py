"""Who follows whom: the memories of a thread in the order of their positions.

Columns come in; a `Turns` goes out: the selected memories of all threads, each thread in one
stretch. Only the order of positions counts, never the gap between two, so a memory that is not
selected leaves no trace: those around it are neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.index.arrays import distinct
from recollect.index.lexical import is_sparse
from recollect.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.index.columns import Columns
    from recollect.index.selection import Selection

__all__ = ["Threads", "Turns"]


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Slots in the order of their threads, and for each slot its thread.

    `follows`: whether the slot before it is the turn before it.
    """

    slots: NDArray[np.int64]
    threads: NDArray[np.int32]
    follows: NDArray[np.bool_]
    _ranks: NDArray[np.int32]
    _rank_of: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.slots)

    def places(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where on the line some slots are; those that are in no thread are left out."""
        ranks = self._rank_of[slots]
        places = self._ranks.searchsorted(ranks)
        on_line = self._ranks.take(places, mode="clip") == ranks
        return places[on_line] if len(self) else places[:0]

    def around(self, places: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
        """Return the places up to so many turns away within the threads of these; ascending."""
        steps = np.arange(-reach, reach + 1)
        near = (places[:, np.newaxis] + steps).clip(0, len(self) - 1)
        same = self.threads[near] == self.threads[places][:, np.newaxis]
        return distinct(near[same])

    def at(self, places: NDArray[np.int64]) -> Turns:
        """Return a part of the line, given ascending places."""
        beside = np.diff(places, prepend=-2) == 1
        return Turns(
            self.slots[places],
            self.threads[places],
            self.follows[places] & beside,
            self._ranks[places],
            self._rank_of,
        )


class Threads:
    """The order of all slots that have a place in a thread, made when it is first asked for."""

    def __init__(self, before: Threads | None = None) -> None:
        # How they were ordered before the last change is nearly how they are now.
        self._order: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        if before is not None:
            self._order = before._order
        self._rank_of: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._is_arranged = False

    def turns(self, columns: Columns, selection: Selection) -> Turns:
        """Return the selected slots of threads, in order."""
        if not self._is_arranged:
            self._arrange(columns)
        slots = self._selected(selection)
        threads = columns["thread"][slots]
        follows = np.zeros(len(slots), dtype=np.bool_)
        np.equal(threads[1:], threads[:-1], out=follows[1:])
        return Turns(slots, threads, follows, self._rank_of[slots], self._rank_of)

    def _selected(self, selection: Selection) -> NDArray[np.int64]:
        if not is_sparse(selection):
            return self._order[selection.mask[self._order]]
        slots = selection.slots[self._rank_of[selection.slots] >= 0]
        return slots[np.argsort(self._rank_of[slots])]

    def _arrange(self, columns: Columns) -> None:
        """Order by thread, then position; where two share one, by the store's own number."""
        thread, position = columns["thread"], columns["position"]
        none = columns.vocabularies["thread"].get(None, -1)
        placed = (thread != none) & (position >= 0) & columns["alive"]
        order = self._starting_with_the_last(placed)
        keys = thread[order].astype(np.int64) << 32 | position[order]
        sorting = np.argsort(keys, kind="stable")
        if (np.diff(keys[sorting]) == 0).any():
            sorting = np.lexsort((columns["row_id"][order], keys))
        order = order[sorting]
        rank_of = np.full(columns.size, -1, dtype=np.int32)
        rank_of[order] = np.arange(len(order), dtype=np.int32)
        # Two threads that ask at once find the same.
        self._order, self._rank_of = order, rank_of
        self._is_arranged = True

    def _starting_with_the_last(self, placed: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the placed slots as they were ordered before, then the others.

        A stable sort takes what is in order already at little more than the cost of reading it.
        """
        kept = self._order[placed[self._order]]
        new = placed.copy()
        new[kept] = False
        return np.concatenate([kept, np.flatnonzero(new)])
