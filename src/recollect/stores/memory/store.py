"""`MemoryStore`: the store port in plain dictionaries, for as long as its process lives.

In: values of `recollect.ports.store`. Out: the same, byte for byte what SQLite would give. Nothing
is written to a disk. One lock makes it safe to use from several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.model import BackedUp, Examination, Repaired
from recollect.ports.state import Commit, Head, StoreState
from recollect.ports.store import LinkAgain, NewCommit
from recollect.stores.memory.access import MemoryAccess
from recollect.stores.memory.catalogue import MemoryCatalogue
from recollect.stores.memory.edges import MemoryEdges
from recollect.stores.memory.memories import MemoryMemories
from recollect.stores.memory.receipts import MemoryReceipts
from recollect.stores.memory.records import MemoryRecords
from recollect.stores.memory.session import Session
from recollect.stores.memory.state import MemoryState
from recollect.stores.memory.uses import MemoryUses
from recollect.stores.memory.vectors import MemoryVectors
from recollect.stores.memory.versions import MemoryVersions

__all__ = ["MemoryStore"]


class MemoryStore:
    """Memories that nobody keeps once it is closed."""

    def __init__(self, *, store_id: str) -> None:
        self._session = Session(store_id)
        self._catalogue = MemoryCatalogue(
            undo=self._session.undo, watcher=lambda *change: self._memories.take_over(*change)
        )
        self._versions = MemoryVersions(self._session)
        self._memories = MemoryMemories(self._session, self._catalogue, self._versions)
        self._edges = MemoryEdges(self._session)
        self._vectors = MemoryVectors(self._session)
        self._uses = MemoryUses(self._session)
        self._receipts = MemoryReceipts(self._session)
        self._access = MemoryAccess(self._session)
        self._state = MemoryState(self._session)
        self._records = MemoryRecords(self._session, self._catalogue)

    @property
    def path(self) -> Path:
        """No place on a disk."""
        return self._catalogue.path

    @property
    def memories(self) -> MemoryMemories:
        """Texts, and where they stand."""
        return self._memories

    @property
    def edges(self) -> MemoryEdges:
        """Links, likenesses and disputes."""
        return self._edges

    @property
    def vectors(self) -> MemoryVectors:
        """Who waits for a vector, and the switch to another model."""
        return self._vectors

    @property
    def uses(self) -> MemoryUses:
        """How often each principal was given what."""
        return self._uses

    @property
    def versions(self) -> MemoryVersions:
        """Memories as they were."""
        return self._versions

    @property
    def receipts(self) -> MemoryReceipts:
        """What was answered to whom."""
        return self._receipts

    @property
    def access(self) -> MemoryAccess:
        """Gardens, keys, trust and the audit log."""
        return self._access

    @property
    def state(self) -> MemoryState:
        """The one row of facts, commits, frames, events."""
        return self._state

    @property
    def records(self) -> MemoryRecords:
        """All of it as records."""
        return self._records

    @property
    def catalogue(self) -> MemoryCatalogue:
        """The catalogue, which shares this store's commits."""
        return self._catalogue

    def commit(self, commit_id: str, *, at: str) -> AbstractContextManager[Commit]:
        """Write: all of the body together, or none of it; one revision."""
        return self._session.commit(commit_id, at)

    @contextmanager
    def snapshot(self) -> Iterator[StoreState]:
        """Let all reads of the body see one state of the store, and give its row of facts."""
        with self._session.snapshot():
            yield self._session.state

    def head(self) -> Head:
        """Return how far the store has come."""
        return self._state.read().head

    def scrub(self, *, patient: bool = True) -> bool:
        """Do nothing: what was deleted left nothing behind."""
        del patient
        return True

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the stored data, in words."""
        return self.examine().problems

    def examine(self) -> Examination:
        """Look for what cannot be: all of it is in memory, and nothing there can decay."""
        with self._session.snapshot():
            problems = (*self._catalogue.check().problems, *self._edges.problems())
            return Examination(len(self._session.memories), problems)

    def repair(
        self,
        begin: NewCommit,
        *,
        at: str,  # noqa: ARG002 - nothing is dated
        link_again: LinkAgain,  # noqa: ARG002 - no link is lost
        all_links: bool = False,  # noqa: ARG002
    ) -> Repaired:
        """Begin the log anew: there is nothing else that could be damaged."""
        with begin():
            self._state.tidy()
        return Repaired(problems=self.check())

    def backup(
        self,
        path: Path,  # noqa: ARG002 - no file is made
        *,
        progress: Callable[[int, int], None] | None = None,  # noqa: ARG002
    ) -> BackedUp:
        """Refuse: nothing of this store is in a file."""
        raise InvalidInput(
            "a store in memory is kept in no file, and so has no backup.",
            hint="export all of it, and import that into a file.",
        )

    def discard(self) -> int:
        """Delete nothing: nothing was put aside."""
        return 0

    def connections(self) -> int:
        """Return none: there is nothing to connect to."""
        return 0

    def rest(self) -> None:
        """Do nothing: what is in memory is all there is."""

    def close(self) -> None:
        """Let go of everything; closing twice is fine."""
        self._catalogue.close()
