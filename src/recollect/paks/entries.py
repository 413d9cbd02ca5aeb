"""What may hang on a Pak: reason codes, risk flags, anchors and relations.

Four kinds of one shape: a Pak's id, a key, some values. One description each, whatever keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from recollect.model.pak import (
    PakAnchorEntry,
    PakRelationEntry,
    ReasonCodeEntry,
    RiskFlagEntry,
)
from recollect.values import dataclass

__all__ = ["ANCHORS", "REASON_CODES", "RELATIONS", "RISK_FLAGS", "Attachment"]

Entry = TypeVar("Entry", bound=tuple[object, ...])


@dataclass(frozen=True)
class Attachment(Generic[Entry]):
    """How one kind of entry is stored: its table, its columns, and which of them are the key."""

    make: Callable[..., Entry]
    table: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    dated: bool = True


REASON_CODES = Attachment(
    ReasonCodeEntry, "pak_reason_codes", ("reason_code", "weight"), key=("reason_code",)
)
RISK_FLAGS = Attachment(
    RiskFlagEntry, "pak_risk_flags", ("risk_flag", "severity"), key=("risk_flag",)
)
ANCHORS = Attachment(
    PakAnchorEntry,
    "pak_anchors",
    ("anchor_id", "source_path", "kind"),
    key=("anchor_id",),
    dated=False,
)
RELATIONS = Attachment(
    PakRelationEntry,
    "pak_relations",
    ("related_pak_id", "relation_type"),
    key=("related_pak_id", "relation_type"),
)
