"""Tools that a client's own hooks call, and that no model is told of.

In: the JSON that a client sends with an event, under `event` or as it is. Out: the JSON that it
expects. `tools/list` has none of them. They fail open: whatever is wrong, a prompt goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from recollect.edge.agents.events import answer, failed
from recollect.edge.agents.options import AgentOptions, agent_options, state_folder
from recollect.edge.mcp.calls import Outcome
from recollect.edge.mcp.texts import said_plainly
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from recollect.edge.mcp.calls import Session

__all__ = ["HIDDEN", "NOTHING", "Hook"]

NOTHING = Outcome("{}")
# Of the deadline, for the way there and back.
_ON_THE_WAY_MS = 20


class Hook:
    """One call of a client's hook, from when it came."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._event = arguments.get("event", arguments)
        self._since = time.monotonic()
        try:
            self._options = agent_options()
            self._problem: RecollectError | None = None
        except RecollectError as error:
            self._options, self._problem = AgentOptions(state_folder()), error

    @property
    def patience_s(self) -> float:
        """How long it may take, the opening of the memory included."""
        return self._options.deadline_ms / 1000

    def answer(self, session: Session) -> Outcome:
        """Return what it is answered; with options that cannot be read, nothing."""
        if self._problem is not None:
            raise self._problem
        since = self._since - _ON_THE_WAY_MS / 1000
        return Outcome(
            said_plainly(dict(answer(session.lend, self._event, self._options, since=since)))
        )

    def failed(self, error: BaseException) -> None:
        """Say in the log why it was answered with nothing."""
        failed(self._event, self._options, error)


HIDDEN: Mapping[str, Callable[[Mapping[str, Any]], Hook]] = {"on_hook": Hook}
