"""When a process that failed is tried again: the breaker and the back-off.

In: successes, failures, how long a process lived. Out: whether a request may go to it now, and how
long to wait before it is started again. Time comes in as an argument.
"""

from __future__ import annotations

from threading import Lock
from typing import Literal

__all__ = ["Backoff", "Breaker"]

_FAILURES = 5
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_FIRST_DELAY_S = 0.1
_LONGEST_DELAY_S = 30.0
_LONG_LIFE_S = 10.0


class Breaker:
    """Lets requests through until five failed in a row; then only a probe now and again.

    Pauses double from one second to thirty while probes fail. A probe is a request like any other:
    one at a time, and its success closes the breaker.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._failures = 0
        self._pause_s = 0.0
        self._until = 0.0
        self._probing = False

    def admits(self, now: float) -> bool:
        """Return whether a request may go through; if so, its outcome must be told."""
        if not self._failures:
            return True  # the usual case, without a lock
        with self._lock:
            if self._failures < _FAILURES:
                return True
            if self._probing or now < self._until:
                return False
            self._probing = True
            return True

    def succeeded(self) -> None:
        """Note a request that was answered."""
        if self._failures:
            with self._lock:
                self._failures, self._pause_s, self._probing = 0, 0.0, False

    def failed(self, now: float) -> bool:
        """Note a request that failed; return whether the breaker opened with it."""
        with self._lock:
            if self._failures >= _FAILURES and not self._probing:
                return False  # it was under way when the breaker opened
            self._failures += 1
            self._probing = False
            if self._failures < _FAILURES:
                return False
            self._pause_s = min(max(_FIRST_PAUSE_S, 2 * self._pause_s), _LONGEST_PAUSE_S)
            self._until = now + self._pause_s
            return True

    def unused(self) -> None:
        """Note that a request that was let through never went out."""
        with self._lock:
            self._probing = False

    def state(self, now: float) -> Literal["closed", "open", "half_open"]:
        """Return how it is, in a word."""
        with self._lock:
            if self._failures < _FAILURES:
                return "closed"
            return "half_open" if self._probing or now >= self._until else "open"


class Backoff:
    """How long to wait before a process is started again: by how long it lived."""

    def __init__(self) -> None:
        self._delay_s = 0.0

    def delay_s(self, uptime_s: float) -> float:
        """Return the wait after a process that lived so long; one that lived long gets none."""
        if uptime_s >= _LONG_LIFE_S:
            self._delay_s = 0.0
            return 0.0
        self._delay_s = min(max(_FIRST_DELAY_S, 2 * self._delay_s), _LONGEST_DELAY_S)
        return self._delay_s
