"""Transcripts of Codex: lines of JSON, one file a session, each with a time, a type and a payload.

In: lines with their numbers. Out: what people and the model said, in order, and what hooks added.
Left out are what developers and the client said, reasoning and tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.importers.lines import Numbered, objects
from recollect.importers.turns import GivenOut, Heard, Turn, Unread
from recollect.values import dataclass

__all__ = ["SOURCE", "files", "read"]

SOURCE = "codex"
# What the client writes in a user's name.
_CLIENTS_OWN = (
    *("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>"),
    *("<turn_aborted>", "<permissions instructions>", "<skills_instructions>", "<skill>"),
)


def files(folder: Path) -> list[Path]:
    """Return the transcripts in the client's own folder, the oldest first."""
    return sorted((folder / "sessions").glob("**/rollout-*.jsonl"))


@dataclass(slots=True)
class _Session:
    """What the lines so far say of the session that they are of."""

    thread: str = ""
    folder: str | None = None


def read(
    lines: Iterable[Numbered], *, name: str, thread: str = "", folder: str | None = None
) -> Iterator[Heard]:
    """Yield what a transcript holds; `name` is told with lines that cannot be read.

    Of lines without the first, which names the session, `thread` and `folder` say whose they are.
    """
    session = _Session(thread, folder)
    for number, record in objects(lines):
        if isinstance(record, str):
            yield Unread(name, number, record)
            continue
        payload = record.get("payload")
        if not isinstance(payload, Mapping):
            if record.get("type") in ("session_meta", "response_item"):
                yield Unread(name, number, "no payload")
        elif record.get("type") == "session_meta":
            session.thread = str(payload.get("id") or session.thread)
            session.folder = _text_or_none(payload.get("cwd"))
        elif record.get("type") == "response_item" and payload.get("type") == "message":
            if not session.thread:
                yield Unread(name, number, "a message before session_meta")
            else:
                yield from _said(record, payload, session, number)


def _said(
    record: Mapping[str, Any], payload: Mapping[str, Any], session: _Session, number: int
) -> Iterator[Heard]:
    role, text = payload.get("role"), _text(payload.get("content"))
    if role == "developer" and text:
        yield GivenOut(session.thread, text)
    elif role in ("user", "assistant") and text and not text.startswith(_CLIENTS_OWN):
        yield Turn(
            thread=session.thread,
            speaker=str(role),
            text=text,
            # Lines have no name of their own and are only ever added at the end.
            name=str(payload.get("id") or f"{session.thread}:{number}"),
            source=SOURCE,
            occurred_at=_text_or_none(record.get("timestamp")),
            folder=session.folder,
        )


def _text(content: object) -> str:
    parts = content if isinstance(content, list) else []
    said = [one.get("text") for one in parts if isinstance(one, Mapping)]
    return "\n".join(one for one in said if isinstance(one, str)).strip()


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
