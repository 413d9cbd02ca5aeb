"""The connections of one database file: one that writes, and one for each thread that reads.

In: how they are opened. Out: a connection for a statement, a snapshot or a write. Who reads never
waits for who writes, or waits to. A thread that has begun something goes on in it: what it reads
in its own snapshot, or inside of its own write, is of that. What an exception left open is ended.
"""

from __future__ import annotations

import logging
import sqlite3
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import StoreBusy, StoreClosed, StoreError, StoreReadOnly
from recollect.paks.database import BUSY_TIMEOUT_MS, PakConnection, Translated, read
from recollect.paks.files import identity, replaced, same_or_refuse
from recollect.paks.forks import keep_for_good, refusal, watch
from recollect.paks.lease import Lease, Thread
from recollect.paks.overwritten import is_overwritten
from recollect.paks.tolerant import fetch_all
from recollect.paks.turns import Turns

if TYPE_CHECKING:
    from recollect.errors import StoreUnavailable
    from recollect.paks.files import FileIdentity, Stamp

__all__ = ["Connections"]

Opener = Callable[[], PakConnection]

_log = logging.getLogger("recollect.store")

# So many reading connections stay open while nobody reads.
_MOST_IDLE = 8
# So long a fork waits for other threads to end what they are at.
_FORK_WAIT_S = 2.0
# Who waited less than this for its turn has its whole time for the lock of the file.
_AT_ONCE_S = 0.05


class _Here(threading.local):
    def __init__(self) -> None:
        self.thread = Thread()


class _Use:
    """Stands for a connection in use, as long as it is."""

    __slots__ = ("__weakref__",)


class Connections:
    """All connections to one database.

    Without `open_reader` one connection serves for everything, without `open_writer` nothing is
    written. A write waits `timeout_s` for its turn, among threads and among processes together.
    """

    def __init__(
        self,
        path: Path,
        *,
        open_writer: Opener | None,
        open_reader: Opener | None,
        timeout_s: float = BUSY_TIMEOUT_MS / 1000,
    ) -> None:
        self.translated = Translated(path)
        self._path = path
        # Where the file is whatever folder the process is in later.
        self._place = path.absolute()
        self._open_writer = open_writer
        self._open_reader = open_reader
        self._timeout_s = timeout_s
        self._closed = False
        self._idle: list[PakConnection] = []
        self._writer: PakConnection | None = None
        self._files: dict[Path, FileIdentity] = {}
        self._seen: Stamp | None = None
        self._refusal: StoreUnavailable | None = None
        self._start()
        watch(self)

    def _start(self) -> None:
        """Make what belongs to the threads of one process."""
        self._turns: Turns[Lease] = Turns(self._end)
        self._here = _Here()
        self._in_use: weakref.WeakSet[_Use] = weakref.WeakSet()
        self._is_forking = False
        self._forked = threading.Event()

    @property
    def writer(self) -> PakConnection:
        """The connection that writes; to be used by who has a turn, or while nobody else can."""
        # No lock: who writes has its turn, and of two that open one at once both have a good one.
        if self._closed:
            raise self._is_closed()
        if self._refusal is not None:
            raise self._refusal.with_traceback(None)
        conn = self._writer
        if conn is None:
            conn = self._writer = self._opened_writer()
        return conn

    def _opened_writer(self) -> PakConnection:
        if self._open_writer is None:
            raise StoreReadOnly(
                f"{self._path} was opened for reading only.",
                hint="open it without read_only=True to write.",
            )
        if (known := self._files.get(self._place)) is not None:
            same_or_refuse(self._place, known)
        conn = self._open_writer()
        self._note_files()
        conn.stamp = self.check_files()
        return conn

    def _note_files(self) -> None:
        """Remember which files are open: the database, and the log that SQLite keeps beside it."""
        if self._open_reader is not None:
            log = self._place.with_name(self._place.name + "-wal")
            found = {path: identity(path) for path in (self._place, log)}
            self._files = {path: one for path, one in found.items() if one is not None}

    def check_files(self) -> Stamp | None:
        """Refuse to write to files that nobody would find again; return the database's stamp."""
        stamps = [same_or_refuse(path, known) for path, known in self._files.items()]
        return self._noted(stamps[0]) if stamps else None

    def _noted(self, stamp: Stamp) -> Stamp:
        """Know a stamp of the database, and refuse one that something else was put over."""
        known = self._seen
        if known is not None and stamp != known and is_overwritten(self._place, known):
            raise replaced(self._place, "was overwritten while its log was left")
        self._seen = stamp
        return stamp

    def close(self) -> None:
        """Close them all; closing twice is fine. Who writes just now closes what it uses itself."""
        # Who closes in the middle of something of its own need not wait for itself.
        wait_s = self._timeout_s if self.lease() is None else 0.0
        lease = Lease(self._here.thread, is_writing=True)
        try:
            has_turn = self._turns.take(lease, wait_s)
            self._closed = True
            if has_turn:
                self._let_go()
        finally:
            self._turns.give(lease)

    def rest(self) -> None:
        """Close those that nobody uses just now; they are opened again when they are needed."""
        if self._open_reader is None or self.lease() is not None:
            return  # in memory a connection is the database
        lease = Lease(self._here.thread, is_writing=True)
        try:
            if self._turns.take(lease, 0.0):
                self._let_go()
        finally:
            self._turns.give(lease)

    @property
    def at_hand(self) -> int:
        """How many are open while nobody uses them."""
        return len(self._idle) + (self._writer is not None)

    def _let_go(self) -> None:
        """Close what nobody uses; but for one whose file was replaced (`keep_for_good`)."""
        while self._idle:
            self._idle.pop().close()
        conn, self._writer = self._writer, None
        if conn is not None:
            try:
                self.check_files()
            except StoreError:
                keep_for_good([conn])
            else:
                conn.close()

    def lease(self) -> Lease | None:
        """Return what this thread has begun, if it is in something."""
        thread = self._here.thread
        while (lease := thread.lease) is not None and not lease.is_live(sys._getframe(1)):
            _log.warning("what an interrupted call left open in %s was rolled back", self._path)
            self._end(lease)
        return lease

    def run(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of one statement: of what this thread has begun, or of now."""
        with self.translated:
            if (lease := self.lease()) is not None:
                return fetch_all(lease.conn, sql, values)
            if self._open_reader is None:
                with self.writing() as conn:
                    return fetch_all(conn, sql, values)
            use = self._used()
            conn = self._borrow(self._open_reader)
            try:
                rows = fetch_all(conn, sql, values)
            except BaseException:
                conn.close()
                raise
            self._give_back(conn)
            del use
            return rows

    @contextmanager
    def reading(self) -> Iterator[PakConnection]:
        """Give a connection to read from: of what this thread has begun, or one of its own."""
        lease = self.lease()
        if lease is not None:
            with self.translated:
                yield lease.conn
        elif self._open_reader is None:
            with self.writing() as conn:
                yield conn
        else:
            with self.translated:
                use = self._used()
                conn = self._borrow(self._open_reader)
                try:
                    yield conn
                except BaseException:
                    # A statement that was not read to its end would hold on to its moment.
                    conn.close()
                    raise
                self._give_back(conn)
                del use

    @contextmanager
    def looking(self) -> Iterator[bool]:
        """Let all that this thread reads in the body be of one state; give whether it is committed.

        Inside of something that the thread has begun, it is of that.
        """
        lease = self.lease()
        if lease is not None and lease.conn.in_transaction:
            yield lease.is_looking
        elif self._open_reader is None:
            with self.writing() as conn, read(conn), _marked(self._here.thread):
                yield True
        else:
            with self._looking(self._open_reader):
                yield True

    @contextmanager
    def _looking(self, open_reader: Opener) -> Iterator[None]:
        lease = Lease(self._here.thread, is_writing=False)
        with self.translated:
            try:
                lease.use = self._used()
                lease.conn = self._borrow(open_reader)
                lease.thread.lease = lease
                lease.conn.execute("BEGIN")
                yield
                lease.conn.execute("COMMIT")
            finally:
                self._end(lease)

    @contextmanager
    def writing(self) -> Iterator[PakConnection]:
        """Give the connection that writes, once it is this thread's turn; it begins nothing."""
        lease = self.lease()
        if lease is not None and lease.is_writing:
            yield lease.conn
            return
        lease = Lease(self._here.thread, is_writing=True)
        with self.translated:
            try:
                conn = self._in_turn(lease)
                lease.is_joining = conn.in_transaction
                lease.conn = conn
                lease.thread.lease = lease
                yield conn
            finally:
                self._end(lease)

    def _in_turn(self, lease: Lease) -> PakConnection:
        """Return the connection that writes when it is a thread's turn, and its file is there."""
        begun = time.monotonic()
        if not self._turns.take(lease, self._timeout_s):
            raise self._is_busy()
        waited = time.monotonic() - begun
        lease.use = self._used()
        conn = self._fresh_writer()
        left_s = self._timeout_s - (waited if waited > _AT_ONCE_S else 0)
        conn.wait_at_most(max(0, round(left_s * 1000)))
        return conn

    def _fresh_writer(self) -> PakConnection:
        """Return the connection that writes, with no page in its cache of what was overwritten.

        SQLite knows of what others write through it. A copy that was put in place over the file is
        seen by the file's stamp alone, and so is a checkpoint, which costs us another connection.
        """
        conn = self.writer
        if conn.stamp != self.check_files() and not conn.in_transaction:
            # The other one first: as the last of all it would do away with the log.
            self._writer = None
            fresh = self.writer
            conn.close()
            conn = fresh
        return conn

    def _used(self) -> _Use:
        """Return what stands for a use of a connection; none begins while the process forks."""
        while True:
            use = _Use()
            self._in_use.add(use)
            if not self._is_forking:
                return use
            del use
            self._forked.wait(_FORK_WAIT_S)

    def _borrow(self, open_reader: Opener) -> PakConnection:
        if self._closed:
            raise self._is_closed()
        if self._refusal is not None:
            raise self._refusal.with_traceback(None)
        known = self._files.get(self._place)
        stamp = None if known is None else same_or_refuse(self._place, known)
        while (conn := self._at_hand()) is not None:
            if conn.stamp == stamp:
                return conn
            conn.close()
        if stamp is not None:
            # Where somebody writes, the log stays what it is.
            self._noted(stamp) if self._writer is None else self.check_files()
        conn = open_reader()
        if known is None:
            self._note_files()
            stamp = self._stamp()
        conn.stamp = stamp
        return conn

    def checkpointed(self) -> None:
        """Know that what changed the file just now was a checkpoint by the connection that writes.

        To be told by who has the turn.
        """
        if self._writer is not None and (stamp := self._stamp()) is not None:
            before = self._writer.stamp
            self._seen = self._writer.stamp = stamp
            # Nor need those be opened anew that read the file as it was until then.
            for conn in [*self._idle]:
                if conn.stamp == before:
                    conn.stamp = stamp

    def _stamp(self) -> Stamp | None:
        known = self._files.get(self._place)
        with suppress(StoreError):
            return None if known is None else same_or_refuse(self._place, known)
        return None

    def _at_hand(self) -> PakConnection | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _give_back(self, conn: PakConnection) -> None:
        if self._closed or len(self._idle) >= _MOST_IDLE:
            conn.close()
        else:
            self._idle.append(conn)

    def _end(self, lease: Lease) -> None:
        """End what a lease has open, and give its connection back.

        It can be begun again at any point: it is over when the thread is out of the lease.
        """
        conn: PakConnection | None = getattr(lease, "conn", None)
        if conn is not None:
            in_the_middle = conn.in_transaction and not lease.is_joining
            if in_the_middle:
                conn.owner = None
                conn.rollback()
            del lease.conn
            if not lease.is_writing:
                # A statement that was not read to its end would hold on to its moment.
                conn.close() if in_the_middle else self._give_back(conn)
            elif self._closed:
                self._let_go()
        lease.use = None
        if lease.is_writing:
            self._turns.give(lease)
        if lease.thread.lease is lease:
            lease.thread.lease = lease.outer

    def before_fork(self) -> None:
        """Close all connections, as soon as no thread uses one; who comes now waits."""
        self._is_forking = True
        if self._open_reader is None or self.lease() is not None:
            return
        deadline = time.monotonic() + _FORK_WAIT_S
        while len(self._in_use) and time.monotonic() < deadline:
            time.sleep(0.002)
        if not len(self._in_use):
            self._let_go()

    def after_fork(self) -> None:
        """Let others go on."""
        self._is_forking = False
        self._forked.set()
        self._forked = threading.Event()

    def in_child(self) -> FileIdentity | None:
        """Start anew, or refuse where connections were open at the fork."""
        inherited = [*self._idle, *([self._writer] if self._writer is not None else [])]
        lease = self._here.thread.lease
        while lease is not None:
            # Who forks in the middle of something cannot go on with it on both sides.
            lease.conn.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
            inherited.append(lease.conn)
            lease = lease.outer
        was_open = bool(inherited) or len(self._in_use) > 0
        keep_for_good(inherited)
        self._idle, self._writer = [], None
        self._start()
        if not was_open or self._closed:
            return None
        self._refusal = refusal(self._path)
        return self._files.get(self._place)

    def _is_closed(self) -> StoreClosed:
        return StoreClosed(f"The store at {self._path} was closed.", hint="open it again.")

    def _is_busy(self) -> StoreBusy:
        return StoreBusy(
            f"Other threads kept {self._path} from being written for {self._timeout_s:g} s.",
            hint="try again, or open the memory with a longer timeout.",
        )


@contextmanager
def _marked(thread: Thread) -> Iterator[None]:
    if (lease := thread.lease) is None:
        raise StoreError("nobody holds the connection.", hint="look inside of `writing`.")
    lease.is_looking = True
    try:
        yield
    finally:
        lease.is_looking = False
