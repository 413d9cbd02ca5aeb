"""The words of the product as frozen values. Standard library only; knows nobody."""

from __future__ import annotations

from recollect.model.answer import (
    Dropped,
    FrameResult,
    RecallAnswer,
    RecallResult,
    ScoredBlock,
    Signals,
    canonical_json,
)
from recollect.model.explanation import RETURNED, UNKNOWN, Contribution, Explanation
from recollect.model.frame import CachePolicy, FrameDefinition, FrameFilters, Weights
from recollect.model.memory import LOCAL, Memory, Place, Remembered

__all__ = [
    "LOCAL",
    "RETURNED",
    "UNKNOWN",
    "CachePolicy",
    "Contribution",
    "Dropped",
    "Explanation",
    "FrameDefinition",
    "FrameFilters",
    "FrameResult",
    "Memory",
    "Place",
    "RecallAnswer",
    "RecallResult",
    "Remembered",
    "ScoredBlock",
    "Signals",
    "Weights",
    "canonical_json",
]
