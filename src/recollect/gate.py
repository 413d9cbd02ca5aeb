"""Answers are worked out one at a time: threads that would take turns at each step line up instead.

In: work to do. Out: what comes of it. One interpreter runs one thread at a time, and each row of
SQLite and each sort lets go of it for a moment: with several threads at it, every such moment is a
change of threads, and eight small answers took three times as long as one after the other. This is
a courtesy and no lock: it guards nothing, and whoever has waited for a moment goes on all the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from recollect.locks import fresh_in_child

__all__ = ["Gate"]

# Longer than many small answers take, shorter than a person notices.
_PATIENCE_S = 0.25

Answer = TypeVar("Answer")


class Gate:
    """Lets one in at a time, as long as nobody takes long."""

    def __init__(self) -> None:
        self._free = threading.Lock()
        fresh_in_child(self, "_free", threading.Lock)

    def pass_through(self, work: Callable[[], Answer]) -> Answer:
        """Do some work once those who came before are done with theirs."""
        free = self._free
        if not free.acquire(timeout=_PATIENCE_S):
            # Whoever is in there works for long, or was interrupted before it could say that it
            # left: from now on others need not wait for that one.
            self._free = threading.Lock()
            return work()
        try:
            return work()
        finally:
            free.release()

    def give_way(self) -> None:
        """Let whoever is at an answer come to its end, unless that takes long.

        For one who does a great deal in pieces: an answer that has to take over each piece before
        it can be given would never catch up.
        """
        free = self._free
        if not free.locked():
            return
        if free.acquire(timeout=_PATIENCE_S):
            free.release()
        else:
            # As above; and whoever gives way often waits in vain once.
            self._free = threading.Lock()
