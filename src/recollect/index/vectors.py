"""Vectors as small integers: exact cosines, and the nearest of many by sign bits first.

Products of the integers stay below 2**24, so float32 holds them exactly, whatever the order of
summation; a cosine is that integer over the root of two integers. Rows without a vector, or with
a zero one, are nobody's neighbour.
"""

from __future__ import annotations

from copy import copy
from math import acos, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embed.quantise import pack_signs, squared_norms
from recollect.errors import InvalidInput
from recollect.index.arrays import grow, kth_largest
from recollect.index.selection import Selection
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from recollect.index.short_forms import ShortForms

__all__ = ["Nearest", "Vectors", "most_sign_changes"]

# Up to this many rows, exact products with all of them cost less than choosing a pool first.
_EXACT_UP_TO = 4096
# Sign bits take an eighth of the bytes and rank nearly as cosines do. The pool is wide because a
# few bits more or less are noise, and what it leaves out no exact comparison brings back.
_POOL_SHARE, _LEAST_POOL, _MOST_POOL = 25, 2000, 16000
# Sizes that keep the working set of a pass inside the processor's cache.
_EXACT_BLOCK = 1024
_SIGN_BLOCK = 16384
# So many distances tell nearly where a share of all of them lies: so many steps beside it are
# looked at before the search halves what is left.
_SAMPLE, _NEAR = 2048, 4
# Rows of small selections that are held as float32: 4 MB at 256 dimensions. A selection takes room
# even if it is empty.
_MOST_READY, _LEAST_ROOM = 4096, 256
_ONE_THREAD = 1 << 18
# By how many standard deviations signs may differ more than a cosine lets expect: what is alike is
# missed once in 30,000 times at the threshold itself, and hardly ever above it.
_DEVIATIONS = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """Slots, ascending, and the cosine of each."""

    slots: NDArray[np.int64]
    cosines: NDArray[np.float64]


_NOBODY = Nearest(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class _ReadyRows:
    """The vectors of a selection as float32, and their squared lengths.

    The vectors are in strips too small for BLAS to wake its threads: those keep another core busy
    for twenty times as long as the product takes.
    """

    strips: tuple[NDArray[np.float32], ...]
    squares: NDArray[np.float32]


def _octets(vector: NDArray[np.int8] | bytes | None, blank: bytes) -> bytes:
    return blank if vector is None else bytes(vector)


class Vectors:
    """One int8 vector for each slot, its squared length (0: none) and its sign bits.

    A vector is never altered: a memory that gets another one moves to another slot.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._size = 0
        # Integers: the float32 products of two rows are then exact, so that a cosine is the same
        # alone or among millions, on any number of threads, on any machine.
        self._matrix: NDArray[np.int8] = np.empty((0, dimension), dtype=np.int8)
        self._squares: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        # One row for each 64 dimensions, so that a pass over the slots is over adjoining words.
        self._signs: NDArray[np.uint64] = np.empty((-(-dimension // 64), 0), dtype=np.uint64)
        self._last_reachable: tuple[Selection, Selection] | None = None
        self._ready: dict[Selection, _ReadyRows] = {}
        self._short_forms: ShortForms | None = None
        # Slots without a vector, dead ones included; found when they are first asked for.
        self._blank: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """Slots in use, dead ones and those without a vector included."""
        return self._size

    @property
    def short_forms(self) -> ShortForms:
        """The short forms of these, and of all that follow: what is in a slot stays there."""
        if self._short_forms is None:
            # Who only asks needs none.
            from recollect.index.short_forms import ShortForms

            self._short_forms = ShortForms()
        return self._short_forms

    def check(self, vector: NDArray[Any]) -> None:
        """Raise unless this is a vector the index can hold."""
        if vector.shape != (self.dimension,) or vector.dtype != np.int8:
            raise InvalidInput(
                f"a vector of {self.dimension} int8 numbers is needed, "
                f"not {vector.dtype} of shape {vector.shape}.",
                hint="pass what recollect.embed.quantise gives for this store's model.",
            )

    def successor(self) -> Vectors:
        """Return vectors to extend in the place of these, which stay as they are."""
        successor = copy(self)
        successor._last_reachable, successor._ready = None, {}
        return successor

    def keep_ready(self, before: Vectors, carried: Mapping[Selection, Selection]) -> None:
        """Hold ready what was, of selections that were carried over from the vectors before."""
        held = ((now, before._ready.get(one)) for one, now in carried.items())
        self._ready = {now: ready for now, ready in held if ready is not None}

    def check_each(self, vectors: Sequence[NDArray[np.int8] | bytes | None]) -> None:
        """Raise unless the index can hold all of these; None where there is none yet."""
        for vector in vectors:
            if isinstance(vector, bytes) and len(vector) == self.dimension:
                continue
            if vector is not None:
                self.check(np.frombuffer(vector, np.int8) if isinstance(vector, bytes) else vector)

    def extend(self, vectors: Sequence[NDArray[np.int8] | bytes | None]) -> None:
        """Append vectors, or their bytes; None where there is none yet."""
        self.make_room(len(vectors))
        first, self._size = self._size, self._size + len(vectors)
        blank = bytes(self.dimension)
        for start in range(0, len(vectors), _EXACT_BLOCK):
            some = vectors[start : start + _EXACT_BLOCK]
            octets = [one if type(one) is bytes else _octets(one, blank) for one in some]
            rows = np.frombuffer(b"".join(octets), dtype=np.int8)
            self._put(first + start, rows.reshape(len(some), self.dimension))

    def holds(self, slot: int, vector: NDArray[np.int8] | None) -> bool:
        """Return whether this is the vector in a slot."""
        held = self._matrix[slot]
        return not held.any() if vector is None else np.array_equal(held, vector)

    def any_inside(self, selection: Selection) -> bool:
        """Return whether any selected slot has a vector that points anywhere."""
        return self._with_vectors(selection).count > 0

    def has_vector(self, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the slots have a vector that points anywhere."""
        return self._squares[slots] > 0

    def cosines(self, query: NDArray[np.int8], slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosine of each slot; 0 where there is no vector."""
        self.check(query)
        wide = query.astype(np.float32)
        dots = np.empty(len(slots), dtype=np.float32)
        for start in range(0, len(slots), _EXACT_BLOCK):
            block = self.wide(slots[start : start + _EXACT_BLOCK])
            dots[start : start + _EXACT_BLOCK] = block @ wide
        return _over_lengths(dots, self._squares[slots], float(wide @ wide))

    def cosines_inside(self, query: NDArray[np.int8], selection: Selection) -> NDArray[np.float64]:
        """Return the exact cosine of each selected slot; few enough are held ready for the next."""
        if selection.count > _MOST_READY:
            return self.cosines(query, selection.slots)
        self.check(query)
        wide = query.astype(np.float32)
        ready = self._ready.get(selection) or self._make_ready(selection)
        dots = np.concatenate([strip @ wide for strip in ready.strips])
        return _over_lengths(dots, ready.squares, float(wide @ wide))

    def rows(self, slots: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the vectors of some slots."""
        return self._matrix[slots]

    def wide(self, slots: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of some slots, ready for products."""
        first = int(slots[0]) if len(slots) else 0
        if len(slots) and int(slots[-1]) - first + 1 == len(slots) and _is_run(slots):
            # Side by side: they need not be gathered first.
            return self._matrix[first : first + len(slots)].astype(np.float32)
        return self._matrix.take(slots, axis=0).astype(np.float32)

    def squares(self, slots: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the squared lengths of some slots; 0 where there is no vector."""
        return self._squares[slots]

    def sign_changes(
        self, slots: NDArray[np.int64], signs: NDArray[np.uint64]
    ) -> NDArray[np.uint16]:
        """Return in how many signs each slot differs from its own column of signs."""
        changed = np.bitwise_count(self._signs.take(slots, axis=1) ^ signs)
        changes: NDArray[np.uint16] = np.add.reduce(changed, axis=0, dtype=np.uint16)
        return changes

    def cosines_between(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosine of each of these slots to each; 0 where there is no vector."""
        wide = self._matrix.take(slots, axis=0).astype(np.float32)
        squares = self._squares[slots].astype(np.float64)
        lengths = np.sqrt(squares[:, np.newaxis] * squares)
        dots = np.empty(lengths.shape, dtype=np.float32)
        # In strips too small for BLAS to wake its threads, which takes longer than the product.
        strip = max(1, _ONE_THREAD // max(1, wide.size))
        for start in range(0, len(slots), strip):
            np.matmul(wide[start : start + strip], wide.T, out=dots[start : start + strip])
        return np.divide(dots, lengths, out=np.zeros(lengths.shape), where=lengths > 0)

    def nearest(self, query: NDArray[np.int8], selection: Selection, keep: int) -> Nearest:
        """Return the `keep` slots of largest cosine, and every slot that ties with the last.

        Among many rows the exact comparison is between those whose signs differ least, and some of
        the nearest may not be among them (ADR-0051).
        """
        self.check(query)
        reachable = self._with_vectors(selection)
        if keep < 1 or not reachable.count or not query.any():
            return _NOBODY
        slots = reachable.slots
        if reachable.count > _EXACT_UP_TO:
            slots = self._least_sign_changes(query, reachable, keep)
        cosines = self.cosines(query, slots)
        if len(slots) > keep:
            best = cosines >= kth_largest(cosines, keep)
            slots, cosines = slots[best], cosines[best]
        return Nearest(slots, cosines)

    def alike(self, query: NDArray[np.int8], selection: Selection, threshold: float) -> Nearest:
        """Return the slots of at least this cosine whose signs say so too: `most_sign_changes`.

        Whether two vectors are alike depends on these two alone, and is the same from both sides.
        """
        self.check(query)
        reachable = self._with_vectors(selection)
        if not reachable.count or not query.any():
            return _NOBODY
        most = most_sign_changes(self.dimension, threshold)
        slots = reachable.slots
        if most < self.dimension:
            # A bound on two rows and not the best of many: a pool would make it depend on who
            # else is there whether two memories are linked.
            slots = self._within_signs(query, reachable, lambda _: most)
        cosines = self.cosines(query, slots)
        enough = cosines >= threshold
        return Nearest(slots[enough], cosines[enough])

    def compact(self, kept: NDArray[np.int64]) -> None:
        """Keep these slots only."""
        self._matrix = self._matrix[kept]
        self._squares = self._squares[kept]
        self._signs = np.ascontiguousarray(self._signs[:, kept])
        self._size, self._last_reachable, self._ready = len(kept), None, {}
        self._short_forms = self._blank = None

    def export(self) -> dict[str, NDArray[Any]]:
        """Return what cannot be computed again quickly."""
        return {
            "matrix": self._matrix[: self._size],
            "squares": self._squares[: self._size],
            "signs": np.ascontiguousarray(self._signs[:, : self._size]),
        }

    @classmethod
    def restore(
        cls,
        matrix: NDArray[np.int8],
        squares: NDArray[np.float32],
        signs: NDArray[np.uint64],
    ) -> Vectors:
        """Return the vectors that were exported."""
        vectors = cls(matrix.shape[1])
        vectors._matrix, vectors._squares, vectors._signs = matrix, squares, signs
        vectors._size = len(matrix)
        return vectors

    def make_room(self, count: int) -> None:
        """Have room for so many more vectors."""
        used, needed = self._size, self._size + count
        self._squares = grow(self._squares, used, needed)
        self._signs = grow(self._signs, used, needed)
        if len(self._matrix) < len(self._squares):
            larger = np.empty((len(self._squares), self.dimension), dtype=np.int8)
            larger[:used] = self._matrix[:used]
            self._matrix = larger

    def _put(self, first: int, rows: NDArray[np.int8]) -> None:
        some = slice(first, first + len(rows))
        self._matrix[some] = rows
        self._squares[some] = squared_norms(rows)
        if self._blank is not None:
            self._blank = np.concatenate([self._blank, _where_zero(self._squares[some]) + first])
        if self.dimension:
            self._signs[:, some] = pack_signs(rows).T

    def _make_ready(self, selection: Selection) -> _ReadyRows:
        """Make a small selection ready for products, and let go of others when there are many."""
        others = [*self._ready]  # at once: another thread may be adding one
        rows_held = sum(max(one.count, _LEAST_ROOM) for one in others)
        if rows_held + selection.count > _MOST_READY:
            self._ready = {}
        rows = self._matrix.take(selection.slots, axis=0).astype(np.float32)
        length = max(1, _ONE_THREAD // max(1, self.dimension))
        starts = range(0, max(1, len(rows)), length)
        strips = tuple(rows[start : start + length] for start in starts)
        held = self._ready[selection] = _ReadyRows(strips, self._squares[selection.slots])
        return held

    def _with_vectors(self, selection: Selection) -> Selection:
        last = self._last_reachable
        if last is None or last[0] is not selection:
            last = self._last_reachable = (selection, self._narrowed(selection))
        return last[1]

    def _narrowed(self, selection: Selection) -> Selection:
        blank = self._blank
        if blank is None:
            blank = self._blank = _where_zero(self._squares[: self._size])
        if len(blank) < selection.count:
            without = blank[selection.mask[blank]]
        else:
            without = selection.slots[self._squares[selection.slots] == 0]
        if not len(without):
            return selection
        mask = selection.mask.copy()
        mask[without] = False
        count = selection.count - len(without)
        return Selection(mask, count, is_all=False, generation=selection.generation)

    def _least_sign_changes(
        self, query: NDArray[np.int8], reachable: Selection, keep: int
    ) -> NDArray[np.int64]:
        pool = min(max(reachable.count // _POOL_SHARE, _LEAST_POOL), _MOST_POOL)
        return self._within_signs(query, reachable, lambda found: self._cut(found, max(pool, keep)))

    def _within_signs(
        self,
        query: NDArray[np.int8],
        reachable: Selection,
        most: Callable[[NDArray[np.uint16]], int],
    ) -> NDArray[np.int64]:
        """Return the slots that differ in no more signs than `most` makes of all differences."""
        word_bits = pack_signs(query[np.newaxis])[0]
        # Reading every row in order is faster than gathering a third of them.
        if reachable.count * 3 >= self._size:
            distances = self._sign_changes(word_bits, None, self._size)
            if not reachable.is_solid:
                distances[~reachable.mask] = self.dimension + 1
            return np.flatnonzero(distances <= most(distances))
        slots = reachable.slots
        distances = self._sign_changes(word_bits, slots, len(slots))
        return slots[distances <= most(distances)]

    def _cut(self, distances: NDArray[np.uint16], pool: int) -> int:
        """Return the distance within which the pool lies, ties and all."""
        # Some of them nearly say it, and to count up to a few distances is sooner done than to
        # count each of them.
        some = np.sort(distances[:: max(1, len(distances) // _SAMPLE)])
        guess = int(some[min(pool * len(some) // len(distances), len(some) - 1)])
        low, high, steps = 0, self.dimension, 0
        while low < high:
            probe = min(max(guess, low), high - 1) if steps < _NEAR else (low + high) // 2
            if np.count_nonzero(distances <= probe) >= pool:
                high, guess = probe, probe - 1
            else:
                low = guess = probe + 1
            steps += 1
        return low

    def _sign_changes(
        self, query: NDArray[np.uint64], slots: NDArray[np.int64] | None, count: int
    ) -> NDArray[np.uint16]:
        """Return in how many signs each slot differs; of all slots where none are given."""
        distances = np.empty(count, dtype=np.uint16)
        changed = np.empty((len(query), min(count, _SIGN_BLOCK)), dtype=np.uint64)
        bits = np.empty(changed.shape, dtype=np.uint8)
        for start in range(0, count, _SIGN_BLOCK):
            block = distances[start : start + _SIGN_BLOCK]
            some, width = slice(start, start + len(block)), len(block)
            signs = self._signs
            theirs = signs[:, some] if slots is None else signs.take(slots[some], axis=1)
            np.bitwise_xor(theirs, query[:, np.newaxis], out=changed[:, :width])
            np.bitwise_count(changed[:, :width], out=bits[:, :width])
            np.add.reduce(bits[:, :width], axis=0, dtype=np.uint16, out=block)
        return distances


def _where_zero(squares: NDArray[np.float32]) -> NDArray[np.int64]:
    return np.flatnonzero(squares == 0)


def _is_run(slots: NDArray[np.int64]) -> bool:
    return bool((slots[1:] - slots[:-1] == 1).all())


def most_sign_changes(dimension: int, cosine: float) -> int:
    """Return in how many signs two vectors of this cosine may differ before it is no longer chance.

    Each sign differs as often as the angle is a part of the half circle.
    """
    share = acos(cosine) / pi
    spread = sqrt(dimension * share * (1.0 - share))
    return min(int(dimension * share + _DEVIATIONS * spread), dimension)


def _over_lengths(
    dots: NDArray[np.float32],
    theirs: NDArray[np.float32],
    ours: float,
) -> NDArray[np.float64]:
    """Divide products by both lengths; the product of two squares is exact, so one rounding."""
    lengths = np.sqrt(theirs.astype(np.float64) * ours)
    if lengths.all():
        return dots / lengths
    return np.divide(dots, lengths, out=np.zeros(len(dots)), where=lengths > 0)
