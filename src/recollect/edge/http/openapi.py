"""The OpenAPI document, made from the table of verbs: paths, fields, answers, problems, examples.

In: the table. Out: one plain object, the same bytes for the same release. Nothing is said twice:
what a field may be is in `edge/verbs`, which status an error has in `problems`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from recollect import __version__
from recollect.edge.http.examples import ANSWERS, EXAMPLES, example_of
from recollect.edge.http.operating import OPERATIONS
from recollect.edge.http.problems import MEDIA_TYPE
from recollect.edge.http.routes import JSON, LINES, PLAIN_NAME, TAGGED
from recollect.edge.verbs import REQUEST_ID, VERBS, Field, Verb, object_schema
from recollect.edge.verbs.shapes import named_parts, schema_of

__all__ = [
    "IDEMPOTENCY_KEY",
    "PROBLEM",
    "document",
    "problem_responses",
    "refused_with",
    "statuses",
]

Object = dict[str, Any]

PROBLEM: Object = {
    "type": "object",
    "description": "What went wrong, and what to do next (RFC 9457).",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What went wrong."},
        "code": {"type": "string", "description": "A stable name of the kind of error."},
        "hint": {"type": ["string", "null"], "description": "What to do next."},
        "instance": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail", "code", "hint", "instance"],
}
_SAYS: Mapping[int, str] = {
    304: "Nothing changed since the tag that was shown.",
    400: "The request cannot be read.",
    401: "No key was shown, or none that is good.",
    403: "The key may not do this, or the tenant has as much as it may.",
    404: "There is no such thing, or not for this key.",
    405: "The path takes other methods.",
    408: "The body did not come in time.",
    409: "It is there already, or cannot be changed.",
    413: "The body is too large.",
    422: "A field is not what the verb takes.",
    429: "The key asks more often than it may.",
    500: "The store is damaged, or something is wrong with the server.",
    502: "The embedder answered with something that is no vector.",
    503: "The server or its store is busy: ask again after Retry-After seconds.",
    507: "There is no room left; nothing was written.",
}
_ALWAYS = (400, 401, 403, 404, 422, 429, 500, 503)
_OF_BODIES = (408, 413)
_OF_WRITES = (409, 502, 507)


IDEMPOTENCY_KEY: Object = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A name of your own for this request: sent again within 24 hours it is"
    " done once and answered as it was; another request under it is refused.",
    "schema": {"type": "string", "pattern": f"^{PLAIN_NAME.pattern}$"},
}
_DESCRIBED = (*VERBS, *(one.described for one in OPERATIONS))


@functools.cache
def document() -> Object:
    """Return the document."""
    paths: dict[str, Object] = {}
    for verb in VERBS:
        path = paths.setdefault(verb.route.path, {})
        path[verb.route.method.lower()] = _operation(verb)
    for one in OPERATIONS:
        route = one.described.route
        told = _operation(one.described, of_a_store=False)
        needs = "Takes the operator's token" + (", or that of the start." if one.locally else ".")
        told |= {"description": needs, "security": [{"operator": []}]}
        paths.setdefault(route.path, {})[route.method.lower()] = told
    parts = named_parts([one.answer for one in _DESCRIBED])
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Recollect",
            "version": __version__,
            "description": "The recall engine for AI agents: explained, authorised,"
            " byte-for-byte repeatable memory.",
        },
        "security": [{"key": []}],
        "tags": [{"name": name} for name in dict.fromkeys(_tag(one) for one in _DESCRIBED)],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {**parts, "Problem": PROBLEM},
            "responses": problem_responses(),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                "operator": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def statuses(verb: Verb) -> tuple[int, ...]:
    """Return the statuses that a verb may be answered with, beside its own."""
    more = (304,) if verb.name in TAGGED else ()
    refusals = refused_with(has_body=verb.route.has_body, writes=verb.effect != "reads")
    return tuple(sorted({*more, *refusals}))


def refused_with(*, has_body: bool, writes: bool) -> tuple[int, ...]:
    """Return the statuses of what may go wrong with a request."""
    bodies = _OF_BODIES if has_body else ()
    return tuple(sorted({*_ALWAYS, *bodies, *(_OF_WRITES if writes else ())}))


def problem_responses() -> Object:
    """Return what the answers are called that say what went wrong, and what they are."""
    return {f"Problem{status}": _problem(status) for status in _SAYS}


def _operation(verb: Verb, *, of_a_store: bool = True) -> Object:
    made: Object = {
        "operationId": verb.name,
        "summary": verb.help,
        "description": _description(verb),
        "tags": [_tag(verb)],
        "parameters": [*_parameters(verb), *_headers(verb, of_a_store=of_a_store)],
        "responses": dict(_responses(verb, of_a_store=of_a_store)),
    }
    if verb.route.has_body:
        made["requestBody"] = _body(verb)
    return made


def _tag(verb: Verb) -> str:
    return verb.route.path.split("/")[2]


def _description(verb: Verb) -> str:
    needs = f"Takes the permission {verb.permission}." if verb.permission else "Takes any key."
    again = " Asked for again it changes nothing more." if verb.is_idempotent else ""
    return f"{needs} It {verb.effect}.{again}"


def _parameters(verb: Verb) -> Iterator[Object]:
    for field in _sent(verb):
        if verb.route.in_path(field):
            yield _parameter(verb, field, "path")
        elif not verb.route.has_body:
            yield _parameter(verb, field, "query")


def _sent(verb: Verb) -> list[Field]:
    """Return the fields that are sent as such; the name of a request is a header."""
    return [one for one in verb.fields if one != REQUEST_ID]


def _parameter(verb: Verb, field: Field, where: str) -> Object:
    schema = _in_url(field)
    told: Object = {"name": field.name, "in": where, "description": field.help, "schema": schema}
    sent = {} if verb.route.has_body else EXAMPLES.get(verb.name, {})
    if field.name in sent:
        told["example"] = sent[field.name]
    if where == "path":
        return {**told, "required": True, "schema": {**schema, "minLength": 1}}
    if field.is_required:
        told["required"] = True
    if schema.get("type") == "object":
        # An object in a URL is its JSON.
        told["content"] = {
            JSON: {name: told.pop(name) for name in ("schema", "example") if name in told}
        }
    return told


def _in_url(field: Field) -> Object:
    """Return what a field may be where nothing but texts stand: null is to leave it out."""
    schema = field.schema()
    schema.pop("description", None)
    if isinstance(schema.get("type"), list):
        schema["type"] = schema["type"][0]
    if "enum" in schema:
        schema["enum"] = [one for one in schema["enum"] if one is not None]
    if "anyOf" in schema:
        schema = {"type": "string"} | {k: v for k, v in schema.items() if k != "anyOf"}
    return schema


def _headers(verb: Verb, *, of_a_store: bool) -> Iterator[Object]:
    if verb.repeats:
        yield IDEMPOTENCY_KEY
    if verb.effect == "reads" and of_a_store:
        yield {
            "name": "Recollect-At-Least",
            "in": "header",
            "description": "What Recollect-Commit said in the answer to a write of yours: this"
            " answer is not older than that.",
            "schema": {"type": "string"},
        }
    if verb.name in TAGGED:
        yield {
            "name": "If-None-Match",
            "in": "header",
            "description": "The tag of an answer that you have: 304 if it is still the answer.",
            "schema": {"type": "string"},
        }


def _body(verb: Verb) -> Object:
    if verb.streams:
        told: Object = {"schema": {"type": "string"}, "examples": _example(verb)}
        return {"required": False, "content": {LINES: told}}
    fields = [one for one in _sent(verb) if not verb.route.in_path(one)]
    told = {"schema": object_schema(fields), "examples": _example(verb)}
    needed = any(one.is_required for one in fields)
    return {"required": needed, "content": {JSON: told}}


def _example(verb: Verb) -> Object:
    return {"example": {"value": example_of(verb)}}


def _responses(verb: Verb, *, of_a_store: bool) -> Iterator[tuple[str, Object]]:
    yield str(verb.route.status), _answer(verb, of_a_store=of_a_store)
    for status in statuses(verb):
        yield str(status), {"$ref": f"#/components/responses/Problem{status}"}


def _problem(status: int) -> Object:
    told: Object = {"description": _SAYS[status]}
    if status != HTTPStatus.NOT_MODIFIED:
        told["content"] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return told


def _answer(verb: Verb, *, of_a_store: bool) -> Object:
    if verb.streams and not verb.route.has_body:
        content: Object = {LINES: {"schema": {"type": "string"}}}
    else:
        content = {JSON: {"schema": schema_of(verb.answer, {})}}
        if verb.name in ANSWERS:
            content[JSON]["example"] = ANSWERS[verb.name]
    told: Object = {"description": verb.help, "content": content}
    if names := _told_in_headers(verb, of_a_store=of_a_store):
        told["headers"] = {name: {"schema": {"type": "string"}} for name in names}
    return told


def _told_in_headers(verb: Verb, *, of_a_store: bool) -> list[str]:
    return [
        *(["ETag"] if verb.name in TAGGED else []),
        *(["Recollect-Commit"] if verb.effect != "reads" and of_a_store else []),
    ]
