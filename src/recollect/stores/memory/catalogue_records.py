"""The catalogue by numbers, from plain dictionaries: what selections read, as SQLite would say it.

In: the rows of a `MemoryCatalogue`, told one by one as they change. Out: records of the port. A
Pak's row and its document have the same number. Texts are taken apart when somebody first asks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.model.pak import PakRow, ReasonCodeEntry, RiskFlagEntry
from recollect.ports.catalogue import (
    FIELDS,
    Changes,
    CodeColumns,
    DocumentColumns,
    Occurrences,
    PakColumns,
    Posting,
    Statistics,
    TextRecord,
    Touched,
)
from recollect.stores.memory.catalogue_words import words_of

__all__ = ["MemoryRecords", "Phrase"]

Ints = NDArray[np.int64]
Phrase = Sequence[str]

_TITLE, _SUMMARY = FIELDS.index("title"), FIELDS.index("summary")
# So many changes are told one by one; whoever asks later than that has to read all anew.
_MOST_CHANGES = 50_000


class _Place(NamedTuple):
    """Where a word stands in a document."""

    field: int
    offset: int


class MemoryRecords:
    """Rows and words of one catalogue. `codes` and `flags` say what hangs on a Pak."""

    def __init__(
        self,
        codes: Callable[[str], list[ReasonCodeEntry]],
        flags: Callable[[str], list[RiskFlagEntry]],
    ) -> None:
        self._codes = codes
        self._flags = flags
        self._paks: dict[int, PakRow] = {}
        self._numbers: dict[str, int] = {}
        self._last = 0
        self._unread: set[int] = set()
        self._words: dict[int, dict[str, list[_Place]]] = {}
        self._holders: dict[str, dict[int, list[_Place]]] = {}
        self._lengths: dict[int, int] = {}
        self._touched: list[int] = []
        self._first_change = 0

    def put(self, row: PakRow) -> None:
        """Take over a row that is new or changed."""
        number = self._numbers.get(row.pak_id)
        if number is None:
            self._last += 1
            number = self._numbers[row.pak_id] = self._last
        self._paks[number] = row
        self._unread.add(number)
        self._touch(number)

    def remove(self, pak_id: str) -> None:
        """Let go of a row, if it is there; the name last, so that it can be done again."""
        number = self._numbers.get(pak_id)
        if number is not None:
            self._paks.pop(number, None)
            self._unread.add(number)
            self._touch(number)
            del self._numbers[pak_id]

    def touch(self, pak_id: str) -> None:
        """Take note that what hangs on a Pak changed."""
        if pak_id in self._numbers:
            self._touch(self._numbers[pak_id])

    def changes(self, since: Any) -> Changes:
        """Return what changed since a mark, which counts the changes so far."""
        mark = self._first_change + len(self._touched)
        if since is None or since < self._first_change:
            return Changes(mark, None)
        rows = _ints(sorted(set(self._touched[since - self._first_change :])))
        return Changes(mark, Touched(rows, rows))

    def words_of(self, text: str) -> Sequence[str]:
        """Return the words of a text."""
        return words_of(text)

    def posting(self, word: str) -> Posting:
        """Return which documents hold a word."""
        self._read_texts()
        holders = sorted(self._holders.get(word, {}).items())
        return Posting(
            _ints([number for number, _ in holders]), _ints([len(places) for _, places in holders])
        )

    def occurrences(self, word: str, *, prefix: bool = False) -> Occurrences:
        """Return where a word stands, or every word that begins with it."""
        self._read_texts()
        wanted = [one for one in self._holders if one.startswith(word)] if prefix else [word]
        found = [
            (number, *place)
            for one in wanted
            for number, places in self._holders.get(one, {}).items()
            for place in places
        ]
        table = np.array(found, np.int64).reshape(-1, 3)
        return Occurrences(table[:, 0], table[:, 1], table[:, 2])

    def documents(self, numbers: Ints) -> DocumentColumns:
        """Return those documents that are there."""
        self._read_texts()
        known = list(self._known(numbers))
        return DocumentColumns(known, known, [self._lengths[number] for number in known])

    def statistics(self, pak_ids: Collection[str] | None) -> Statistics:
        """Return how much text some Paks have together, or all."""
        self._read_texts()
        if pak_ids is None:
            return Statistics(len(self._lengths), sum(self._lengths.values()))
        numbers = [self._numbers[one] for one in pak_ids if one in self._numbers]
        return Statistics(len(numbers), sum(self._lengths[number] for number in numbers))

    def paks(self, rows: Ints) -> tuple[PakColumns, CodeColumns]:
        """Return those rows that are there, and their reason codes."""
        known = {number: self._paks[number] for number in self._known(rows)}
        paks = PakColumns(
            list(known),
            [row.pak_id for row in known.values()],
            [row.updated_at for row in known.values()],
            [row.content_hash for row in known.values()],
            [row.project for row in known.values()],
            [row.pak_type for row in known.values()],
            [row.superseded_by for row in known.values()],
        )
        codes = [
            (number, *code) for number, row in known.items() for code in self._codes(row.pak_id)
        ]
        return paks, CodeColumns(*zip(*codes, strict=True))

    def texts(self, rows: Ints) -> Sequence[TextRecord]:
        """Return what those rows say that are there."""
        known = {number: self._paks[number] for number in self._known(rows)}
        return [
            TextRecord(number, row.title, row.summary, tuple(self._flags(row.pak_id)))
            for number, row in known.items()
        ]

    def equal_to(self, project: str | None, pak_type: str | None) -> Ints:
        """Return the rows that equal all that is given."""
        return _ints(
            [
                number
                for number, row in self._paks.items()
                if project in (None, row.project) and pak_type in (None, row.pak_type)
            ]
        )

    def newest(self, count: int) -> Ints:
        """Return so many rows, newest first."""
        newest = sorted(
            ((row.updated_at, row.pak_id, number) for number, row in self._paks.items()),
            reverse=True,
        )
        return _ints([number for _, _, number in newest[:count]])

    def phrase_counts(self, phrase: Phrase) -> dict[str, int]:
        """Return how often each Pak that holds a phrase holds it."""
        self._read_texts()
        holders = [self._holders.get(word, {}) for word in phrase]
        counts = {}
        for number in set.intersection(*map(set, holders)) if holders else ():
            starts = set.intersection(
                *(
                    {(field, offset - at) for field, offset in one[number]}
                    for at, one in enumerate(holders)
                )
            )
            if starts:
                counts[self._paks[number].pak_id] = len(starts)
        return counts

    def length(self, pak_id: str) -> int:
        """Return how many words a Pak has."""
        self._read_texts()
        return self._lengths[self._numbers[pak_id]]

    def _known(self, numbers: Ints) -> Iterable[int]:
        return (number for number in numbers.tolist() if number in self._paks)

    def _touch(self, number: int) -> None:
        self._touched.append(number)
        if len(self._touched) > _MOST_CHANGES:
            self._first_change += len(self._touched)
            self._touched.clear()

    def _read_texts(self) -> None:
        """Take apart the texts that changed since the last time."""
        for number in self._unread:
            # An interrupted reading is done again: what it may have done already is no error.
            for word in self._words.get(number, ()):
                holders = self._holders.get(word, {})
                holders.pop(number, None)
                if not holders:
                    self._holders.pop(word, None)
            self._words.pop(number, None)
            self._lengths.pop(number, None)
            if number in self._paks:
                self._read_text(number, self._paks[number])
        self._unread.clear()

    def _read_text(self, number: int, row: PakRow) -> None:
        places: dict[str, list[_Place]] = {}
        self._lengths[number] = 0
        for field, text in ((_TITLE, row.title), (_SUMMARY, row.summary)):
            found = words_of(text)
            self._lengths[number] += len(found)
            for offset, word in enumerate(found):
                places.setdefault(word, []).append(_Place(field, offset))
        self._words[number] = places
        for word, where in places.items():
            self._holders.setdefault(word, {})[number] = where


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)
