"""Places for verbs: so many are carried out at once, so many more wait, the rest hears so at once.

In: a call that blocks. Out: what it returns, awaited. Whoever goes away while waiting is taken out
of the queue; what was begun is done to its end, for nobody can say how far it is. While many wait,
the loop is told of a few answers at a time: waking it costs both threads (ADR-0094).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

from recollect.edge.http.turns import PATIENCE_S, Turns
from recollect.errors import ServerBusy, ServerTooSlow

__all__ = ["NOBODY_LISTENS", "Gone", "Places"]

Answer = TypeVar("Answer")
# What a server says that closed the connection since nobody listens; it is logged, never sent.
NOBODY_LISTENS = 499
# So many answers are told together while at least as many wait for theirs.
_TOGETHER = 4


class Gone(Exception):
    """Nobody waits for the answer any more."""


class Places:
    """The threads of one worker, and the queue before them."""

    def __init__(self, *, at_once: int, waiting: int, seconds: float) -> None:
        self._turns = Turns(at_once, "verb")
        self._room = at_once + waiting
        self._at_once = at_once
        self._seconds = seconds
        self._taken = 0
        self._is_looking = False
        self._done: deque[Callable[[], None]] = deque()

    @property
    def taken(self) -> int:
        """How many calls are under way or waiting."""
        return self._taken

    async def run(
        self, call: Callable[[], Answer], *, gone: Callable[[], Awaitable[None]] | None = None
    ) -> Answer:
        """Return what a call returns, once it had its turn; `gone` ends when nobody waits."""
        loop = asyncio.get_running_loop()
        place = _Place[Answer](call, loop.create_future(), self._leave, partial(self._tell, loop))
        if self._taken >= self._room or not self._turns.begin(place):
            raise ServerBusy(
                "the server has as much to do as it can.", hint="ask again in a second or so."
            )
        self._taken += 1
        if self._taken > 1:
            self._look_soon(loop)
        watch = None
        if gone is not None and self._taken > self._at_once:
            watch = asyncio.ensure_future(gone())
            watch.add_done_callback(place.give_up)
        too_late = loop.call_later(self._seconds, self._too_late, place.answer)
        try:
            return await place.answer
        finally:
            too_late.cancel()
            if watch is not None:
                watch.cancel()
            # One that has its turn goes on; one that waits is taken out of the queue.
            if not place.is_done and self._turns.take_back(place):
                self._leave()

    def _look_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """See after a while whether one who waits needs another thread, and tell what is done."""
        if not self._is_looking:
            self._is_looking = True
            loop.call_later(PATIENCE_S, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_looking = False
        self._turns.help()
        self._hear()
        if self._taken > 1:
            self._look_soon(loop)

    def _tell(self, loop: asyncio.AbstractEventLoop, done: Callable[[], None]) -> None:
        """Tell the loop from a thread that something is done: soon, or at its next look."""
        self._done.append(done)
        if len(self._done) >= _TOGETHER or self._turns.waiting < _TOGETHER:
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(self._hear)

    def _hear(self) -> None:
        while self._done:
            self._done.popleft()()

    def _too_late(self, answer: asyncio.Future[Any]) -> None:
        if not answer.done():
            answer.set_exception(
                ServerTooSlow(
                    f"this took longer than {self._seconds:g} seconds.",
                    hint="what was begun may still be done: ask again under the same"
                    " Idempotency-Key.",
                )
            )

    def _leave(self) -> None:
        self._taken -= 1

    def close(self) -> None:
        """Let what was begun come to its end; what waits is not begun."""
        for place in self._turns.close():
            if isinstance(place, _Place):
                place.answer.cancel()


class _Place(Generic[Answer]):
    """A call, and the future of whoever waits for what comes of it."""

    def __init__(
        self,
        call: Callable[[], Answer],
        answer: asyncio.Future[Answer],
        leave: Callable[[], None],
        tell: Callable[[Callable[[], None]], None],
    ) -> None:
        self.answer = answer
        self.is_done = False
        self._call = call
        self._leave = leave
        self._tell = tell

    def __call__(self) -> None:
        """Do it, in a thread, and tell the loop."""
        try:
            told = partial(self._given, self._call())
        except BaseException as error:  # noqa: BLE001 - it is handed to who waits
            told = partial(self._failed, error)
        self._tell(told)

    def _given(self, answer: Answer) -> None:
        self._end()
        if not self.answer.done():
            self.answer.set_result(answer)

    def _failed(self, error: BaseException) -> None:
        self._end()
        if not self.answer.done():
            self.answer.set_exception(error)

    def _end(self) -> None:
        self.is_done = True
        self._leave()

    def give_up(self, watch: asyncio.Future[None]) -> None:
        """End the waiting: whoever asked has gone away."""
        if not watch.cancelled() and not self.answer.done():
            self.answer.set_exception(Gone())
