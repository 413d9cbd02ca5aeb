"""One thread's use of a connection: what it has begun, and whether it is still at it.

In: the stack of whoever takes a connection. Out: a `Lease`. An exception may come between the
taking and the body of a `with`, or before its end has begun; then the function that wrote the
`with` is left, and a look at the stack tells that nobody will give back.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.paks.database import PakConnection

__all__ = ["Lease", "Thread"]

_RESUMED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_GOES_BETWEEN = (contextlib.__file__, str(Path(__file__).with_name("connections.py")))


class Thread:
    """What one thread has begun and not ended yet."""

    __slots__ = ("lease",)

    def __init__(self) -> None:
        self.lease: Lease | None = None


class Lease:
    """One thread's use of a connection, from where it was taken until it is given back.

    `is_looking` says that all of it is of one committed state, `is_joining` that a transaction was
    open before; `purpose` is for whoever took it to remember, `use` for whoever gave it.
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
        "use",
        "within",
    )

    def __init__(self, thread: Thread, *, is_writing: bool) -> None:
        self.conn: PakConnection
        self.thread = thread
        self.outer = thread.lease
        self.is_writing = is_writing
        self.is_looking = not is_writing
        self.is_joining = False
        self.purpose: Any = None
        self.use: object = None
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
