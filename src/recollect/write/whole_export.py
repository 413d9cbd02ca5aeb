"""A whole store as lines of JSON: the same bytes, whichever kind of store they were in.

In: a store's records, for whoever holds the store. Out: lines, from which `whole_import` reads it
all again. The format is in ADR-0027.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from recollect.ports.store import RECORD_KINDS
from recollect.write.transfer import EVERYTHING, VERSION, as_line

if TYPE_CHECKING:
    from recollect.ports.store import RecordKind, Store

__all__ = ["NAMING_FIELDS", "whole_export"]

_AT_ONCE = 512
# The fields by which a record names memories, or entries of the catalogue.
NAMING_FIELDS: Mapping[RecordKind, tuple[str, ...]] = {
    "successor": ("pak_id", "successor"),
    "reason": ("pak_id",),
    "flag": ("pak_id",),
    "anchor": ("pak_id",),
    "relation": ("pak_id", "related_pak_id"),
    "link": ("pak_id", "other"),
    "likeness": ("pak_id", "other"),
    "dispute": ("pak_id", "other"),
    "use": ("pak_id",),
    "link_use": ("pak_id", "other"),
    "version": ("pak_id",),
}


def whole_export(store: Store) -> Iterator[str]:
    """Yield all of a store as lines, a few hundred records read at a time.

    Others may write meanwhile: what names a memory that is not among the lines is left out.
    """
    yield as_line("export", {"version": VERSION, "holds": EVERYTHING})
    yield as_line("store", _facts(store))
    told, lines = _Told(), 2
    for kind in RECORD_KINDS:
        for fields in _lists_as_one(kind, filter(told.fits(kind), _fields(store, kind))):
            yield as_line(kind, fields)
            lines += 1
    yield as_line("end", {"lines": lines})


def _facts(store: Store) -> dict[str, Any]:
    state = store.state.read()
    seen_at = state.clock.seen_at
    return {
        "active_hours": float(state.clock.active_hours),
        "seen_at": None if seen_at is None else float(seen_at),
    }


class _Told:
    """Which gardens, memories and entries of the catalogue the lines so far are about."""

    def __init__(self) -> None:
        self._gardens: set[tuple[str, str]] = set()
        self._ids: set[str] = set()

    def fits(self, kind: RecordKind) -> Callable[[Mapping[str, Any]], bool]:
        """Return what says of a record of a kind whether all that it names was told of."""
        if kind == "version":
            return self._fits_version
        if kind in NAMING_FIELDS:
            names = NAMING_FIELDS[kind]
            return lambda fields: all(fields[name] in self._ids for name in names)
        if kind == "member":
            return lambda fields: (fields["tenant"], fields["garden"]) in self._gardens
        return self._tell

    def _fits_version(self, fields: Mapping[str, Any]) -> bool:
        successor = fields["superseded_by"]
        return fields["pak_id"] in self._ids and (successor is None or successor in self._ids)

    def _tell(self, fields: Mapping[str, Any]) -> bool:
        if "pak_id" in fields:
            self._ids.add(fields["pak_id"])
        elif "slug" in fields:
            self._gardens.add((fields["tenant"], fields["slug"]))
        return True


def _fields(store: Store, kind: RecordKind) -> Iterator[Mapping[str, Any]]:
    after = None
    while page := store.records.page(kind, after=after, most=_AT_ONCE):
        yield from (record.fields for record in page)
        after = page[-1].key


def _lists_as_one(
    kind: RecordKind, records: Iterable[Mapping[str, Any]]
) -> Iterable[Mapping[str, Any]]:
    """Return records as lines hold them: whom one memory holds for its most alike is one line."""
    if kind != "likeness":
        return records
    return (
        {"pak_id": pak_id, "others": {one["other"]: one["closeness"] for one in held}}
        for pak_id, held in groupby(records, key=lambda one: one["pak_id"])
    )
