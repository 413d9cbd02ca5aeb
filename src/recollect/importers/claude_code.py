"""Transcripts of Claude Code: lines of JSON, one file a session, written as it goes.

In: lines with their numbers. Out: what people and the model said, in order; what hooks added. Left
out are thoughts, tool calls and their results, summaries, what the client said to itself, and
subagents. Lines of other kinds repeat what was sent to the model, memory included: they are passed
over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.importers.lines import Numbered, objects
from recollect.importers.turns import GivenOut, Heard, Turn, Unread

__all__ = ["SOURCE", "files", "read"]

SOURCE = "claude-code"
_SPEAKERS = ("user", "assistant")
_NOT_SPEECH = ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly")
# What the client writes in a user's name: commands, their output, interruptions.
_CLIENTS_OWN = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "[Request inter",
)


def files(folder: Path) -> list[Path]:
    """Return the transcripts in the client's own folder, the oldest first by name of folder."""
    return sorted((folder / "projects").glob("*/*.jsonl"))


def read(lines: Iterable[Numbered], *, name: str) -> Iterator[Heard]:
    """Yield what a transcript holds; `name` is told with lines that cannot be read."""
    for number, record in objects(lines):
        if isinstance(record, str):
            yield Unread(name, number, record)
        elif record.get("type") == "attachment":
            yield from _given_out(record)
        elif record.get("type") in _SPEAKERS:
            said = _turn(record)
            if isinstance(said, str):
                yield Unread(name, number, said)
            elif said is not None:
                yield said


def _given_out(record: Mapping[str, Any]) -> Iterator[Heard]:
    held = record.get("attachment")
    if not isinstance(held, Mapping) or held.get("type") != "hook_additional_context":
        return
    content = held.get("content")
    for text in [content] if isinstance(content, str) else content or ():
        if isinstance(text, str):
            yield GivenOut(str(record.get("sessionId", "")), text)


def _turn(record: Mapping[str, Any]) -> Turn | str | None:
    """Return what was said, None if nothing was, or why it cannot be read."""
    if any(record.get(mark) for mark in _NOT_SPEECH):
        return None
    message, speaker = record.get("message"), str(record["type"])
    if not isinstance(message, Mapping):
        return "no message"
    names = (record.get("sessionId"), record.get("uuid"))
    if not all(isinstance(one, str) and one for one in names):
        return "no sessionId or uuid"
    text = _text(message.get("content")).strip()
    if not text or (speaker == "user" and text.startswith(_CLIENTS_OWN)):
        return None
    return Turn(
        thread=str(names[0]),
        speaker=speaker,
        text=text,
        name=str(names[1]),
        source=SOURCE,
        occurred_at=_text_or_none(record.get("timestamp")),
        folder=_text_or_none(record.get("cwd")),
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    said = [one.get("text") for one in parts if isinstance(one, Mapping) and _is_text(one)]
    return "\n".join(one for one in said if isinstance(one, str))


def _is_text(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "text"


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
