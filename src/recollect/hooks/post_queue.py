"""What is told after the fact: a bounded queue, and one thread that works it off.

In: payloads of `post_*` events, from any thread, without waiting. Out: calls of one function. When
the queue is full an event is dropped and counted; a verb never waits for those who listen.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.hooks.payload import Payload

__all__ = ["PostQueue"]

_ROOM = 1024
_DRAIN_S = 5.0


class PostQueue:
    """Events that wait to be delivered."""

    def __init__(self, deliver: Callable[[Payload], object], *, room: int = _ROOM) -> None:
        self._deliver = deliver
        self._room = room
        self._events: deque[Payload] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._busy = False
        self._delivered = self._dropped = 0

    def put(self, payload: Payload) -> None:
        """Queue an event, or drop it when there is no room."""
        with self._changed:
            if self._closed or len(self._events) >= self._room:
                self._dropped += 1
                return
            self._events.append(payload)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="recollect-hooks-post", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def wait_until_empty(self, seconds: float = _DRAIN_S) -> bool:
        """Wait until nothing is queued any more; return whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._events and not self._busy, seconds)

    def close(self, seconds: float = _DRAIN_S) -> None:
        """Tell what is queued, for as long as that; what is left then is dropped."""
        ends = time.monotonic() + seconds
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.wait_until_empty(seconds)
        with self._changed:
            self._dropped += len(self._events)
            self._events.clear()
        if self._thread is not None:
            self._thread.join(max(0.0, ends - time.monotonic()))

    def stats(self) -> dict[str, Any]:
        """Return how many events wait, were delivered and were dropped."""
        with self._changed:
            return {
                "queued": len(self._events),
                "delivered": self._delivered,
                "dropped": self._dropped,
            }

    def _work(self) -> None:
        while (payload := self._next()) is not None:
            self._deliver(payload)

    def _next(self) -> Payload | None:
        with self._changed:
            self._delivered += self._busy
            self._busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._events or self._closed)
            if not self._events:
                return None
            self._busy = True
            return self._events.popleft()
