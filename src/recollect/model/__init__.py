"""The words of the product as frozen values. Standard library only; knows nobody."""

from __future__ import annotations

from recollect.model.access import (
    LOCAL,
    LOCAL_PRINCIPAL,
    PERMISSIONS,
    ROLES,
    SCOPES,
    Garden,
    Member,
    Permission,
    Place,
    Principal,
    Role,
    Scope,
)
from recollect.model.answer import (
    Dropped,
    FrameResult,
    PackageFlag,
    RecallResponse,
    RecallResult,
    ScoredBlock,
    Signals,
    canonical_json,
)
from recollect.model.explanation import RETURNED, UNKNOWN, Contribution, Explanation, Verb
from recollect.model.frame import CachePolicy, FrameDefinition, FrameFilters, Weights
from recollect.model.memory import (
    EXTERNAL,
    INSTRUCTION,
    WRITTEN,
    Memory,
    Remembered,
    name_key,
    words_of,
)
from recollect.model.reports import Forgotten, Ingested, IngestedItem
from recollect.model.request import RecallRequest

__all__ = [
    "EXTERNAL",
    "INSTRUCTION",
    "LOCAL",
    "LOCAL_PRINCIPAL",
    "PERMISSIONS",
    "RETURNED",
    "ROLES",
    "SCOPES",
    "UNKNOWN",
    "WRITTEN",
    "CachePolicy",
    "Contribution",
    "Dropped",
    "Explanation",
    "Forgotten",
    "FrameDefinition",
    "FrameFilters",
    "FrameResult",
    "Garden",
    "Ingested",
    "IngestedItem",
    "Member",
    "Memory",
    "PackageFlag",
    "Permission",
    "Place",
    "Principal",
    "RecallRequest",
    "RecallResponse",
    "RecallResult",
    "Remembered",
    "Role",
    "Scope",
    "ScoredBlock",
    "Signals",
    "Verb",
    "Weights",
    "canonical_json",
    "name_key",
    "words_of",
]
