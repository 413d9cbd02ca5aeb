"""What clients of Stigmem send: facts asserted, asked for, retracted; conflicts; recall.

A fact is a memory with an entity, a relation and a value; whose word it is stays its source. Two
values of one relation are a dispute, which is what a conflict is. What was retracted has a
successor without confidence, and is in no answer any more.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from recollect import __version__
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
from recollect.edge.verbs.narrowing import NARROWING
from recollect.errors import BadBody, InvalidInput, NotAllowed, UnknownPak
from recollect.model.request import MOST_LISTED

if TYPE_CHECKING:
    from recollect.engine import Recollect
    from recollect.model import Memory, RecallResult

__all__ = ["SPOKEN"]

_KINDS = ("string", "text", "number", "boolean", "datetime", "ref", "null")
_KIND = "value_type"
_MOST_FOUND = 1_000
# What the client sends for whatever was said, when it takes that back.
_WHATEVER = "retracted"


def _assert(memory: Recollect, asked: Asked) -> Any:
    kind, value = _value(asked.body.get("value"))
    confidence = asked.number("confidence")
    said = {
        "entity": asked.needed("entity"),
        "relation": asked.needed("relation"),
        "value": value,
        "source": asked.needed("source"),
        "scope": asked.text("scope") or "company",
        "confidence": 1.0 if confidence is None else confidence,
        "valid_until": asked.text("valid_until"),
        "metadata": {_KIND: kind},
    }
    pak_id = _store(memory, said, asked)
    return _fact(_known(memory, pak_id), _contradicted(memory))


def _store(memory: Recollect, said: dict[str, Any], asked: Asked) -> str:
    """Store a fact; one of confidence 0 takes the place of what it takes back."""
    if said["confidence"] == 0:
        gone = _retracted(memory, said, by=_fact_id(memory, said))
        return _remember(memory, said, asked, supersedes=gone or None)
    try:
        return _remember(memory, said, asked, on_conflict="dispute")
    except NotAllowed:
        # Some rival is not this caller's to dispute: the fact is stored all the same.
        return _remember(memory, said, asked)


def _remember(memory: Recollect, said: Mapping[str, Any], asked: Asked, **more: Any) -> str:
    told = " ".join(filter(None, (said["entity"], said["relation"], said["value"])))
    done = memory.remember(
        told,
        pak_id=_fact_id(memory, said),
        request_id=asked.request_id,
        **said,
        **more,
    )
    return done.pak_id


def _fact_id(memory: Recollect, said: Mapping[str, Any]) -> str:
    """Return the id of a fact: the same said again is the same memory."""
    who = memory.principal
    named = [who.tenant, who.id, *(said[name] for name in ("entity", "relation", "source"))]
    named += [said["value"], said["scope"], said["metadata"][_KIND], said["confidence"] == 0]
    return f"fact-{hashlib.sha256(json.dumps(named).encode()).hexdigest()[:32]}"


def _retracted(memory: Recollect, said: Mapping[str, Any], *, by: str) -> list[str]:
    """Return what a retraction is about: what that source said there, of that value or any.

    What it took back itself is among it: sent again, it is the same request.
    """
    names = ("entity", "relation", "source", "scope")
    page = memory.list(limit=MOST_LISTED, **{name: said[name] for name in names})
    return [
        one.pak_id
        for one in page.items
        if one.confidence > 0
        and one.superseded_by in (None, by)
        and one.place.owner == memory.principal.id
        and said["value"] in (_WHATEVER, one.value)
    ]


def _value(given: Any) -> tuple[str, str | None]:
    """Return the kind of a value, and the value as a text."""
    kind = given.get("type") if isinstance(given, Mapping) else None
    if kind not in _KINDS:
        raise BadBody(
            "value must be an object of type and v.", hint='{"type": "string", "v": "CEO"}'
        )
    plain = given.get("v")
    if kind == "null":
        return kind, None
    if kind == "boolean" and isinstance(plain, bool):
        return kind, "true" if plain else "false"
    if kind == "number" and isinstance(plain, int | float) and not isinstance(plain, bool):
        return kind, json.dumps(plain)
    if kind not in ("boolean", "number") and isinstance(plain, str) and plain:
        return kind, plain
    raise BadBody(f"v is no {kind}.", hint='{"type": "string", "v": "CEO"}')


def _typed(memory: Memory) -> dict[str, Any]:
    """Return the value of a fact as it was asserted; of a plain memory, its text."""
    kind = (memory.metadata or {}).get(_KIND, "string")
    if memory.relation is None:
        return {"type": "text", "v": memory.content}
    if kind == "null" or memory.value is None:
        return {"type": "null"}
    try:
        plain = json.loads(memory.value) if kind in ("number", "boolean") else memory.value
    except ValueError:
        kind, plain = "string", memory.value
    return {"type": kind if kind in _KINDS else "string", "v": plain}


def _fact(memory: Memory, contradicted: frozenset[str]) -> dict[str, Any]:
    return {
        "id": memory.pak_id,
        "entity": memory.entity or f"memory:{memory.pak_id}",
        "relation": memory.relation or "memory:content",
        "value": _typed(memory),
        "source": memory.source or f"agent:{memory.place.owner}",
        "timestamp": memory.updated_at,
        "hlc": None,
        "valid_until": memory.valid_until,
        "confidence": memory.confidence,
        "scope": memory.place.scope,
        "contradicted": memory.pak_id in contradicted,
        "received_from": None,
        "cid": None,
        "garden": memory.place.garden,
        "content": memory.content,
    }


def _known(memory: Recollect, pak_id: str) -> Memory:
    found = memory.get(pak_id)
    if found is None:
        raise unknown(pak_id)
    return found


def _contradicted(memory: Recollect) -> frozenset[str]:
    return frozenset(name for one in memory.disputes() for name in (one.first, one.second))


def _get(memory: Recollect, asked: Asked) -> Any:
    return _fact(_known(memory, asked.path["fact_id"]), _contradicted(memory))


def _query(memory: Recollect, asked: Asked) -> Any:
    names = ("entity", "relation", "source", "scope", "cursor")
    page = memory.list(
        **{name: asked.text(name) for name in names},  # type: ignore[arg-type]
        **_bounds(asked),
        since=asked.text("after"),
        limit=asked.whole("limit", default=50, most=MOST_LISTED),
    )
    contradicted = _contradicted(memory)
    shown = [
        _fact(one, contradicted)
        for one in page.items
        if one.superseded_by is None
        and (asked.flag("include_contradicted") or one.pak_id not in contradicted)
    ]
    return {"facts": shown, "total": len(shown), "cursor": page.next_cursor}


def _bounds(asked: Asked) -> dict[str, Any]:
    """Return the numbers that narrow an answer: they are called here what they are called there."""
    return {one.name: asked.number(one.name) for one in NARROWING if one.kind == "number"}


def _conflicts(memory: Recollect, asked: Asked) -> Any:
    if asked.text("status") == "resolved":
        # What was settled is not kept as a conflict: its facts tell the rest.
        return {"conflicts": [], "cursor": None, "has_more": False}
    pairs = [(one.first, one.second) for one in memory.disputes()]
    first = asked.whole("cursor", default=1, most=len(pairs) + 1)
    limit = asked.whole("limit", default=50, most=MOST_LISTED)
    page = pairs[first - 1 : first - 1 + limit]
    has_more = first - 1 + limit < len(pairs)
    contradicted = _contradicted(memory)
    found = []
    for pair in page:
        one, other = (memory.get(name) for name in pair)
        if one is not None and other is not None:
            found.append(
                {
                    "conflict_id": _conflict_id(pair),
                    "fact_a": _fact(one, contradicted),
                    "fact_b": _fact(other, contradicted),
                    "status": "unresolved",
                    "resolved_by": None,
                    "detected_at": max(one.updated_at, other.updated_at),
                }
            )
    return {
        "conflicts": found,
        "cursor": str(first + limit) if has_more else None,
        "has_more": has_more,
    }


def _conflict_id(pair: tuple[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(pair).encode()).decode().rstrip("=")


def _pair(conflict_id: str) -> tuple[str, str]:
    try:
        padded = conflict_id + "=" * (-len(conflict_id) % 4)
        first, second = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
        if isinstance(first, str) and isinstance(second, str):
            return first, second
    except (binascii.Error, ValueError, TypeError, RecursionError):
        pass
    raise unknown(conflict_id)


def _resolve(memory: Recollect, asked: Asked) -> Any:
    pair = _pair(asked.path["conflict_id"])
    _need_open(memory, pair, asked)
    winner = asked.text("winning_fact_id")
    new = asked.body.get("new_value")
    names = _names_of_steps(asked.request_id)
    if new is not None:
        winner = _decided(memory, pair, new, asked)
        next(names)
    elif winner is None:
        raise InvalidInput(
            "a conflict is resolved by a fact that wins, or by a new value.",
            hint="send winning_fact_id or new_value.",
        )
    elif winner not in pair:
        raise unknown(winner)
    for loser in pair:
        if loser != winner:
            memory.supersede(loser, winner, request_id=next(names))
    memory.resolve(*pair, request_id=_last_step(asked.request_id))
    return {"resolution_fact_id": winner, "conflict_status": "resolved"}


def _need_open(memory: Recollect, pair: tuple[str, str], asked: Asked) -> None:
    """Refuse a conflict that there is not, unless this very request settled it before."""
    if pair in [(one.first, one.second) for one in memory.disputes()]:
        return
    settled = False
    if asked.request_id is not None:
        with suppress(UnknownPak):
            settled = memory.resolve(*pair, request_id=_last_step(asked.request_id))
    if not settled:
        raise unknown(asked.path["conflict_id"])


def _names_of_steps(request_id: str | None) -> Iterator[str | None]:
    """Yield a name for each step of a request; the first has the request's own.

    So each is done once, however often the request is sent, and a name that was used for something
    else is refused before anything is done.
    """
    yield request_id
    for number in count(1):
        yield _step(request_id, str(number))


def _last_step(request_id: str | None) -> str | None:
    return _step(request_id, "last")


def _step(request_id: str | None, step: str) -> str | None:
    if request_id is None:
        return None
    return f"step-{hashlib.sha256(f'{request_id} {step}'.encode()).hexdigest()[:32]}"


def _decided(memory: Recollect, pair: tuple[str, str], new: Any, asked: Asked) -> str:
    """Store a new value in the place of two that contradict each other."""
    old, (kind, value) = _known(memory, pair[0]), _value(new)
    said = {
        "entity": old.entity,
        "relation": old.relation,
        "value": value,
        "source": old.source or f"agent:{memory.principal.id}",
        "scope": old.place.scope,
        "confidence": 1.0,
        "valid_until": None,
        "metadata": {_KIND: kind},
    }
    return _remember(memory, said, asked)


def _recall(memory: Recollect, asked: Asked) -> Any:
    query = asked.needed("query")
    budget = asked.whole("token_budget", default=4_000, most=10**6)
    found = memory.recall(
        query,
        top_k=asked.whole("limit", default=100, most=_MOST_FOUND),
        token_budget=budget,
        scope=asked.text("scope") or "local",  # type: ignore[arg-type]
        **_bounds(asked),
    )
    contradicted = _contradicted(memory)
    scored = [_scored(one, contradicted) for one in found.results]
    orders = [_scored(one, contradicted) for one in found.instructions]
    return {
        "recall_id": str(uuid.uuid5(uuid.NAMESPACE_URL, found.to_dict()["recall_id"])),
        "query_hash": hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest(),
        "facts": scored,
        "content": scored,
        "instructions": orders,
        "total_scored": None,
        "token_budget": budget,
        "tokens_used": found.tokens_used,
        "truncated": found.truncated,
    }


def _scored(one: RecallResult, contradicted: frozenset[str]) -> dict[str, Any]:
    signals = one.signals
    return {
        "fact": _fact(one.fact, contradicted),
        "score": one.score,
        "score_breakdown": {
            "lexical": signals.lexical or 0.0,
            "semantic": signals.semantic or 0.0,
            "graph": signals.centrality,
            "source_trust": signals.confidence,
            "recency": signals.recency,
            "weighted_total": one.score,
        },
        "hop_distance": 1 if one.expanded else 0,
        "token_estimate": max(1, len(one.fact.content) // 4),
        "why": list(one.why),
    }


def _peers(_: Recollect, __: Asked) -> Any:
    return {"peers": []}


def _node(memory: Recollect, asked: Asked) -> Any:
    del memory
    return {
        "version": "0.9.0",
        "node_id": "recollect",
        "node_url": f"{asked.url}/compat/stigmem",
        "auth": "required",
        "federation": "disabled",
        "namespaces": [],
        "spec": "recollect",
        "software": f"recollect {__version__}",
    }


_IN_URL = {"type": "string"}
_FACT = object_of(
    *("id", "entity", "relation", "value", "source", "timestamp", "hlc", "valid_until"),
    *("confidence", "scope", "contradicted", "received_from", "cid", "garden", "content"),
)
_CONFLICT = object_of(
    *("conflict_id", "status", "resolved_by", "detected_at"), fact_a=_FACT, fact_b=_FACT
)
_SCORED = object_of(
    *("score", "score_breakdown", "hop_distance", "token_estimate", "why"), fact=_FACT
)
_VALUE = {"type": "object", "properties": {"type": {"enum": list(_KINDS)}}, "required": ["type"]}
_BOUNDS = {one.name: NUMBER for one in NARROWING if one.kind == "number"}

SPOKEN = (
    Spoken(
        "GET",
        "/.well-known/stigmem",
        "me",
        _node,
        "Tell what this node is.",
        object_of("version", "node_id", "node_url", "auth", "federation", "namespaces"),
    ),
    Spoken(
        "POST",
        "/v1/facts",
        "remember",
        _assert,
        "Assert a fact; one of confidence 0 takes back what its source said.",
        _FACT,
        takes={
            **{key: {"type": "string", "minLength": 1} for key in ("entity", "relation", "source")},
            "value": _VALUE,
            "scope": TEXT,
            "confidence": NUMBER,
            "valid_until": TEXT,
        },
        example={
            "entity": "kiln",
            "relation": "state",
            "source": "agent:ann",
            "scope": "local",
            "value": {"type": "string", "v": "hot"},
        },
        status=201,
        adds=True,
    ),
    Spoken(
        "GET",
        "/v1/facts",
        "list",
        _query,
        "Ask for facts.",
        object_of("total", "cursor", facts=list_of(_FACT)),
        takes={
            **dict.fromkeys(("entity", "relation", "source", "scope", "after", "cursor"), _IN_URL),
            "limit": COUNT,
            "include_contradicted": {"type": "boolean"},
            **{key: {"type": "number"} for key in _BOUNDS},
        },
        example={"entity": "kiln", "limit": 10},
    ),
    Spoken("GET", "/v1/facts/{fact_id}", "get", _get, "Tell of one fact.", _FACT),
    Spoken(
        "GET",
        "/v1/conflicts",
        "disputes",
        _conflicts,
        "Tell which facts contradict each other.",
        object_of("cursor", "has_more", conflicts=list_of(_CONFLICT)),
        takes={"status": _IN_URL, "limit": COUNT, "cursor": COUNT},
        example={"limit": 10},
    ),
    Spoken(
        "POST",
        "/v1/conflicts/{conflict_id}/resolve",
        "resolve",
        _resolve,
        "Settle a conflict, by one of its facts or a new value.",
        object_of("resolution_fact_id", "conflict_status"),
        takes={"winning_fact_id": TEXT, "new_value": {"anyOf": [_VALUE, {"type": "null"}]}},
        example={"winning_fact_id": "fact-1"},
        adds=True,
    ),
    Spoken(
        "GET",
        "/v1/federation/peers",
        "me",
        _peers,
        "Tell of other nodes: there are none.",
        object_of("peers"),
    ),
    Spoken(
        "POST",
        "/v1/recall",
        "recall",
        _recall,
        "Recall what answers a question.",
        object_of(
            *("recall_id", "query_hash", "total_scored", "token_budget", "tokens_used"),
            "truncated",
            **dict.fromkeys(("facts", "content", "instructions"), list_of(_SCORED)),
        ),
        takes={
            "query": {"type": "string", "minLength": 1},
            "limit": COUNT,
            "token_budget": COUNT,
            "scope": TEXT,
            **_BOUNDS,
        },
        example={"query": "When is the kiln free?", "limit": 3},
    ),
)
