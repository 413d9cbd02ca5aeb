"""Who of many is like whom of a batch: one product for all, exact numbers for the few that matter.

In: vectors that look around, those of a selection, and how close a pair must be to matter to
either side. Out: for each that looks around the slots that matter, and their cosines, the same as
one by one. Most pairs of a crowd of texts that are all alike matter to nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.embed.quantise import pack_signs, squared_norms
from recollect.index.vectors import Nearest, most_sign_changes
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from recollect.index.vectors import Vectors

__all__ = ["Wanted", "alike_each", "that_matter"]

# Products held at once, and rows made wide at once: both stay near the processor.
_CELLS, _FIRST_ROWS, _MOST_ROWS = 1 << 20, 256, 2048
# What rounding does to a limit in float32, and to cosines that are compared by nine digits.
_LOOSE, _HAIR = 1 - 1e-6, 2e-9


@dataclass(frozen=True, slots=True)
class Wanted:
    """What matters to one that looks around: its `first` most alike, and of the `most` most alike
    those of at least `close`. Below `threshold` nobody is alike.
    """

    threshold: float
    first: int
    most: int
    close: float

    def least(self, ranked: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how close one must be to matter, given the most alike so far, the closest first.

        One row for each that looks around; whom it lacks has a cosine of 0.
        """
        first, last = ranked[:, self.first - 1], ranked[:, self.most - 1]
        return np.maximum(np.minimum(first, np.maximum(last, self.close)), self.threshold)


def that_matter(near: Nearest, wanted: Wanted, bars: NDArray[np.float64] | None) -> Nearest:
    """Return who of those alike to one matters to it, or, by its bar, is mattered to."""
    if len(near.slots) <= wanted.first:
        return near
    ranked = np.zeros((1, wanted.most))
    best = -np.partition(-near.cosines, min(wanted.most, len(near.slots)) - 1)[: wanted.most]
    ranked[0, : len(best)] = -np.sort(-best)
    least = wanted.least(ranked)
    matter = near.cosines >= (least if bars is None else np.minimum(least, bars)) - _HAIR
    return Nearest(near.slots[matter], near.cosines[matter])


def alike_each(
    vectors: Vectors,
    queries: NDArray[np.int8],
    slots: NDArray[np.int64],
    wanted: Wanted,
    bars: NDArray[np.float64] | None,
) -> list[Nearest]:
    """Return for each of some vectors who of these slots, in ascending order, matters.

    `bars` say for each slot from which cosine on a pair matters to it; without them none does.
    """
    search = _Search(vectors, queries, wanted)
    for some in _tiles(len(slots), len(queries)):
        search.look(slots[some], None if bars is None else bars[some])
    return search.found()


def _tiles(count: int, queries: int) -> Iterator[slice]:
    """Yield parts of so many rows: small ones first, after which little of the rest matters."""
    most = min(_MOST_ROWS, max(_FIRST_ROWS, _CELLS // max(1, queries)))
    start, length = 0, _FIRST_ROWS
    while start < count:
        yield slice(start, start + length)
        start, length = start + length, min(2 * length, most)


class _Search:
    """What a batch has found so far, and how close another must be to be looked at."""

    def __init__(self, vectors: Vectors, queries: NDArray[np.int8], wanted: Wanted) -> None:
        self._vectors = vectors
        self._wanted = wanted
        self._wide = np.ascontiguousarray(queries.astype(np.float32).T)
        self._squares = squared_norms(queries).astype(np.float64)
        # Who points nowhere is like nobody: its products are 0, and its limits are not.
        self._lengths = np.sqrt(np.maximum(self._squares, 1.0)).astype(np.float32)
        self._signs = pack_signs(queries).T
        self._most_changes = most_sign_changes(queries.shape[1], wanted.threshold)
        self._ranked = np.zeros((len(queries), wanted.most))
        self._least = np.full(len(queries), wanted.threshold)
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []

    def look(self, slots: NDArray[np.int64], bars: NDArray[np.float64] | None) -> None:
        """Look at some slots, and keep the pairs that matter."""
        dots = self._vectors.wide(slots) @ self._wide
        squares = self._vectors.squares(slots)
        at, who = np.nonzero(dots >= self._limits(np.sqrt(squares), bars))
        lengths = np.sqrt(squares[at].astype(np.float64) * self._squares[who])
        cosines = np.divide(dots[at, who], lengths, out=np.zeros(len(at)), where=lengths > 0)
        least = self._least[who] if bars is None else np.minimum(self._least[who], bars[at])
        matter = np.flatnonzero(cosines >= np.maximum(least - _HAIR, self._wanted.threshold))
        changes = self._vectors.sign_changes(slots[at[matter]], self._signs[:, who[matter]])
        matter = matter[changes <= self._most_changes]
        if len(matter):
            at, who, cosines = at[matter], who[matter], cosines[matter]
            self._parts.append((who, slots[at], cosines))
            self._raise_least(who, cosines)

    def found(self) -> list[Nearest]:
        """Return what each has found, the slots in ascending order."""
        if not self._parts:
            nobody = Nearest(np.empty(0, np.int64), np.empty(0, np.float64))
            return [nobody] * len(self._squares)
        who, slots, cosines = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        # What mattered early on may matter no longer, but costs little to whoever asked.
        order = np.lexsort((slots, who))
        bounds = np.searchsorted(who[order], np.arange(len(self._squares) + 1))
        return [
            Nearest(slots[order[first:end]], cosines[order[first:end]])
            for first, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ]

    def _limits(
        self, lengths: NDArray[np.float32], bars: NDArray[np.float64] | None
    ) -> NDArray[np.float32]:
        """Return for each pair the product from which on it may matter, or a little less."""
        own = np.multiply.outer(lengths, (self._least * self._lengths * _LOOSE).astype(np.float32))
        if bars is None:
            return own
        theirs = np.maximum(bars, self._wanted.threshold) * lengths * _LOOSE
        limits: NDArray[np.float32] = np.minimum(
            own, np.multiply.outer(theirs.astype(np.float32), self._lengths), out=own
        )
        return limits

    def _raise_least(self, who: NDArray[np.int64], cosines: NDArray[np.float64]) -> None:
        """Look only at who is closer than the most alike so far."""
        order = np.lexsort((-cosines, who))
        who, cosines = who[order], cosines[order]
        looking, starts = np.unique(who, return_index=True)
        places = np.arange(len(who)) - np.repeat(starts, np.diff(np.append(starts, len(who))))
        kept = places < self._wanted.most
        newer = np.zeros((len(looking), self._wanted.most))
        newer[looking.searchsorted(who[kept]), places[kept]] = cosines[kept]
        both = np.concatenate([self._ranked[looking], newer], axis=1)
        self._ranked[looking] = -np.sort(-both, axis=1)[:, : self._wanted.most]
        self._least[looking] = self._wanted.least(self._ranked[looking])
