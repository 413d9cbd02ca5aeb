"""Frames as prompts, frames and memories as resources, and how their names are completed.

In: a memory that acts for whoever asks, and what a client named. Out: plain objects of the
protocol. A frame that is read through here is the frame that the verb gives, marked as data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from recollect.edge import wire
from recollect.edge.mcp import texts
from recollect.edge.verbs import by_name
from recollect.errors import InvalidInput, UnknownPak

if TYPE_CHECKING:
    from recollect.edge.mcp.calls import Session
    from recollect.model import FrameDefinition

__all__ = [
    "TEMPLATES",
    "completed",
    "memory_uri",
    "prompt",
    "prompts",
    "read",
    "resources",
]

_SCHEME = "recollect"
_MARKDOWN = "text/markdown"
_MOST_COMPLETED = 100

TEMPLATES: tuple[dict[str, Any], ...] = (
    {
        "uriTemplate": f"{_SCHEME}://frames/{{name}}",
        "name": "frame",
        "description": "What a frame holds now, for a prompt; ?query= says what it is about.",
        "mimeType": _MARKDOWN,
    },
    {
        "uriTemplate": f"{_SCHEME}://memories/{{pak_id}}",
        "name": "memory",
        "description": "One memory, whole.",
        "mimeType": _MARKDOWN,
    },
)


def prompts(session: Session) -> list[dict[str, Any]]:
    """Return each frame as a prompt."""
    about = {"name": "query", "description": "What it is about.", "required": False}
    return [
        {"name": one.name, "description": _described(one), "arguments": [about]}
        for one in session.memory.frames.list()
    ]


def prompt(session: Session, name: str, arguments: dict[str, str]) -> dict[str, Any]:
    """Return the text of a frame as a message."""
    unknown = next((one for one in arguments if one != "query"), None)
    if unknown is not None:
        raise InvalidInput(f"a frame has no argument {unknown!r:.80}.", hint="it has query.")
    told = _framed(session, name, arguments.get("query"))
    text = {"type": "text", "text": texts.answered("frame", told)}
    return {
        "description": f"What memory holds: the frame {name}.",
        "messages": [{"role": "user", "content": text}],
    }


def resources(session: Session) -> list[dict[str, Any]]:
    """Return each frame as a resource; memories are found by the template."""
    return [
        {
            "uri": f"{_SCHEME}://frames/{quote(one.name, safe='')}",
            "name": one.name,
            "description": _described(one),
            "mimeType": _MARKDOWN,
        }
        for one in session.memory.frames.list()
    ]


def read(session: Session, uri: str) -> dict[str, Any]:
    """Return what is at an address: a frame, or a memory."""
    parts = urlsplit(uri)
    name = unquote(parts.path.removeprefix("/"))
    if parts.scheme != _SCHEME or parts.netloc not in ("frames", "memories") or not name:
        raise UnknownPak(
            f"there is nothing at {uri!r:.200}.",
            hint="recollect://frames/NAME and recollect://memories/ID are what there is.",
        )
    if parts.netloc == "frames":
        query = parse_qs(parts.query).get("query", [None])[0]
        text = texts.answered("frame", _framed(session, name, query))
    else:
        told = session.tell(session.perform(by_name("get"), {"pak_id": name}))
        text = texts.answered("get_memory", told)
    return {"contents": [{"uri": uri, "mimeType": _MARKDOWN, "text": text}]}


def memory_uri(pak_id: str) -> str:
    """Return the address of a memory."""
    return f"{_SCHEME}://memories/{quote(pak_id, safe='')}"


def completed(session: Session, argument: str, beginning: str) -> list[str]:
    """Return the names of frames, or the ids of memories, that begin so."""
    if argument == "name":
        names = (one.name for one in session.memory.frames.list())
        return [name for name in names if name.startswith(beginning)][:_MOST_COMPLETED]
    if argument == "pak_id" and beginning:
        return list(session.memory.ids(beginning, limit=_MOST_COMPLETED))
    return []


def _described(one: FrameDefinition) -> str:
    return f"What memory holds, by the frame {one.name}: up to {one.token_budget} tokens."


def _framed(session: Session, name: str, query: str | None) -> wire.Object:
    asked = {"name": name} if not query else {"name": name, "query": query}
    return session.tell(session.perform(by_name("frame"), asked))
