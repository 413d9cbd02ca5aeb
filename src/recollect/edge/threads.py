"""A few threads for what blocks: the one that was busy last is asked first, its caches are warm.

In: jobs, which catch what they raise. Out: nothing; a job tells whoever waits for it. Threads never
keep a process from ending, and each goes on having the connections that its jobs opened.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable

__all__ = ["Job", "Threads"]

Job = Callable[[], None]


class Threads:
    """At most so many threads; they are made when they are needed."""

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        # A signal that ends a process may come while its thread is in here: it may come in twice.
        self._change = threading.Condition(threading.RLock())
        self._idle: list[queue.SimpleQueue[Job | None]] = []
        self._waiting: deque[Job] = deque()
        self._running = 0
        self._is_closed = False

    def start(self, job: Job, *, waits: bool = True) -> bool:
        """Do a job, now or when a thread is free; return False if it is not begun at all.

        A job that does not wait is begun at once or not.
        """
        with self._change:
            if self._is_closed or not (self._idle or self._running < self._most or waits):
                return False
            if not self._idle and self._running >= self._most:
                self._waiting.append(job)
                return True
            place = self._idle.pop() if self._idle else self._another()
        place.put(job)
        return True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until no job is under way; return whether that is so."""
        with self._change:
            return self._change.wait_for(self._is_quiet, seconds)

    def close(self) -> None:
        """Let what was begun come to its end; what waits is not begun."""
        with self._change:
            self._is_closed = True
            self._waiting.clear()
        self.wait()
        with self._change:
            for place in self._idle:
                place.put(None)
            self._running -= len(self._idle)
            self._idle.clear()

    def _is_quiet(self) -> bool:
        return len(self._idle) == self._running and not self._waiting

    def _another(self) -> queue.SimpleQueue[Job | None]:
        self._running += 1
        place: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        threading.Thread(target=self._serve, args=(place,), name=self._name, daemon=True).start()
        return place

    def _serve(self, place: queue.SimpleQueue[Job | None]) -> None:
        job = place.get()
        while job is not None:
            job()
            job = self._next(place) or place.get()

    def _next(self, place: queue.SimpleQueue[Job | None]) -> Job | None:
        with self._change:
            if self._waiting:
                return self._waiting.popleft()
            self._idle.append(place)
            self._change.notify_all()
            return None
