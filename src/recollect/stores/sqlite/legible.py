"""Whether a row can be a memory at all: its types and ranges, as SQLite gave them.

In: rows in the order of some columns. Out: nothing, or a `ValueError`: then it was damaged, or
edited into nonsense, and costs that memory alone. A text that is not UTF-8 any more comes as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from recollect.check import is_share

__all__ = ["STATUSES", "RowShape", "is_state"]

STATUSES = frozenset({"active", "archived", "quarantined", "rejected"})
_NUMBERS: dict[str, tuple[type, ...]] = {
    "confidence": (float,),
    "decay": (float,),
    "last_reinforced": (float,),
    "reinforced": (int,),
    "position": (int, type(None)),
    "ttl": (float, type(None)),
    "pending": (int,),
    "row_id": (int,),
    "vector": (bytes, type(None)),
}
_MAY_BE_MISSING = frozenset(
    {
        *("project", "topic", "source", "entity", "relation", "value", "thread", "speaker"),
        *(
            "occurred_at",
            "valid_from",
            "valid_until",
            "team",
            "garden",
            "superseded_by",
            "metadata",
        ),
    }
)


_RANGES: dict[str, Callable[[Any], bool]] = {
    "confidence": is_share,
    "decay": isfinite,
    "last_reinforced": isfinite,
    "reinforced": lambda uses: uses >= 0,
    "status": STATUSES.__contains__,
}


class RowShape:
    """The types that rows of some columns may have.

    Almost all rows have one of a few combinations, which are known after the first of each.
    """

    def __init__(self, names: Sequence[str], *, hidden: Sequence[str] = ()) -> None:
        self._kinds = [(type(None),) if name in hidden else _kinds(name) for name in names]
        self._known: set[tuple[type, ...]] = set()
        self._ranges = [
            (place, _RANGES[name]) for place, name in enumerate(names) if name in _RANGES
        ]

    def check(self, row: Sequence[Any]) -> None:
        """Raise unless a row can be a memory."""
        kinds = tuple(map(type, row))
        if kinds not in self._known:
            self._learn(kinds)
        for place, fits in self._ranges:
            if not fits(row[place]):
                raise ValueError("a number or a status that no memory has")

    def fits_all(self, columns: Sequence[Sequence[Any]]) -> bool:
        """Return whether each of many rows can be a memory; they come as columns."""
        kinds = zip(columns, self._kinds, strict=True)
        return all(set(map(type, column)).issubset(allowed) for column, allowed in kinds) and all(
            all(map(fits, set(columns[place]))) for place, fits in self._ranges
        )

    def _learn(self, kinds: tuple[type, ...]) -> None:
        if not all(kind in allowed for kind, allowed in zip(kinds, self._kinds, strict=True)):
            raise ValueError("a value of a type that no memory has")
        self._known.add(kinds)


def _kinds(name: str) -> tuple[type, ...]:
    if name in _NUMBERS:
        return _NUMBERS[name]
    return (str, type(None)) if name in _MAY_BE_MISSING else (str,)


_NONE = type(None)
# In the order in which the row of facts is read.
_STATE = (
    *((str,), (int,), (str, _NONE), (str, _NONE), (int, _NONE), (str, _NONE), (int, _NONE)),
    *((float,), (float, _NONE), (int,)),
)


def is_state(row: Sequence[Any]) -> bool:
    """Return whether a row can be what a store says of itself; the vectors' slot comes last."""
    fits = all(type(value) in kinds for value, kinds in zip(row, _STATE, strict=True))
    return fits and row[1] >= 0 and isfinite(row[7]) and row[-1] in (0, 1)
