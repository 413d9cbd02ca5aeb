"""Threads that take jobs in turn: one works, and others help as soon as a job takes long.

In: jobs, which catch what they raise. Out: nothing; a job tells whoever waits for it. One
interpreter runs one thread at a time: short jobs that are done by several at once take longer,
each, for every change of threads (ADR-0094). Whoever has jobs here asks now and then whether help
is needed; nothing here keeps time by itself.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

__all__ = ["Job", "Turns"]

Job = Callable[[], None]

# One who is at a job for so long is helped; and for so long is left to it by who has done its own.
# Two who wait for one another at each step take longer than one: help goes sooner than it comes.
PATIENCE_S = 0.01
_LEFT_TO_IT_S = 0.05


class _Worker:
    """A thread: where it waits for work, and since when it is at a job."""

    def __init__(self) -> None:
        self.sleeps = threading.Lock()
        self.sleeps.acquire()
        self.since = 0.0


class Turns:
    """At most so many threads; they are made when they are needed."""

    def __init__(
        self, most: int, name: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._working: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._threads: list[threading.Thread] = []
        self._is_closed = False

    @property
    def waiting(self) -> int:
        """How many jobs wait for their turn."""
        return len(self._waiting)

    def begin(self, job: Job) -> bool:
        """Do a job when its turn comes, at once if nobody works; False once this is closed."""
        with self._lock:
            if self._is_closed:
                return False
            self._waiting.append(job)
            if not self._working:
                self._wake()
            return True

    def take_back(self, job: Job) -> bool:
        """Leave a job undone; return False if it was begun."""
        with self._lock:
            try:
                self._waiting.remove(job)
            except ValueError:
                return False
            return True

    def help(self) -> None:
        """Let one more work if a job waits, and all who work are at something long."""
        with self._lock:
            is_room = len(self._working) < self._most and not self._is_closed
            if self._waiting and is_room and not self._is_one_at_it(PATIENCE_S):
                self._wake()

    def close(self) -> list[Job]:
        """Let what was begun come to its end; return what waited, and is not begun any more."""
        with self._lock:
            self._is_closed = True
            left = list(self._waiting)
            self._waiting.clear()
            for worker in self._idle:
                worker.sleeps.release()
        for thread in self._threads:
            thread.join()
        return left

    def _wake(self) -> None:
        worker = self._idle.pop() if self._idle else self._another()
        worker.since = self._clock()
        self._working.append(worker)
        worker.sleeps.release()

    def _another(self) -> _Worker:
        worker = _Worker()
        thread = threading.Thread(target=self._serve, args=(worker,), name=self._name, daemon=True)
        self._threads.append(thread)
        thread.start()
        return worker

    def _serve(self, worker: _Worker) -> None:
        while not self._is_closed:
            worker.sleeps.acquire()
            while job := self._next(worker):
                job()

    def _next(self, worker: _Worker) -> Job | None:
        with self._lock:
            if self._waiting and not self._is_one_at_it(_LEFT_TO_IT_S, but=worker):
                worker.since = self._clock()
                return self._waiting.popleft()
            if worker in self._working:
                self._working.remove(worker)
                self._idle.append(worker)
            return None

    def _is_one_at_it(self, seconds: float, but: _Worker | None = None) -> bool:
        """Return whether somebody is at a job for less than so long."""
        since = self._clock() - seconds
        return any(one is not but and one.since > since for one in self._working)
