"""All tables of a store in memory, and the commit or snapshot that is under way.

In: rows. Out: the same. One thread at a time is inside; what a failed commit changed is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from recollect.errors import StoreError
from recollect.model import Garden, Memory, Role
from recollect.policy.keys import KeyRow
from recollect.ports.access import Act
from recollect.ports.edges import Edge
from recollect.ports.state import (
    ClockState,
    Commit,
    CommitRecord,
    FrameRow,
    Head,
    StoreState,
)
from recollect.stores.memory.tables import PairTable, Table
from recollect.stores.memory.undo import UndoLog

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DisputeRow", "EdgeRow", "MemoryRow", "Session"]

TwoNames: TypeAlias = tuple[str, str]

_KEPT_COMMITS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class MemoryRow:
    """A memory with all that is kept beside it; `changed` is the revision of its last change."""

    row_id: int
    memory: Memory
    content_hash: str
    superseded_by: str | None
    pending: bool
    serving: NDArray[np.int8] | None
    following: NDArray[np.int8] | None
    changed: int


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A link; one of weight 0 was displaced and stays until the store is tidied."""

    edge: Edge
    changed: int


@dataclass(frozen=True, slots=True)
class DisputeRow:
    """Two memories that contradict each other, or did."""

    note: str
    is_open: bool


class Session:
    """The tables, and how they are changed."""

    def __init__(self, store_id: str) -> None:
        self.undo = UndoLog()
        self.memories: Table[str, MemoryRow] = Table(self.undo)
        self.names: Table[int, str] = Table(self.undo)
        self.gone: Table[int, int] = Table(self.undo)
        self.edges: PairTable[EdgeRow] = PairTable(self.undo)
        self.likenesses: PairTable[float] = PairTable(self.undo)
        self.disputes: PairTable[DisputeRow] = PairTable(self.undo)
        self.gardens: Table[TwoNames, Garden] = Table(self.undo)
        self.members: Table[tuple[str, str, str], Role] = Table(self.undo)
        self.keys: Table[str, KeyRow] = Table(self.undo)
        self.trusts: Table[TwoNames, float] = Table(self.undo)
        self.acts: Table[int, Act] = Table(self.undo)
        self.frames: Table[TwoNames, FrameRow] = Table(self.undo)
        self.events: Table[str, int] = Table(self.undo)
        self.commits: Table[int, CommitRecord] = Table(self.undo)
        self._states: Table[str, StoreState] = Table(self.undo)
        self._commit: Commit | None = None
        self._looking = 0
        empty = StoreState(
            store_id, Head(0, None), 0, None, None, None, None, ClockState(0.0, None), None
        )
        with self.undo.transaction():
            self._states.put("state", empty)

    @property
    def state(self) -> StoreState:
        """The one row of facts about the whole store."""
        return self._states["state"]

    @property
    def revision(self) -> int:
        """What the commit under way becomes: the mark of every row that it touches."""
        if self._commit is None:
            raise StoreError("a write outside of a commit.", hint="write inside store.commit(...).")
        return self._commit.revision

    def set_state(self, state: StoreState) -> None:
        """Keep another row of facts."""
        self._states.put("state", state)

    @contextmanager
    def commit(self, commit_id: str, at: str) -> Iterator[Commit]:
        """Keep all changes of the body together, or none of them, as one revision."""
        with self.undo.transaction():
            if self._commit is not None or self._looking:
                raise StoreError(
                    "a commit inside of a commit or a snapshot.",
                    hint="write all of it in one commit.",
                )
            before = self.state
            self._commit = Commit(before.revision + 1, commit_id, before)
            self.set_state(replace(before, head=Head(self._commit.revision, commit_id)))
            try:
                yield self._commit
                self._log(self._commit, at)
            finally:
                self._commit = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let nobody write while the body reads."""
        with self.undo.lock:
            self._looking += self._commit is None
            try:
                yield
            finally:
                self._looking -= self._commit is None

    def moved(self) -> int:
        """Return the revision of a change that comes now: of the commit, or one of its own."""
        if self._commit is None:
            head = Head(self.state.revision + 1, None)
            self.set_state(replace(self.state, head=head))
        return self.state.revision

    def _log(self, commit: Commit, at: str) -> None:
        self.commits.put(commit.revision, CommitRecord(commit.revision, commit.commit_id, at))
        self.commits.drop(commit.revision - _KEPT_COMMITS)
