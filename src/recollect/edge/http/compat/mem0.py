"""What users of mem0's REST server send: messages in, memories out, by user, agent and run.

Texts are kept word for word: `infer` is read and has no effect, since no model is on any path. A
user, an agent and a run are metadata to filter by; who may read what is decided by the key alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from recollect.edge.http.compat.dialect import (
    COUNT,
    NUMBER,
    TEXT,
    Asked,
    Spoken,
    list_of,
    object_of,
)
from recollect.edge.verbs.memories import unknown
from recollect.errors import BadBody
from recollect.model.request import MOST_LISTED

if TYPE_CHECKING:
    from recollect.engine import Recollect
    from recollect.model import Memory, Version

__all__ = ["SPOKEN"]

_WHOSE = ("user_id", "agent_id", "run_id")
_MOST_FOUND = 1_000


def _add(memory: Recollect, asked: Asked) -> Any:
    whose = _whose(asked)
    items = [_item(memory, text, role, whose, asked) for text, role in _messages(asked)]
    done = memory.remember_many(items, request_id=asked.request_id)
    return {
        "results": [
            {
                "id": one.pak_id,
                "memory": item["content"],
                "event": "ADD" if one.created else "NONE",
            }
            for one, item in zip(done, items, strict=True)
        ]
    }


def _messages(asked: Asked) -> Iterator[tuple[str, str | None]]:
    """Yield the texts to keep, and who said each."""
    given = asked.body.get("messages", asked.body.get("text"))
    for one in [given] if isinstance(given, str) else given if isinstance(given, list) else [None]:
        if isinstance(one, str):
            yield one, None
        elif isinstance(one, Mapping) and isinstance(one.get("content"), str):
            role = one.get("role")
            yield one["content"], role if isinstance(role, str) and role else None
        else:
            raise BadBody(
                "messages must be texts, or objects of role and content.",
                hint='{"messages": [{"role": "user", "content": "…"}], "user_id": "ann"}',
            )


def _item(
    memory: Recollect, text: str, role: str | None, whose: Mapping[str, str], asked: Asked
) -> dict[str, Any]:
    more = asked.body.get("metadata") or {}
    if not isinstance(more, Mapping):
        raise BadBody("metadata must be an object.", hint='{"metadata": {"topic": "tea"}}')
    who = memory.principal
    # The same words of two users are two memories: what is metadata here is no place.
    named = json.dumps([who.tenant, who.id, sorted(whose.items()), role, text])
    return {
        "content": text,
        "pak_id": f"mem0-{hashlib.sha256(named.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}",
        "speaker": role,
        "metadata": {**more, **whose},
    }


def _whose(asked: Asked) -> dict[str, str]:
    """Return whose memories are meant; a request that says nothing of that is refused."""
    filters = asked.body.get("filters") or {}
    if not isinstance(filters, Mapping):
        raise BadBody("filters must be an object.", hint='{"filters": {"user_id": "ann"}}')
    found = {}
    for name in _WHOSE:
        value = asked.text(name) or filters.get(name)
        if isinstance(value, str) and value:
            found[name] = value
    if not found:
        raise BadBody(
            "at least one of user_id, agent_id and run_id is needed.", hint='{"user_id": "ann"}'
        )
    return found


def _filter(asked: Asked) -> dict[str, Any]:
    whose = _whose(asked)
    more = dict(asked.body.get("filters") or {})
    wanted = {**more, **whose}
    for name, value in wanted.items():
        if not isinstance(value, str | int | float | bool):
            raise BadBody(
                f"the filter {name!r:.60} is no text, number, true or false.",
                hint="ask /v1/recall for conditions that are more than equal.",
            )
    return {f"metadata.{name}": {"eq": value} for name, value in wanted.items()}


def _list(memory: Recollect, asked: Asked) -> Any:
    limit = asked.whole("top_k", "limit", default=100, most=MOST_LISTED)
    page = memory.list(filter=_filter(asked), limit=limit)
    return {"results": [_answer_of(one) for one in page.items]}


def _get(memory: Recollect, asked: Asked) -> Any:
    found = memory.get(asked.path["memory_id"])
    if found is None:
        raise unknown(asked.path["memory_id"])
    return _answer_of(found)


def _update(memory: Recollect, asked: Asked) -> Any:
    text = asked.text("text") or asked.text("data")
    fields: dict[str, Any] = {} if text is None else {"content": text}
    more = asked.body.get("metadata")
    if more is not None:
        if not isinstance(more, Mapping):
            raise BadBody("metadata must be an object.", hint='{"metadata": {"topic": "tea"}}')
        old = memory.get(asked.path["memory_id"])
        kept = {} if old is None or old.metadata is None else dict(old.metadata)
        whose = {name: kept[name] for name in _WHOSE if name in kept}
        fields["metadata"] = {**more, **whose}
    memory.update(asked.path["memory_id"], request_id=asked.request_id, **fields)
    return {"message": "Memory updated successfully!"}


def _delete(memory: Recollect, asked: Asked) -> Any:
    if not memory.forget(asked.path["memory_id"], request_id=asked.request_id):
        raise unknown(asked.path["memory_id"])
    return {"message": "Memory deleted successfully!"}


def _delete_all(memory: Recollect, asked: Asked) -> Any:
    memory.forget(filter=_filter(asked), request_id=asked.request_id)
    return {"message": "All relevant memories deleted"}


def _search(memory: Recollect, asked: Asked) -> Any:
    found = memory.recall(
        asked.needed("query"),
        top_k=asked.whole("top_k", "limit", default=20, most=_MOST_FOUND),
        filter=_filter(asked),
        min_score=asked.number("threshold"),
    )
    return {"results": [{**_answer_of(one.fact), "score": one.score} for one in found.results]}


def _history(memory: Recollect, asked: Asked) -> Any:
    name = asked.path["memory_id"]
    versions = sorted(
        (one for one in memory.history(name) if one.pak_id == name), key=lambda one: one.number
    )
    if not versions:
        raise unknown(name)
    told, before = [], None
    for one in versions:
        # What changed besides the text is no event of this dialect.
        if one.memory.content != before:
            told.append(_event(one, before))
        before = one.memory.content
    return told


def _event(version: Version, old: str | None) -> dict[str, Any]:
    return {
        "id": f"{version.pak_id}-{version.number}",
        "memory_id": version.pak_id,
        "old_memory": old,
        "new_memory": version.memory.content,
        "event": "ADD" if old is None else "UPDATE",
        "created_at": version.memory.created_at,
        "updated_at": version.at,
        "is_deleted": False,
        "actor_id": version.by,
    }


def _answer_of(one: Memory) -> dict[str, Any]:
    metadata = dict(one.metadata or {})
    whose = {name: metadata.pop(name, None) for name in _WHOSE}
    return {
        "id": one.pak_id,
        "memory": one.content,
        "hash": hashlib.md5(one.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": metadata or None,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "role": one.speaker,
        **whose,
    }


_MEMORY = object_of(
    *("id", "memory", "hash", "metadata", "created_at", "updated_at", "role"), *_WHOSE
)
_FOUND = object_of(*_MEMORY["required"], "score")
_ADDED = object_of("id", "memory", "event")
_EVENT = object_of(
    *("id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at"),
    *("is_deleted", "actor_id"),
)
_DONE = object_of("message")
_IN_URL = {key: {"type": "string"} for key in _WHOSE}
_IN_BODY = {**dict.fromkeys(_WHOSE, TEXT), "filters": {"type": ["object", "null"]}}
_MANY = {"anyOf": [{"type": "string"}, {"type": "array"}]}
_PLAIN = {"type": ["object", "null"]}

SPOKEN = (
    Spoken(
        "POST",
        "/memories",
        "remember_many",
        _add,
        "Keep messages, word for word.",
        object_of(results=list_of(_ADDED)),
        takes={"messages": _MANY, **_IN_BODY, "metadata": _PLAIN},
        example={
            "messages": [{"role": "user", "content": "The kiln is booked until Friday."}],
            "user_id": "ann",
        },
        adds=True,
        many="messages",
    ),
    Spoken(
        "GET",
        "/memories",
        "list",
        _list,
        "List memories of a user, an agent or a run.",
        object_of(results=list_of(_MEMORY)),
        takes={**_IN_URL, "top_k": COUNT, "limit": COUNT},
        example={"user_id": "ann"},
    ),
    Spoken(
        "DELETE",
        "/memories",
        "forget",
        _delete_all,
        "Forget all memories of a user, an agent or a run.",
        _DONE,
        takes=_IN_URL,
        example={"user_id": "ann"},
    ),
    Spoken("GET", "/memories/{memory_id}", "get", _get, "Tell of one memory.", _MEMORY),
    Spoken(
        "PUT",
        "/memories/{memory_id}",
        "update",
        _update,
        "Change the text of a memory, or its metadata.",
        _DONE,
        takes={"text": TEXT, "data": TEXT, "metadata": _PLAIN},
        example={"text": "The kiln is booked until Monday."},
        adds=True,
    ),
    Spoken("DELETE", "/memories/{memory_id}", "forget", _delete, "Forget one memory.", _DONE),
    Spoken(
        "GET",
        "/memories/{memory_id}/history",
        "history",
        _history,
        "Tell what a memory said before.",
        list_of(_EVENT),
    ),
    Spoken(
        "POST",
        "/search",
        "recall",
        _search,
        "Recall what answers a question.",
        object_of(results=list_of(_FOUND)),
        takes={
            "query": {"type": "string", "minLength": 1},
            **_IN_BODY,
            "top_k": COUNT,
            "limit": COUNT,
            "threshold": NUMBER,
        },
        example={"query": "When is the kiln free?", "user_id": "ann"},
    ),
)
