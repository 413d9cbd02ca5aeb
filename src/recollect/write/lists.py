"""Likeness lists as a batch of writes changes them, all of them at once in arrays.

In: lists as they are stored, lists that are given whole, and what is offered to others. Out: the
entries that come and go, the edges that follow, and how close another must be from now on. What
each does alone would come to the same: the ten most alike are whom they are, in whatever order
they were offered.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from recollect.index.arrays import distinct, is_in
from recollect.ports.edges import Edge
from recollect.values import dataclass
from recollect.write.link import MAX_AUTOMATIC, weight_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["Entries", "LikenessLists", "edges_to_write", "place_in_group"]


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Entries of lists: a row holds another, which is so close."""

    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    closeness: NDArray[np.float64]

    @classmethod
    def of(cls, entries: Iterable[tuple[int, int, float]]) -> Entries:
        """Return entries as arrays."""
        # Numbers of rows are far below 2**53: nothing is lost on the way.
        numbers = np.fromiter(chain.from_iterable(entries), np.float64).reshape(-1, 3)
        rows, others = np.ascontiguousarray(numbers[:, :2].T).astype(np.int64)
        return cls(rows, others, np.ascontiguousarray(numbers[:, 2]))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Entries:
        return Entries(self.rows[which], self.others[which], self.closeness[which])

    def and_also(self, *more: Entries) -> Entries:
        """Return these entries, and others after them."""
        parts = (self, *more)
        return Entries(
            np.concatenate([one.rows for one in parts]),
            np.concatenate([one.others for one in parts]),
            np.concatenate([one.closeness for one in parts]),
        )

    def pairs(self) -> list[tuple[int, int]]:
        """Return the two of each entry, lower first."""
        low, high = np.minimum(self.rows, self.others), np.maximum(self.rows, self.others)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def each(self) -> Iterator[tuple[int, int, float]]:
        """Yield the entries one by one."""
        columns = (self.rows.tolist(), self.others.tolist(), self.closeness.tolist())
        return zip(*columns, strict=True)


class LikenessLists:
    """Whom some rows hold for their most alike, ten at most, before a batch and after it.

    A row of which nothing is stored counts as holding nobody. Those who are `looking` around have
    their whole list `given`; to others one may be `offered`, and a full list gives up its weakest.
    """

    def __init__(
        self, stored: Entries, looking: NDArray[np.int64], given: Entries, offered: Entries
    ) -> None:
        self._looking = looking
        everyone = stored.and_also(given, offered)
        self._names = distinct(np.concatenate((everyone.rows, everyone.others)))
        keys = self._keys(everyone)
        before, changed = keys[: len(stored)], keys[len(stored) :]
        # An offer stands in the place of what was stored of the same two.
        replaced = is_in(before, changed[len(given) :]) | is_in(stored.rows, looking)
        stay = np.concatenate((~replaced, np.ones(len(changed), dtype=np.bool_)))
        order = np.flatnonzero(stay)
        now = everyone[order]
        # The closest first, row by row; who is equally close and came earlier stays.
        sorting = np.lexsort((now.others, -now.closeness, now.rows))
        now, order = now[sorting], order[sorting]
        kept = place_in_group(now.rows) < MAX_AUTOMATIC
        kept |= ~is_in(now.rows, offered.rows)
        self._now = now[kept]
        self._held = np.sort(keys[order[kept]])
        self.added = self._now[~is_in(keys[order[kept]], before)]
        self.removed = stored[~_is_among(before, self._held)]

    def _keys(self, entries: Entries) -> NDArray[np.int64]:
        """Return a number for each two, whatever numbers the rows have."""
        holders, others = (self._names.searchsorted(end) for end in (entries.rows, entries.others))
        return holders * len(self._names) + others

    def hold_each_other(self, entries: Entries) -> NDArray[np.bool_]:
        """Return of entries that are in the lists now whether they are from the other end too."""
        turned = Entries(entries.others, entries.rows, entries.closeness)
        return _is_among(self._keys(turned), self._held)

    def bars(self) -> dict[int, float]:
        """Return how close another must be to get into each list: 0 while there is room."""
        rows = self._now.rows
        ends = np.flatnonzero(np.append(rows[1:] != rows[:-1], np.ones(min(1, len(rows)), bool)))
        is_full = np.diff(ends, prepend=-1) >= MAX_AUTOMATIC
        bars = np.where(is_full, self._now.closeness[ends], 0.0)
        empty = dict.fromkeys(self._looking.tolist(), 0.0)
        return empty | dict(zip(rows[ends].tolist(), bars.tolist(), strict=True))

    def joined(self) -> Entries:
        """Return those of the entries that came whose two hold each other now."""
        return self.added[self.hold_each_other(self.added)]


def edges_to_write(joined: Entries, removed: Entries, known: Iterable[Edge]) -> list[Edge]:
    """Return the edges to write after lists have changed; weight 0 where one is no more.

    `known` are the edges between the two of each entry: one made by hand stays.
    """
    there = {(old.low, old.high): old for old in known}
    written = {
        ends: there[ends]._replace(weight=0.0)
        for ends in removed.pairs()
        if ends in there and there[ends].automatic
    }
    for ends, closeness in zip(joined.pairs(), joined.closeness.tolist(), strict=True):
        if ends not in there:
            written[ends] = Edge(*ends, weight_of(closeness), automatic=True)
    return [written[ends] for ends in sorted(written)]


def place_in_group(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many of the same number stand before each; equal ones stand together."""
    places = np.arange(len(groups))
    if not len(groups):
        return places
    starts = np.flatnonzero(np.append(True, groups[1:] != groups[:-1]))
    return places - np.repeat(starts, np.diff(starts, append=len(groups)))


def _is_among(keys: NDArray[np.int64], ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which keys are among others that are in order."""
    if not len(ordered):
        return np.zeros(len(keys), dtype=np.bool_)
    found: NDArray[np.bool_] = ordered.take(ordered.searchsorted(keys), mode="clip") == keys
    return found
