"""What the engine asks of a store, and the values that pass between them.

A store keeps Paks, their vectors, edges, disputes, frames and the clock; each committed change
advances one revision. `changes` is how an index follows it, from this process or any other.
Vectors are quantised integers (`recollect.embed.quantise`); a Pak without one is pending.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from recollect.model import FrameDefinition, Memory, Place
from recollect.policy import View
from recollect.ports.access import AccessStore
from recollect.ports.likenesses import LikenessStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Changes",
    "ClockState",
    "Dispute",
    "Edge",
    "IndexRow",
    "Indexable",
    "Indexed",
    "MemoryStore",
    "NewMemory",
    "Standing",
    "StoreState",
    "Used",
    "Written",
]


class Indexed(NamedTuple):
    """The fields of a `Memory` that an index reads; a store can make 100,000 of these sooner."""

    pak_id: str
    content: str
    title: str
    category: str
    project: str | None
    confidence: float
    thread: str | None
    position: int | None
    speaker: str | None
    occurred_at: str | None
    valid_until: str | None
    updated_at: str
    status: str
    authority: str
    decay: float
    reinforced: int
    last_reinforced: float
    tags: tuple[str, ...]
    risks: tuple[str, ...]
    place: Place


Indexable: TypeAlias = Memory | Indexed


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What an index learns of one Pak. `row_id` is the store's own number for it."""

    row_id: int
    memory: Indexable
    vector: NDArray[np.int8] | None
    pending: bool = False


@dataclass(frozen=True, slots=True)
class Used:
    """A Pak of which nothing but its use changed: how often by now, at which active hour last."""

    row_id: int
    reinforced: int
    last_reinforced: float


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed after a revision: Paks as they are now, and row ids that are gone.

    `edges` holds (row, row, weight) of each changed edge as it is now; weight 0 means gone. A store
    lists Paks that were used among `rows`; who has just counted the uses can say so in `used`.
    """

    revision: int
    rows: Sequence[IndexRow]
    gone: Sequence[int]
    edges: Sequence[tuple[int, int, float]]
    used: Sequence[Used] = ()


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A Pak to write, with its vector; `pending` when there should be one and is not."""

    memory: Memory
    content_hash: str
    vector: NDArray[np.int8] | None
    pending: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one `NewMemory`."""

    row_id: int
    created: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """An undirected, weighted link between two row ids, lower first."""

    low: int
    high: int
    weight: float
    automatic: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What a writer must know of a Pak that exists: where it is, and whether its text changed.

    One that is active, has no end and nothing suspicious is settled: it may be linked by itself.
    """

    row_id: int
    content_hash: str
    place: Place
    status: str
    settled: bool


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two Paks that contradict each other."""

    first: str
    second: str
    note: str


@dataclass(frozen=True, slots=True)
class ClockState:
    """The counter of active hours, and the wall time (Unix seconds) at which it was moved."""

    active_hours: float
    seen_at: float | None


@dataclass(frozen=True, slots=True)
class StoreState:
    """One row of facts about the whole store."""

    store_id: str
    revision: int
    oldest_change: int
    model_id: str | None
    dimension: int | None
    next_model_id: str | None
    next_dimension: int | None
    clock: ClockState
    cache_token: str | None


class MemoryStore(Protocol):
    """Everything the engine asks for. Reads never write; writes happen inside `transaction`."""

    @property
    def access(self) -> AccessStore:
        """Gardens, keys, trust and the audit log, in the same transactions."""

    @property
    def likenesses(self) -> LikenessStore:
        """Whom each Pak holds for its most alike, in the same transactions."""

    def close(self) -> None: ...

    def transaction(self) -> AbstractContextManager[int]:
        """Commit all writes of the body together, durably, or none of them.

        Gives the revision that they become.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Let all reads of the body see one state of the store."""

    def state(self) -> StoreState: ...

    def changes(self, since: int) -> Iterator[Changes]:
        """Yield what changed after revision `since`, in batches; the last holds the revision."""

    def memories(self, pak_ids: Iterable[str], view: View) -> dict[str, Memory]:
        """Return those memories that exist and may be read, in the order asked for."""

    def memories_at(self, row_ids: Iterable[int], view: View) -> dict[str, Memory]:
        """Return the same of some rows: for those who know where a memory is, less work."""

    def standing(self, pak_ids: Iterable[str]) -> dict[str, Standing]:
        """Return where those Paks stand that exist; what a writer must know, not a reader."""

    def row_ids(self, pak_ids: Iterable[str]) -> dict[str, int]: ...

    def next_position(self, thread: str) -> int: ...

    def write(self, memories: Sequence[NewMemory], *, now: str) -> list[Written]: ...

    def set_status(self, pak_ids: Iterable[str], status: str) -> None: ...

    def about(self, tenant: str, entity: str) -> list[str]:
        """Return the ids of a tenant's Paks whose entity or value this is."""

    def rows_with(self, **fields: str) -> list[int]:
        """Return the row ids of Paks with this entity, relation or source."""

    def unplaced(self) -> frozenset[str]:
        """Return the ids of Paks that the catalogue holds and the engine never wrote."""

    def erase(self, pak_ids: Sequence[str]) -> int:
        """Delete Paks and everything that hangs on them; return how many edges went along."""

    def scrub(self) -> bool:
        """Wipe what deleted text left behind; return whether all of it could be."""

    def traces(self, pak_ids: Sequence[str]) -> list[str]:
        """Return where any of these Paks is still known; empty after `erase`."""

    def reinforce(self, pak_ids: Sequence[str], *, active_hours: float) -> list[Used]:
        """Count one more use of each of these Paks, and return those that exist."""

    def edges(self, row_ids: Iterable[int]) -> list[Edge]:
        """Return all edges that touch any of these rows."""

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Write edges as given; a weight of 0 removes one."""

    def dispute(self, first: str, second: str, *, note: str, now: str) -> None: ...

    def resolve(self, first: str, second: str) -> bool: ...

    def disputes(self) -> list[Dispute]:
        """Return all open disputes; who may know of one is for the caller to see to."""

    def set_clock(self, clock: ClockState) -> None: ...

    def set_model(self, model_id: str, dimension: int) -> None: ...

    def pending(self, limit: int) -> list[tuple[str, str]]:
        """Return (pak_id, text) of Paks that wait for a vector."""

    def set_vectors(self, vectors: Mapping[str, NDArray[np.int8] | None]) -> None: ...

    def count(self) -> Mapping[str, int]: ...

    def fire(self, event: str) -> None:
        """Record that something happened which cached frames may depend on."""

    def events(self) -> Mapping[str, int]:
        """Return the revision at which each event last fired."""

    def frames(self, tenant: str) -> Mapping[str, tuple[FrameDefinition, str | None]]: ...

    def put_frame(self, tenant: str, definition: FrameDefinition, extends: str | None) -> None: ...

    def delete_frame(self, tenant: str, name: str) -> bool: ...

    def begin_reembedding(self, model_id: str, dimension: int) -> None: ...

    def without_next_vector(self, after_row: int, limit: int) -> list[tuple[int, str]]: ...

    def set_next_vectors(self, vectors: Mapping[int, NDArray[np.int8]]) -> None: ...

    def finish_reembedding(self) -> None: ...

    def set_cache_token(self, token: str) -> None: ...

    def tidy(self) -> None:
        """Drop the marks of deleted rows and edges; indexes older than now must start anew."""

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the stored data, in words."""
