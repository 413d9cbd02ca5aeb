"""What a hook of a coding agent is answered: `answer(lent, event, options)`.

In: the JSON that a client sends with an event, and a memory to borrow. Out: the JSON that it
expects. Before a prompt, memories that fit it, and the prompt is kept once it is answered; after a
turn, nothing, but what was said is kept. It never raises, and waits no longer than its deadline:
what is not ready then is left out, and the log says `degraded`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.edge.agents import log, pauses
from recollect.edge.agents.capture import (
    CaptureReport,
    Sieve,
    is_off_record,
    keep,
    tool_arguments,
    tool_line,
)
from recollect.edge.agents.clients import STARTED_BY_PROCESS
from recollect.edge.agents.deadline import done_within
from recollect.edge.agents.give import NOTHING, Given, Part, given
from recollect.edge.agents.project import Project, project_at
from recollect.errors import RecollectError
from recollect.hours import iso
from recollect.importers import Heard, Turn, claude_code, codex
from recollect.importers.lines import numbered
from recollect.model import Memory
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from recollect.edge.agents.options import AgentOptions
    from recollect.engine import Recollect

__all__ = ["EVENTS", "Lent", "answer", "client_of", "failed"]

# A memory for as long as it is used: what is done behind whoever waited borrows it once more.
Lent = Callable[[], "AbstractContextManager[Recollect]"]
Keeping = Callable[["Recollect"], None]
Deliver = Callable[[Mapping[str, object]], bool]
# Of a transcript that may be long, what came last; the rest was kept before.
_TAIL_BYTES = 8_000_000
_MOST_GIVEN = 200
_LAST_TURNS = 50
# Nobody looks something up for these.
_TRIVIAL = re.compile(
    r"(?:y|n|yes|yep|yeah|yup|no|nope|ok(?:ay)?|k|sure|thanks?|thank you|thx|ty|please|go|go on"
    r"|go ahead|continue|proceed|next|more|again|retry|stop|wait|done|good|great|nice|cool|perfect"
    r"|lgtm|do it|right|correct|exactly|hi|hello|hey|bye|ja|nein|danke|bitte|weiter|gut|genau)"
    r"(?:[\s,]+(?:yes|no|ok|please|thanks|thank you|it|on|that|then|sure|do it|go ahead|danke))*",
    re.IGNORECASE,
)
_LEAST_CHARACTERS = 8


@dataclass(slots=True, eq=False)
class _Answering:
    """One event while it is answered: filled in by the job, read by whoever waits for it."""

    lent: Lent
    event: Mapping[str, Any]
    options: AgentOptions
    project: Project
    now: str
    whose: str | None = None
    given: Given = NOTHING
    to_keep: Keeping | None = None
    kept: CaptureReport = CaptureReport()
    skipped: str | None = None
    degraded: str | None = None
    is_over: bool = False

    @property
    def name(self) -> str:
        return _text(self.event, "hook_event_name")

    @property
    def prompt(self) -> str:
        return _text(self.event, "prompt")

    @property
    def session(self) -> str:
        return _text(self.event, "session_id")

    def said(self, speaker: str, text: str) -> Turn:
        """Return a turn of this event."""
        return Turn(
            thread=self.session,
            speaker=speaker,
            text=text,
            name="",
            source=client_of(self.event),
            occurred_at=self.now,
            folder=_text(self.event, "cwd") or None,
        )


def answer(
    lent: Lent,
    event: Mapping[str, object],
    options: AgentOptions,
    *,
    since: float | None = None,
    deliver: Deliver | None = None,
    whose: str | None = None,
) -> Mapping[str, object]:
    """Return what a client is answered to an event: an empty object where nothing is to be said.

    It has been waiting `since` then, by the monotonic clock. Where whoever waits may be gone by the
    time, `deliver` hands the answer over, and says whether it was taken. `whose` it is, if not of
    whoever this machine is of: no transcript is read for others, and each has a log of its own.
    """
    began = time.monotonic() if since is None else since
    try:
        return _answered(lent, event, options, began, deliver, whose)
    except Exception as error:  # noqa: BLE001 - a hook that fails must not stop a prompt
        failed(event, options, error)
        return {}


def client_of(event: Mapping[str, Any]) -> str:
    """Return the name of the client that sends an event, as far as it can be told."""
    told = _text(event, "client")
    if told:
        return told[:64]
    path = _text(event, "transcript_path")
    if "/.codex/" in path or "turn_id" in event:
        return codex.SOURCE
    return claude_code.SOURCE if "/.claude/" in path or "prompt_id" in event else "agent"


def _answered(
    lent: Lent,
    event: Mapping[str, object],
    options: AgentOptions,
    began: float,
    deliver: Deliver | None,
    whose: str | None,
) -> Mapping[str, object]:
    if not isinstance(event, Mapping):
        raise TypeError("an event is an object")
    now = iso(options.now())
    one = _Answering(lent, event, options, project_at(event.get("cwd")), now, whose)
    work = EVENTS.get(one.name)
    if work is None or not one.session:
        return {}
    given = NOTHING
    if pauses.paused_since(options.state, options.now()) is not None:
        one.skipped = "paused"
    elif event.get("agent_id") and not options.subagents:
        one.skipped = "subagent"
    else:
        if one.name == "UserPromptSubmit" and is_off_record(one.prompt, options.off_record):
            # Known at once, and so in the log whatever becomes of the answer.
            one.skipped = "off the record"
        left = options.deadline_ms / 1000 - (time.monotonic() - began)
        if done_within(
            max(0.0, left), lambda: _work(one, work), afterwards=lambda: _keep_at_last(one)
        ):
            given = one.given
        else:
            one.degraded = one.degraded or "deadline"
    one.is_over = True
    output = _output(one, given)
    if output and deliver is not None and not deliver(output):
        given, output, one.degraded = NOTHING, {}, one.degraded or "deadline"
    _log(one, given, time.monotonic() - began)
    return output


def _work(one: _Answering, work: Callable[[_Answering, Recollect], None]) -> None:
    """Do what an event asks for; if nobody waits any more, say so in the log."""
    _try(one, lambda memory: work(one, memory))
    if one.is_over and one.to_keep is None:
        # That it was late is said; of what became of it, only what went wrong.
        one.degraded = None if one.degraded == "deadline" else one.degraded
        _log_late(one)


def _keep_at_last(one: _Answering) -> None:
    """Keep what an answer did not wait for, and say in the log that it is kept."""
    if one.to_keep is not None:
        one.degraded = None
        _try(one, one.to_keep)
        _log_late(one)


def _try(one: _Answering, act: Keeping) -> None:
    try:
        with one.lent() as memory:
            act(memory)
    except RecollectError as error:
        one.degraded = error.code
    except Exception as error:  # noqa: BLE001 - as above: the log names it, the prompt goes on
        one.degraded = type(error).__name__


def _output(one: _Answering, given: Given) -> Mapping[str, object]:
    if not given.text:
        return {}
    told: dict[str, object] = {
        "hookSpecificOutput": {"hookEventName": one.name, "additionalContext": given.text}
    }
    if one.options.announce:
        count = len(given.ids)
        memories = "memory" if count == 1 else "memories"
        told["systemMessage"] = f"recollect: {count} {memories}, {given.tokens} tokens"
    return told


def _log(one: _Answering, given: Given, seconds: float) -> None:
    ms = round(seconds * 1000, 1)
    _write(one, {"ms": ms, "given": given.ids, "tokens": given.tokens})


def _log_late(one: _Answering) -> None:
    """Say what was done once nobody waited any more."""
    _write(one, {"late": True})


def _write(one: _Answering, more: Mapping[str, Any]) -> None:
    entry: dict[str, Any] = {
        "at": one.now,
        "event": one.name,
        "client": client_of(one.event),
        "session": one.session,
        **({} if one.whose is None else {"whose": one.whose}),
        **more,
    }
    # Ids, one for each turn that was kept; of many, as many as tell that it worked.
    entry |= {"kept": one.kept.new[:_MOST_GIVEN]} if one.kept.new else {}
    for name in ("skipped", "degraded"):
        if getattr(one, name) is not None:
            entry[name] = getattr(one, name)
    if one.project.problem is not None:
        entry["degraded"] = f"project file: {one.project.problem}"
    log.write(one.options.state, entry)


def failed(event: object, options: AgentOptions, error: BaseException) -> None:
    """Say in the log that an event was answered with nothing, and why."""
    told = event if isinstance(event, Mapping) else {}
    entry = {
        "at": iso(time.time()),
        "event": _text(told, "hook_event_name")[:64],
        "client": client_of(told),
        "session": _text(told, "session_id")[:200],
        "degraded": error.code if isinstance(error, RecollectError) else type(error).__name__,
    }
    log.write(options.state, entry)


def _prompt(one: _Answering, memory: Recollect) -> None:
    """Give what fits a prompt; the prompt is kept afterwards, for it must not wait for that."""
    entries = _entries(one)
    before, readable = _given_before(entries)
    if one.skipped is None and not one.prompt.startswith("/"):
        one.to_keep = partial(_keep, one, [one.said("user", one.prompt)], before)
    if not (one.project.inject and one.options.inject):
        return
    if _missed_its_start(one, entries):
        one.given = _beginning(one, memory)
    if not _is_trivial(one.prompt):
        fitting = _fitting(one, memory, one.prompt, (*readable, *one.given.ids))
        one.given = one.given.and_then(fitting)


def _missed_its_start(one: _Answering, entries: Sequence[log.Entry]) -> bool:
    """Return whether a session was told nothing at its start for want of time, nor since.

    A process that answered too late may say so later than the first prompt comes.
    """
    missed = client_of(one.event) in STARTED_BY_PROCESS
    for entry in sorted(entries, key=_in_order):
        is_late = "degraded" in entry or entry.get("skipped") == "paused"
        if entry.get("event") == "SessionStart" and not entry.get("late"):
            missed = is_late
        elif entry.get("event") == "UserPromptSubmit":
            missed = missed and is_late
    return missed


def _in_order(entry: log.Entry) -> tuple[str, bool]:
    return str(entry.get("at")), entry.get("event") != "SessionStart"


def _fitting(one: _Answering, memory: Recollect, prompt: str, before: tuple[str, ...]) -> Given:
    options = one.options
    result = memory.frame(
        options.frame,
        prompt[:_PROMPT_CHARACTERS],
        # What was given before in this session is still there to read.
        top_k=options.top_k + min(len(before), _AGAIN),
        token_budget=_ROOM * options.budget_tokens,
        filter=_elsewhere(one),
        min_match=options.min_match,
        min_score=options.min_score or None,
    )
    new = [block.memory for block in result.blocks if block.pak_id not in before]
    if result.degraded:
        one.degraded = ",".join(result.degraded)
    return given(
        [Part("", new[: options.top_k])], about="prompt", budget_tokens=options.budget_tokens
    )


_PROMPT_CHARACTERS = 20_000
_AGAIN = 20
# What was given before takes room in a frame, and none in the text.
_ROOM = 4


def _elsewhere(one: _Answering) -> dict[str, Any]:
    """Return what is looked through: this project and what has none, but not this session."""
    if one.project.name is None:
        return {"thread": {"ne": one.session}}
    return {
        "thread": {"ne": one.session},
        "or": [{"project": one.project.name}, {"project": {"exists": False}}],
    }


def _is_trivial(prompt: str) -> bool:
    said = prompt.strip().strip(".!?,;: ")
    has_words = sum(one.isalnum() for one in said) >= _LEAST_CHARACTERS
    return not has_words or said.startswith("/") or _TRIVIAL.fullmatch(said) is not None


def _session_start(one: _Answering, memory: Recollect) -> None:
    """Give who the agent is, and where the last session of this project ended."""
    if not (one.project.inject and one.options.inject):
        one.skipped = "not shown here"
        return
    one.given = _beginning(one, memory)


def _beginning(one: _Answering, memory: Recollect) -> Given:
    own = memory.frame("self", token_budget=one.options.session_budget_tokens)
    return given(
        [
            Part("Who you are here:", [block.memory for block in own.blocks]),
            Part("Where the last session of this project ended:", _open_ends(one, memory)),
        ],
        about="session",
        budget_tokens=one.options.session_budget_tokens,
    )


def _open_ends(one: _Answering, memory: Recollect) -> list[Memory]:
    """Return how the last session ended: what was asked last, and what was answered to it."""
    if one.project.name is None:
        return []
    said = {"speaker": {"in": ["user", "assistant"]}, "thread": {"exists": True}}
    page = memory.list(
        filter={**said, "project": one.project.name, "and": [{"thread": {"ne": one.session}}]},
        order="occurred",
        limit=_LAST_TURNS,
    )
    if not page.items:
        return []
    last = [turn for turn in page.items if turn.thread == page.items[0].thread]
    latest = {speaker: _first_of(last, speaker) for speaker in ("user", "assistant")}
    return [turn for turn in latest.values() if turn is not None]


def _first_of(turns: list[Memory], speaker: str) -> Memory | None:
    return next((one for one in turns if one.speaker == speaker), None)


def _stop(one: _Answering, memory: Recollect) -> None:
    """Keep what the agent said last."""
    said = _text(one.event, "last_assistant_message")
    entries = _entries(one)
    asked = [entry for entry in entries if entry.get("event") == "UserPromptSubmit"]
    if asked and asked[-1].get("skipped") == "off the record":
        one.skipped = "off the record"
        return
    _keep(one, [one.said("assistant", said)], _given_before(_entries(one))[0], memory)


def _transcript(one: _Answering, memory: Recollect) -> None:
    """Keep what a transcript holds and nobody told us: turns that are known are passed over."""
    path = Path(_text(one.event, "transcript_path"))
    if one.whose is not None or path.suffix != ".jsonl" or not path.is_file():
        one.skipped = "no transcript"
        return
    _keep(one, _heard(one, path), _given_before(_entries(one))[0], memory)


def _heard(one: _Answering, path: Path) -> Iterator[Heard]:
    lines = numbered(path, last_bytes=_TAIL_BYTES)
    if client_of(one.event) == codex.SOURCE:
        folder = _text(one.event, "cwd") or None
        return codex.read(lines, name=path.name, thread=one.session, folder=folder)
    return claude_code.read(lines, name=path.name)


def _tool(one: _Answering, memory: Recollect) -> None:
    """Keep one line of what a tool did, if somebody asked for it."""
    if not (one.options.tools or one.event.get("keep_tools") is True):
        one.skipped = "not asked for"
        return
    if not (one.project.capture and one.options.capture):
        one.skipped = "not captured here"
        return
    name = _text(one.event, "tool_name")[:100] or "tool"
    if name.startswith("mcp__recollect__"):
        one.skipped = "echo"
        return
    line = tool_line(name, one.event.get("tool_input"), one.event.get("tool_response"))
    arguments = tool_arguments(one.said("tool", line), name, one.project)
    report = memory.remember(**arguments)
    one.kept = CaptureReport((report.pak_id,) if report.created else ())


def _keep(one: _Answering, heard: Any, before: tuple[str, ...], memory: Recollect) -> None:
    given_out: tuple[Memory, ...] = ()
    if before:
        page = memory.list(filter={"pak_id": {"in": list(before)}}, limit=_MOST_GIVEN)
        given_out = tuple(page.items)
    sieve = Sieve(one.options, (known.content for known in given_out))
    one.kept = keep(memory, heard, sieve)
    if not one.kept.new and one.kept.left_out:
        one.skipped = next(iter(one.kept.left_out))


def _entries(one: _Answering) -> Sequence[log.Entry]:
    """Return what the log says of a session, without answers that did not arrive."""
    arrived: list[log.Entry] = []
    for entry in log.of_session(one.options.state, one.session):
        if entry.get("whose") != one.whose:
            continue
        if entry.get("lost"):
            same = [one for one in arrived if one.get("event") == entry.get("event")]
            arrived = [one for one in arrived if one not in same[-1:]]
        arrived.append(entry)
    return arrived


def _given_before(entries: Sequence[log.Entry]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids that were given out in a session, and those that it can still read."""
    ids: dict[str, None] = {}
    readable: dict[str, None] = {}
    for entry in entries:
        if entry.get("event") == "PreCompact":
            readable.clear()
        named = dict.fromkeys(name for name in entry.get("given", ()) if isinstance(name, str))
        ids, readable = ids | named, readable | named
    return tuple(ids)[-_MOST_GIVEN:], tuple(readable)[-_MOST_GIVEN:]


def _text(event: Mapping[Any, Any], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


# Each event that is answered, and what it asks for; others are answered with nothing.
EVENTS: Mapping[str, Callable[[_Answering, Recollect], None]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "Stop": _stop,
    "PostToolUse": _tool,
    "PreCompact": _transcript,
    "SessionEnd": _transcript,
}
