"""Who of many is like whom of a batch: exact numbers for the few that may matter.

In: vectors that look around, those of a selection, and how close a pair must be to matter to
either side. Out: for each that looks around the slots that matter, and their cosines, the same as
one by one. Most pairs of a crowd of texts that are all alike matter to nobody; and most pairs of
texts that are not are ruled out by their short forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.embed.quantise import pack_signs, squared_norms
from recollect.index.arrays import kth_largest
from recollect.index.short_forms import SLACK
from recollect.index.vectors import Nearest, most_sign_changes
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recollect.index.short_forms import Forms
    from recollect.index.vectors import Vectors

__all__ = ["Wanted", "alike_each", "that_matter"]

# Products held at once, and rows made wide at once: both stay near the processor.
_CELLS, _LEAST_ROWS, _MOST_ROWS = 1 << 20, 256, 2048
# Pairs whose vectors are compared at once: both stay near the processor.
_PAIRS = 1024
# So few look at all rows at once, after a look at those that may be the closest.
_FEW = 24
# A pair takes as long as so many in a product of all, a row that is made wide for that as these.
_ONE, _WIDE = 30, 10
# A batch goes by who is close once so many pairs for each of it have come.
_WORTH_RAISING = 8
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
        """Return how close one must be to matter, given the most alike so far, the closest last.

        One row for each that looks around; whom it lacks has a cosine of 0.
        """
        first, last = ranked[:, self.most - self.first], ranked[:, 0]
        return np.maximum(np.minimum(first, np.maximum(last, self.close)), self.threshold)


def that_matter(near: Nearest, wanted: Wanted, bars: NDArray[np.float64] | None) -> Nearest:
    """Return who of those alike to one matters to it, or, by its bar, is mattered to."""
    if len(near.slots) <= wanted.first:
        return near
    least = wanted.least(_ranked(near.cosines, wanted.most))
    matter = near.cosines >= (least if bars is None else np.minimum(least, bars)) - _HAIR
    return Nearest(near.slots[matter], near.cosines[matter])


def alike_each(
    vectors: Vectors,
    queries: NDArray[np.int8],
    slots: NDArray[np.int64],
    wanted: Wanted,
    bars: NDArray[np.float64] | None,
    *,
    forms: Forms | None = None,
) -> list[Nearest]:
    """Return for each of some vectors who of these slots, in ascending order, matters.

    `bars` say for each slot from which cosine on a pair matters to it; without them none does.
    With the `forms` of all slots, only who may matter by them is looked at.
    """
    search = _Search(vectors, queries, wanted, forms)
    first = 0 if forms is not None and len(queries) <= _FEW else 2 * wanted.most
    for some in _tiles(len(slots), len(queries), first):
        search.look(slots[some], None if bars is None else bars[some])
    return search.found()


def _tiles(count: int, queries: int, first: int) -> Iterator[slice]:
    """Yield parts of so many rows, small ones `first`, after which little of the rest matters."""
    most = _CELLS // max(1, queries)
    if first:
        most = min(_MOST_ROWS, max(_LEAST_ROWS, most))
    start, length = 0, first or most
    while start < count:
        yield slice(start, start + length)
        start, length = start + length, min(2 * length, most)


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Who looks at whom, by numbers, and how alike the two are."""

    who: NDArray[np.int64]
    at: NDArray[np.int64]
    cosines: NDArray[np.float64]


class _Room:
    """Where numbers about many pairs lie, for one part after the other.

    Room that is asked for anew each time has to be cleared each time, which takes longer than what
    is done in it.
    """

    def __init__(self, queries: int, dimension: int) -> None:
        self._queries, self._dimension = queries, dimension
        self._numbers: dict[str, NDArray[np.float32]] = {}
        self._answers = np.empty((2, 0, queries), dtype=np.bool_)

    def products(self, count: int) -> NDArray[np.float32]:
        """Return room for a number for each of so many rows and each that looks around."""
        return self._rows("products", count, self._queries)

    def limits(self, count: int) -> NDArray[np.float32]:
        """Return room for as many again."""
        return self._rows("limits", count, self._queries)

    def vectors(self, count: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return room for both vectors of so many pairs."""
        return (
            self._rows("theirs", count, self._dimension),
            self._rows("own", count, self._dimension),
        )

    def answers(self, count: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return room for two answers about each of so many rows and each that looks around."""
        if count > self._answers.shape[1]:
            self._answers = np.empty((2, count, self._queries), dtype=np.bool_)
        return self._answers[0, :count], self._answers[1, :count]

    def _rows(self, name: str, count: int, width: int) -> NDArray[np.float32]:
        room = self._numbers.get(name)
        if room is None or count > len(room):
            room = self._numbers[name] = np.empty((count, width), dtype=np.float32)
        return room[:count]


class _Search:
    """What a batch has found so far, and how close another must be to be looked at."""

    def __init__(
        self, vectors: Vectors, queries: NDArray[np.int8], wanted: Wanted, forms: Forms | None
    ) -> None:
        self._vectors = vectors
        self._wanted = wanted
        self._queries = queries.astype(np.float32)
        self._squares = squared_norms(queries).astype(np.float64)
        # Who points nowhere is like nobody: its products are 0, and its limits are not.
        self._lengths = np.sqrt(np.maximum(self._squares, 1.0)).astype(np.float32)
        self._signs = pack_signs(queries).T
        self._most_changes = most_sign_changes(queries.shape[1], wanted.threshold)
        self._ranked = np.zeros((len(queries), wanted.most))
        self._least = np.full(len(queries), wanted.threshold)
        self._parts: list[tuple[_Pairs, NDArray[np.float64]]] = []
        self._waiting: list[_Pairs] = []
        self._forms = forms
        self._room = _Room(len(queries), queries.shape[1])
        if forms is not None:
            self._own_forms = np.ascontiguousarray(forms.of(self._queries, self._squares).T)

    def look(self, slots: NDArray[np.int64], bars: NDArray[np.float64] | None) -> None:
        """Look at some slots, and keep the pairs that matter."""
        if self._forms is None:
            pairs = self._among_all(slots, bars)
        else:
            pairs = self._by_forms(self._forms, slots, bars)
        least = self._least[pairs.who]
        if bars is not None:
            least = np.minimum(least, bars[pairs.at])
        matter = self._alike(pairs, slots, at_least=least - _HAIR)
        if len(matter.who):
            theirs = np.full(len(matter.at), np.inf) if bars is None else bars[matter.at]
            self._parts.append((_Pairs(matter.who, slots[matter.at], matter.cosines), theirs))
            self._waiting.append(matter)
            if sum(len(one.who) for one in self._waiting) >= _WORTH_RAISING * len(self._least):
                self._raise_least()

    def found(self) -> list[Nearest]:
        """Return what each has found, the slots in ascending order."""
        if not self._parts:
            nobody = Nearest(np.empty(0, np.int64), np.empty(0, np.float64))
            return [nobody] * len(self._squares)
        # What mattered early on may matter no longer.
        self._raise_least()
        pairs = _joined([self._still(*part) for part in self._parts])
        who, slots, cosines = pairs.who, pairs.at, pairs.cosines
        order = np.lexsort((slots, who))
        bounds = np.searchsorted(who[order], np.arange(len(self._squares) + 1))
        return [
            Nearest(slots[order[first:end]], cosines[order[first:end]])
            for first, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ]

    def _still(self, pairs: _Pairs, bars: NDArray[np.float64]) -> _Pairs:
        """Return the pairs that matter, now that all were looked at."""
        matter = pairs.cosines >= np.minimum(self._least[pairs.who], bars) - _HAIR
        return _Pairs(pairs.who[matter], pairs.at[matter], pairs.cosines[matter])

    def _among_all(self, slots: NDArray[np.int64], bars: NDArray[np.float64] | None) -> _Pairs:
        """Compare all with all, and return the pairs that may matter."""
        parts = []
        for start in range(0, len(slots), _MOST_ROWS):
            some = slice(start, start + _MOST_ROWS)
            squares = self._vectors.squares(slots[some])
            dots = self._room.products(len(squares))
            np.matmul(self._vectors.wide(slots[some]), self._queries.T, out=dots)
            found = self._reaching(dots, np.sqrt(squares), None if bars is None else bars[some])
            at, who = np.divmod(found, len(self._least))
            parts.append(self._pairs(who, at, dots.reshape(-1)[found], squares[at], start))
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _by_forms(
        self, forms: Forms, slots: NDArray[np.int64], bars: NDArray[np.float64] | None
    ) -> _Pairs:
        """Compare those whose forms do not rule out that they matter."""
        most = self._most_alike(forms, slots)
        if len(self._least) <= _FEW:
            self._look_at_the_closest(most, slots)
        may = self._not_ruled_out(most, bars)
        at, who = np.divmod(np.flatnonzero(may), len(self._least))
        if len(who) * _ONE > may.size + len(slots) * _WIDE:
            return self._among_all(slots, bars)
        return self._compared(who, at, slots)

    def _most_alike(self, forms: Forms, slots: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return how alike slots can be to each at most; good until the next part."""
        first, last = int(slots[0]), int(slots[-1])
        if last - first >= 2 * len(slots):
            return forms.rows[slots] @ self._own_forms
        # What lies between is multiplied too: that costs less than to leave it out.
        count = last - first + 1
        products = self._room.products(count)
        np.matmul(forms.rows[first : last + 1], self._own_forms, out=products)
        if count == len(slots):
            return products
        chosen = self._room.limits(len(slots))
        return np.take(products, slots - first, axis=0, out=chosen, mode="clip")

    def _not_ruled_out(
        self, most: NDArray[np.float32], bars: NDArray[np.float64] | None
    ) -> NDArray[np.bool_]:
        """Return which pairs may matter to either of the two; good until the next part."""
        may, to_them = self._room.answers(len(most))
        np.greater_equal(most, (self._least - SLACK).astype(np.float32), out=may)
        if bars is not None:
            theirs = (np.maximum(bars, self._wanted.threshold) - SLACK).astype(np.float32)
            np.greater_equal(most, theirs[:, np.newaxis], out=to_them)
            may |= to_them
        return may

    def _look_at_the_closest(self, most: NDArray[np.float32], slots: NDArray[np.int64]) -> None:
        """Look at those who may be closest by their forms: few others are as close as they are.

        They are looked at again with all others; here they only say how close that is.
        """
        count = min(2 * self._wanted.most, len(most))
        near = [np.flatnonzero(one >= kth_largest(one, count))[: 2 * count] for one in most.T]
        who = np.repeat(np.arange(len(near)), [len(one) for one in near])
        pairs = self._compared(who, np.concatenate(near), slots)
        alike = self._alike(pairs, slots, at_least=np.zeros(len(who)))
        for number in range(len(near)):
            own = np.append(self._ranked[number], alike.cosines[alike.who == number])
            least = self._wanted.least(_ranked(own, self._wanted.most))
            self._least[number] = max(self._least[number], float(least[0]))

    def _compared(
        self, who: NDArray[np.int64], at: NDArray[np.int64], slots: NDArray[np.int64]
    ) -> _Pairs:
        dots = np.empty(len(who), dtype=np.float32)
        for start in range(0, len(who), _PAIRS):
            some = slice(start, start + _PAIRS)
            theirs, own = self._room.vectors(len(dots[some]))
            theirs[...] = self._vectors.rows(slots[at[some]])
            np.take(self._queries, who[some], axis=0, out=own, mode="clip")
            np.einsum("ij,ij->i", theirs, own, out=dots[some])
        return self._pairs(who, at, dots, self._vectors.squares(slots[at]))

    def _pairs(
        self,
        who: NDArray[np.int64],
        at: NDArray[np.int64],
        dots: NDArray[np.float32],
        squares: NDArray[np.float32],
        first: int = 0,
    ) -> _Pairs:
        lengths = np.sqrt(squares.astype(np.float64) * self._squares[who])
        cosines = np.divide(dots, lengths, out=np.zeros(len(who)), where=lengths > 0)
        return _Pairs(who, at + first, cosines)

    def _alike(
        self, pairs: _Pairs, slots: NDArray[np.int64], *, at_least: NDArray[np.float64]
    ) -> _Pairs:
        """Return those pairs that are alike, and at least so much."""
        close = np.flatnonzero(pairs.cosines >= np.maximum(at_least, self._wanted.threshold))
        signs = self._signs[:, pairs.who[close]]
        changes = self._vectors.sign_changes(slots[pairs.at[close]], signs)
        alike = close[changes <= self._most_changes]
        return _Pairs(pairs.who[alike], pairs.at[alike], pairs.cosines[alike])

    def _reaching(
        self,
        dots: NDArray[np.float32],
        lengths: NDArray[np.float32],
        bars: NDArray[np.float64] | None,
    ) -> NDArray[np.int64]:
        """Return which products are such that a pair may matter, counted row by row."""
        limits, (may, to_them) = self._room.limits(len(dots)), self._room.answers(len(dots))
        own = (self._least * self._lengths * _LOOSE).astype(np.float32)
        np.greater_equal(dots, np.multiply.outer(lengths, own, out=limits), out=may)
        if bars is not None:
            theirs = np.maximum(bars, self._wanted.threshold) * lengths * _LOOSE
            np.multiply.outer(theirs.astype(np.float32), self._lengths, out=limits)
            np.greater_equal(dots, limits, out=to_them)
            may |= to_them
        return np.flatnonzero(may)

    def _raise_least(self) -> None:
        """Look only at who is closer than the most alike so far."""
        if not self._waiting:
            return
        pairs, self._waiting = _joined(self._waiting), []
        who, cosines = pairs.who, pairs.cosines
        # One number for both, whoever looks and then the closest first, is sorted in a tenth of the
        # time; what it rounds away is less than a hair.
        order = np.argsort(who - cosines)
        who, cosines = who[order], cosines[order]
        starts = np.flatnonzero(np.diff(who, prepend=-1))
        looking, counts = who[starts], np.diff(starts, append=len(who))
        group = np.repeat(np.arange(len(starts)), counts)
        places = np.arange(len(who)) - starts[group]
        most = self._wanted.most
        kept = places < most
        both = np.zeros((len(looking), 2 * most))
        both[:, :most] = self._ranked[looking]
        both[group[kept], most + places[kept]] = cosines[kept]
        both.sort(axis=1)
        self._ranked[looking] = both[:, most:]
        self._least[looking] = self._wanted.least(both[:, most:])


def _ranked(cosines: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Return the most alike as a row, the closest last, and 0 for whom it lacks."""
    ranked = np.zeros((1, most))
    best = np.sort(cosines)[-most:]
    ranked[0, most - len(best) :] = best
    return ranked


def _joined(parts: Sequence[_Pairs]) -> _Pairs:
    return _Pairs(
        np.concatenate([one.who for one in parts]),
        np.concatenate([one.at for one in parts]),
        np.concatenate([one.cosines for one in parts]),
    )
