"""All that a SQLite file keeps of its own, as records: one query a kind.

In: a kind and where to go on. Out: values of `recollect.ports.records`. Nothing is written here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recollect.errors import StoreDamaged
from recollect.model.plain import metadata_from
from recollect.ports.records import RECORD_KINDS, Record
from recollect.stores.sqlite.legible import RowShape
from recollect.stores.sqlite.session import marks
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.ports.records import RecordKey, RecordKind
    from recollect.stores.sqlite.session import Session

__all__ = ["SqliteRecords"]

_MEMORY = (
    *("content", "tags", "category", "source", "entity", "relation", "value", "confidence"),
    *("thread", "position", "speaker", "occurred_at", "valid_from", "valid_until", "status"),
    *("reinforced", "last_reinforced", "pending", "ttl", "metadata"),
)
_PAK = (
    *("pak_type", "project", "topic", "source_type", "authority", "title", "summary"),
    *("content_hash", "created_at", "updated_at"),
)
_PLACE = ("tenant", "owner", "scope", "team", "garden")
_ENDS = (
    " JOIN memories AS one ON one.row_id = {table}.{low}"
    " JOIN memories AS two ON two.row_id = {table}.{high}"
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a kind is read: its fields with the columns they are of, from where, in which order."""

    fields: Mapping[str, str]
    source: str
    key: tuple[str, ...]
    where: str = "1"
    made: Callable[[dict[str, Any]], dict[str, Any]] = lambda fields: fields


def _same(*names: str, of: str = "") -> dict[str, str]:
    """Return fields that are called as their columns."""
    return {name: f"{of}{name}" for name in names}


def _memory(fields: dict[str, Any]) -> dict[str, Any]:
    place = {name: fields.pop(name) for name in _PLACE}
    tags = json.loads(fields["tags"])
    if not isinstance(tags, list):
        raise TypeError("tags that are no list")
    return {
        **fields,
        "place": place,
        "tags": tags,
        "pending": bool(fields["pending"]),
        "metadata": {} if fields["metadata"] is None else metadata_from(fields["metadata"]),
    }


def _flagged(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda fields: {**fields, name: bool(fields[name])}


def _pair(table: str, low: str, high: str, *names: str) -> tuple[dict[str, str], str]:
    fields = {"pak_id": "one.pak_id", "other": "two.pak_id", **_same(*names, of=f"{table}.")}
    return fields, table + _ENDS.format(table=table, low=low, high=high)


def _hanging(table: str, key: tuple[str, ...], *names: str) -> _Kind:
    return _Kind(_same("pak_id", *key, *names), table, ("pak_id", *key))


_LINK = _pair("memory_edges", "low", "high", "weight", "automatic")
_LINK_USE = _pair("link_uses", "low", "high", "tenant", "principal", "uses")
_LIKENESS = _pair("memory_likenesses", "row_id", "other", "closeness")
_DISPUTE = _pair("memory_disputes", "low", "high", "note", "is_open", "created_at")
_KINDS: dict[RecordKind, _Kind] = {
    "garden": _Kind(
        _same("tenant", "slug", "name", "scope", "team", "tier", "created_at"),
        "gardens",
        ("tenant", "slug"),
    ),
    "member": _Kind(
        {**_same("tenant", "principal", "role"), "garden": "slug"},
        "garden_members",
        ("tenant", "slug", "principal"),
    ),
    "trust": _Kind(_same("tenant", "source", "trust"), "source_trust", ("tenant", "source")),
    "frame": _Kind(
        _same("tenant", "name", "definition", "extends"),
        "memory_frames",
        ("tenant", "name"),
        made=lambda fields: {**fields, "definition": json.loads(fields["definition"])},
    ),
    "memory": _Kind(
        {"pak_id": "memories.pak_id", **_same(*_MEMORY, *_PLACE, *_PAK)},
        "memories JOIN paks ON paks.pak_id = memories.pak_id",
        ("row_id",),
        made=_memory,
    ),
    "pak": _Kind(
        _same("pak_id", *_PAK),
        "paks",
        ("pak_id",),
        where="pak_id NOT IN (SELECT pak_id FROM memories)",
    ),
    "successor": _Kind(
        {"pak_id": "pak_id", "successor": "superseded_by"},
        "paks",
        ("pak_id",),
        where="superseded_by IS NOT NULL",
    ),
    "reason": _hanging("pak_reason_codes", ("reason_code",), "weight", "created_at"),
    "flag": _hanging("pak_risk_flags", ("risk_flag",), "severity", "created_at"),
    "anchor": _Kind(
        {**_same("pak_id", "anchor_id", "source_path"), "anchor_kind": "kind"},
        "pak_anchors",
        ("pak_id", "anchor_id"),
    ),
    "relation": _hanging("pak_relations", ("related_pak_id", "relation_type"), "created_at"),
    "link": _Kind(
        *_LINK, ("low", "high"), where="memory_edges.weight > 0", made=_flagged("automatic")
    ),
    "likeness": _Kind(*_LIKENESS, ("memory_likenesses.row_id", "memory_likenesses.other")),
    "dispute": _Kind(*_DISPUTE, ("low", "high"), made=_flagged("is_open")),
    "use": _Kind(
        {
            **_same("pak_id", of="memories."),
            **_same("tenant", "principal", "reinforced", "last_reinforced", of="memory_uses."),
        },
        "memory_uses JOIN memories USING (row_id)",
        ("row_id", "memory_uses.tenant", "memory_uses.principal"),
    ),
    "version": _Kind(
        {
            **_same("pak_id", of="memories."),
            **_same("number", "at", "superseded_by", "fields", of="memory_versions."),
            "by": "principal",
        },
        "memory_versions JOIN memories USING (row_id)",
        ("row_id", "memory_versions.number"),
        made=lambda fields: {
            **fields,
            "fields": None if fields["fields"] is None else json.loads(fields["fields"]),
        },
    ),
    "link_use": _Kind(*_LINK_USE, ("low", "high", "link_uses.tenant", "link_uses.principal")),
}


_SHAPE = RowShape(tuple(_KINDS["memory"].fields))


def _legible(kind: RecordKind, one: _Kind, values: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of a row; one that was damaged is told of, not left out of a backup."""
    told = dict(zip(one.fields, values, strict=True))
    try:
        if kind == "memory":
            _SHAPE.check(values)
        if any(isinstance(value, bytes) for value in values):
            raise ValueError("a text that is no UTF-8")
        return one.made(dict(told))
    except (ValueError, TypeError) as error:
        raise StoreDamaged(
            f"the {kind} of {told.get('pak_id', told.get('tenant'))!r:.60} cannot be read.",
            hint="`recollect check` names what is damaged; write it anew or forget it, or export"
            " without everything, which holds the others.",
        ) from error


class SqliteRecords:
    """The records of one SQLite file."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def page(self, kind: RecordKind, *, after: RecordKey | None, most: int) -> Sequence[Record]:
        """Return the first records of a kind, or those after one of them."""
        one = _KINDS[kind]
        key = ", ".join(one.key)
        beyond = "" if after is None else f" AND ({key}) > ({marks(one.key)})"
        rows = self._db.all(
            f"SELECT {key}, {', '.join(one.fields.values())} FROM {one.source}"
            f" WHERE {one.where}{beyond} ORDER BY {key} LIMIT ?",
            *(after or ()),
            most,
        )
        parts = len(one.key)
        return [Record(row[:parts], _legible(kind, one, row[parts:])) for row in rows]

    def count(self) -> Mapping[RecordKind, int]:
        """Return how many records there are of each kind."""
        counts = ", ".join(
            f"(SELECT count(*) FROM {_KINDS[kind].source} WHERE {_KINDS[kind].where})"
            for kind in RECORD_KINDS
        )
        return dict(zip(RECORD_KINDS, self._db.one(f"SELECT {counts}"), strict=True))

    def tenants(self) -> Mapping[str, int]:
        """Return how many memories each tenant has."""
        sql = "SELECT tenant, count(*) FROM memories GROUP BY tenant ORDER BY tenant"
        return dict(self._db.all(sql))
