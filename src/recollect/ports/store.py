"""The store port: what the engine asks of a store, and all the values that pass between them.

A store keeps memories, what joins them, their vectors, who may read them, and the catalogue. It
keeps and finds; it does not decide, embed, rank or read a clock. Everything that a second store
must know is said here and in the rooms' modules; `recollect.testing.StoreContract` tests it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from recollect.ports.access import AccessRoom, Act
from recollect.ports.edges import Dispute, Edge, EdgeRoom, Likeness, LinkAgain, LostLinks
from recollect.ports.memories import (
    Changes,
    Claim,
    Facts,
    Indexable,
    IndexColumns,
    Indexed,
    IndexRow,
    MemoryRoom,
    NewMemory,
    RowFilter,
    Standing,
    Texts,
    Written,
)
from recollect.ports.receipts import Given, KeptReceipt, ReceiptFilter, ReceiptRoom
from recollect.ports.records import RECORD_KINDS, Record, RecordKey, RecordKind, RecordRoom
from recollect.ports.state import (
    START,
    ClockState,
    Commit,
    CommitRecord,
    Counts,
    FrameRow,
    Head,
    KeptAnswer,
    StateRoom,
    StoreState,
)
from recollect.ports.uses import Used, UsedLink, UseRoom, Uses, Who
from recollect.ports.vectors import Slot, VectorRoom, Waiting
from recollect.ports.versions import KeptVersion, VersionRoom

if TYPE_CHECKING:
    from recollect.model import BackedUp, Examination, Repaired

__all__ = [
    "RECORD_KINDS",
    "START",
    "AccessRoom",
    "Act",
    "Changes",
    "Claim",
    "ClockState",
    "Commit",
    "CommitRecord",
    "Counts",
    "Dispute",
    "Edge",
    "EdgeRoom",
    "Facts",
    "FrameRow",
    "Given",
    "Head",
    "IndexColumns",
    "IndexRow",
    "Indexable",
    "Indexed",
    "KeptAnswer",
    "KeptReceipt",
    "KeptVersion",
    "Likeness",
    "LinkAgain",
    "LostLinks",
    "MemoryRoom",
    "NewCommit",
    "NewMemory",
    "ReceiptFilter",
    "ReceiptRoom",
    "Record",
    "RecordKey",
    "RecordKind",
    "RecordRoom",
    "RowFilter",
    "Slot",
    "Standing",
    "StateRoom",
    "Store",
    "StoreState",
    "Texts",
    "UseRoom",
    "Used",
    "UsedLink",
    "Uses",
    "VectorRoom",
    "VersionRoom",
    "Waiting",
    "Who",
    "Written",
]

# Begins a commit under a name of its own; the engine gives one to those who write.
NewCommit: TypeAlias = Callable[[], AbstractContextManager[Commit]]


class Store(Protocol):
    """One store, cut by subject. Reads never write; writes happen inside `commit`.

    Receipts alone are kept without one: they are no part of the history.

    **Revisions.** A store begins at revision 0. Each commit moves it by exactly one, whether or not
    it changed anything; a change that comes past `commit`, such as an edit of the catalogue or by
    hand, moves it by one or more. Nothing else moves it, and it never goes back. Every row that a
    commit touches is told by `changes` to whoever asks with an earlier revision.

    **One writer.** At most one commit of a store is under way, whichever thread or process makes
    it; another waits for its turn, or is refused as busy. Readers are never held up by a writer in
    another process, and see nothing of a commit before all of it. Inside its own body a commit sees
    its writes.
    """

    @property
    def memories(self) -> MemoryRoom:
        """Texts, and where they stand."""

    @property
    def edges(self) -> EdgeRoom:
        """Links, likenesses and disputes."""

    @property
    def vectors(self) -> VectorRoom:
        """Who waits for a vector, and the switch to another model."""

    @property
    def uses(self) -> UseRoom:
        """How often each principal was given what."""

    @property
    def versions(self) -> VersionRoom:
        """Memories as they were."""

    @property
    def receipts(self) -> ReceiptRoom:
        """What was answered to whom."""

    @property
    def access(self) -> AccessRoom:
        """Gardens, keys, trust and the audit log."""

    @property
    def state(self) -> StateRoom:
        """The one row of facts, commits, frames, events."""

    @property
    def records(self) -> RecordRoom:
        """All of it as records, for whoever holds the store."""

    def commit(self, commit_id: str, *, at: str) -> AbstractContextManager[Commit]:
        """Write: all of the body together, durably, or none of it.

        Gives what the commit becomes, and the state that it found. If the body raises, nothing
        happened and the revision is as it was. `commit_id` is the caller's own name for it, never
        used twice; with `at`, what the caller's clock said, it is left in the log. Commits do not
        nest: one inside another is refused.
        """

    def snapshot(self) -> AbstractContextManager[StoreState]:
        """Let all reads of the body see one state of the store, and give its row of facts.

        Nothing is written in it. Inside a commit, or another snapshot, it is that one's state.
        """

    def head(self) -> Head:
        """Return how far the store has come."""

    def scrub(self, *, patient: bool = True) -> bool:
        """Wipe what deleted text left behind; return whether all of it could be.

        Without patience nobody is waited for who reads or writes at the moment.
        """

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the stored data, in words: the problems of `examine`."""

    def examine(self) -> Examination:
        """Look for damage in the stored data, whatever it is, and raise for none of it.

        It writes nothing, and nobody who reads or writes waits for it.
        """

    def repair(
        self, begin: NewCommit, *, at: str, link_again: LinkAgain, all_links: bool = False
    ) -> Repaired:
        """Put right what can be derived, in a commit that `begin` begins; put aside what cannot.

        Links and lists that differ, or with `all_links` all lists, are computed by `link_again`.
        What is put aside is kept as it stood, until `discard`. No head from before is known after.
        """

    def backup(self, path: Path, *, progress: Callable[[int, int], None] | None = None) -> BackedUp:
        """Write a copy of one moment of the store to a new file, and look whether it is whole.

        Others read and write meanwhile. The file is there as a whole or not at all, and nothing is
        written over. A store that is kept nowhere refuses with InvalidInput.
        """

    def discard(self) -> int:
        """Delete what was put aside, inside a commit; return how many rows that were."""

    def connections(self) -> int:
        """Return how many connections are open while nobody uses them."""

    def rest(self) -> None:
        """Close connections that nobody uses just now; whoever needs one gets it again."""

    def close(self) -> None:
        """Let go of the store; closing twice is fine."""
