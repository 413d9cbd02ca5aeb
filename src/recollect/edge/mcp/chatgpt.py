"""`search` and `fetch`, in the shape that ChatGPT's connectors expect.

In: a question, or an id that a search told. Out: results with id, title and address; a memory with
its text. Both are given as one JSON text beside the same as data: those clients read the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from recollect.check import shown
from recollect.edge.mcp.calls import Outcome, refused
from recollect.edge.mcp.frames import memory_uri
from recollect.edge.mcp.texts import said_plainly
from recollect.edge.verbs import by_name
from recollect.errors import InvalidInput, RecollectError

if TYPE_CHECKING:
    from recollect.edge.mcp.calls import Session

__all__ = ["CALLS", "TOOLS", "called"]

# The verb that each is counted as.
CALLS: Mapping[str, str] = {"search": "recall", "fetch": "get"}
_MOST_FOUND = 10
_TITLE_CHARACTERS = 120
_HINTS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
_TEXT = {"type": "string"}
_HIT = {
    "type": "object",
    "properties": {"id": _TEXT, "title": _TEXT, "url": _TEXT},
    "required": ["id", "title", "url"],
}


def _tool(name: str, help_text: str, takes: tuple[str, str], gives: dict[str, Any]) -> Any:
    field, about = takes
    return {
        "name": name,
        "description": help_text,
        "inputSchema": {
            "type": "object",
            "properties": {field: {**_TEXT, "description": about}},
            "required": [field],
        },
        "outputSchema": {"type": "object", "properties": gives, "required": list(gives)},
        "annotations": _HINTS,
    }


TOOLS = (
    _tool(
        "search",
        "Search memory for what answers a question, best first.",
        ("query", "The question, in plain words."),
        {"results": {"type": "array", "items": _HIT}},
    ),
    _tool(
        "fetch",
        "Get one memory whole, by the id that search told.",
        ("id", "The id of a memory."),
        {**dict.fromkeys(("id", "title", "text", "url"), _TEXT), "metadata": {"type": "object"}},
    ),
)


def called(name: str, session: Session, *, arguments: Any, far: object) -> Outcome:  # noqa: ARG001
    """Carry out one of the two."""
    try:
        told = _ACTS[name](session, arguments or {})
    except RecollectError as error:
        return refused(error)
    return Outcome(said_plainly(told), told)


def _search(session: Session, given: Mapping[str, Any]) -> dict[str, Any]:
    asked = {"query": _text("search", "query", given), "top_k": _MOST_FOUND}
    found = session.tell(session.perform(by_name("recall"), asked))
    hits = [one["fact"] for one in found["results"]]
    return {
        "results": [
            {"id": one["pak_id"], "title": _title(one), "url": memory_uri(one["pak_id"])}
            for one in hits
        ]
    }


def _fetch(session: Session, given: Mapping[str, Any]) -> dict[str, Any]:
    pak_id = _text("fetch", "id", given)
    told = session.tell(session.perform(by_name("get"), {"pak_id": pak_id}))
    one = told["memory"]
    about = ("source", "authority", "confidence", "speaker", "occurred_at", "project")
    return {
        "id": pak_id,
        "title": _title(one),
        "text": one["content"],
        "url": memory_uri(pak_id),
        "metadata": {name: one[name] for name in about if one[name] is not None},
    }


def _text(tool: str, name: str, given: Mapping[str, Any]) -> str:
    value = given.get(name)
    others = [one for one in given if one != name]
    if not isinstance(value, str) or not value.strip() or others:
        what = f"no field {others[0]!r:.60}" if others else f"{name} as a text, not {shown(value)}"
        raise InvalidInput(f"{tool} takes {what}.", hint=f'{{"{name}": "..."}}')
    return value


def _title(fact: Mapping[str, Any]) -> str:
    words = " ".join(str(fact["title"] or fact["content"]).split())
    return words if len(words) <= _TITLE_CHARACTERS else f"{words[: _TITLE_CHARACTERS - 1]}\u2026"


_ACTS: Mapping[str, Callable[[Session, Mapping[str, Any]], dict[str, Any]]] = {
    "search": _search,
    "fetch": _fetch,
}
