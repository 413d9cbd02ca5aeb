"""Frames as data: weights, filters, guarantees, template, budget, cache.

Frozen values, standard library only. What the numbers do is in `recollect.recall`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, Literal

from recollect import check
from recollect.errors import InvalidInput
from recollect.values import dataclass

__all__ = ["CachePolicy", "FrameDefinition", "FrameFilters", "Weights"]

_TOLERANCE = 0.0001
_SHARES = "weights are shares: five numbers from 0 to 1 that add up to 1."


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts; none negative, together 1."""

    similarity: float
    confidence: float
    recency: float
    centrality: float
    reinforcement: float

    def __post_init__(self) -> None:
        values = asdict(self)
        for name, value in values.items():
            check.share(f"weight {name}", value, hint=_SHARES, slack=_TOLERANCE)
        total = sum(values.values())
        if abs(total - 1.0) > _TOLERANCE:
            raise InvalidInput(
                f"weights add up to {total:.4f}, not 1.",
                hint="divide each weight by their sum.",
            )

    def renormalized_without_similarity(self) -> Weights:
        """Return these weights for a request without a query: similarity's share is dealt out."""
        rest = self.confidence + self.recency + self.centrality + self.reinforcement
        if rest == 0:
            raise InvalidInput(
                "these weights count nothing but similarity, so they cannot rank without a query.",
                hint="pass a query, or give another signal a weight.",
            )
        return Weights(
            similarity=0.0,
            confidence=self.confidence / rest,
            recency=self.recency / rest,
            centrality=self.centrality / rest,
            reinforcement=self.reinforcement / rest,
        )


@dataclass(frozen=True, slots=True)
class FrameFilters:
    """Which memories a frame looks at. `search_window_hours` None means however old."""

    tag_patterns: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    search_window_hours: float | None = 200.0


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """How long an answer of a frame may be reused, and which events end that early."""

    ttl_seconds: int = 3600
    invalidate_on: tuple[str, ...] = ("self_block_change",)


@dataclass(frozen=True, slots=True)
class FrameDefinition:
    """A named recipe that turns memories into prompt text."""

    name: str
    weights: Weights
    filters: FrameFilters = field(default_factory=FrameFilters)
    guarantees: tuple[str, ...] = ()
    template: str = "attention"
    token_budget: int = 2000
    cache: CachePolicy | None = None
    source: Literal["builtin", "user"] = "user"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FrameDefinition:
        """Build a definition from what `to_dict` gave."""
        fields = dict(data)
        cache = fields.get("cache")
        fields["weights"] = Weights(**fields["weights"])
        fields["filters"] = FrameFilters(**_tuples(fields.get("filters", {})))
        fields["guarantees"] = tuple(fields.get("guarantees", ()))
        fields["cache"] = CachePolicy(**_tuples(cache)) if cache else None
        return cls(**fields)


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in fields.items()}
