"""What the verbs are asked, as data: what may be asked, and nothing of who asks.

Frozen values, standard library only. The principal comes from the handle or the credential; a
body that brings one of its own is refused. Values are checked where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from recollect.errors import InvalidInput
from recollect.model.access import Scope
from recollect.model.frame import FrameDefinition
from recollect.model.memory import Memory

__all__ = [
    "ForgetRequest",
    "FrameRequest",
    "IngestRequest",
    "LinkRequest",
    "RecallRequest",
    "RememberRequest",
]


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What is asked of `recall`. Everything but the query narrows.

    A result that says the same as a better one, in another form, waits until all others are taken.
    A `diversity` of 1 turns that off, as does asking for one entity; below 1, it is the share of
    relevance against novelty, and the lower it is, the further apart in meaning the results lie.
    """

    query: str | None = None
    entity: str | None = None
    relation: str | None = None
    source: str | None = None
    scope: str | None = None
    garden: str | None = None
    min_confidence: float | None = None
    tags: Sequence[str] | None = None
    project: str | None = None
    top_k: int = 5
    token_budget: int | None = None
    diversity: float | None = None
    frame: str = "evidence"
    include_quarantined: bool = False

    @classmethod
    def from_dict(cls, body: object) -> RecallRequest:
        """Build a request from a body that came from outside."""
        if not isinstance(body, Mapping):
            raise InvalidInput(
                f"a request is an object of fields, not {type(body).__name__}.",
                hint='{"query": "..."}',
            )
        known = [field.name for field in fields(cls)]
        unknown = sorted(str(name) for name in body if name not in known)
        if unknown:
            raise InvalidInput(
                f"a request has no field {unknown[0]!r:.80}.",
                hint=f"it has {', '.join(known)}; who asks is known from the credential.",
            )
        return cls(**{str(name): value for name, value in body.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """What is asked of `frame`."""

    frame: FrameDefinition
    query: str | None
    top_k: int
    token_budget: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        asked = {"query": self.query, "top_k": self.top_k, "token_budget": self.token_budget}
        return {"name": self.frame.name, **asked}


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """What `remember` was asked to store, and the memory that comes of it."""

    arguments: Mapping[str, Any]
    memory: Memory


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What is asked of `forget`: ids, or an entity; None is every scope."""

    pak_ids: tuple[str, ...] = ()
    entity: str | None = None
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """Two memories to join. `automatic`: nobody joined them by hand."""

    pak_id: str
    other: str
    weight: float = 1.0
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Facts from outside, as they came, and who sent them."""

    source: str
    facts: tuple[Any, ...]
