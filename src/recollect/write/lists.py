"""Likeness lists as a batch of writes changes them, all of them at once in arrays.

In: lists as they are stored, lists that are given whole, and what is offered to others. Out: the
entries that come and go, the edges that follow, and how close another must be from now on. What
each does alone would come to the same: the ten most alike are whom they are, in whatever order
they were offered.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING

import numpy as np

from recollect.index.arrays import distinct, is_in
from recollect.ports.edges import Edge
from recollect.values import dataclass
from recollect.write.link import MAX_AUTOMATIC, MAX_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = [
    "Entries",
    "LikenessLists",
    "PairNumbers",
    "closest_first",
    "distinct_pairs",
    "edges_to_write",
    "place_in_group",
    "weights_of",
]

# Two numbers of rows below this are one of 64 bits side by side.
_ROW_BITS = 31
# So many groups are sorted by their number in one go over the digits.
_MOST_GROUPS = 1 << 16


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

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the two of each entry as columns, lower first."""
        return np.minimum(self.rows, self.others), np.maximum(self.rows, self.others)

    def each(self) -> Iterator[tuple[int, int, float]]:
        """Yield the entries one by one."""
        columns = (self.rows.tolist(), self.others.tolist(), self.closeness.tolist())
        return zip(*columns, strict=True)


class PairNumbers:
    """A number for each two of some rows, in the order of the first and then of the second."""

    def __init__(self, *ends: NDArray[np.int64]) -> None:
        rows = np.concatenate(ends)
        is_small = not len(rows) or (rows.min() >= 0 and rows.max() < 1 << _ROW_BITS)
        self._names = None if is_small else distinct(rows)

    def of(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of twos, all of them of these rows."""
        if self._names is None:
            return rows << _ROW_BITS | others
        first, second = (self._names.searchsorted(end) for end in (rows, others))
        return first * len(self._names) + second

    def ends(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return whom numbers stand for."""
        if self._names is None:
            return numbers >> _ROW_BITS, numbers & ((1 << _ROW_BITS) - 1)
        first, second = np.divmod(numbers, len(self._names))
        return self._names[first], self._names[second]


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
        self._numbers = PairNumbers(everyone.rows, everyone.others)
        keys = self._numbers.of(everyone.rows, everyone.others)
        before, changed = keys[: len(stored)], keys[len(stored) :]
        # An offer stands in the place of what was stored of the same two.
        replaced = is_in(before, changed[len(given) :]) | is_in(stored.rows, looking)
        stay = np.concatenate((~replaced, np.ones(len(changed), dtype=np.bool_)))
        order = np.flatnonzero(stay)
        now = everyone[order]
        # The closest first, row by row; who is equally close and came earlier stays.
        sorting = closest_first(now.rows, now.closeness, now.others)
        now, order = now[sorting], order[sorting]
        kept = place_in_group(now.rows) < MAX_AUTOMATIC
        kept |= ~is_in(now.rows, offered.rows)
        self._now = now[kept]
        self._held = np.sort(keys[order[kept]])
        self.added = self._now[~is_in(keys[order[kept]], before)]
        self.removed = stored[~_is_among(before, self._held)]

    def hold_each_other(self, entries: Entries) -> NDArray[np.bool_]:
        """Return of entries that are in the lists now whether they are from the other end too."""
        return _is_among(self._numbers.of(entries.others, entries.rows), self._held)

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


def distinct_pairs(*entries: Entries) -> list[tuple[int, int]]:
    """Return the two of each entry, lower first, each pair once and in order."""
    low, high = (
        np.concatenate(ends) for ends in zip(*(one.pairs() for one in entries), strict=True)
    )
    numbers = PairNumbers(low, high)
    ends = numbers.ends(distinct(numbers.of(low, high)))
    return list(zip(*(end.tolist() for end in ends), strict=True))


def edges_to_write(joined: Entries, removed: Entries, known: Iterable[Edge]) -> list[Edge]:
    """Return the edges to write after lists have changed; weight 0 where one is no more.

    `known` are the edges between the two of each entry: one made by hand stays.
    """
    there = list(known)
    low, high = joined.pairs()
    ends = np.array([one[:2] for one in there], dtype=np.int64).reshape(-1, 2).T
    let_go = removed.pairs()
    numbers = PairNumbers(low, high, *let_go, *ends)
    known_pairs, come = numbers.of(*ends), numbers.of(low, high)
    goes = is_in(known_pairs, numbers.of(*let_go)).tolist()
    gone = [
        one._replace(weight=0.0)
        for one, is_gone in zip(there, goes, strict=True)
        if is_gone and one.automatic
    ]
    # Two that came to hold each other at once are joined once.
    order = np.argsort(come, kind="stable")
    order = order[np.append(come[order][1:] != come[order][:-1], np.ones(min(1, len(come)), bool))]
    order = order[~is_in(come[order], known_pairs)]
    columns = (low[order], high[order], weights_of(joined.closeness[order]))
    made = map(Edge, *(column.tolist() for column in columns), repeat(True))
    return sorted([*made, *gone])


def weights_of(closeness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosines that these were made from, as `weight_of` does of one."""
    return np.minimum(np.round(closeness, 9), MAX_WEIGHT)


def closest_first(
    groups: NDArray[np.int64], closeness: NDArray[np.float64], others: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the order by groups, in each the closest first, of equally close ones by `others`."""
    names = distinct(groups)
    if len(names) <= _MOST_GROUPS:
        # Two sorts by one number each take a quarter of the time, if no two are equally close.
        order = np.argsort(-closeness)
        number = names.searchsorted(groups).astype(np.uint16)[order]
        by_group = np.argsort(number, kind="stable")
        order, number = order[by_group], number[by_group]
        near = closeness[order]
        if not ((number[1:] == number[:-1]) & (near[1:] == near[:-1])).any():
            return order
    return np.lexsort((others, -closeness, groups))


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
