"""Dictionaries whose changes can be taken back.

In: keys and rows. Out: the same. Every change is noted with the `UndoLog` that all tables of a
store share, so that a commit which fails leaves each of them as it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeAlias, TypeVar

from recollect.stores.memory.undo import UndoLog

__all__ = ["Pair", "PairTable", "Table"]

Key = TypeVar("Key", bound=Hashable)
Row = TypeVar("Row")
Pair: TypeAlias = tuple[int, int]


class Table(Generic[Key, Row]):
    """Rows by key."""

    def __init__(self, undo: UndoLog) -> None:
        self._undo = undo
        self._rows: dict[Key, Row] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._rows)

    def __getitem__(self, key: Key) -> Row:
        return self._rows[key]

    def get(self, key: Key) -> Row | None:
        """Return the row with this key, if there is one."""
        return self._rows.get(key)

    def rows(self) -> Iterable[Row]:
        """Return all rows, in no order."""
        return self._rows.values()

    def put(self, key: Key, row: Row) -> None:
        """Keep a row, in the place of the one with its key."""
        if key in self._rows:
            before = self._rows[key]
            self._undo.note(lambda: self._set(key, before))
        else:
            self._undo.note(lambda: self._unset(key))
        self._set(key, row)

    def drop(self, key: Key) -> bool:
        """Let go of a row; return whether there was one."""
        if key not in self._rows:
            return False
        before = self._rows[key]
        self._undo.note(lambda: self._set(key, before))
        self._unset(key)
        return True

    def _set(self, key: Key, row: Row) -> None:
        self._rows[key] = row

    def _unset(self, key: Key) -> None:
        self._rows.pop(key, None)


class PairTable(Table[Pair, Row]):
    """Rows by two row ids, found from both of their ends."""

    def __init__(self, undo: UndoLog) -> None:
        super().__init__(undo)
        self._at: defaultdict[int, set[Pair]] = defaultdict(set)

    def at(self, row_ids: Iterable[int]) -> list[Pair]:
        """Return the keys that hold any of these row ids, in ascending order."""
        return sorted(set().union(*(self._at[row_id] for row_id in row_ids if row_id in self._at)))

    def drop_at(self, row_ids: Iterable[int]) -> None:
        """Let go of all rows whose key holds any of these row ids."""
        for key in self.at(row_ids):
            self.drop(key)

    def _set(self, key: Pair, row: Row) -> None:
        super()._set(key, row)
        for end in key:
            self._at[end].add(key)

    def _unset(self, key: Pair) -> None:
        super()._unset(key)
        for end in key:
            self._at[end].discard(key)
