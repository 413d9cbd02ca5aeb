"""Routes, made from the table of verbs: a request in, the verb's answer out.

In: a verb and the server that carries it out. Out: one route a path, with all its methods. What a
verb is given comes from the path, the query and the body; who asks, from the key alone.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.responses import Response, StreamingResponse

from recollect.edge import wire
from recollect.edge.http import bodies
from recollect.edge.http.commits import TOLD
from recollect.edge.http.quotas import COUNTED, brings
from recollect.edge.http.tags import Asked, tagged
from recollect.edge.verbs import VERBS, Verb, from_texts
from recollect.edge.verbs.upkeep import brought_back
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.edge.http.server import Server
    from recollect.edge.http.stores import Served
    from recollect.edge.verbs.verb import Progress

__all__ = ["Endpoint", "carried_out", "endpoints", "given_in", "name_in", "receipt_of"]

Endpoint = Callable[["Request"], Any]

JSON = "application/json"
LINES = "application/x-ndjson"
# Verbs whose answers have tags: the same question is asked again and again.
TAGGED = ("recall", "frame")
_LINES_AT_ONCE = 64
# A longer answer is sent in pieces.
_WHOLE_BYTES = 2**16
_IDEMPOTENCY = "idempotency-key"
# What a request may be called over HTTP.
PLAIN_NAME = re.compile(r"[A-Za-z0-9._:-]{1,200}")


def endpoints(server: Server) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    """Yield each path with what answers its methods."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for verb in VERBS:
        methods = by_path.setdefault(verb.route.path, {})
        methods[verb.route.method] = _endpoint(server, verb)
    # A path that names something comes before one that takes any name there.
    yield from sorted(by_path.items(), key=lambda pair: (pair[0].count("{"), pair[0]))


def _endpoint(server: Server, verb: Verb) -> Endpoint:
    if verb.name == "export":
        return _exporting(server, verb)
    if verb.name == "import":
        return _importing(server, verb)

    async def answer(request: Request) -> Response:
        body = await server.body_of(request) if verb.route.has_body else b""
        return await server.begin(request, verb, _performing(server, verb, request, body))

    return answer


def _performing(
    server: Server, verb: Verb, request: Request, body: bytes
) -> Callable[[Served], Response]:
    """Return what a thread does: read the body, carry the verb out, write the answer."""

    def perform(served: Served) -> Response:
        given = given_in(verb, request, bodies.json_object(body))
        asked = server.commits.asked(served, request.headers)
        if verb.name in TAGGED:
            answer = _tagged(server, verb, request, served, given)
        else:
            answer = _response(carried_out(server, verb, served, given, size=len(body)), verb)
        return _dated(server, verb, served, answer, asked=asked)

    return perform


def _dated(
    server: Server, verb: Verb, served: Served, answer: Response, *, asked: str | None
) -> Response:
    """Say how far the store has come: to who wrote, and to who asked for at least that."""
    token = asked if verb.effect == "reads" else server.commits.token(served)
    if token is not None:
        answer.headers[TOLD] = token
    return answer


def carried_out(
    server: Server,
    verb: Verb,
    served: Served,
    given: Mapping[str, Any],
    *,
    size: int = 0,
    progress: Progress | None = None,
) -> Any:
    """Return the answer of a verb; a span is around it, and what it lacks is counted.

    A write of so many bytes that would be over a quota is not begun.
    """
    if server.quotas.is_on and verb.name in COUNTED:
        server.quotas.take(served, *brings(verb, given, size))
    call = partial(verb.perform, served.memory, given, progress=progress)
    answer = server.spans.around(verb.name, served.store, given, call)
    if isinstance(answer, dict):
        server.counts.answered(verb.name, answer)
    return answer


def receipt_of(server: Server, told: Any) -> str | None:
    """Return the id of the receipt that an answer left, if it left one."""
    return told.get("recall_id") if server.options.receipts and isinstance(told, dict) else None


def given_in(verb: Verb, request: Request, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return all fields that a request gives, wherever they stand; each stands in one place."""
    in_path = {name: unquote(value) for name, value in request.path_params.items()}
    fields = [one for one in verb.fields if one.name not in in_path]
    query = request.query_params
    if verb.route.has_body and query:
        raise InvalidInput(f"{verb.name} takes nothing in the query.", hint="send it in the body.")
    given = dict(body) if verb.route.has_body else from_texts(fields, _listed(query))
    for name in (*in_path, "request_id"):
        if name in given:
            where = "in the path" if name in in_path else "in the header Idempotency-Key"
            raise InvalidInput(f"{name} stands {where}.", hint="leave it out elsewhere.")
    return {**_counted(verb, given), **in_path, **_named(verb, request)}


def _counted(verb: Verb, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given; a whole number that is written as 5.0 is one all the same."""
    whole = {one.name for one in verb.fields if one.kind == "whole"}
    return {
        name: int(one) if name in whole and isinstance(one, float) and one.is_integer() else one
        for name, one in given.items()
    }


def _named(verb: Verb, request: Request) -> dict[str, str]:
    # Every verb that writes knows its requests by name; one that reads may be sent again.
    name = name_in(request) if verb.repeats else None
    return {} if name is None else {"request_id": name}


def name_in(request: Request) -> str | None:
    """Return the name that a request is sent under, if it is."""
    name = request.headers.get(_IDEMPOTENCY)
    if name is not None and PLAIN_NAME.fullmatch(name) is None:
        raise InvalidInput(
            "an Idempotency-Key is 1 to 200 letters, digits and . _ : -",
            hint="make one up for each request, such as a UUID.",
        )
    return name


def _listed(query: Any) -> dict[str, list[str]]:
    return {name: query.getlist(name) for name in query}


def _response(answer: Any, verb: Verb) -> Response:
    return Response(wire.encode(answer), verb.route.status, media_type=JSON)


def _tagged(
    server: Server, verb: Verb, request: Request, served: Served, given: dict[str, Any]
) -> Response:
    """Answer a question that may have been answered before: by its tag, if that is shown."""
    asked = Asked.of(
        verb.name,
        given,
        store=served.store,
        who=served.memory.principal,
        head=served.opener.head(),
        second=int(server.clock()),
    )
    shown = _shown_tags(request)
    known = server.tags.of(asked) if shown else None
    if known is not None and known in shown:
        return _unchanged(known)
    answer = carried_out(server, verb, served, given)
    request.state.recall_id = receipt_of(server, answer)
    if not isinstance(answer, dict):
        raise TypeError(f"{verb.name} answers with no object")
    tag, body = tagged(answer)
    server.tags.keep(asked, tag)
    if tag in shown:
        return _unchanged(tag)
    return Response(body, media_type=JSON, headers=_fresh(tag))


def _unchanged(tag: str) -> Response:
    return Response(status_code=304, headers=_fresh(tag))


def _fresh(tag: str) -> dict[str, str]:
    return {"etag": tag, "cache-control": "private, no-cache"}


def _shown_tags(request: Request) -> frozenset[str]:
    shown = request.headers.get("if-none-match", "")
    return frozenset(one.strip() for one in shown.split(",") if one.strip())


def _exporting(server: Server, verb: Verb) -> Endpoint:
    async def answer(request: Request) -> Response:
        def begin(served: Served) -> tuple[list[str], Iterator[str], str | None]:
            asked = server.commits.asked(served, request.headers)
            lines = iter(verb.perform(served.memory, given_in(verb, request, {})))
            if served.store:
                # What is lent is given back before the last line is sent.
                lines = bodies.kept_lines(lines)
            return list(islice(lines, _LINES_AT_ONCE)), lines, asked

        first, lines, asked = await server.begin(request, verb, begin)

        async def parts() -> AsyncIterator[str]:
            part = first
            while part:
                yield "".join(line if line.endswith("\n") else f"{line}\n" for line in part)
                part = await server.go_on(lambda: list(islice(lines, _LINES_AT_ONCE)))

        headers = {} if asked is None else {TOLD: asked}
        return StreamingResponse(parts(), media_type=LINES, headers=headers)

    return answer


def _importing(server: Server, verb: Verb) -> Endpoint:
    async def answer(request: Request) -> Response:
        options = server.options
        most, patience_s = options.most_import_bytes, options.body_seconds
        kept = await bodies.spooled(request, most=most, patience_s=patience_s)
        size = kept.tell()
        kept.seek(0)

        def perform(served: Served) -> Response:
            with kept:
                if server.quotas.is_on:
                    lines = sum(1 for _ in kept)
                    kept.seek(0)
                    server.quotas.take(served, lines, size)
                given = {"lines": bodies.spooled_lines(kept)}
                asked = verb.checked(given_in(verb, request, given))
                call = partial(brought_back, served.memory, asked)
                done = server.spans.around(verb.name, served.store, {}, call)
                server.counts.answered(verb.name, wire.counted(done))
                answer = _piecewise(wire.imported_parts(done))
                return _dated(server, verb, served, answer, asked=None)

        return await server.begin(request, verb, perform)

    return answer


def _piecewise(parts: Iterator[bytes]) -> Response:
    """Return an answer that is as long as what was sent: it is held a piece at a time."""
    kept = bodies.kept_answer(parts)
    length = kept.tell()
    kept.seek(0)
    if length <= _WHOLE_BYTES:
        return Response(b"".join(bodies.read_on(kept)), media_type=JSON)
    headers = {"content-length": str(length)}
    return StreamingResponse(_sent(bodies.read_on(kept)), media_type=JSON, headers=headers)


async def _sent(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
