"""What every catalogue of Paks promises: its calls, their checks, and what they report.

In: metadata of Paks, never their bodies. Out: rows, pages, hits. It stores and finds; it does not
rank for a task, select, or refuse what a flag warns of. Every check runs here, before anything is
written; how rows are kept is left to who extends this.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from recollect import check
from recollect.errors import InvalidInput
from recollect.model.pak import (
    LIST_LIMIT_DEFAULT,
    PakListFilters,
    PakListResult,
    UpsertResult,
)
from recollect.paks import cursor, entries, listing, validate
from recollect.paks.words import search_words

if TYPE_CHECKING:
    from recollect.model.pak import (
        CheckReport,
        PakAnchorEntry,
        PakHit,
        PakRelationEntry,
        PakRow,
        ReasonCodeEntry,
        RepairReport,
        RiskFlagEntry,
    )
    from recollect.paks.entries import Attachment
    from recollect.ports.catalogue import CatalogueRecords

__all__ = ["Match", "PakCatalogue"]

_log = logging.getLogger("recollect.paks.store")

Entry = TypeVar("Entry", bound=tuple[object, ...])
Own = TypeVar("Own", bound="PakCatalogue")
Match = Literal["any", "all"]


class PakCatalogue(ABC):
    """A catalogue of Paks. Use it in a `with` statement, or close it."""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict

    @property
    @abstractmethod
    def conn(self) -> Any:
        """The SQLite connection behind the catalogue, if there is one."""

    @property
    @abstractmethod
    def path(self) -> Path:
        """Where the catalogue is."""

    @property
    @abstractmethod
    def schema_version(self) -> int:
        """The version of the catalogue's shape."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the catalogue; closing twice is fine."""

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def upsert_pak(
        self,
        *,
        pak_id: str,
        pak_type: str,
        source_type: str,
        authority: str,
        title: str,
        content_hash: str,
        summary: str | None = "",
        project: str | None = None,
        topic: str | None = None,
        superseded_by: str | None = None,
        now: str | None = None,
    ) -> UpsertResult:
        """Add a Pak, or replace every column but `created_at` of the one with this id."""
        row = validate.pak_row(
            {
                "pak_id": pak_id,
                "pak_type": pak_type,
                "source_type": source_type,
                "authority": authority,
                "title": title,
                "content_hash": content_hash,
                "summary": summary,
                "project": project,
                "topic": topic,
                "superseded_by": superseded_by,
            },
            _stamp(now),
        )
        return _reported(row, self._put(row))

    def upsert_paks(
        self, paks: Iterable[Mapping[str, Any]], *, now: str | None = None, quiet: bool = False
    ) -> list[UpsertResult]:
        """Upsert many Paks in one transaction: all of them, or none.

        Each is a mapping with the arguments of `upsert_pak`, `now` included if it has its own.
        `quiet` logs no warning for bodies that changed: the caller means to change them.
        """
        stamp = _stamp(now)
        rows = [validate.pak_row(pak, stamp) for pak in validate.listed("pak", paks)]
        hashes = self._put_all(rows)
        results = []
        for row in rows:
            results.append(_reported(row, hashes.get(row.pak_id), quiet=quiet))
            hashes[row.pak_id] = row.content_hash
        return results

    def keep_rows(self, rows: Iterable[PakRow]) -> dict[str, PakRow]:
        """Write rows as they are, times included, all of them or none; return them as they stand.

        They were checked by whoever made them. One that is there keeps its `created_at`.
        """
        return self._keep_all(list(rows))

    def delete_pak(self, pak_id: str) -> bool:
        """Delete a Pak and all that hangs on it; return whether there was one."""
        return check.is_id(pak_id) and self._delete(pak_id)

    def get_pak(self, pak_id: str | None) -> PakRow | None:
        """Return the Pak with this id, or None."""
        return self.get_paks([pak_id]).get(pak_id) if check.is_id(pak_id) else None

    def get_paks(self, pak_ids: Iterable[str | None]) -> dict[str, PakRow]:
        """Return those Paks that exist, by id, in the order asked for."""
        wanted = list(dict.fromkeys(filter(check.is_id, validate.listed("pak_id", pak_ids))))
        found = self._rows(wanted)
        return {pak_id: found[pak_id] for pak_id in wanted if pak_id in found}

    def list_paks(self, filters: PakListFilters | None = None) -> PakListResult:
        """Return one page of Paks, newest first."""
        filters = listing.checked(filters)
        limit = listing.page_size(filters.limit)
        after = cursor.decode(filters.cursor, filters) if filters.cursor else None
        found = self._page(filters, after, limit + 1)
        items, more = found[:limit], len(found) > limit
        return PakListResult(
            items, cursor.encode(items[-1], filters) if more else None, limit, more
        )

    def iter_paks(self, filters: PakListFilters | None = None) -> Iterator[PakRow]:
        """Walk all matching Paks, newest first, a page at a time.

        Paks added while walking are met at most once. One that is changed meanwhile moves to the
        front, where the walk has been already.
        """
        filters = listing.checked(filters)
        while True:
            page = self.list_paks(filters)
            yield from page.items
            if page.next_cursor is None:
                return
            filters = filters._replace(cursor=page.next_cursor)

    def count_paks(self, filters: PakListFilters | None = None) -> int:
        """Count matching Paks; the filters' limit and cursor play no part."""
        return self._count(listing.checked(filters))

    def search(
        self,
        text: str,
        *,
        project: str | None = None,
        pak_type: str | None = None,
        limit: int = LIST_LIMIT_DEFAULT,
        match: Match = "any",
    ) -> list[PakHit]:
        """Find Paks by the words of their title and summary, best first.

        Any text is safe: it is read as words, never as query syntax. `match` says whether a Pak
        must hold any of the words or all of them.
        """
        if match not in ("any", "all"):
            raise InvalidInput(f"match must be any or all, not {match!r}.", hint="use match='any'.")
        if not isinstance(text, str):
            raise InvalidInput(f"text must be a string, not {text!r}.", hint="pass '' for none.")
        filters = listing.checked(PakListFilters(project, pak_type))
        words = search_words(text)
        return self._search(words, match, filters, listing.page_size(limit)) if words else []

    def set_pak_reason_codes(
        self, pak_id: str, codes: Sequence[ReasonCodeEntry], *, now: str | None = None
    ) -> None:
        """Make `codes` the whole set of a Pak's reason codes; an empty list clears it."""
        self._replace(entries.REASON_CODES, pak_id, self._codes(codes), now)

    def get_pak_reason_codes(self, pak_id: str | None) -> list[ReasonCodeEntry]:
        """Return a Pak's reason codes in ascending order; [] for an id that is not there."""
        return self._read(entries.REASON_CODES, pak_id)

    def add_pak_reason_code(
        self, pak_id: str, code: ReasonCodeEntry, *, now: str | None = None
    ) -> None:
        """Add one reason code, or give it a new weight."""
        self._add(entries.REASON_CODES, pak_id, self._codes([code]), now)

    def remove_pak_reason_code(self, pak_id: str, reason_code: str) -> bool:
        """Remove one reason code; return whether it was there."""
        return self._remove(entries.REASON_CODES, pak_id, (reason_code,))

    def set_pak_risk_flags(
        self, pak_id: str, flags: Sequence[RiskFlagEntry], *, now: str | None = None
    ) -> None:
        """Make `flags` the whole set of a Pak's risk flags; an empty list clears it."""
        self._replace(entries.RISK_FLAGS, pak_id, self._flags(flags), now)

    def get_pak_risk_flags(self, pak_id: str | None) -> list[RiskFlagEntry]:
        """Return a Pak's risk flags in ascending order; [] for an id that is not there."""
        return self._read(entries.RISK_FLAGS, pak_id)

    def get_pak_risk_flags_of_each(
        self, pak_ids: Iterable[str | None]
    ) -> dict[str, list[RiskFlagEntry]]:
        """Return the risk flags of many Paks at once, by id; one without any has []."""
        wanted = list(dict.fromkeys(filter(check.is_id, validate.listed("pak_id", pak_ids))))
        found = self._entries(entries.RISK_FLAGS, wanted)
        return {pak_id: found.get(pak_id, []) for pak_id in wanted}

    def add_pak_risk_flag(
        self, pak_id: str, flag: RiskFlagEntry, *, now: str | None = None
    ) -> None:
        """Add one risk flag, or give it a new severity."""
        self._add(entries.RISK_FLAGS, pak_id, self._flags([flag]), now)

    def remove_pak_risk_flag(self, pak_id: str, risk_flag: str) -> bool:
        """Remove one risk flag; return whether it was there."""
        return self._remove(entries.RISK_FLAGS, pak_id, (risk_flag,))

    def find_flagged_paks(self) -> dict[str, list[str]]:
        """Return each risk flag that a Pak has, with the ids of those that have it, ascending."""
        return self._flagged()

    def set_pak_anchors(self, pak_id: str, anchors: Sequence[PakAnchorEntry]) -> None:
        """Make `anchors` the whole set of a Pak's anchors."""
        self._replace(entries.ANCHORS, pak_id, validate.anchors(anchors), None)

    def get_pak_anchors(self, pak_id: str | None) -> list[PakAnchorEntry]:
        """Return a Pak's anchors in ascending order of their id."""
        return self._read(entries.ANCHORS, pak_id)

    def add_pak_anchor(self, pak_id: str, anchor: PakAnchorEntry) -> None:
        """Add one anchor, or move the one with its id."""
        self._add(entries.ANCHORS, pak_id, validate.anchors([anchor]), None)

    def remove_pak_anchor(self, pak_id: str, anchor_id: str) -> bool:
        """Remove one anchor; return whether it was there."""
        return self._remove(entries.ANCHORS, pak_id, (anchor_id,))

    def find_paks_by_source(self, source_path: str) -> list[str]:
        """Return the ids of the Paks anchored in a source, ascending."""
        return self._anchored_in(validate.required_text("source_path", source_path))

    def set_pak_relations(
        self, pak_id: str, relations: Sequence[PakRelationEntry], *, now: str | None = None
    ) -> None:
        """Make `relations` the whole set of relations that start at a Pak."""
        self._replace(entries.RELATIONS, pak_id, validate.relations(relations), now)

    def get_pak_relations(self, pak_id: str | None) -> list[PakRelationEntry]:
        """Return the relations that start at a Pak, in ascending order."""
        return self._read(entries.RELATIONS, pak_id)

    def add_pak_relation(
        self, pak_id: str, relation: PakRelationEntry, *, now: str | None = None
    ) -> None:
        """Add one relation."""
        self._add(entries.RELATIONS, pak_id, validate.relations([relation]), now)

    def remove_pak_relation(self, pak_id: str, relation: PakRelationEntry) -> bool:
        """Remove one relation; return whether it was there."""
        (key,) = validate.relations([relation])
        return self._remove(entries.RELATIONS, pak_id, key)

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Any]:
        """Make several writes one: `with store.transaction(): ...` commits all or none."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[bool]:
        """Read in one state: `with store.snapshot(): ...` sees no write that others make meanwhile.

        It yields whether that state is committed; inside a caller's transaction it may not be.
        Snapshots may stand inside one another.
        """

    @abstractmethod
    def records(self) -> CatalogueRecords:
        """Return the catalogue by numbers, as selections read it; for use inside a snapshot."""

    @abstractmethod
    def check(self) -> CheckReport:
        """Look for damage, dangling references and stale full text."""

    @abstractmethod
    def repair(self) -> RepairReport:
        """Make full text say what the catalogue says."""

    def _codes(self, codes: Sequence[ReasonCodeEntry]) -> list[ReasonCodeEntry]:
        return validate.reason_codes(codes, strict=self._strict)

    def _flags(self, flags: Sequence[RiskFlagEntry]) -> list[RiskFlagEntry]:
        return validate.risk_flags(flags, strict=self._strict)

    def _read(self, kind: Attachment[Entry], pak_id: str | None) -> list[Entry]:
        return self._entries(kind, [pak_id]).get(pak_id, []) if check.is_id(pak_id) else []

    def _replace(
        self, kind: Attachment[Entry], pak_id: str, new: list[Entry], now: str | None
    ) -> None:
        pak_id, stamp = validate.required_text("pak_id", pak_id), _stamp(now)
        self._replace_entries(kind, pak_id, new, stamp)

    def _add(self, kind: Attachment[Entry], pak_id: str, new: list[Entry], now: str | None) -> None:
        pak_id, stamp = validate.required_text("pak_id", pak_id), _stamp(now)
        self._add_entry(kind, pak_id, new[0], stamp)

    def _remove(self, kind: Attachment[Entry], pak_id: str, key: tuple[str, ...]) -> bool:
        return all(map(check.is_id, (pak_id, *key))) and self._remove_entry(kind, pak_id, key)

    @abstractmethod
    def _put(self, row: PakRow) -> str | None:
        """Write `row`, all but `created_at` of one that is there; return its old content hash."""

    @abstractmethod
    def _put_all(self, rows: list[PakRow]) -> dict[str, str]:
        """Write rows, or none of them, whichever names which; return old hashes by id."""

    @abstractmethod
    def _keep_all(self, rows: list[PakRow]) -> dict[str, PakRow]:
        """Write rows, or none of them, whichever names which; return them as they stand."""

    @abstractmethod
    def _delete(self, pak_id: str) -> bool:
        """Delete a row with all that hangs on it; return whether there was one."""

    @abstractmethod
    def _rows(self, pak_ids: list[str]) -> dict[str, PakRow]:
        """Return those rows that exist."""

    @abstractmethod
    def _page(
        self, filters: PakListFilters, after: cursor.Position | None, count: int
    ) -> list[PakRow]:
        """Return so many rows that equal the filters, newest first, from behind a position."""

    @abstractmethod
    def _count(self, filters: PakListFilters) -> int:
        """Count the rows that equal the filters."""

    @abstractmethod
    def _search(
        self, words: list[str], match: Match, filters: PakListFilters, count: int
    ) -> list[PakHit]:
        """Return so many hits of full text, best first; there is at least one word."""

    @abstractmethod
    def _anchored_in(self, source_path: str) -> list[str]:
        """Return who has an anchor in a source, ascending."""

    @abstractmethod
    def _flagged(self) -> dict[str, list[str]]:
        """Return who has which risk flag, both ascending."""

    @abstractmethod
    def _entries(self, kind: Attachment[Entry], pak_ids: list[str]) -> dict[str, list[Entry]]:
        """Return what hangs on Paks, by id, ascending by key; one with nothing may be left out."""

    @abstractmethod
    def _replace_entries(
        self, kind: Attachment[Entry], pak_id: str, new: list[Entry], now: str
    ) -> None:
        """Make `new` the whole set of a Pak."""

    @abstractmethod
    def _add_entry(self, kind: Attachment[Entry], pak_id: str, entry: Entry, now: str) -> None:
        """Add one entry, or give the one with its key these values."""

    @abstractmethod
    def _remove_entry(self, kind: Attachment[Entry], pak_id: str, key: tuple[str, ...]) -> bool:
        """Remove the entry with this key; return whether there was one."""


def _stamp(now: str | None) -> str:
    if now is None:
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return validate.timestamp(now)


def _reported(row: PakRow, old_hash: str | None, *, quiet: bool = False) -> UpsertResult:
    changed = old_hash is not None and old_hash != row.content_hash
    if changed and not quiet:
        _log.warning("content_hash changed for pak_id=%s; its row was replaced", row.pak_id)
    return UpsertResult(row.pak_id, old_hash is None, changed)
