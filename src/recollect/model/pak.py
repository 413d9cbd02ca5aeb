"""The catalogue's values: what its calls take and give back.

Named tuples, so equality is structural and construction may be positional or by keyword.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "LIST_LIMIT_DEFAULT",
    "LIST_LIMIT_MAX",
    "CheckReport",
    "PakAnchorEntry",
    "PakHit",
    "PakListFilters",
    "PakListResult",
    "PakRelationEntry",
    "PakRow",
    "ReasonCodeEntry",
    "RepairReport",
    "RiskFlagEntry",
    "UpsertResult",
]

LIST_LIMIT_DEFAULT = 100
LIST_LIMIT_MAX = 100


class PakRow(NamedTuple):
    """One row of the catalogue, in the order of its columns."""

    pak_id: str
    pak_type: str
    project: str | None
    topic: str | None
    source_type: str
    authority: str
    title: str
    summary: str
    content_hash: str
    created_at: str
    updated_at: str
    superseded_by: str | None


class PakListFilters(NamedTuple):
    """Which rows to list: exact matches joined by AND, a page size, where to go on."""

    project: str | None = None
    pak_type: str | None = None
    limit: int = LIST_LIMIT_DEFAULT
    cursor: str | None = None


class PakListResult(NamedTuple):
    """One page. `limit` is the page size in force; `next_cursor` is set only if more follow."""

    items: list[PakRow]
    next_cursor: str | None
    limit: int
    truncated: bool


class UpsertResult(NamedTuple):
    """What a write did. `body_changed` is true only for an existing row with a new hash."""

    pak_id: str
    inserted: bool
    body_changed: bool


class ReasonCodeEntry(NamedTuple):
    """Why a Pak matters, and how strongly (0 to 1)."""

    reason_code: str
    weight: float = 1.0


class RiskFlagEntry(NamedTuple):
    """What to be careful of, and how badly: info, warn or block."""

    risk_flag: str
    severity: str


class PakAnchorEntry(NamedTuple):
    """A place in a source that a Pak speaks of: a file, a symbol, an address."""

    anchor_id: str
    source_path: str
    kind: str


class PakRelationEntry(NamedTuple):
    """A directed, typed relation from one Pak to another."""

    related_pak_id: str
    relation_type: str


class PakHit(NamedTuple):
    """A row found by full text. A higher score is a better match."""

    pak: PakRow
    score: float


class CheckReport(NamedTuple):
    """What `check` found; `problems` is empty when all is well."""

    ok: bool
    paks: int
    problems: tuple[str, ...]


class RepairReport(NamedTuple):
    """What `repair` did to the full-text table."""

    removed: int
    added: int
