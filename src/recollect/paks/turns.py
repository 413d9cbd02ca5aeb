"""Whose turn it is to write: threads of one process in the order in which they came.

In: whoever wants a turn, and how long it may wait. Out: nothing but time. One that can be asked
whether it is still at it, and is not, loses its turn to the next: an exception may have come at an
instant at which nobody was there to give it back.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import Generic, Protocol, TypeVar

__all__ = ["Turns"]

# So often somebody who waits looks whether the one in front is still at it.
_LOOK_S = 0.1


class Waiting(Protocol):
    """Somebody who waits for a turn, or has it. `bell` is a lock that is held until it is rung."""

    @property
    def bell(self) -> threading.Lock: ...

    @property
    def thread_id(self) -> int: ...

    def is_live(self, frame: FrameType | None) -> bool: ...


One = TypeVar("One", bound=Waiting)


class Turns(Generic[One]):
    """A queue; who stands first in it has the turn. `end` ends what one that is gone has begun."""

    def __init__(self, end: Callable[[One], None]) -> None:
        self._end = end
        # Being in it is all there is to a turn: appending and removing are one step each, so no
        # exception can come between two parts of the truth.
        self._queue: deque[One] = deque()

    def take(self, one: One, timeout_s: float) -> bool:
        """Wait for a turn; return whether it came in time. Who did not get it gives it back too."""
        self._queue.append(one)
        deadline = time.monotonic() + timeout_s
        suspect = None
        while (first := self._queue[0]) is not one:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if not one.bell.acquire(timeout=min(left, _LOOK_S)) and not _is_live(first):
                # Its stack was looked at while it ran: only the second look counts.
                if first is suspect:
                    self._end(first)
                suspect = first
        return True

    def give(self, one: One) -> None:
        """Leave the queue, wherever in it one stands, and ring for who is first then."""
        if one in self._queue:
            self._queue.remove(one)
        for first in tuple(self._queue)[:1]:
            if first.bell.locked():
                first.bell.release()


def _is_live(one: Waiting) -> bool:
    return one.is_live(sys._current_frames().get(one.thread_id))
