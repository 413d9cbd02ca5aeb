"""All tables of a store in memory, and the commit or snapshot that is under way.

In: rows. Out: the same. One thread at a time is inside; what a failed commit changed is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from recollect.errors import StoreError
from recollect.model import Garden, Memory, Role
from recollect.policy.keys import KeyRow
from recollect.ports.access import Act
from recollect.ports.edges import Edge
from recollect.ports.receipts import KeptReceipt
from recollect.ports.state import (
    START,
    ClockState,
    Commit,
    CommitRecord,
    FrameRow,
    Head,
    KeptAnswer,
    StoreState,
)
from recollect.ports.uses import Used, UsedLink, Who
from recollect.ports.versions import KeptVersion
from recollect.stores.memory.tables import PairTable, Table
from recollect.stores.memory.undo import UndoLog
from recollect.stores.touched import Touched, first_kept, is_time_to_trim
from recollect.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DisputeRow", "MemoryRow", "Session"]

TwoNames: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class MemoryRow:
    """A memory with all that is kept beside it."""

    row_id: int
    memory: Memory
    content_hash: str
    superseded_by: str | None
    pending: bool
    serving: NDArray[np.int8] | None
    following: NDArray[np.int8] | None


@dataclass(frozen=True, slots=True)
class DisputeRow:
    """Two memories that contradict each other, or did."""

    note: str
    is_open: bool
    created_at: str


class Session:
    """The tables, and how they are changed."""

    def __init__(self, store_id: str) -> None:
        self.undo = UndoLog()
        self.memories: Table[str, MemoryRow] = Table(self.undo)
        self.names: Table[int, str] = Table(self.undo)
        self.edges: PairTable[Edge] = PairTable(self.undo)
        self.versions: Table[int, tuple[KeptVersion, ...]] = Table(self.undo)
        self.uses: Table[int, Mapping[Who, Used]] = Table(self.undo)
        self.link_uses: PairTable[Mapping[Who, UsedLink]] = PairTable(self.undo)
        self.likenesses: PairTable[float] = PairTable(self.undo)
        self.disputes: PairTable[DisputeRow] = PairTable(self.undo)
        self.gardens: Table[TwoNames, Garden] = Table(self.undo)
        self.members: Table[tuple[str, str, str], Role] = Table(self.undo)
        self.keys: Table[str, KeyRow] = Table(self.undo)
        self.trusts: Table[TwoNames, float] = Table(self.undo)
        self.acts: Table[tuple[str, int], Act] = Table(self.undo)
        self.frames: Table[TwoNames, FrameRow] = Table(self.undo)
        self.events: Table[str, int] = Table(self.undo)
        self.answers: Table[str, KeptAnswer] = Table(self.undo)
        self.answer_rows: Table[tuple[int, str], None] = Table(self.undo)
        self.receipts: Table[tuple[str, str, str], KeptReceipt] = Table(self.undo)
        self.commits: Table[int, CommitRecord] = Table(self.undo)
        self._states: Table[str, StoreState] = Table(self.undo)
        self._commit: Commit | None = None
        self._touched = Touched()
        self._looking = 0
        self.undo.at_each_turn(self._begin_anew)
        empty = StoreState(store_id, START, None, None, None, None, ClockState(0.0, None))
        with self.undo.transaction():
            self._states.put("state", empty)

    def _begin_anew(self) -> None:
        """Know that neither a commit nor a snapshot is under way, whatever an interrupt left."""
        self._commit, self._looking = None, 0

    @property
    def state(self) -> StoreState:
        """The one row of facts about the whole store."""
        return self._states["state"]

    @property
    def revision(self) -> int:
        """What the commit under way becomes."""
        if self._commit is None:
            raise StoreError("a write outside of a commit.", hint="write inside store.commit(...).")
        return self._commit.revision

    @property
    def touched(self) -> Touched:
        """What the commit under way has touched; whoever writes adds to it."""
        _ = self.revision  # refuses outside of a commit
        return self._touched

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
            commit = Commit(before.revision + 1, commit_id, before)
            try:
                self._commit, self._touched = commit, Touched()
                self.set_state(before._replace(head=commit.head))
                yield commit
                self._log(commit.head, at, self._touched)
            finally:
                self._commit = None

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let nobody write while the body reads."""
        with self.undo.turn():
            looking = self._looking
            try:
                self._looking = looking + (self._commit is None)
                yield
            finally:
                self._looking = looking

    def follow(self, change: Touched) -> None:
        """Take note of a change of the catalogue: of the commit under way, or one of its own."""
        if self._commit is not None:
            self._touched.add(change)
            return
        revision = self.state.revision + 1
        # Nobody can copy this store: what tells its own changes apart is name enough.
        head = Head(revision, f"{self.state.store_id}:{revision}")
        self.set_state(self.state._replace(head=head))
        self._log(head, None, change)

    def touched_since(self, head: Head) -> Touched:
        """Return what was touched since a head that the log has; a commit under way counts."""
        made = self.commits.get(head.revision)
        if made is None or made.commit_id != head.commit_id:
            raise StoreError(
                f"the log holds no commit {head.commit_id} at revision {head.revision}.",
                hint="ask `knows` first; what the log does not hold has to be read anew.",
            )
        found = Touched.by(self.commits[one] for one in self.commits if one > head.revision)
        if self._commit is not None:
            found.add(self._touched)
        return found

    def _log(self, head: Head, at: str | None, touched: Touched) -> None:
        made = touched.record(head.revision, head.commit_id or "", at)
        self.commits.put(made.revision, made)
        if touched.begins_log:
            self._trim(head.revision)
        elif is_time_to_trim(made.revision, made.size):
            newest_first = (self.commits[one] for one in sorted(self.commits, reverse=True))
            self._trim(first_kept((one.revision, one.size) for one in newest_first))

    def _trim(self, first: int) -> None:
        for revision in [one for one in self.commits if one < first]:
            self.commits.drop(revision)
