"""The catalogue's rows and documents as columns, fetched when a query first meets them.

In: row numbers, and the catalogue's records. Out: arrays with one entry a row. All that are missing
are fetched together, so a query costs what it finds, not what there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recollect.recall.select.values import moment
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.ports.catalogue import CatalogueRecords, CodeColumns, PakColumns, Touched

__all__ = ["NEVER", "Columns", "Documents", "Names", "Rows"]

NEVER = np.iinfo(np.int64).min

Ints = NDArray[np.int64]
Objects = NDArray[np.object_]
Bools = NDArray[np.bool_]


class Names:
    """Numbers for texts that are compared for equality only; 0 stands for None."""

    def __init__(self) -> None:
        self._numbers: dict[str | None, int] = {None: 0}

    def numbers(self, texts: Sequence[str | None]) -> Ints:
        """Return the numbers of texts, giving one to each that is new."""
        known = self._numbers
        return _ints([known.setdefault(text, len(known)) for text in texts])

    def known(self, text: str) -> int:
        """Return the number of a text, or -1 for one that no row has."""
        return self._numbers.get(text, -1)

    def all(self) -> list[str | None]:
        """Return all texts by their numbers."""
        return list(self._numbers)

    def equal(self, numbers: Ints, text: str | None) -> Bools:
        """Return which of the numbers stand for `text`; none of them if there is no text."""
        alike: Bools = numbers == (self.known(text) if text else -1)
        return alike


class _Places:
    """Where the entry of a key is: whole numbers in, positions out, -1 for a key not there."""

    def __init__(self) -> None:
        self._keys = np.empty(0, np.int64)
        self._values = np.empty(0, np.int64)

    def of(self, keys: Ints) -> Ints:
        if not len(self._keys):
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._values[at], -1)

    def keys(self) -> Ints:
        return self._keys

    def remove(self, keys: Ints) -> None:
        left = ~np.isin(self._keys, keys)
        self._keys, self._values = self._keys[left], self._values[left]

    def add(self, keys: Ints, values: Ints) -> None:
        everything = np.concatenate([self._keys, keys])
        order = np.argsort(everything, kind="stable")
        self._keys = everything[order]
        self._values = np.concatenate([self._values, values])[order]


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What is known of some rows; `starts` and `ends` say where each row's codes are."""

    row_ids: Ints
    pak_ids: Objects
    updated_at: Objects
    updated_us: Ints
    contents: Ints
    projects: Ints
    types: Ints
    superseded_by: Objects
    is_superseded: Bools
    starts: Ints
    ends: Ints


class Rows:
    """Paks with their reason codes. A row's place here is its slot."""

    def __init__(self) -> None:
        self.contents, self.projects, self.types, self.codes = Names(), Names(), Names(), Names()
        self._places = _Places()
        self._columns = _no_columns()
        self.entry_codes = np.empty(0, np.int64)
        self.entry_weights = np.empty(0, np.float64)

    @property
    def columns(self) -> Columns:
        """All rows that were ever met, by slot."""
        return self._columns

    def slots(self, records: CatalogueRecords, row_ids: Ints) -> Ints:
        """Return the slots of rows, fetching those that are not here yet."""
        slots = self._places.of(row_ids)
        missing = np.unique(row_ids[slots < 0])
        if not len(missing):
            return slots
        self._fetch(records, missing)
        return self._places.of(row_ids)

    def forget(self, row_ids: Ints) -> None:
        """Let rows be fetched anew; whoever holds their slots may still look at what they were."""
        self._places.remove(row_ids)

    def _fetch(self, records: CatalogueRecords, row_ids: Ints) -> None:
        fresh = self._columns_of(*records.paks(row_ids))
        first = len(self._columns.row_ids)
        self._columns = Columns(
            *(
                np.concatenate([getattr(self._columns, name), getattr(fresh, name)])
                for name in Columns.__slots__
            )
        )
        self._places.add(fresh.row_ids, np.arange(first, first + len(fresh.row_ids)))

    def _columns_of(self, paks: PakColumns, codes: CodeColumns) -> Columns:
        owners, names, weights = _transposed(sorted(zip(*codes, strict=True)), 3)
        entries, before = _ints(owners), len(self.entry_codes)
        self.entry_codes = np.concatenate([self.entry_codes, self.codes.numbers(names)])
        self.entry_weights = np.concatenate([self.entry_weights, np.array(weights, np.float64)])
        row_ids, pak_ids, times, contents, projects, types, successors = paks
        ids = _ints(row_ids)
        return Columns(
            row_ids=ids,
            pak_ids=_objects(pak_ids),
            updated_at=_objects(times),
            updated_us=_ints([_microseconds(time) for time in times]),
            contents=self.contents.numbers(contents),
            projects=self.projects.numbers(projects),
            types=self.types.numbers(types),
            superseded_by=_objects(successors),
            is_superseded=np.array([one is not None for one in successors], np.bool_),
            starts=before + np.searchsorted(entries, ids, "left"),
            ends=before + np.searchsorted(entries, ids, "right"),
        )


class Documents:
    """Documents: which Pak each belongs to, and how many words it has."""

    def __init__(self) -> None:
        self._places = _Places()
        self._row_ids = np.empty(0, np.int64)
        self._lengths = np.empty(0, np.int64)

    def of(self, records: CatalogueRecords, documents: Ints) -> tuple[Ints, Ints]:
        """Return each document's row, -1 if it is nobody's, and its length."""
        places = self._places.of(documents)
        missing = np.unique(documents[places < 0])
        if len(missing):
            self._fetch(records, missing)
            places = self._places.of(documents)
        if not len(self._row_ids):
            return places, np.zeros(len(places), np.int64)
        found = places >= 0
        return np.where(found, self._row_ids[places], -1), np.where(found, self._lengths[places], 0)

    def forget(self, touched: Touched) -> None:
        """Let documents be fetched anew: those that were touched, and those of touched Paks."""
        known = self._places.keys()
        of_touched = np.isin(self._row_ids[self._places.of(known)], touched.rows)
        self._places.remove(np.concatenate([touched.documents, known[of_touched]]))

    def _fetch(self, records: CatalogueRecords, documents: Ints) -> None:
        first = len(self._row_ids)
        ids, row_ids, lengths = records.documents(documents)
        self._row_ids = np.concatenate([self._row_ids, _ints(row_ids)])
        self._lengths = np.concatenate([self._lengths, _ints(lengths)])
        self._places.add(_ints(ids), np.arange(first, len(self._row_ids)))


def _microseconds(text: str) -> int:
    at = moment(text)
    return NEVER if at is None else at


def _transposed(rows: Sequence[Any], width: int) -> Sequence[Sequence[Any]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _no_columns() -> Columns:
    ints, objects, bools = np.empty(0, np.int64), np.empty(0, np.object_), np.empty(0, np.bool_)
    return Columns(ints, objects, objects, ints, ints, ints, ints, objects, bools, ints, ints)


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


def _objects(values: Sequence[object]) -> Objects:
    column = np.empty(len(values), np.object_)
    column[:] = values
    return column
