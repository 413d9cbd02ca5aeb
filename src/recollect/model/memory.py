"""A Pak as the engine knows it: text, provenance, place, life.

Frozen values, standard library only. `Memory` is what a store keeps and what an answer shows;
`Remembered` is what a write reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["LOCAL", "Memory", "Place", "Remembered"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a Pak sits in the access model."""

    tenant: str = "local"
    owner: str = "local"
    scope: str = "local"
    team: str | None = None
    garden: str | None = None


LOCAL = Place()


@dataclass(frozen=True, slots=True)
class Memory:
    """One Pak with everything the engine keeps about it.

    Times of the calendar are ISO-8601 text in UTC, but for an `occurred_at` that nobody could read;
    `last_reinforced` counts active hours.
    """

    pak_id: str
    content: str
    title: str
    summary: str = ""
    tags: tuple[str, ...] = ()
    category: str = "knowledge"
    project: str | None = None
    topic: str | None = None
    pak_type: str = "memory"
    source: str | None = None
    authority: str = "user_approved"
    entity: str | None = None
    relation: str | None = None
    value: str | None = None
    confidence: float = 1.0
    thread: str | None = None
    position: int | None = None
    speaker: str | None = None
    occurred_at: str | None = None
    valid_until: str | None = None
    created_at: str = ""
    updated_at: str = ""
    status: str = "active"
    decay: float = 0.01
    reinforced: int = 0
    last_reinforced: float = 0.0
    place: Place = LOCAL


@dataclass(frozen=True, slots=True)
class Remembered:
    """What `remember` did.

    `near_duplicates` is None when nobody looked: automatic links are off, or there is no vector.
    `unread` names fields that were kept as they are because nobody could read a time in them.
    """

    pak_id: str
    created: bool
    state: Literal["ready", "pending"]
    near_duplicates: tuple[str, ...] | None = None
    linked: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
