"""`SqliteStore`: the store port over one SQLite file, beside the catalogue and by its connections.

In: values of `recollect.ports.store`. Out: the same. It keeps and finds; it neither decides nor
embeds nor ranks nor reads a clock. Threads write by turns, and read whenever they like.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import StoreDamaged
from recollect.paks import PakListFilters, RecallStore
from recollect.paks.database import write
from recollect.paks.opening import HowToOpen, opened_for_threads, resolve
from recollect.ports.state import Head
from recollect.stores.sqlite.access import SqliteAccess
from recollect.stores.sqlite.edges import SqliteEdges
from recollect.stores.sqlite.memories import SqliteMemories
from recollect.stores.sqlite.opening import prepare
from recollect.stores.sqlite.records import SqliteRecords
from recollect.stores.sqlite.session import Session
from recollect.stores.sqlite.state import SqliteState
from recollect.stores.sqlite.uses import SqliteUses
from recollect.stores.sqlite.vectors import SqliteVectors
from recollect.stores.sqlite.versions import SqliteVersions

if TYPE_CHECKING:
    from recollect.model import BackedUp, Examination, Repaired
    from recollect.paks.connections import Connections
    from recollect.paks.database import PakConnection
    from recollect.ports.state import Commit, StoreState
    from recollect.ports.store import LinkAgain, NewCommit
    from recollect.stores.sqlite.receipts import SqliteReceipts

__all__ = ["SqliteStore"]


class SqliteStore:
    """Memories in one SQLite file. Open one with `SqliteStore.open`."""

    def __init__(self, catalogue: RecallStore, connections: Connections) -> None:
        self._catalogue = catalogue
        # The catalogue's connections: whoever uses `catalogue` reads and writes in what the engine
        # has begun in the same thread, and takes turns with other threads.
        self._db = Session(connections)
        self._versions = SqliteVersions(self._db)
        self._memories = SqliteMemories(self._db, catalogue, self._versions)
        self._edges = SqliteEdges(self._db)
        self._vectors = SqliteVectors(self._db)
        self._uses = SqliteUses(self._db)
        self._access = SqliteAccess(self._db)
        self._state = SqliteState(self._db)
        self._records = SqliteRecords(self._db)

    @classmethod
    def open(
        cls, path: Path | str | None, *, store_id: str, how: HowToOpen | None = None
    ) -> SqliteStore:
        """Open the store at `path`, making it with `store_id` if it is new."""
        how = how or HowToOpen()
        place = resolve(path)
        connections, refusal = opened_for_threads(place, how)
        catalogue = RecallStore(connections, place, refusal=refusal)
        try:
            store = cls(catalogue, connections)
            # Refuses a catalogue of a newer release before anything of ours is written.
            catalogue.count_paks(PakListFilters(project=""))
            with store._db.opened(read_only=how.read_only) as conn:
                prepare(conn, catalogue.path, store_id=store_id, read_only=how.read_only)
            store._db.state()
        except BaseException:
            catalogue.close()
            raise
        return store

    @property
    def path(self) -> Path:
        """Where the database file is."""
        return self._catalogue.path

    @property
    def memories(self) -> SqliteMemories:
        """Texts, and where they stand."""
        return self._memories

    @property
    def edges(self) -> SqliteEdges:
        """Links, likenesses and disputes."""
        return self._edges

    @property
    def vectors(self) -> SqliteVectors:
        """Who waits for a vector, and the switch to another model."""
        return self._vectors

    @property
    def uses(self) -> SqliteUses:
        """How often each principal was given what."""
        return self._uses

    @property
    def versions(self) -> SqliteVersions:
        """Memories as they were."""
        return self._versions

    @cached_property
    def receipts(self) -> SqliteReceipts:
        """What was answered to whom."""
        # Most stores keep none.
        from recollect.stores.sqlite.receipts import SqliteReceipts

        return SqliteReceipts(self._db)

    @property
    def access(self) -> SqliteAccess:
        """Gardens, keys, trust and the audit log."""
        return self._access

    @property
    def state(self) -> SqliteState:
        """The one row of facts, commits, frames, events."""
        return self._state

    @property
    def records(self) -> SqliteRecords:
        """All of it as records."""
        return self._records

    @property
    def catalogue(self) -> RecallStore:
        """The catalogue that shares this store's connections."""
        return self._catalogue

    def commit(self, commit_id: str, *, at: str) -> AbstractContextManager[Commit]:
        """Write: all of the body together, durably, or none of it; one revision."""
        return self._db.commit(commit_id, at)

    @contextmanager
    def snapshot(self) -> Iterator[StoreState]:
        """Let all reads of the body see one state of the store, and give its row of facts."""
        with self._db.snapshot():
            yield self._db.state()

    def head(self) -> Head:
        """Return how far the store has come."""
        return Head(*self._db.one("SELECT revision, commit_id FROM engine_state"))

    def scrub(self, *, patient: bool = True) -> bool:
        """Wipe what deleted text left behind in the file; return whether all of it could be.

        Full text may keep deleted words. The write-ahead log keeps old pages until it is emptied,
        which has to wait for other processes that are reading.
        """
        from recollect.paks.fulltext_wiping import wipe

        with self._db.writing() as conn, _waiting(conn, patient=patient):
            with write(conn):
                wipe(conn, self._memories.erased.texts())
                self._memories.erased.looked()
            busy, _, _ = conn.execute("PRAGMA wal_checkpoint (TRUNCATE)").fetchone()
            self._db.checkpointed()
        return not busy

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the stored data, in words."""
        return self.examine().problems

    def examine(self) -> Examination:
        """Look for damage; nobody waits for it."""
        # What is done once in a while is loaded then.
        from recollect.stores.sqlite.examine import examine, find

        file = self._file()
        if file:
            return examine(file)
        with self._db.writing() as conn:
            return find(conn).report()

    def _file(self) -> Path | None:
        """Return the file as SQLite knows it: a relative path may lead elsewhere by now."""
        _, _, file = self._db.one("PRAGMA database_list")
        return Path(file) if file else None

    def repair(
        self, begin: NewCommit, *, at: str, link_again: LinkAgain, all_links: bool = False
    ) -> Repaired:
        """Put right what can be derived, and put aside what cannot.

        To look at every row takes longest; so it is done before others are kept from writing, and
        again inside of the commit if somebody wrote meanwhile.
        """
        from recollect.stores.sqlite.examine import found_before
        from recollect.stores.sqlite.repair import mend_state, repair

        try:
            with self._db.writing() as conn, write(conn):
                mend_state(conn)
            file = self._file()
            looked = found_before(file) if file else nullcontext(lambda: None)
            with looked as found, begin(), self._db.writing() as conn:
                done = repair(conn, at, found=found(), link_again=link_again, all_links=all_links)
                self._state.tidy()
        except StoreDamaged as error:
            raise StoreDamaged(
                f"{self.path} cannot be repaired in place: {error.message}",
                hint="`recollect repair --salvage` brings what can be read into a new file.",
            ) from error
        return replace(done, problems=self.examine().problems)

    def backup(self, path: Path, *, progress: Callable[[int, int], None] | None = None) -> BackedUp:
        """Write a copy of one moment to a new file; who writes is not kept waiting."""
        from recollect.stores.sqlite.backup import back_up

        with self._db.snapshot(), self._db.opened(read_only=True) as conn:
            return back_up(conn, path.absolute(), progress)

    def discard(self) -> int:
        """Delete what was put aside; return how many rows that were."""
        return self._db.run("DELETE FROM damaged").rowcount

    def connections(self) -> int:
        """Return how many connections are open while nobody uses them."""
        return self._db.at_hand

    def rest(self) -> None:
        """Close the connections that nobody uses just now; they are opened again when needed."""
        self._db.rest()

    def close(self) -> None:
        """Close the connections; closing twice is fine."""
        self._catalogue.close()


@contextmanager
def _waiting(conn: PakConnection, *, patient: bool) -> Iterator[None]:
    """Let the body wait for others as long as a write may, or not at all."""
    patience = conn.patience_ms
    conn.wait_at_most(patience if patient else 0)
    conn.wait_in_one_piece(conn.patience_ms)
    try:
        yield
    finally:
        conn.wait_at_most(patience)
