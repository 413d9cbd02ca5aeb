"""How often a key may ask, whichever worker answers.

In: who asks. Out: nothing, or `TooManyRequests` with the time to wait. What is kept of a key is one
number, the moment at which its next request would be just on time (GCRA): requests may come early
by so much as `burst` allows. Two keys that fall on one slot share one allowance: that is stricter
for both, and never looser. Which of 65,536 slots a key has is nobody's to choose.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from recollect.edge.http.shared_slots import SharedSlots
from recollect.errors import TooManyRequests

__all__ = ["Rates"]

_FILE = "rates"


class Rates:
    """The allowances of all keys."""

    def __init__(
        self,
        rate: float | None,
        *,
        burst: int,
        folder: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._apart_s = None if rate is None else 1 / rate
        self._burst = burst
        self._clock = clock
        self._slots = SharedSlots(folder, _FILE, form="d") if rate is not None else None

    def take(self, store: str, key: str) -> None:
        """Count one request, or refuse it."""
        if self._slots is None or self._apart_s is None:
            return
        now, apart = self._clock(), self._apart_s
        early = apart * (self._burst - 1)

        def ask(kept: tuple[float, ...]) -> tuple[tuple[float], float]:
            # No slot is ever further ahead than this; a clock that began anew is.
            due = min(max(kept[0], now), now + early + apart)
            wait = due - early - now
            return ((due,), wait) if wait > 0 else ((due + apart,), 0.0)

        wait = self._slots.change(f"{store}\0{key}", ask)
        if wait > 0:
            raise TooManyRequests(
                f"this key asks more often than {1 / apart:g} times a second.",
                hint=f"ask again in {wait:.2f} seconds, or ask the operator for more.",
                retry_after_s=wait,
            )

    def close(self) -> None:
        """Let go of the file."""
        if self._slots is not None:
            self._slots.close()
