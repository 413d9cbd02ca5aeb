"""Tools that a client's own hooks call, and that no model is told of.

In: the JSON that a client sends with an event, under `event` or as it is. Out: the JSON that it
expects. `tools/list` has none of them. They fail open: whatever is wrong, a prompt goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from recollect.edge.agents.events import answer
from recollect.edge.agents.events import patience_s as next_answer_s
from recollect.edge.agents.options import agent_options
from recollect.edge.mcp.calls import Outcome
from recollect.edge.mcp.texts import said_plainly
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from recollect.edge.mcp.calls import Session

__all__ = ["HIDDEN", "NOTHING", "HiddenTool", "patience_s"]

HiddenTool = Callable[["Session", Mapping[str, Any]], Outcome]

NOTHING = Outcome("{}")
# Beyond the deadline of an event, for the way there and back.
_GRACE_S = 0.1
_USUAL_S = 0.3


def patience_s() -> float:
    """Return how long a hook may take, the opening of the memory included."""
    try:
        return next_answer_s(agent_options()) + _GRACE_S
    except RecollectError:
        return _USUAL_S


def _on_hook(session: Session, arguments: Mapping[str, Any]) -> Outcome:
    event = arguments.get("event", arguments)
    try:
        told = answer(session.memory, event, agent_options())
    except RecollectError:
        return NOTHING
    return Outcome(said_plainly(dict(told)))


HIDDEN: Mapping[str, HiddenTool] = {"on_hook": _on_hook}
