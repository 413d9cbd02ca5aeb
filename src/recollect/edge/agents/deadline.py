"""A job that somebody waits for, but not for long.

In: a job and a number of seconds. Out: whether it was done by then; if not, it goes on behind
whoever waited. A few threads serve all jobs of a process, so that a memory's connections are used
again; where all are busy nobody waits at all. They never keep a process from ending.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable

from recollect.values import dataclass

__all__ = ["MOST", "done_within", "wait_for_rest"]

MOST = 4
Job = Callable[[], None]


@dataclass(slots=True, eq=False)
class _Workers:
    """The threads of one process: those that wait for a job, and how many there are."""

    process: int
    lock: threading.Lock
    idle: list[queue.SimpleQueue[Job]]
    running: int = 0


def _workers_of_this_process() -> _Workers:
    return _Workers(os.getpid(), threading.Lock(), [])


_workers = _workers_of_this_process()


def done_within(seconds: float, job: Job) -> bool:
    """Start a job; return whether it ended in time. What it raises is its own to catch."""
    global _workers
    # Threads stay behind at a fork.
    if _workers.process != os.getpid():
        _workers = _workers_of_this_process()
    mine, over = _workers, threading.Event()
    place = _place(mine)
    if place is None:
        return False

    def run() -> None:
        try:
            job()
        finally:
            over.set()
            with mine.lock:
                mine.idle.append(place)

    place.put(run)
    return over.wait(seconds)


def wait_for_rest(seconds: float) -> bool:
    """Wait until no job is under way; return whether that is so. For a process about to end."""
    mine, pause = _workers, threading.Event()
    waited = 0.0
    while waited < seconds:
        with mine.lock:
            if len(mine.idle) == mine.running:
                return True
        pause.wait(0.01)
        waited += 0.01
    return False


def _place(workers: _Workers) -> queue.SimpleQueue[Job] | None:
    with workers.lock:
        if workers.idle:
            return workers.idle.pop()
        if workers.running >= MOST:
            return None
        workers.running += 1
    place: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_serve, args=(place,), name="recollect-hook", daemon=True).start()
    return place


def _serve(place: queue.SimpleQueue[Job]) -> None:
    while True:
        place.get()()
