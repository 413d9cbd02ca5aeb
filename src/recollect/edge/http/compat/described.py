"""The dialects as an OpenAPI document of their own: their shapes are others' to promise.

In: the rows of the dialects. Out: one plain object, the same bytes for the same release. What goes
wrong is told as under `/v1`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect import __version__
from recollect.edge.http.compat.dialect import Spoken
from recollect.edge.http.compat.endpoints import DIALECTS
from recollect.edge.http.openapi import (
    IDEMPOTENCY_KEY,
    PROBLEM,
    problem_responses,
    refused_with,
)
from recollect.edge.verbs import by_name

__all__ = ["document"]

Object = dict[str, Any]
JSON = "application/json"
_NAME = re.compile(r"\{(\w+)\}")


@functools.cache
def document() -> Object:
    """Return the document."""
    paths: dict[str, Object] = {}
    for prefix, spoken in DIALECTS.items():
        for one in spoken:
            path = paths.setdefault(prefix + one.path, {})
            path[one.method.lower()] = _operation(prefix, one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Recollect, in the words of others",
            "version": __version__,
            "description": "What clients of other memories send, answered by this one.",
        },
        "security": [{"key": []}, {"named": []}],
        "tags": [{"name": _tag(prefix)} for prefix in DIALECTS],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {"Problem": PROBLEM},
            "responses": problem_responses(),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                "named": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


def _operation(prefix: str, spoken: Spoken) -> Object:
    writes = by_name(spoken.verb).effect != "reads"
    made: Object = {
        "operationId": f"{_tag(prefix)} {spoken.method} {spoken.path}",
        "summary": spoken.help,
        "tags": [_tag(prefix)],
        "parameters": list(_parameters(spoken, writes=writes)),
        "responses": dict(_responses(spoken, writes=writes)),
    }
    if spoken.has_body:
        content = {"schema": _body(spoken.takes), "examples": _example(spoken.example)}
        made["requestBody"] = {"required": True, "content": {JSON: content}}
    return made


def _tag(prefix: str) -> str:
    return prefix.rpartition("/")[2]


def _parameters(spoken: Spoken, *, writes: bool) -> Iterator[Object]:
    text = {"type": "string", "minLength": 1}
    for name in _NAME.findall(spoken.path):
        yield {"name": name, "in": "path", "required": True, "schema": text}
    for name, schema in () if spoken.has_body else spoken.takes.items():
        told = {"name": name, "in": "query", "schema": schema}
        yield told | ({"example": spoken.example[name]} if name in spoken.example else {})
    if writes:
        yield IDEMPOTENCY_KEY


def _body(takes: Mapping[str, Any]) -> Object:
    return {"type": "object", "properties": dict(takes)}


def _example(example: Mapping[str, Any]) -> Object:
    return {"example": {"value": dict(example)}}


def _responses(spoken: Spoken, *, writes: bool) -> Iterator[tuple[str, Object]]:
    content = {JSON: {"schema": dict(spoken.gives)}}
    yield str(spoken.status), {"description": spoken.help, "content": content}
    for status in refused_with(has_body=spoken.has_body, writes=writes):
        yield str(status), {"$ref": f"#/components/responses/Problem{status}"}
