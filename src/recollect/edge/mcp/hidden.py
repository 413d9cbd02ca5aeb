"""What a client's own hooks call, and no model is told of: a tool, and a path for plain HTTP.

In: the JSON that a client sends with an event, under `event` or as it is. Out: the JSON that it
expects. `tools/list` has none of them. They fail open: whatever is wrong, a prompt goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from recollect.edge.agents.events import answer, failed
from recollect.edge.agents.hand_over import SEEN, WAITED_MS, seen_by
from recollect.edge.agents.options import AgentOptions, agent_options, state_folder
from recollect.edge.mcp.calls import Outcome
from recollect.edge.mcp.texts import said_plainly
from recollect.errors import RecollectError
from recollect.settings import home_directory

if TYPE_CHECKING:
    from recollect.edge.mcp.calls import Session

__all__ = ["HIDDEN", "NOTHING", "Hook", "answered"]

NOTHING = Outcome("{}")
# Of the deadline, for the way there and back; by way of a process, which passes it on.
_ON_THE_WAY_MS, _BY_PROCESS_MS = 20, 40
# What goes on when nobody waits for it any more.
_begun: set[asyncio.Future[Outcome]] = set()


class Hook:
    """One call of a client's hook, from when it came."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._event = arguments.get("event", arguments)
        self._seen = arguments.get(SEEN)
        waited = arguments.get(WAITED_MS)
        self._waited_s = waited / 1000 if type(waited) is int and waited > 0 else 0.0
        self._since = time.monotonic() - self._waited_s
        try:
            self._options = agent_options()
            self._problem: RecollectError | None = None
        except RecollectError as error:
            self._options, self._problem = AgentOptions(state_folder()), error

    @property
    def is_of_here(self) -> bool:
        """Whether who sent it has our own folder of pauses and choices, and sees the same project.

        Who says nothing of that is a client of ours, or one that was set up to ask us.
        """
        if self._seen is None:
            return True
        cwd = self._event.get("cwd") if isinstance(self._event, Mapping) else None
        return bool(self._seen == seen_by(home_directory(), cwd))

    @property
    def patience_s(self) -> float:
        """How long it may take, the opening of the memory included."""
        return max(0.0, self._options.deadline_ms / 1000 - self._waited_s)

    def answer(self, session: Session) -> Outcome:
        """Return what it is answered; with options that cannot be read, nothing."""
        if self._problem is not None:
            raise self._problem
        way = _ON_THE_WAY_MS if self._seen is None else _BY_PROCESS_MS
        since = self._since - way / 1000
        told = answer(session.lend, self._event, self._options, since=since, whose=session.whose)
        return Outcome(said_plainly(dict(told)))

    def failed(self, error: BaseException) -> None:
        """Say in the log why it was answered with nothing."""
        failed(self._event, self._options, error)


async def answered(hook: Hook, answering: Awaitable[Outcome]) -> Outcome:
    """Return what a hook is answered: nothing, if that takes longer than a prompt may wait.

    What was begun goes on then: a turn is kept, if late.
    """
    begun = asyncio.ensure_future(answering)
    _begun.add(begun)

    def ended(_: asyncio.Future[Outcome]) -> None:
        _begun.discard(begun)
        problem = None if begun.cancelled() else begun.exception()
        if problem is not None:
            hook.failed(problem)

    begun.add_done_callback(ended)
    await asyncio.wait({begun}, timeout=hook.patience_s)
    if not begun.done() or begun.exception() is not None:
        return NOTHING
    return begun.result()


HIDDEN: Mapping[str, Callable[[Mapping[str, Any]], Hook]] = {"on_hook": Hook}
