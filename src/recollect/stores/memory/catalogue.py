"""`MemoryCatalogue`: the catalogue of Paks in plain dictionaries, by `RecallStore`'s calls.

In: rows that were checked. Out: the same rows, pages and hits that SQLite would give. Nothing is
written to a disk, and there is no connection: `conn` refuses.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from recollect.errors import StoreClosed, StoreUnavailable, UnknownPak
from recollect.model.pak import CheckReport, PakHit, PakListFilters, PakRow, RepairReport
from recollect.paks.catalogue import Match, PakCatalogue
from recollect.paks.cursor import Position
from recollect.paks.entries import ANCHORS, REASON_CODES, RELATIONS, RISK_FLAGS, Attachment
from recollect.paks.schema import SCHEMA_VERSION
from recollect.stores.memory.catalogue_records import MemoryRecords
from recollect.stores.memory.catalogue_words import words_of
from recollect.stores.memory.undo import UndoLog

__all__ = ["MemoryCatalogue", "Watcher"]

Entry = TypeVar("Entry", bound=tuple[object, ...])
Key = tuple[str, ...]
Watcher = Callable[[str, PakRow | None], None]

# FTS5's constants; a word that more than half of the rows hold still counts, by next to nothing.
_K1 = 1.2
_B = 0.75
_LEAST_RARITY = 1e-6


class _Hanging(NamedTuple):
    """What hangs on a Pak, and since when."""

    entry: Any
    at: str


class MemoryCatalogue(PakCatalogue):
    """A catalogue that lives as long as its process.

    A store that keeps more about Paks shares its `undo`, and is told by `watcher` of every row that
    is written, and with None of every row that is deleted, while it can still be taken back.
    """

    def __init__(
        self,
        *,
        strict: bool = False,
        undo: UndoLog | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        super().__init__(strict=strict)
        self._undo = undo or UndoLog()
        self._watcher = watcher
        self._paks: dict[str, PakRow] = {}
        self._hanging: dict[str, dict[str, dict[Key, _Hanging]]] = {
            kind.table: {} for kind in (REASON_CODES, RISK_FLAGS, ANCHORS, RELATIONS)
        }
        self._records = MemoryRecords(
            lambda pak_id: self._entries(REASON_CODES, [pak_id])[pak_id],
            lambda pak_id: self._entries(RISK_FLAGS, [pak_id])[pak_id],
        )
        self._order: list[tuple[str, str]] | None = None
        self._closed = False

    @property
    def conn(self) -> NoReturn:
        """There is none."""
        raise StoreUnavailable(
            "A catalogue in memory has no SQLite connection.",
            hint="use the catalogue's own calls, or open a file to run SQL on it.",
        )

    @property
    def path(self) -> Path:
        """No place on a disk."""
        return Path("memory:")

    @property
    def schema_version(self) -> int:
        """The version whose rows these are."""
        return SCHEMA_VERSION

    def close(self) -> None:
        """Refuse every call from now on; closing twice is fine."""
        self._closed = True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make several writes one: all of them, or none."""
        self._need_open()
        with self._undo.transaction():
            yield

    @contextmanager
    def snapshot(self) -> Iterator[bool]:
        """Read in one state; give whether it is committed."""
        with self._undo.turn():
            self._need_open()
            yield not self._undo.is_open

    def records(self) -> MemoryRecords:
        """Return the catalogue by numbers."""
        return self._records

    def hanging_keys(self, kind: Attachment[Entry]) -> list[Key]:
        """Return what entries of a kind there are, in no order: whose each is, and its key."""
        with self._reading():
            owners = self._hanging[kind.table].items()
            return [(pak_id, *key) for pak_id, entries in owners for key in entries]

    def hanging(self, kind: Attachment[Entry], pak_id: str, key: Key) -> tuple[Entry, str]:
        """Return one entry, and since when it is there."""
        with self._reading():
            return self._hanging[kind.table][pak_id][key]

    def check(self) -> CheckReport:
        """Count: what is kept in dictionaries cannot be stale."""
        with self._reading():
            return CheckReport(ok=True, paks=len(self._paks), problems=())

    def repair(self) -> RepairReport:
        """Do nothing: there is nothing to mend."""
        self._need_open()
        return RepairReport(removed=0, added=0)

    def _put(self, row: PakRow) -> str | None:
        return self._put_all([row]).get(row.pak_id)

    def _put_all(self, rows: list[PakRow]) -> dict[str, str]:
        with self.transaction():
            known = {row.pak_id for row in rows} & self._paks.keys()
            hashes = {pak_id: self._paks[pak_id].content_hash for pak_id in known}
            self._keep_all(rows)
        return hashes

    def _keep_all(self, rows: list[PakRow]) -> dict[str, PakRow]:
        with self.transaction():
            for row in rows:
                before = self._paks.get(row.pak_id)
                self._write(row._replace(created_at=before.created_at) if before else row)
            for row in rows:
                self._need(row.superseded_by)
            return {row.pak_id: self._paks[row.pak_id] for row in rows}

    def _delete(self, pak_id: str) -> bool:
        with self.transaction():
            if pak_id not in self._paks:
                return False
            for row in [row for row in self._paks.values() if row.superseded_by == pak_id]:
                self._write(row._replace(superseded_by=None))
            for table, owners in self._hanging.items():
                if pak_id in owners:
                    self._hang(table, pak_id, {})
            for owner, relations in list(self._hanging[RELATIONS.table].items()):
                left = {key: entry for key, entry in relations.items() if key[0] != pak_id}
                if left != relations:
                    self._hang(RELATIONS.table, owner, left)
            self._erase(pak_id)
        return True

    def _rows(self, pak_ids: list[str]) -> dict[str, PakRow]:
        with self._reading():
            return {pak_id: self._paks[pak_id] for pak_id in pak_ids if pak_id in self._paks}

    def _page(self, filters: PakListFilters, after: Position | None, count: int) -> list[PakRow]:
        with self._reading():
            if self._order is None:
                self._order = sorted((row.updated_at, row.pak_id) for row in self._paks.values())
            end = len(self._order) if after is None else bisect_left(self._order, tuple(after))
            page: list[PakRow] = []
            while end and len(page) < count:
                end -= 1
                row = self._paks[self._order[end][1]]
                if _equals(row, filters):
                    page.append(row)
            return page

    def _count(self, filters: PakListFilters) -> int:
        with self._reading():
            return sum(_equals(row, filters) for row in self._paks.values())

    def _search(
        self, words: list[str], match: Match, filters: PakListFilters, count: int
    ) -> list[PakHit]:
        with self._reading():
            phrases = [self._records.phrase_counts(words_of(word)) for word in words]
            join = set.intersection if match == "all" else set.union
            found = [
                PakHit(self._paks[pak_id], self._bm25(pak_id, phrases))
                for pak_id in join(*map(set, phrases))
                if _equals(self._paks[pak_id], filters)
            ]
        found.sort(key=lambda hit: (hit.score, hit.pak.updated_at, hit.pak.pak_id), reverse=True)
        return found[:count]

    def _bm25(self, pak_id: str, phrases: list[dict[str, int]]) -> float:
        """Return FTS5's own score, added up in its own order."""
        documents, words = self._records.statistics(None)
        length, average = self._records.length(pak_id), words / documents
        score = 0.0
        for counts in phrases:
            rarity = math.log((documents - len(counts) + 0.5) / (len(counts) + 0.5))
            rarity = rarity if rarity > 0.0 else _LEAST_RARITY
            often = float(counts.get(pak_id, 0))
            damped = often + _K1 * (1 - _B + _B * length / average)
            score += rarity * ((often * (_K1 + 1.0)) / damped)
        return score

    def _anchored_in(self, source_path: str) -> list[str]:
        with self._reading():
            return sorted(
                pak_id
                for pak_id, anchors in self._hanging[ANCHORS.table].items()
                if any(hung.entry.source_path == source_path for hung in anchors.values())
            )

    def _flagged(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        with self._reading():
            for pak_id, flags in sorted(self._hanging[RISK_FLAGS.table].items()):
                for hung in flags.values():
                    found.setdefault(hung.entry.risk_flag, []).append(pak_id)
        return dict(sorted(found.items()))

    def _entries(self, kind: Attachment[Entry], pak_ids: list[str]) -> dict[str, list[Entry]]:
        with self._reading():
            hanging = self._hanging[kind.table]
            return {
                pak_id: [one.entry for _, one in sorted(hanging.get(pak_id, {}).items())]
                for pak_id in pak_ids
            }

    def _replace_entries(
        self, kind: Attachment[Entry], pak_id: str, new: list[Entry], now: str
    ) -> None:
        with self.transaction():
            hung = {_key(kind, entry): _Hanging(entry, now) for entry in new}
            self._hang(kind.table, pak_id, hung)
            self._need_ends(kind, pak_id, new)

    def _add_entry(self, kind: Attachment[Entry], pak_id: str, entry: Entry, now: str) -> None:
        with self.transaction():
            before = self._hanging[kind.table].get(pak_id, {})
            hung = {**before, _key(kind, entry): _Hanging(entry, now)}
            self._hang(kind.table, pak_id, hung)
            self._need_ends(kind, pak_id, [entry])

    def _remove_entry(self, kind: Attachment[Entry], pak_id: str, key: Key) -> bool:
        with self.transaction():
            before = self._hanging[kind.table].get(pak_id, {})
            left = {one: entry for one, entry in before.items() if one != key}
            if left != before:
                self._hang(kind.table, pak_id, left)
            return left != before

    def _write(self, row: PakRow) -> None:
        before = self._paks.get(row.pak_id)
        self._undo.note(lambda: self._set(before) if before else self._unset(row.pak_id))
        self._set(row)
        self._tell(row.pak_id, row)

    def _erase(self, pak_id: str) -> None:
        before = self._paks[pak_id]
        self._undo.note(lambda: self._set(before))
        self._unset(pak_id)
        self._tell(pak_id, None)

    def _set(self, row: PakRow) -> None:
        self._paks[row.pak_id] = row
        self._records.put(row)
        self._order = None

    def _unset(self, pak_id: str) -> None:
        self._paks.pop(pak_id, None)
        self._records.remove(pak_id)
        self._order = None

    def _hang(self, table: str, pak_id: str, entries: Mapping[Key, _Hanging]) -> None:
        owners = self._hanging[table]
        before = owners.get(pak_id, {})
        self._undo.note(lambda: self._set_hanging(table, pak_id, before))
        self._set_hanging(table, pak_id, entries)

    def _set_hanging(self, table: str, pak_id: str, entries: Mapping[Key, _Hanging]) -> None:
        self._hanging[table].pop(pak_id, None)
        if entries:
            self._hanging[table][pak_id] = dict(entries)
        self._records.touch(pak_id)

    def _tell(self, pak_id: str, row: PakRow | None) -> None:
        if self._watcher is not None:
            self._watcher(pak_id, row)

    def _need_ends(self, kind: Attachment[Entry], pak_id: str, entries: list[Entry]) -> None:
        """Refuse entries of a Pak, or to a Pak, that is not there; one that has none is fine."""
        for entry in entries:
            self._need(pak_id)
            if kind.table == RELATIONS.table:
                self._need(str(entry[0]))

    def _need(self, pak_id: str | None) -> None:
        if pak_id is not None and pak_id not in self._paks:
            raise UnknownPak(
                "The write names a Pak that is not in the catalogue; nothing was written.",
                hint="upsert the Pak first, or check the id.",
            )

    def _reading(self) -> AbstractContextManager[object]:
        self._need_open()
        return self._undo.turn()

    def _need_open(self) -> None:
        if self._closed:
            raise StoreClosed(
                "The catalogue in memory was closed.", hint="open a new one; what it held is gone."
            )


def _key(kind: Attachment[Entry], entry: Entry) -> Key:
    return tuple(str(getattr(entry, name)) for name in kind.key)


def _equals(row: PakRow, filters: PakListFilters) -> bool:
    return filters.project in (None, row.project) and filters.pak_type in (None, row.pak_type)
