"""`recollect hook` behind whoever waits for it: one event is answered, and what it brings is kept.

In: what was typed, the JSON that a client wrote, and who waits. Out: an answer, if anybody still
waits for one. A server that listens on this machine is asked, else a memory is opened. Whatever
goes wrong is written to the log; a client is never told of an error.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.edge.agents import hand_over, log
from recollect.edge.agents.options import FILE, agent_options, patience_s, state_folder
from recollect.edge.cli.given import Chosen, chosen_key, chosen_url
from recollect.errors import RecollectError, ServerTooSlow
from recollect.hours import iso
from recollect.settings import home_directory

if TYPE_CHECKING:
    from recollect.edge.agents.waiting import Asked, Waiting
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
# What a server of this machine answers from what it is told; transcripts are read where they are.
_HANDED_OVER = ("SessionStart", "UserPromptSubmit", "Stop", "PostToolUse")
# So long is done what nobody waits for.
_MOST_S = 60.0
_SOCKET = "serve.sock"


def event_named(name: str, given: bytes, **more: object) -> dict[str, Any]:
    """Return an event as a client wrote it, under the name that it was called by."""
    try:
        told = json.loads(given or b"{}")
    except (ValueError, RecursionError):
        told = {}
    event = dict(told) if isinstance(told, dict) else {}
    event["hook_event_name"] = NAMES.get(name, name)
    return event | {key: value for key, value in more.items() if value}


def answer_event(asked: Asked, given: bytes, waiting: Waiting) -> None:
    """Answer an event, if there is still time; keep what it brings in any case."""
    event = event_named(asked.event, given, client=asked.client, keep_tools=asked.tools)
    Chosen.url, Chosen.key, Chosen.read_only = asked.url, asked.key, asked.read_only
    watch = threading.Timer(_MOST_S, _end, args=(event,))
    watch.daemon = True
    watch.start()
    try:
        home = home_directory()
        waiting.have_patience(patience_s(home / FILE))
        if not _handed_over(event, asked, waiting, home):
            _answer(event, asked, waiting)
    except Exception as error:  # noqa: BLE001 - a hook that fails must not stop a prompt
        _log(event, error.code if isinstance(error, RecollectError) else type(error).__name__)


def _handed_over(event: Mapping[str, Any], asked: Asked, waiting: Waiting, home: Path) -> bool:
    """Have a server of this machine answer; return whether there is one that does."""
    url = chosen_url() or (f"unix:{home / _SOCKET}" if asked.db is None else None)
    if url is None or event["hook_event_name"] not in _HANDED_OVER:
        return False
    left = waiting.left_s if waiting.is_waited_for else _MOST_S
    try:
        answer = hand_over.ask(url, chosen_key(), event, home, began=waiting.began, left_s=left)
    except ServerTooSlow:
        _log(event, "deadline", lost=True)
        return True
    if answer is not None and answer != "{}" and not waiting.say(answer):
        _log(event, "deadline", lost=True)
    return answer is not None


def _answer(event: Mapping[str, Any], asked: Asked, waiting: Waiting) -> None:
    """Open a memory, and answer with it; what is not ready in time is left out."""
    options = agent_options()
    with _memory(asked) as memory:
        from recollect.edge.agents.deadline import wait_for_rest
        from recollect.edge.agents.events import answer

        seconds = waiting.patience_s if waiting.is_waited_for else _MOST_S
        answer(
            lambda: nullcontext(memory),
            event,
            replace(options, deadline_ms=int(1000 * seconds)),
            since=waiting.began,
            deliver=lambda told: waiting.say(json.dumps(told)),
        )
        wait_for_rest(_MOST_S)


def _memory(asked: Asked) -> AbstractContextManager[Recollect]:
    from recollect.edge.cli import open_memory

    socket = home_directory() / _SOCKET
    if asked.db is None and chosen_url() is None and hand_over.listens(socket):
        return open_memory.on_server(f"unix:{socket}")
    return open_memory.new_or_existing(asked.db, asked.embedder)


def _end(event: Mapping[str, Any]) -> None:
    """Leave at once: whatever was written whole is kept."""
    _log(event, "deadline")
    os._exit(0)


def _log(event: Mapping[str, Any], degraded: str, **more: bool) -> None:
    told = {key: str(event.get(key, ""))[:200] for key in ("client", "session_id")}
    entry = {
        "at": iso(time.time()),
        "event": str(event.get("hook_event_name"))[:64],
        "client": told["client"],
        "session": told["session_id"],
        "degraded": degraded,
        **more,
    }
    log.write(state_folder(), entry)
