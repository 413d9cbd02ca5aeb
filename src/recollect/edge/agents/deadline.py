"""A job that somebody waits for, but not for long, and what is done once nobody waits any more.

In: a job and a number of seconds. Out: whether it was done by then; if not, it goes on behind
whoever waited. A few threads serve all jobs of a process; where all are busy nobody waits at all.
What comes afterwards has one thread of its own, in which nothing is left out.
"""

from __future__ import annotations

import os
import threading

from recollect.edge.threads import Job, Threads
from recollect.values import dataclass

__all__ = ["CLOSING_S", "MOST", "done_within", "wait_for_rest"]

MOST = 4
# So long whoever ends waits for what hooks began; a client that has no patience kills it before.
CLOSING_S = 30.0
# So long whoever waited has the processor to itself, to pass on what it got.
_AFTER_S = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class _Rooms:
    """The threads of one process: for what is waited for, and for what comes afterwards."""

    process: int
    jobs: Threads
    afterwards: Threads
    hurry: threading.Event


def _rooms_of_this_process() -> _Rooms:
    return _Rooms(
        os.getpid(),
        Threads(MOST, "recollect-hook"),
        Threads(1, "recollect-keep"),
        threading.Event(),
    )


_rooms = _rooms_of_this_process()


def done_within(seconds: float, job: Job, *, afterwards: Job | None = None) -> bool:
    """Start a job; return whether it ended in time. What it raises is its own to catch.

    What is to be done `afterwards` is begun when the job has ended, and waited for by nobody.
    """
    global _rooms
    # Threads stay behind at a fork.
    if _rooms.process != os.getpid():
        _rooms = _rooms_of_this_process()
    mine, over = _rooms, threading.Event()

    def after() -> None:
        mine.hurry.wait(_AFTER_S)
        if afterwards is not None:
            afterwards()

    def run() -> None:
        try:
            job()
        finally:
            if afterwards is not None:
                mine.afterwards.start(after)
            over.set()

    return mine.jobs.start(run, waits=False) and over.wait(seconds)


def wait_for_rest(seconds: float) -> bool:
    """Wait until nothing is under way; return whether that is so. For who is about to end."""
    mine = _rooms
    mine.hurry.set()
    try:
        return mine.jobs.wait(seconds) and mine.afterwards.wait(seconds)
    finally:
        mine.hurry.clear()
