"""Why a memory is in an answer, or why not: values that a person can check by hand.

Frozen values, standard library only. For a memory that was returned the contributions add up to its
score; for one that was not, `stage` is the first that left it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, Literal

from recollect.values import dataclass

__all__ = ["RETURNED", "UNKNOWN", "Contribution", "Explanation", "Verb"]

Verb = Literal["recall", "frame", "select"]

RETURNED = "returned"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Contribution:
    """One signal of a score: its value, how much it counts, and what that adds."""

    name: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of one memory in one answer.

    `reason` says it in a sentence and `why` gives the reasons for it. `rival` is the memory that it
    lost to, and `gap` how far its score was behind; `details` are what a signal is made of.
    """

    pak_id: str
    verb: Verb
    stage: str
    reason: str
    query: Mapping[str, Any]
    generated_at: str
    score: float | None = None
    rank: int | None = None
    contributions: tuple[Contribution, ...] = ()
    details: Mapping[str, float] = field(default_factory=dict)
    why: tuple[str, ...] = ()
    rival: str | None = None
    gap: float | None = None

    @property
    def returned(self) -> bool:
        """Whether the memory is in the answer."""
        return self.stage == RETURNED

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {**asdict(self), "returned": self.returned}
