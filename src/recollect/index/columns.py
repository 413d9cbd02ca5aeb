"""What the index knows of a memory beside words and vector: one growable array for each property.

Names of few values (project, speaker, place ...) are kept as small numbers with a vocabulary;
numbers are given in order of arrival, so they may be compared for equality and nothing else.
"""

from __future__ import annotations

import json
from copy import copy
from functools import lru_cache
from itertools import count
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect import check
from recollect.dates import day_number
from recollect.index.arrays import grow
from recollect.model import EXTERNAL, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from recollect.ports.store import Indexable, IndexColumns

__all__ = [
    "CODED",
    "Columns",
    "ColumnsAt",
    "Places",
    "Vocabulary",
    "epoch_microseconds",
    "place_from",
    "place_text",
]

_LARGEST = 2**31 - 1
# So many principals' tables of places are kept.
_MOST_TABLES = 256
# In the order in which a value of the column of places lists them; cache files hold such values.
_PLACE_FIELDS = ("tenant", "owner", "scope", "team", "garden")


@lru_cache(maxsize=4096)
def place_text(place: Place) -> str:
    """Return a place as a value of the column of places."""
    return json.dumps([getattr(place, name) for name in _PLACE_FIELDS], ensure_ascii=False)


# What each column is of: a field of a memory, and what becomes of it.
_NUMBERS: dict[str, tuple[str, str, Callable[[Any], float]]] = {
    "confidence": ("f8", "confidence", float),
    "decay": ("f8", "decay", float),
    "last_reinforced": ("f8", "last_reinforced", float),
    "reinforced": ("i4", "reinforced", lambda often: min(often, _LARGEST)),
    "updated_at": ("i8", "updated_at", lambda text: epoch_microseconds(text)),
    "valid_from": ("f8", "valid_from", lambda text: _bound(text, -inf)),
    "valid_until": ("f8", "valid_until", lambda text: _bound(text, inf)),
    "position": ("i4", "position", lambda position: _position(position)),
    "day": ("i4", "occurred_at", day_number),
    "risky": ("?", "risks", bool),
    "external": ("?", "authority", EXTERNAL.__eq__),
}
CODED: dict[str, Callable[[Indexable], str | None]] = {
    "category": attrgetter("category"),
    "project": attrgetter("project"),
    "status": attrgetter("status"),
    "thread": lambda memory: _thread(memory.thread, memory.project, memory.place),
    "speaker": attrgetter("speaker"),
    "superseded_by": attrgetter("superseded_by"),
    "place": lambda memory: place_text(memory.place),
}
# Given by the index, which alone knows them: the store's number, how many terms, what text, in
# which words, and what kind of text, and whether it still waits for a vector.
_GIVEN = {
    "row_id": "i8",
    "length": "i4",
    "digest": "i8",
    "words": "i8",
    "marks": "u1",
    "pending": "?",
    "alive": "?",
}


class Vocabulary(dict[str | None, int]):
    """Values to small numbers and back; asking for a new value's number gives it one."""

    def __init__(self, values: Iterable[str | None] = ()) -> None:
        self.in_order = list(values)
        super().__init__(zip(self.in_order, count(), strict=False))

    def __missing__(self, value: str | None) -> int:
        code = self[value] = len(self)
        self.in_order.append(value)
        return code

    def mend(self) -> None:
        """Make whole again what an exception in the middle of a new value's arrival left."""
        if len(self.in_order) < len(self):
            self.in_order.append(next(reversed(self)))


class Places:
    """The places that the codes of a vocabulary stand for, and which of them fulfil some rules.

    Codes are given once and never again, so what is known of a place stays true: only new ones are
    looked at, whoever wrote there. Lists and tables are replaced, not altered: readers have them.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._texts = vocabulary.in_order
        self._known: list[Place] = []
        self._tables: dict[Hashable, NDArray[np.bool_]] = {}

    def known(self) -> list[Place]:
        """Return the places by code."""
        places, texts = self._known, self._texts
        if len(places) < len(texts):
            new = texts[len(places) :]
            places = self._known = [
                *places,
                *(place_from(text) for text in new if text is not None),
            ]
        return places

    def fulfilling(self, name: Hashable, rule: Callable[[Place], bool]) -> NDArray[np.bool_]:
        """Return for each code whether its place fulfils a rule, known by a name."""
        places, table = self.known(), self._tables.get(name)
        if table is None or len(table) < len(places):
            before = [] if table is None else table.tolist()
            answers = [*before, *map(rule, places[len(before) :])]
            if len(self._tables) >= _MOST_TABLES:
                self._tables = {}
            table = self._tables[name] = np.array(answers, dtype=np.bool_)
        return table


class Columns:
    """The columns of all slots, dead ones included; `size` slots are in use.

    A successor writes new slots into the arrays that it shares with the columns before it, which
    look no further than their own; of an array in which it alters an old slot it takes a copy.
    """

    def __init__(self) -> None:
        self.size = 0
        dtypes = {name: dtype for name, (dtype, *_) in _NUMBERS.items()}
        dtypes |= dict.fromkeys(CODED, "i4") | _GIVEN
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.empty(0, dtype=dtype) for name, dtype in dtypes.items()
        }
        self.vocabularies = {name: Vocabulary() for name in CODED}
        self.places = Places(self.vocabularies["place"])
        # So many slots are shared with those before, but for arrays that are our own.
        self._shared = 0
        self._own: set[str] = set()

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column over the slots in use."""
        return self._arrays[name][: self.size]

    def successor(self) -> Columns:
        """Return columns to change in the place of these, which stay as they are."""
        successor = copy(self)
        successor._arrays = dict(self._arrays)
        successor.vocabularies = dict(self.vocabularies)
        successor._shared, successor._own = self.size, set()
        return successor

    def mend(self) -> None:
        """Make whole again what a successor that was given up has left."""
        for vocabulary in self.vocabularies.values():
            vocabulary.mend()

    def extend(
        self,
        rows: IndexColumns,
        *,
        lengths: NDArray[np.int64],
        digests: NDArray[np.int64],
        words: NDArray[np.int64],
        marks: NDArray[np.uint8],
    ) -> int:
        """Append memories, all alive, and return the slot of the first."""
        first, many = self.size, len(rows)
        self.make_room(many)
        self.size = first + many
        if many == 1:
            self.overwrite(first, rows.memory_at(0))
        else:
            self._fill(first, rows)
        given: dict[str, Sequence[int] | Sequence[bool] | NDArray[Any] | bool] = {
            "row_id": rows.row_ids,
            "length": lengths,
            "digest": digests,
            "words": words,
            "marks": marks,
            "pending": rows.pending,
            "alive": True,
        }
        for name, values in given.items():
            self._arrays[name][first : self.size] = values
        return first

    def overwrite(self, slot: int, memory: Indexable) -> None:
        """Replace all that can change without the text changing."""
        for name, (_, field, value_of) in _NUMBERS.items():
            self._set(name, slot, value_of(getattr(memory, field)))
        for name, text_of in CODED.items():
            self._set(name, slot, self.vocabularies[name][text_of(memory)])

    def set_pending(self, slot: int, pending: bool) -> None:
        """Set whether a memory still waits for its vector."""
        self._set("pending", slot, pending)

    def kill(self, slot: int) -> None:
        """Take note that nothing lives in a slot any more."""
        self._set("alive", slot, False)

    def compact(self, kept: NDArray[np.int64]) -> None:
        """Keep these slots only, and the vocabulary they use."""
        for name in self._arrays:
            self._arrays[name] = self._arrays[name][kept]
        self.size = len(kept)
        self._own.update(self._arrays)
        for name, vocabulary in self.vocabularies.items():
            used, codes = np.unique(self._arrays[name], return_inverse=True)
            self._arrays[name] = codes.astype(np.int32)
            values = [vocabulary.in_order[code] for code in used.tolist()]
            self.vocabularies[name] = Vocabulary(values)
        self.places = Places(self.vocabularies["place"])

    def export(self) -> dict[str, NDArray[Any]]:
        """Return the columns in use; vocabularies are read beside."""
        return {name: self[name] for name in self._arrays}

    @classmethod
    def restore(
        cls, arrays: dict[str, NDArray[Any]], vocabularies: dict[str, list[str | None]]
    ) -> Columns:
        """Return the columns that were exported."""
        columns = cls()
        columns._arrays = {name: arrays[name] for name in columns._arrays}
        columns.size = len(arrays["alive"])
        columns.vocabularies = {name: Vocabulary(vocabularies[name]) for name in CODED}
        columns.places = Places(columns.vocabularies["place"])
        return columns

    def _fill(self, first: int, rows: IndexColumns) -> None:
        """Set whole stretches of columns; for a single memory that costs more than it saves."""
        for name, (_, field, value_of) in _NUMBERS.items():
            self._fill_one(name, first, rows.column(field), value_of)
        for name in CODED:
            self._fill_one(name, first, _texts(name, rows), self.vocabularies[name].__getitem__)

    def _fill_one(
        self, name: str, first: int, values: Sequence[Any], value_of: Callable[[Any], float]
    ) -> None:
        """Set a stretch of one column; of values that are the same the first is looked at."""
        column, many = self._arrays[name], len(values)
        if values.count(values[0]) == many:
            column[first : first + many] = value_of(values[0])
            return
        known = {value: value_of(value) for value in dict.fromkeys(values)}
        found = np.fromiter(map(known.__getitem__, values), column.dtype, many)
        column[first : first + many] = found

    def _set(self, name: str, slot: int, value: float) -> None:
        if slot >= self._shared:
            self._arrays[name][slot] = value
        elif self._arrays[name][slot] != value:
            self._to_alter(name)[slot] = value

    def _to_alter(self, name: str) -> NDArray[Any]:
        """Return an array whose old slots may be altered: readers have the one that it was."""
        if name not in self._own:
            self._arrays[name] = self._arrays[name].copy()
            self._own.add(name)
        return self._arrays[name]

    def make_room(self, count: int) -> None:
        """Have room for so many more slots."""
        needed = self.size + count
        if needed > len(self._arrays["alive"]):
            for name, column in self._arrays.items():
                self._arrays[name] = grow(column, self.size, needed)
            self._own.update(self._arrays)


class ColumnsAt:
    """The columns of some slots, in their order, for who would look at all columns."""

    def __init__(self, columns: Columns, slots: NDArray[np.int64]) -> None:
        self.size = len(slots)
        self.vocabularies, self.places = columns.vocabularies, columns.places
        self._columns, self._slots = columns, slots
        self._looked_up: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return what a column holds of the slots, read-only."""
        values = self._looked_up.get(name)
        if values is None:
            values = self._looked_up[name] = self._columns[name].take(self._slots)
            values.flags.writeable = False
        return values


def place_from(text: str) -> Place:
    """Return the place that a value of the column of places stands for."""
    return Place(**dict(zip(_PLACE_FIELDS, json.loads(text), strict=True)))


def epoch_microseconds(text: str) -> int:
    """Return an ISO-8601 instant as microseconds since 1970, UTC unless it says otherwise.

    What cannot be read is 0. Digits past the microsecond are not told apart.
    """
    return _moment(text) or 0


@lru_cache(maxsize=4096)
def _moment(text: str) -> int | None:
    return check.microseconds(text)


def _bound(text: str | None, otherwise: float) -> float:
    moment = _moment(text) if text else None
    return otherwise if moment is None else moment / 1e6


def _position(position: int | None) -> int:
    return -1 if position is None else min(position, _LARGEST)


def _texts(name: str, rows: IndexColumns) -> Sequence[str | None]:
    """Return the values of a column that has a vocabulary."""
    if name == "place":
        # Rows that are read together share their places: asking who is the same costs more.
        places = rows.column("place")
        if places.count(places[0]) == len(places):
            return [place_text(places[0])] * len(places)
        texts = {
            id(place): place_text(place) for place in {id(one): one for one in places}.values()
        }
        return [texts[id(place)] for place in places]
    if name == "thread" and any(rows.column("thread")):
        return list(map(_thread, *(rows.column(field) for field in ("thread", "project", "place"))))
    return rows.column(name)


def _thread(thread: str | None, project: str | None, place: Place) -> str | None:
    """Return what tells a thread from all others: two tenants or projects may use one name."""
    return None if thread is None else f"{place.tenant}\0{project or ''}\0{thread}"
