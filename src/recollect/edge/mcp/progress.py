"""How far a call is, told while it goes on to whoever asked to be told.

In: numbers from the thread that works. Out: notifications from the loop, a few a second at most,
each further than the one before; a call that cannot say how far it is tells how long it has been.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["Far", "told_meanwhile"]

Tell = Callable[[float, float | None, str | None], Awaitable[None]]
EVERY_S = 0.5
_WORKING = "working"


class Far:
    """How much of how much is done, as the thread that works says."""

    def __init__(self) -> None:
        self.done: tuple[int, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Say how far it is."""
        self.done = (done, total)


@asynccontextmanager
async def told_meanwhile(tell: Tell, *, every_s: float = EVERY_S) -> AsyncIterator[Far]:
    """Tell how far a call is while it is carried out."""
    teller = _Teller(tell, every_s)
    try:
        yield teller.far
    finally:
        teller.end()
    if teller.far.done is not None:
        await teller.tell_now()


class _Teller:
    """Tells again and again. A timer costs a short call nothing, and most calls are short."""

    def __init__(self, tell: Tell, every_s: float) -> None:
        self.far = Far()
        self._tell = tell
        self._every_s = every_s
        self._last = 0.0
        self._began = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._telling: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(every_s, self._tick)

    def end(self) -> None:
        self._timer.cancel()

    def _tick(self) -> None:
        if self._telling is None or self._telling.done():
            self._telling = self._loop.create_task(self.tell_now())
        self._timer = self._loop.call_later(self._every_s, self._tick)

    async def tell_now(self) -> None:
        if self.far.done is not None:
            done, total = map(float, self.far.done)
            message = None
        else:
            done, total, message = time.monotonic() - self._began, None, _WORKING
        if done > self._last:
            self._last = done
            await self._tell(done, total, message)
