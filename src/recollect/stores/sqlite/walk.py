"""Every memory of a store as columns for an index, walked over in the order of their numbers.

In: a session that sees one state of the store. Out: columns, some hundred rows at a time. In most
fields all memories of a store say the same: whether a part says what the one before did is asked
of SQLite, which compares in less time than it takes to hand a value out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recollect.stores.sqlite import rows

if TYPE_CHECKING:
    from recollect.ports.memories import IndexColumns
    from recollect.stores.sqlite.session import Session

__all__ = ["Walk"]

# So many become columns while they are still at hand to the processor.
_PART = 500
_FIRST, _LAST = -(2**63), 2**63 - 1
# Crossed: memories are what is walked over, whatever SQLite thinks of the order.
_IN_ORDER = (
    " FROM memories CROSS JOIN paks USING (pak_id)"
    " WHERE memories.row_id >= ? ORDER BY memories.row_id LIMIT ?"
)


class Walk:
    """One walk over all rows; `one_by_one` makes columns of rows among which one is no memory."""

    def __init__(
        self, db: Session, one_by_one: Callable[[Sequence[Sequence[Any]]], IndexColumns]
    ) -> None:
        self._db = db
        self._one_by_one = one_by_one
        self._names = (*rows.INDEX_COLUMNS, f"vector_{db.slot}")
        # What once differed is read from then on, so few parts are asked for twice.
        self._differing = {*rows.INDEX_OWN, len(rows.INDEX_COLUMNS)}
        # By place, what all rows so far said.
        self._same: dict[int, Any] = {}

    def parts(self) -> Iterator[IndexColumns]:
        """Yield the rows in order."""
        start: int | None = _FIRST
        while start is not None:
            part, start = self._saying_the_same(start) or self._whole(start)
            yield part

    def _saying_the_same(self, start: int) -> tuple[IndexColumns, int | None] | None:
        """Return the rows from a number on if they say what those before did.

        With them comes from where to go on, if there may be more.
        """
        if not self._same:
            return None
        read = [name for place, name in enumerate(self._names) if place not in self._same]
        alike = " AND ".join(f"{self._names[place]} IS ?" for place in self._same)
        told = f"CASE WHEN {alike} THEN 1 ELSE 0 END"
        found = self._db.all(
            f"SELECT {', '.join(read)}, {told}{_IN_ORDER}", *self._same.values(), start, _PART
        )
        if not found:
            return None
        *own, is_same = rows.as_columns(found)
        if 0 in is_same:
            return None
        each, count = iter(own), len(found)
        columns = [
            [self._same[place]] * count if place in self._same else next(each)
            for place in range(len(self._names))
        ]
        try:
            made = rows.index_columns(columns, known=self._same)
        except ValueError:
            return None
        return made, _after(columns[rows.INDEX_ROW_ID])

    def _whole(self, start: int) -> tuple[IndexColumns, int | None]:
        """Return the same, whatever they say."""
        found = self._db.all(f"SELECT {', '.join(self._names)}{_IN_ORDER}", start, _PART)
        if not found:
            return self._one_by_one(found), None
        columns = rows.as_columns(found)
        try:
            made = rows.index_columns(columns)
        except ValueError:
            made = self._one_by_one(found)
        else:
            self._learn(columns)
        return made, _after(columns[rows.INDEX_ROW_ID])

    def _learn(self, columns: Sequence[Sequence[Any]]) -> None:
        """Take note of what differs within a part, or from the one before."""
        for place, column in enumerate(columns):
            before = self._same.get(place, column[0])
            if before != column[0] or column.count(before) < len(column):
                self._differing.add(place)
        self._same = {
            place: column[0] for place, column in enumerate(columns) if place not in self._differing
        }


def _after(row_ids: Sequence[int]) -> int | None:
    """Return where those begin that come after a part; None if it was the last."""
    is_last = len(row_ids) < _PART or row_ids[-1] == _LAST
    return None if is_last else row_ids[-1] + 1
