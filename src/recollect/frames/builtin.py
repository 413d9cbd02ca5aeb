"""The frames that are always there. Their numbers are promised; changing one changes answers.

`evidence` answers a question from memory and is what a bare `recall(query)` uses: similarity
decides, and recency, centrality and use count nothing, so its answer drifts neither with the
clock nor with being asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from recollect.model import CachePolicy, FrameDefinition, FrameFilters, Weights

__all__ = [
    "ATTENTION_FRAME",
    "BUILTIN_FRAMES",
    "CACHE_EVENTS",
    "EVIDENCE_FRAME",
    "SELF_FRAME",
    "TASK_FRAME",
]

# What can end a cached answer before its time.
CACHE_EVENTS = ("self_block_change", "curate_complete")

SELF_FRAME = FrameDefinition(
    name="self",
    weights=Weights(
        similarity=0.10, confidence=0.30, recency=0.05, centrality=0.25, reinforcement=0.30
    ),
    filters=FrameFilters(tag_patterns=("self/%",)),
    guarantees=("self/constitutional",),
    template="self",
    token_budget=600,
    cache=CachePolicy(ttl_seconds=3600, invalidate_on=CACHE_EVENTS),
    source="builtin",
)

ATTENTION_FRAME = FrameDefinition(
    name="attention",
    weights=Weights(
        similarity=0.35, confidence=0.15, recency=0.25, centrality=0.15, reinforcement=0.10
    ),
    template="attention",
    token_budget=2000,
    source="builtin",
)

TASK_FRAME = FrameDefinition(
    name="task",
    weights=Weights(
        similarity=0.20, confidence=0.20, recency=0.20, centrality=0.20, reinforcement=0.20
    ),
    guarantees=("self/goal",),
    template="task",
    token_budget=800,
    source="builtin",
)

EVIDENCE_FRAME = FrameDefinition(
    name="evidence",
    weights=Weights(
        similarity=0.90, confidence=0.10, recency=0.0, centrality=0.0, reinforcement=0.0
    ),
    filters=FrameFilters(search_window_hours=None),
    template="evidence",
    token_budget=2000,
    source="builtin",
)

BUILTIN_FRAMES: Mapping[str, FrameDefinition] = MappingProxyType(
    {frame.name: frame for frame in (SELF_FRAME, ATTENTION_FRAME, TASK_FRAME, EVIDENCE_FRAME)}
)
