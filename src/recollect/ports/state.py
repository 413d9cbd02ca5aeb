"""What the engine asks of a store about itself: one row of facts, commits, frames, events.

Values in, values out. What a clock or a frame means is decided elsewhere; this room keeps them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from recollect.model import FrameDefinition

__all__ = [
    "START",
    "ClockState",
    "Commit",
    "CommitRecord",
    "Counts",
    "FrameRow",
    "Head",
    "Holdings",
    "KeptAnswer",
    "StateRoom",
    "StoreState",
]


class Head(NamedTuple):
    """How far a store has come: equal heads are equal data.

    `commit_id` is None while nothing was ever written. A change that came past `commit` has a name
    that the store made up, so that no two histories that part have a head in common.
    """

    revision: int
    commit_id: str | None


# Where every store begins: nothing was ever written to it.
START = Head(0, None)


class ClockState(NamedTuple):
    """The counter of active hours, and the wall time (Unix seconds) at which it was moved."""

    active_hours: float
    seen_at: float | None


class StoreState(NamedTuple):
    """One row of facts about the whole store.

    `next_model_id` is set while the vectors are switched to another model.
    """

    store_id: str
    head: Head
    model_id: str | None
    dimension: int | None
    next_model_id: str | None
    next_dimension: int | None
    clock: ClockState

    @property
    def revision(self) -> int:
        """How far the store has come."""
        return self.head.revision


class Commit(NamedTuple):
    """A commit under way: what it becomes, and the state of the store when it began."""

    revision: int
    commit_id: str
    before: StoreState

    @property
    def head(self) -> Head:
        """How far the store has come when this is committed."""
        return Head(self.revision, self.commit_id)


class CommitRecord(NamedTuple):
    """One change of the store as the log keeps it: what was touched, and never what it says.

    Rows that were written and rows that were erased, by their ids; links, by the ids of their ends,
    the lower first; events that fired. `at` is what the writer's clock said, None if the change
    came past `commit`.
    """

    revision: int
    commit_id: str
    at: str | None
    rows: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    events: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many row ids it holds."""
        return len(self.rows) + len(self.gone) + 2 * len(self.edges)


class KeptAnswer(NamedTuple):
    """What a request was answered with, so that it can be repeated; a store cannot read it.

    `request` is a name that nobody can guess from another's; `body` tells two requests of one name
    apart. Both that and the answer are None once a memory that it names was erased.
    """

    request: str
    at: str
    body: str | None
    answer: str | None


class FrameRow(NamedTuple):
    """A frame of a tenant's own, complete, and the name of the one that it was made from."""

    definition: FrameDefinition
    extends: str | None


class Counts(NamedTuple):
    """How much is kept; `reembedded` have a vector of the model that is being switched to."""

    memories: int
    pending: int
    edges: int
    open_disputes: int
    frames: int
    reembedded: int


class Holdings(NamedTuple):
    """How much a tenant has: memories, and bytes of their texts in UTF-8."""

    memories: int
    text_bytes: int


class StateRoom(Protocol):
    """Facts about the whole store. Writes happen inside a commit."""

    def read(self) -> StoreState:
        """Return the one row of facts; inside a commit, its head is what that commit becomes."""

    def commits(self, since: int) -> Sequence[CommitRecord]:
        """Return the commits after a revision, oldest first.

        The log keeps the last 10,000, or fewer: no more than hold a million row ids between them,
        and none from before `tidy` or `finish_switch`, but always the last. Who asks for older ones
        gets those that are left.
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

    def wiping_due(self) -> int:
        """Return the revision of the last erasure of which bytes may be left, 0 if there is none.

        `MemoryRoom.erase` sets it, in its own commit: also who dies before `scrub` leaves word.
        """

    def set_wiped(self, revision: int) -> None:
        """Know that nothing is left of an erasure, unless there was a later one.

        The bytes are no part of the data: this needs no commit and does not move the revision.
        """

    def count(self) -> Counts:
        """Count what is kept, for all tenants."""

    def holdings(self, tenant: str) -> Holdings:
        """Count what a tenant has."""

    def fire(self, event: str) -> None:
        """Note that something happened which cached frames may depend on."""

    def events(self) -> Mapping[str, int]:
        """Return the revision at which each event last fired."""

    def answer(self, request: str) -> KeptAnswer | None:
        """Return what a request was answered with, if that is still kept."""

    def keep_answer(self, kept: KeptAnswer, *, names: Collection[str], since: str) -> None:
        """Keep an answer that names these memories; drop all that were kept before a time.

        When one of the memories is erased, what the answer says goes with it, in the same commit.
        """

    def frames(self, tenant: str) -> Mapping[str, FrameRow]:
        """Return a tenant's own frames, in the order of their names."""

    def put_frame(self, tenant: str, name: str, frame: FrameRow | None) -> None:
        """Keep a frame under its name, in the place of another; None drops it."""

    def tidy(self) -> None:
        """Begin the log anew with this commit: whatever index is older must start anew."""
