"""What the engine asks of a store about itself: one row of facts, commits, frames, events.

Values in, values out. What a clock or a frame means is decided elsewhere; this room keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.model import FrameDefinition

__all__ = [
    "START",
    "ClockState",
    "Commit",
    "CommitRecord",
    "Counts",
    "FrameRow",
    "Head",
    "StateRoom",
    "StoreState",
]


@dataclass(frozen=True, slots=True)
class Head:
    """How far a store has come: equal heads are equal data.

    `commit_id` is None while nothing was committed, and after a change that came past `commit`.
    """

    revision: int
    commit_id: str | None


# Where every store begins: nothing was ever written to it.
START = Head(0, None)


@dataclass(frozen=True, slots=True)
class ClockState:
    """The counter of active hours, and the wall time (Unix seconds) at which it was moved."""

    active_hours: float
    seen_at: float | None


@dataclass(frozen=True, slots=True)
class StoreState:
    """One row of facts about the whole store.

    `oldest_change` is the revision that an index must have reached to be brought forward by
    `changes`; an older one must start anew. `next_model_id` is set while the vectors are switched
    to another model. `cache_token` names the one cache file that belongs to this store's history.
    """

    store_id: str
    head: Head
    oldest_change: int
    model_id: str | None
    dimension: int | None
    next_model_id: str | None
    next_dimension: int | None
    clock: ClockState
    cache_token: str | None

    @property
    def revision(self) -> int:
        """How far the store has come."""
        return self.head.revision


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit under way: what it becomes, and the state of the store when it began."""

    revision: int
    commit_id: str
    before: StoreState

    @property
    def head(self) -> Head:
        """How far the store has come when this is committed."""
        return Head(self.revision, self.commit_id)


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """One commit that was made, as the log keeps it; `at` is what the writer's clock said."""

    revision: int
    commit_id: str
    at: str


@dataclass(frozen=True, slots=True)
class FrameRow:
    """A frame of a tenant's own, complete, and the name of the one that it was made from."""

    definition: FrameDefinition
    extends: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is kept; `reembedded` have a vector of the model that is being switched to."""

    memories: int
    pending: int
    edges: int
    open_disputes: int
    frames: int
    reembedded: int


class StateRoom(Protocol):
    """Facts about the whole store. But for `set_cache_token`, writes happen inside a commit."""

    def read(self) -> StoreState:
        """Return the one row of facts; inside a commit, its head is what that commit becomes."""

    def commits(self, since: int) -> Sequence[CommitRecord]:
        """Return the commits after a revision, oldest first.

        The log keeps at least the last 10,000; who asks for older ones gets those that are left.
        """

    def knows(self, head: Head) -> bool:
        """Return whether `changes` can lead from a head to the present one.

        It can from the present, from an ancestor that the log still has, and from `START`. Of a
        head of another history, such as a copy that was written to by itself, it knows nothing.
        """

    def set_clock(self, clock: ClockState) -> None:
        """Keep a clock as it is given. `recollect.hours` merges what two processes counted."""

    def set_model(self, model_id: str, dimension: int) -> None:
        """Keep which model the vectors are of."""

    def set_cache_token(self, token: str) -> None:
        """Name the cache file that belongs to this store.

        A cache is no part of the data: this needs no commit and does not move the revision.
        """

    def count(self) -> Counts:
        """Count what is kept, for all tenants."""

    def fire(self, event: str) -> None:
        """Note that something happened which cached frames may depend on."""

    def events(self) -> Mapping[str, int]:
        """Return the revision at which each event last fired."""

    def frames(self, tenant: str) -> Mapping[str, FrameRow]:
        """Return a tenant's own frames, in the order of their names."""

    def put_frame(self, tenant: str, name: str, frame: FrameRow | None) -> None:
        """Keep a frame under its name, in the place of another; None drops it."""

    def tidy(self) -> None:
        """Drop the marks that deleted rows and edges left for `changes`.

        `oldest_change` becomes this commit's revision: whatever index is older must start anew.
        """
