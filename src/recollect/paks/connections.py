"""The connections of one database file: one that writes, and one for each thread that reads.

In: how they are opened. Out: a connection for a statement, a snapshot or a write. Who reads never
waits for who writes, or waits to. A thread that has begun something goes on in it: what it reads
in its own snapshot, or inside of its own write, is of that. What an exception left open is ended.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from pathlib import Path
from types import FrameType
from typing import Any

from recollect.errors import StoreBusy, StoreClosed, StoreError
from recollect.paks.database import PakConnection, Translated, read
from recollect.paks.tolerant import fetch_all
from recollect.paks.turns import Turns

__all__ = ["Alone", "Connections", "Lease"]

Opener = Callable[[], PakConnection]

_log = logging.getLogger("recollect.store")

_TIMEOUT_S = 5.0
# So many reading connections stay open while nobody reads.
_MOST_IDLE = 8
_RESUMED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_GOES_BETWEEN = (contextlib.__file__, __file__)


class _Thread:
    """What one thread has begun and not ended yet."""

    __slots__ = ("lease",)

    def __init__(self) -> None:
        self.lease: Lease | None = None


class Lease:
    """One thread's use of a connection, from where it was taken until it is given back.

    `is_looking` says that all of it is of one committed state, `is_joining` that a transaction was
    open before; `purpose` is for whoever took it to remember.
    """

    __slots__ = (
        "bell",
        "conn",
        "home",
        "is_joining",
        "is_looking",
        "is_writing",
        "outer",
        "purpose",
        "thread",
        "thread_id",
        "within",
    )

    def __init__(self, thread: _Thread, *, is_writing: bool) -> None:
        self.conn: PakConnection
        self.thread = thread
        self.outer = thread.lease
        self.is_writing = is_writing
        self.is_looking = not is_writing
        self.is_joining = False
        self.purpose: Any = None
        self.thread_id = threading.get_ident()
        self.bell = threading.Lock()
        self.bell.acquire()
        self.within, self.home = _frames()

    def is_live(self, frame: FrameType | None) -> bool:
        """Return whether whoever took it is still at it, given the innermost frame of its thread.

        An exception may come between the taking and the body of a `with`, or before its end is
        begun: then the function that wrote the `with` is left, and nobody will give back.
        """
        while frame is not None:
            if frame is self.home or frame is self.within:
                return True
            frame = frame.f_back
        return False


class _Here(threading.local):
    def __init__(self) -> None:
        self.thread = _Thread()


class Alone:
    """One connection for whoever opened it, who may have begun a transaction by hand."""

    def __init__(self, conn: PakConnection, path: Path) -> None:
        self.writer = conn
        self._given = _Given(conn, path)
        self._is_looking = False

    def close(self) -> None:
        """Close it; closing twice is fine."""
        self.writer.close()

    def reading(self) -> AbstractContextManager[PakConnection]:
        """Give the connection."""
        return self._given

    def writing(self) -> AbstractContextManager[PakConnection]:
        """Give the connection."""
        return self._given

    @contextmanager
    def looking(self) -> Iterator[bool]:
        """Let all reads of the body see one state; give whether it is committed."""
        with self._given as conn:
            if conn.in_transaction:
                yield self._is_looking
                return
            with read(conn):
                self._is_looking = True
                try:
                    yield True
                finally:
                    self._is_looking = False


class _Given(Translated):
    """A connection, again and again, its errors in our words."""

    __slots__ = ("conn",)

    def __init__(self, conn: PakConnection, path: Path) -> None:
        super().__init__(path)
        self.conn = conn

    def __enter__(self) -> PakConnection:
        return self.conn


class Connections:
    """All connections to one database. Without `open_reader` one serves for everything."""

    def __init__(self, path: Path, writer: PakConnection, open_reader: Opener | None) -> None:
        self.translated = Translated(path)
        self._path = path
        self._writer = writer
        self._open_reader = open_reader
        self._turns: Turns[Lease] = Turns(self._end)
        self._here = _Here()
        self._idle: list[PakConnection] = []
        self._closed = False

    @property
    def writer(self) -> PakConnection:
        """The connection that writes; to be used by who has a turn, or while nobody else can."""
        return self._writer

    def close(self) -> None:
        """Close them all; closing twice is fine. Who is at something is waited for."""
        if not self._closed:
            with self.writing():
                self._closed = True
        while self._idle:
            self._idle.pop().close()
        self._writer.close()

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
            conn = self._borrow(self._open_reader)
            try:
                rows = fetch_all(conn, sql, values)
            except BaseException:
                conn.close()
                raise
            self._give_back(conn)
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
                conn = self._borrow(self._open_reader)
                try:
                    yield conn
                except BaseException:
                    # A statement that was not read to its end would hold on to its moment.
                    conn.close()
                    raise
                self._give_back(conn)

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
                if not self._turns.take(lease, _TIMEOUT_S):
                    raise self._is_busy()
                if self._closed:
                    raise self._is_closed()
                lease.is_joining = self._writer.in_transaction
                lease.conn = self._writer
                lease.thread.lease = lease
                yield lease.conn
            finally:
                self._end(lease)

    def _borrow(self, open_reader: Opener) -> PakConnection:
        if self._closed:
            raise self._is_closed()
        try:
            return self._idle.pop()
        except IndexError:
            return open_reader()

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
        if lease.is_writing:
            self._turns.give(lease)
        if lease.thread.lease is lease:
            lease.thread.lease = lease.outer

    def _is_closed(self) -> StoreClosed:
        return StoreClosed(f"The store at {self._path} was closed.", hint="open it again.")

    def _is_busy(self) -> StoreBusy:
        return StoreBusy(
            f"Another thread kept {self._path} from being written.",
            hint="try again, or give writes more time.",
        )


@contextmanager
def _marked(thread: _Thread) -> Iterator[None]:
    if (lease := thread.lease) is None:
        raise StoreError("nobody holds the connection.", hint="look inside of `writing`.")
    lease.is_looking = True
    try:
        yield
    finally:
        lease.is_looking = False


def _frames() -> tuple[FrameType | None, FrameType | None]:
    """Return the frame that takes a lease, and the first one that is left for good by returning.

    Between them are generators that stand for a `with` of their own, and what drives them.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename in _GOES_BETWEEN:
        frame = frame.f_back
    within = frame
    while frame is not None and (
        frame.f_code.co_flags & _RESUMED or frame.f_code.co_filename in _GOES_BETWEEN
    ):
        frame = frame.f_back
    return within, frame
