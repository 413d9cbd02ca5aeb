"""What the catalogue's calls accept. Every check runs before a transaction is opened.

In: whatever a caller passed. Out: the value to bind, or `InvalidInput` (a ValueError) that names
the field. Registry checks are asked for with `strict` and come after all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from recollect import check
from recollect.check import shown
from recollect.errors import InvalidInput
from recollect.model.pak import (
    PakAnchorEntry,
    PakRelationEntry,
    PakRow,
    ReasonCodeEntry,
    RiskFlagEntry,
)
from recollect.paks.registry import REASON_CODES, RISK_FLAGS

__all__ = [
    "RISK_FLAG_SEVERITIES",
    "anchors",
    "listed",
    "optional_text",
    "pak_row",
    "reason_codes",
    "relations",
    "required_text",
    "risk_flags",
    "timestamp",
]

RISK_FLAG_SEVERITIES = frozenset({"info", "warn", "block"})
_FULL_WEIGHT = "1.0 is full weight; leave it out for the default."

# What a caller may say of a Pak: its columns, but one `now` instead of the two times.
_FIELDS = {name for name in PakRow._fields if not name.endswith("ed_at")} | {"now"}


def required_text(field: str, value: Any) -> str:
    """Return `value` if it is a string that says something."""
    return check.filled_text(field, value, nul=True, limited=False)


def optional_text(field: str, value: Any) -> str | None:
    """Return `value` if it is a string or None."""
    return check.optional_text(field, value, nul=True, limited=False)


def listed(field: str, values: Any) -> list[Any]:
    """Return `values` as a list; a string is one value, not a list of its letters."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(
            f"{field} entries must come as a list, not {shown(values)}.",
            hint="pass a list; an empty one is fine.",
        )
    return list(values)


def timestamp(value: Any) -> str:
    """Return `value` as given if it is an ISO-8601 time in UTC."""
    return check.utc_time("now", value)


def pak_row(fields: Any, stamp: str, *, limited: bool = True) -> PakRow:
    """Check the fields of one upsert; return the row to write, dated `stamp` or its own `now`.

    What is not `limited` was kept before, as long as it is.
    """
    if not isinstance(fields, Mapping):
        raise InvalidInput(
            f"a Pak must be a mapping of its fields, not {shown(fields)}.",
            hint="pass a dict with the arguments of upsert_pak.",
        )
    for name in fields.keys() - _FIELDS:
        raise InvalidInput(
            f"unknown field {name!r}.", hint=f"a Pak has {', '.join(sorted(_FIELDS))}."
        )
    own = fields.get("now")
    written_at = stamp if own is None else timestamp(own)
    row = PakRow(
        pak_id=required_text("pak_id", fields.get("pak_id")),
        pak_type=required_text("pak_type", fields.get("pak_type")),
        project=optional_text("project", fields.get("project")),
        topic=optional_text("topic", fields.get("topic")),
        source_type=required_text("source_type", fields.get("source_type")),
        authority=required_text("authority", fields.get("authority")),
        title=required_text("title", fields.get("title")),
        summary=optional_text("summary", fields.get("summary")) or "",
        content_hash=required_text("content_hash", fields.get("content_hash")),
        created_at=written_at,
        updated_at=written_at,
        superseded_by=optional_text("superseded_by", fields.get("superseded_by")),
    )
    if limited:
        for name, value in zip(row._fields, row, strict=True):
            check.length(name, value or "")
    return row


def reason_codes(entries: Any, *, strict: bool) -> list[ReasonCodeEntry]:
    """Check a set of reason codes."""
    checked = [
        ReasonCodeEntry(
            _limited_text("reason_code", getattr(entry, "reason_code", None)),
            check.share("weight", getattr(entry, "weight", None), hint=_FULL_WEIGHT),
        )
        for entry in listed("reason_code", entries)
    ]
    _no_duplicates("reason_code", checked, key=lambda entry: entry.reason_code)
    if strict:
        for entry in checked:
            _registered("reason_code", entry.reason_code, REASON_CODES)
    return checked


def risk_flags(entries: Any, *, strict: bool) -> list[RiskFlagEntry]:
    """Check a set of risk flags."""
    checked = [
        RiskFlagEntry(
            _limited_text("risk_flag", getattr(entry, "risk_flag", None)),
            _severity(getattr(entry, "severity", None)),
        )
        for entry in listed("risk_flag", entries)
    ]
    _no_duplicates("risk_flag", checked, key=lambda entry: entry.risk_flag)
    if strict:
        for entry in checked:
            _registered("risk_flag", entry.risk_flag, RISK_FLAGS)
            _pinned(entry)
    return checked


def anchors(entries: Any) -> list[PakAnchorEntry]:
    """Check a set of anchors."""
    checked = [
        PakAnchorEntry(
            _limited_text("anchor_id", getattr(entry, "anchor_id", None)),
            _limited_text("source_path", getattr(entry, "source_path", None)),
            _limited_text("kind", getattr(entry, "kind", None)),
        )
        for entry in listed("anchor_id", entries)
    ]
    _no_duplicates("anchor_id", checked, key=lambda entry: entry.anchor_id)
    return checked


def relations(entries: Any) -> list[PakRelationEntry]:
    """Check a set of relations."""
    checked = [
        PakRelationEntry(
            _limited_text("related_pak_id", getattr(entry, "related_pak_id", None)),
            _limited_text("relation_type", getattr(entry, "relation_type", None)),
        )
        for entry in listed("related_pak_id", entries)
    ]
    _no_duplicates("related_pak_id", checked, key=lambda entry: entry)
    return checked


def _limited_text(field: str, value: Any) -> str:
    return check.filled_text(field, value, nul=True)


def _severity(value: Any) -> str:
    if not isinstance(value, str) or value not in RISK_FLAG_SEVERITIES:
        raise InvalidInput(
            f"severity must be info, warn or block, not {shown(value)}.",
            hint="recollect.paks.registry.RISK_FLAGS names the severity of each known flag.",
        )
    return value


def _no_duplicates(field: str, entries: list[Any], *, key: Callable[[Any], object]) -> None:
    seen: set[object] = set()
    for entry in entries:
        if key(entry) in seen:
            raise InvalidInput(
                f"duplicate {field} {shown(key(entry))}.", hint="name each one once."
            )
        seen.add(key(entry))


def _registered(field: str, name: str, registry: Iterable[str]) -> None:
    if name not in registry:
        raise InvalidInput(
            f"{field} {name!r} is not in the registry.",
            hint=f"known names: {', '.join(sorted(registry))}.",
        )


def _pinned(entry: RiskFlagEntry) -> None:
    pinned = RISK_FLAGS[entry.risk_flag]
    if entry.severity != pinned:
        raise InvalidInput(
            f"severity of {entry.risk_flag} is {pinned}, not {entry.severity}.",
            hint="use the severity that the registry has for it.",
        )
