"""The memory of a server that one client started: opened when it is first needed.

In: how it is opened: a file, or another server. Out: that memory for each call, in a thread. Who
asks is whoever opened it; a memory that could not be opened is tried again by the next call.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.edge.agents.deadline import CLOSING_S, wait_for_rest
from recollect.edge.echo import Echoes
from recollect.edge.mcp.calls import Session
from recollect.edge.threads import Threads
from recollect.errors import StoreClosed

if TYPE_CHECKING:
    from recollect.engine import Recollect

__all__ = ["LocalMemory"]

Answer = TypeVar("Answer")
_AT_ONCE = 4
Opening = Callable[[], "AbstractContextManager[Recollect]"]


class LocalMemory:
    """One memory, for one client."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._open = ExitStack()
        self._session: Session | None = None
        self.is_closing = False
        self._lock = threading.Lock()
        # Threads of our own: each has a connection to the store, and those of the SDK come and go.
        self._threads = Threads(_AT_ONCE, "verb")

    async def run(self, _: object, verb: str, act: Callable[[Session], Answer]) -> Answer:  # noqa: ARG002
        """Return what is done in a thread with the memory."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()

        def job() -> None:
            try:
                done = act(self.session())
            except BaseException as error:  # noqa: BLE001 - whoever waits for it gets it
                _tell(loop, answer.set_exception, answer, error)
            else:
                _tell(loop, answer.set_result, answer, done)

        if not self._threads.start(job):
            raise StoreClosed("the memory is closed.", hint="start the server again.")
        return await answer

    def session(self) -> Session:
        """Return the memory, which is opened if it is not."""
        with self._lock:
            if self._session is None:
                memory = self._open.enter_context(self._opening())
                self._session = Session(memory, "", Echoes())
            return self._session

    def open_meanwhile(self) -> None:
        """Open it in a thread of its own; what goes wrong is told to whoever asks next."""
        threading.Thread(target=self._open_quietly, name="opening", daemon=True).start()

    def _open_quietly(self) -> None:
        with suppress(Exception):
            # Loads what answers, and counts nothing: the first prompt finds all of it there.
            self.session().memory.preview("evidence", "What matters here?")

    def close(self, *_: Any) -> None:
        """Close it; what was begun is done first."""
        self.is_closing = True
        self._threads.close()
        wait_for_rest(CLOSING_S)
        with self._lock:
            self._session = None
            self._open.close()


def _tell(
    loop: asyncio.AbstractEventLoop,
    say: Callable[[Any], None],
    answer: asyncio.Future[Any],
    said: object,
) -> None:
    """Give an answer to whoever waits for it, if anybody still does."""

    def settle() -> None:
        if not answer.done():
            say(said)

    with suppress(RuntimeError):  # the loop ended before
        loop.call_soon_threadsafe(settle)
