"""Many values in a file of their own, so that what passes by is not held in memory.

In: values, one after the other. Out: the same, in that order, as often as somebody walks over them.
A few are held, the rest waits in a temporary file that has no name and goes with the last who
refers to it; nobody else can have written what is read back. This room must not know any value.
"""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Collection, Iterable, Iterator
from io import SEEK_END
from tempfile import SpooledTemporaryFile
from typing import TypeVar

__all__ = ["Spool"]

Value = TypeVar("Value")

_HELD_BYTES = 2**18
# So many are written and read at a time.
_AT_ONCE = 64


class Spool(Collection[Value]):
    """Values that are walked over, never looked up."""

    def __init__(self, values: Iterable[Value] = ()) -> None:
        self._file = SpooledTemporaryFile(max_size=_HELD_BYTES)  # noqa: SIM115 - closed below
        weakref.finalize(self, self._file.close)
        self._latest: list[Value] = []
        self._count = 0
        for value in values:
            self.append(value)

    def append(self, value: Value) -> None:
        """Keep one more."""
        self._latest.append(value)
        self._count += 1
        if len(self._latest) == _AT_ONCE:
            self._file.seek(0, SEEK_END)
            pickle.dump(self._latest, self._file, pickle.HIGHEST_PROTOCOL)
            self._latest = []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Value]:
        place = 0
        for _ in range(self._count // _AT_ONCE):
            # Others may walk here too, each from where it was.
            self._file.seek(place)
            some: list[Value] = pickle.load(self._file)  # noqa: S301 - our own
            place = self._file.tell()
            yield from some
        yield from self._latest

    def __contains__(self, value: object) -> bool:
        return any(one == value for one in self)
