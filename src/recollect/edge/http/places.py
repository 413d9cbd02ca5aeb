"""Places for verbs: so many are carried out at once, so many more wait, the rest hears so at once.

In: a call that blocks. Out: what it returns, awaited. Whoever goes away while waiting is taken out
of the queue; what was begun is done to its end, for nobody can say how far it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from recollect.errors import ServerBusy, ServerTooSlow

__all__ = ["NOBODY_LISTENS", "Gone", "Places"]

Answer = TypeVar("Answer")
# What a server says that closed the connection since nobody listens; it is logged, never sent.
NOBODY_LISTENS = 499


class Gone(Exception):
    """Nobody waits for the answer any more."""


class Places:
    """The threads of one worker, and the queue before them."""

    def __init__(self, *, at_once: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="verb")
        self._room = at_once + waiting
        self._at_once = at_once
        self._seconds = seconds
        self._taken = 0

    @property
    def taken(self) -> int:
        """How many calls are under way or waiting."""
        return self._taken

    async def run(
        self, call: Callable[[], Answer], *, gone: Callable[[], Awaitable[None]] | None = None
    ) -> Answer:
        """Return what a call returns, once it had its turn; `gone` ends when nobody waits."""
        if self._taken >= self._room:
            raise ServerBusy(
                "the server has as much to do as it can.", hint="ask again in a second or so."
            )
        loop = asyncio.get_running_loop()
        self._taken += 1
        future: Future[Answer] = self._pool.submit(call)
        # A thread calls this when it is done; what is counted belongs to the loop.
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave))
        waits = gone if self._taken > self._at_once else None
        return await self._answer_of(future, waits)

    async def _answer_of(
        self, future: Future[Answer], gone: Callable[[], Awaitable[None]] | None
    ) -> Answer:
        answer = asyncio.wrap_future(future)
        watch = None if gone is None else asyncio.ensure_future(gone())
        waited: set[asyncio.Future[Any]] = {answer} if watch is None else {answer, watch}
        try:
            done, _ = await asyncio.wait(
                waited, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED
            )
        except asyncio.CancelledError:
            future.cancel()
            raise
        finally:
            if watch is not None:
                watch.cancel()
        if answer in done:
            return answer.result()
        # One that has its turn goes on; one that waits is taken out of the queue.
        future.cancel()
        answer.add_done_callback(_is_heard)
        if done:
            raise Gone
        raise ServerTooSlow(
            f"this took longer than {self._seconds:g} seconds.",
            hint="what was begun may still be done: ask again under the same Idempotency-Key.",
        )

    def _leave(self) -> None:
        self._taken -= 1

    def close(self) -> None:
        """Let what was begun come to its end; what waits is not begun."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _is_heard(future: asyncio.Future[Answer]) -> None:
    """Look at an error that nobody waits for, so that nobody is told that it was not."""
    if not future.cancelled():
        future.exception()
