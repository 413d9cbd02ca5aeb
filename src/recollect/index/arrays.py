"""Small works on arrays: growth, sets of numbers, the cut that keeps the best with their ties.

numpy has the sets too, but asks first whether an array is masked, and loads 10 ms of code for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = [
    "Growing",
    "distinct",
    "exclude",
    "grow",
    "is_in",
    "kth_largest",
    "narrow",
    "ranges",
    "side_by_side",
]

Scalar = TypeVar("Scalar", bound=np.generic)

# Where an array of whatever type may begin.
_ALIGNED = 16
_GROWTH = 1.25
_SPARE = 64
# For each value that is kept, so many groups; with fewer values a group it is not worth it.
_GROUPS, _LEAST_GROUP = 4, 4
# So few values are soonest partitioned as they are.
_FEW_VALUES = 2048
# Below this, 32 bits hold a number and some more that is added to it.
_NARROW = 1 << 30


def grow(array: NDArray[Scalar], used: int, needed: int, *, fill: Any = None) -> NDArray[Scalar]:
    """Return an array whose last axis holds `needed`, with the first `used` carried over.

    The same array when there is room. Growth is by a quarter: memory matters more than copies.
    """
    capacity = array.shape[-1]
    if needed <= capacity:
        return array
    shape = (*array.shape[:-1], max(needed, int(capacity * _GROWTH) + _SPARE))
    larger = np.empty(shape, dtype=array.dtype)
    larger[..., :used] = array[..., :used]
    if fill is not None:
        larger[..., used:] = fill
    return larger


class Growing(Generic[Scalar]):
    """An array to which more is added at its end, and of which each holder sees its own part.

    What follows a given beginning must be the same whoever adds it: all who go on from that share
    the room behind it, and two who add at once write the same.
    """

    __slots__ = ("_held", "_size")

    def __init__(self, held: NDArray[Scalar], size: int | None = None) -> None:
        self._held, self._size = held, len(held) if size is None else size

    @property
    def seen(self) -> NDArray[Scalar]:
        """What there was when this one was made."""
        return self._held[: self._size]

    def then(self, later: NDArray[Scalar]) -> Growing[Scalar]:
        """Return this array with more behind it."""
        size = self._size + len(later)
        held = grow(self._held, self._size, size)
        held[self._size : size] = later
        return Growing(held, size)


def narrow(bounds: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return numbers that ascend from 0 in half the room, if they are small enough for it."""
    return bounds.astype(np.int32) if bounds[-1] < _NARROW else bounds


def kth_largest(values: NDArray[Any], keep: int) -> Any:
    """Return the `keep`-th largest value; `keep` from 1 to the number of values.

    As many groups have a maximum of at least the bound as we keep values, so everything below
    the bound can be left out before the costly partition.
    """
    size = len(values) // (_GROUPS * keep)
    if size >= _LEAST_GROUP and len(values) > _FEW_VALUES:
        # Neighbours in different groups: so a maximum over groups is one over whole rows.
        peaks = values[: len(values) // size * size].reshape(size, -1).max(axis=0)
        bound = np.partition(peaks, len(peaks) - keep)[len(peaks) - keep]
        values = values[values >= bound]
    return np.partition(values, len(values) - keep)[len(values) - keep]


def ranges(starts: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the positions of many ranges, one range after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    positions: NDArray[np.int64] = np.arange(total) + np.repeat(starts - ends + counts, counts)
    return positions


def distinct(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the values in ascending order, each once."""
    ordered = np.sort(values)
    if len(ordered) < 2:
        return ordered
    is_first = np.empty(len(ordered), dtype=np.bool_)
    is_first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def exclude(values: NDArray[Scalar], others: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the values that are not among the others, in the order they came."""
    return values[~is_in(values, others)]


def is_in(values: NDArray[Scalar], others: NDArray[Scalar]) -> NDArray[np.bool_]:
    """Return which of the values are among the others."""
    if not len(values) or not len(others):
        return np.zeros(len(values), dtype=np.bool_)
    ordered = np.sort(others)
    found: NDArray[np.bool_] = ordered.take(ordered.searchsorted(values), mode="clip") == values
    return found


def side_by_side(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return copies of arrays in one piece of memory, with no room for more.

    Fifty small pieces of each of many stores would leave gaps that nobody can use.
    """
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    rooms = [array.nbytes + -array.nbytes % _ALIGNED for array in whole.values()]
    piece, start = np.zeros(sum(rooms), np.uint8), 0
    copies: dict[str, NDArray[Any]] = {}
    for (name, array), room in zip(whole.items(), rooms, strict=True):
        part = piece[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        part[...] = array
        copies[name], start = part, start + room
    return copies
