"""Names (terms, tags) to small numbers, given in order of arrival, and back.

A name comes in, its number goes out, and the other way round. Names that came from a file stay in
the file's pages: finding one of 50,000 takes some microseconds, making a dictionary of all 9 ms.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.index.arrays import distinct, ranges
from recollect.index.strings import Strings, sort_key_of, sort_keys_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set

    from numpy.typing import NDArray

__all__ = ["Names"]

# To read so many names for each that is asked for takes less time than to look for that one.
_WORTH_READING = 4
# So many names of so many characters are remembered that are not among the settled.
_MOST_STRANGE, _LONGEST_STRANGE = 1024, 64


class Names(dict[str, int]):
    """Numbers by name, as far as they were asked for; asking for a new name's gives it one."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__()
        # The names of the first numbers; those numbers in the order of the names; how these begin.
        self._settled = Strings()
        self._by_name: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._known_heads: NDArray[np.uint64] | None = None
        # Some that were looked for and are not among these: that stays so, whatever comes later.
        self._strange: set[str] = set()
        self._late = list(names)
        self._late_by_name: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.update(zip(self._late, range(len(self._late)), strict=True))

    def __missing__(self, name: str) -> int:
        number = self._among_settled(name)
        if number < 0:
            number = len(self._settled) + len(self._late)
            self._late.append(name)
        self[name] = number
        return number

    def numbers(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of many names, new ones in order of arrival."""
        if not len(self._by_name):
            late = [name for name in dict.fromkeys(names) if name not in self]
            first = len(self._late)
            self._late += late
            self.update(zip(late, range(first, first + len(late)), strict=True))
        return list(map(self.__getitem__, names))

    def mend(self) -> None:
        """Make whole again what an exception in the middle of new names' arrival left."""
        while self._late and self.get(self._late[-1]) != len(self._settled) + len(self._late) - 1:
            self._late.pop()
            self._late_by_name = np.empty(0, dtype=np.int64)

    def find(self, name: str) -> int:
        """Return a name's number; -1 if it has none."""
        if name in self:
            return self[name]
        number = -1 if name in self._strange else self._among_settled(name)
        if number >= 0:
            self[name] = number
        elif len(name) <= _LONGEST_STRANGE:
            # Replaced when it is full, not emptied: another thread may be looking.
            self._strange = self._strange if len(self._strange) < _MOST_STRANGE else set()
            self._strange.add(name)
        return number

    def known_of(self, names: Set[str]) -> dict[str, int]:
        """Return the numbers of those names that have one, in their order; most may have none."""
        near = self._settled_near([*names])
        if near is None:
            return {name: number for name in sorted(names) if (number := self.find(name)) >= 0}
        met = self.keys() & names
        return {
            name: near.get(name, self.get(name, -1)) for name in sorted(met | near.keys() & names)
        }

    def in_order(self) -> list[str]:
        """Return all names in the order of their numbers."""
        return [*self._settled.texts_at(range(len(self._settled))), *self._late]

    def starting_with(self, prefix: str) -> list[str]:
        """Return the names that start so, in order."""
        settled = self._settled.texts_at(self._settled_with(prefix).tolist())
        late = (self._late[place] for place in self._late_with(prefix).tolist())
        return sorted([*settled, *late])

    def numbers_starting_with(self, prefix: str) -> NDArray[np.int64]:
        """Return the numbers of the names that start so, ascending."""
        late = self._late_with(prefix) + len(self._settled)
        numbers = np.concatenate([self._settled_with(prefix), late])
        numbers.sort()
        return numbers

    def export(self) -> dict[str, NDArray[Any]]:
        """Return all names as arrays."""
        names = self.in_order()
        texts = Strings()
        texts.extend(names)
        by_name = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int32)
        heads = texts.sort_keys(by_name.astype(np.int64), 0)
        return {**texts.export(), "by_name": by_name, "heads": heads}

    @classmethod
    def restore(
        cls,
        blob: NDArray[np.uint8],
        bounds: NDArray[np.int64],
        by_name: NDArray[np.int32],
        heads: NDArray[np.uint64] | None = None,
    ) -> Names:
        """Return the names that were exported; how they begin can be found out again."""
        names = cls()
        names._settled, names._by_name = Strings.restore(blob, bounds), by_name
        names._known_heads = heads
        return names

    @property
    def _heads(self) -> NDArray[np.uint64]:
        if self._known_heads is None:
            self._known_heads = self._settled.sort_keys(self._by_name.astype(np.int64), 0)
        return self._known_heads

    def _place(self, name: str) -> int:
        """Return how many settled names come before a name; few begin with the same bytes."""
        head = sort_key_of(name)
        first = int(self._heads.searchsorted(head))
        last = int(self._heads.searchsorted(head, side="right"))
        return bisect_left(range(last), name, first, key=self._name_at)

    def _name_at(self, place: int) -> str:
        return self._settled.text_at(int(self._by_name[place]))

    def _among_settled(self, name: str) -> int:
        if not len(self._by_name):
            return -1
        place = self._place(name)
        found = place < len(self._by_name) and self._name_at(place) == name
        return int(self._by_name[place]) if found else -1

    def _settled_near(self, names: Sequence[str]) -> dict[str, int] | None:
        """Return the settled names that begin as any of these do; None if they are too many."""
        if not len(self._heads):
            return {}
        # In order, and each once: then one look is near the next in memory.
        heads = distinct(sort_keys_of(names))
        first = self._heads.searchsorted(heads)
        met = self._heads.take(first, mode="clip") == heads
        heads, first = heads[met], first[met]
        counts = self._heads.searchsorted(heads, side="right") - first
        if int(counts.sum()) > _WORTH_READING * len(names):
            return None
        numbers = self._by_name[ranges(first, counts)]
        return dict(zip(self._settled.texts_at(numbers), numbers.tolist(), strict=True))

    def _settled_with(self, prefix: str) -> NDArray[np.int64]:
        """Return the numbers of the settled names that start so, in the order of the names."""
        first = self._place(prefix)
        last = _end_of(prefix, first, len(self._by_name), self._name_at)
        return self._by_name[first:last].astype(np.int64)

    def _late_with(self, prefix: str) -> NDArray[np.int64]:
        """Return where among the late those stand that start so, in the order of the names."""
        order, late = self._late_by_name, self._late
        if len(order) < len(late):
            # What is in order already is merged with the rest in few steps.
            places = [*order.tolist(), *range(len(order), len(late))]
            order = self._late_by_name = np.array(sorted(places, key=late.__getitem__), np.int64)

        def name_at(place: int) -> str:
            return late[int(order[place])]

        first = bisect_left(range(len(order)), prefix, key=name_at)
        return order[first : _end_of(prefix, first, len(order), name_at)]


def _end_of(prefix: str, first: int, size: int, name_at: Callable[[int], str]) -> int:
    """Return where names stop to start so; they are in order, and from `first` on they do."""
    return bisect_left(
        range(size), True, first, key=lambda place: not name_at(place).startswith(prefix)
    )
