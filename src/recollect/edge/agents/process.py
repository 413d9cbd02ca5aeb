"""`recollect hook`: one event in, its answer out, in a process of its own that always ends well.

In: the name of an event, the JSON that a client wrote, and how a memory is opened. Out: the JSON of
the answer, or nothing. Whatever goes wrong is written to the log; a client that waits for us is
never kept, and never told of an error.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.edge.agents import log
from recollect.edge.agents.options import AgentOptions, agent_options, state_folder
from recollect.errors import RecollectError
from recollect.hours import iso

if TYPE_CHECKING:
    from recollect.edge.agents.events import Lent
    from recollect.engine import Recollect

__all__ = ["NAMES", "answer_event", "event_named"]

# How an event is named at a shell, and by clients.
NAMES: Mapping[str, str] = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "stop": "Stop",
    "post-tool-use": "PostToolUse",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
}
_MOST_BYTES = 64_000_000
# Nobody waits for what is kept of a turn, or read from a transcript.
_LONGER = {"Stop": 5.0, "PreCompact": 30.0, "SessionEnd": 30.0}

Opening = Callable[[], AbstractContextManager["Recollect"]]


def event_named(name: str, given: bytes, **more: object) -> dict[str, Any]:
    """Return an event as a client wrote it, under the name that it was called by."""
    try:
        told = json.loads(given[:_MOST_BYTES] or b"{}")
    except (ValueError, RecursionError):
        told = {}
    event = dict(told) if isinstance(told, dict) else {}
    event["hook_event_name"] = NAMES.get(name, name)
    return event | {key: value for key, value in more.items() if value}


def answer_event(event: Mapping[str, Any], opening: Opening, say: Callable[[str], None]) -> None:
    """Answer an event; `say` is called with the JSON of the answer, if there is one."""
    try:
        _answer_in_time(event, opening, agent_options(), say)
    except Exception as error:  # noqa: BLE001 - a hook that fails must not stop a prompt
        code = error.code if isinstance(error, RecollectError) else type(error).__name__
        _log(event, state_folder(), code)


def _answer_in_time(
    event: Mapping[str, Any], opening: Opening, options: AgentOptions, say: Callable[[str], None]
) -> None:
    began = time.monotonic()
    usual = options.process_deadline_ms / 1000
    limit = max(usual, _LONGER.get(str(event.get("hook_event_name")), 0.0))
    watch = threading.Timer(limit, _end, args=(event, options.state))
    watch.daemon = True
    watch.start()
    try:
        with opening() as memory:
            left = limit - (time.monotonic() - began)
            _answer(lambda: nullcontext(memory), event, options, left, say)
    finally:
        watch.cancel()


def _answer(
    lent: Lent,
    event: Mapping[str, Any],
    options: AgentOptions,
    left: float,
    say: Callable[[str], None],
) -> None:
    from recollect.edge.agents.deadline import wait_for_rest
    from recollect.edge.agents.events import answer

    waits = max(options.deadline_ms, int(1000 * left) - 100)
    told = answer(lent, event, replace(options, deadline_ms=waits))
    if told:
        say(json.dumps(told))
    wait_for_rest(max(0.0, left))


def _end(event: Mapping[str, Any], state: Path) -> None:
    """Leave at once: whatever was written whole is kept, and the client goes on."""
    _log(event, state, "deadline")
    os._exit(0)


def _log(event: Mapping[str, Any], state: Path, degraded: str) -> None:
    told = {key: str(event.get(key, ""))[:200] for key in ("client", "session_id")}
    entry = {
        "at": iso(time.time()),
        "event": str(event.get("hook_event_name"))[:64],
        "client": told["client"],
        "session": told["session_id"],
        "degraded": degraded,
    }
    log.write(state, entry)
