"""One connection for whoever opened it, who may have begun a transaction on it by hand.

In: a connection. Out: the same, for reading and for writing, with its errors in our words. What
several threads share is in `connections`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.paks.database import MEMORY, Translated, read
from recollect.paks.files import identity
from recollect.paks.forks import keep_for_good, refusal, watch

if TYPE_CHECKING:
    from recollect.errors import StoreUnavailable
    from recollect.paks.database import PakConnection
    from recollect.paks.files import FileIdentity

__all__ = ["Alone"]


class Alone:
    """One connection for whoever opened it, who may have begun a transaction by hand."""

    def __init__(self, conn: PakConnection, path: Path) -> None:
        self._path = path
        self._given = _Given(conn, path)
        self._is_looking = False
        self._closed = False
        watch(self)

    @property
    def writer(self) -> PakConnection:
        """The connection."""
        return self._given.conn

    def close(self) -> None:
        """Close it; closing twice is fine."""
        self._closed = True
        if self._given.refusal is None:
            self._given.conn.close()

    def check_files(self) -> None:
        """Trust whoever opened it to know the file."""

    def before_fork(self) -> None:
        """Leave it open: whoever has it may be in the middle of something."""

    def after_fork(self) -> None:
        """Go on."""

    def in_child(self) -> FileIdentity | None:
        """Refuse in the child, but for what is in memory: that has a copy of its own."""
        if self._closed or str(self._path) == MEMORY:
            return None
        keep_for_good([self._given.conn])
        self._given.refusal = refusal(self._path)
        return identity(self._path)

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

    __slots__ = ("conn", "refusal")

    def __init__(self, conn: PakConnection, path: Path) -> None:
        super().__init__(path)
        self.conn = conn
        self.refusal: StoreUnavailable | None = None

    def __enter__(self) -> PakConnection:
        if self.refusal is not None:
            raise self.refusal.with_traceback(None)
        return self.conn
