"""How a request in a dialect is answered: by a function that calls the verbs of a memory.

In: rows of a dialect, each a method, a path and a function. Out: endpoints, with the same limits,
keys and errors as the routes of `/v1`: an error's `detail` is a text, as these clients expect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from recollect.edge import wire
from recollect.edge.http import bodies
from recollect.edge.http.quotas import brings
from recollect.edge.http.routes import name_in
from recollect.edge.verbs import by_name
from recollect.errors import BadBody, InvalidInput
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.edge.http.routes import Endpoint
    from recollect.edge.http.server import Server
    from recollect.edge.http.stores import Served
    from recollect.engine import Recollect

__all__ = ["COUNT", "NUMBER", "TEXT", "Asked", "Spoken", "endpoints_of", "list_of", "object_of"]

# As a scope has it.
_HEADER = b"Authorization".lower()

JSON = "application/json"
_WITH_BODY = ("POST", "PUT", "PATCH")


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A request in a dialect: what stands in its path, its query and its body."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]
    request_id: str | None
    url: str

    def text(self, name: str) -> str | None:
        """Return a text of the body, or of the query; None if it is not given."""
        value = self.body.get(name, self.query.get(name))
        if value is not None and not isinstance(value, str):
            raise BadBody(f"{name} must be a text.", hint=f'{{"{name}": "…"}}')
        return value or None

    def needed(self, name: str) -> str:
        """Return a text that must be there."""
        value = self.text(name)
        if value is None:
            raise BadBody(f"{name} is missing.", hint=f'{{"{name}": "…"}}')
        return value

    def whole(self, *names: str, default: int, most: int) -> int:
        """Return the first of these numbers that is given, no more than there may be."""
        for name in names:
            value = self.body.get(name, self.query.get(name))
            if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
                value = int(value)
            if value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InvalidInput(f"{name} must be a whole number from 1 on.", hint=f"{name}=10")
            return min(value, most)
        return default

    def number(self, name: str) -> float | None:
        """Return a number, None if it is not given."""
        value = self.body.get(name, self.query.get(name))
        try:
            return None if value is None or isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(f"{name} must be a number.", hint=f"{name}=0.5") from None

    def flag(self, name: str) -> bool:
        """Return whether something is asked for."""
        return self.body.get(name, self.query.get(name)) in (True, "true", "1")


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """One thing that a dialect can say. `verb` is what it comes to, for limits and counts.

    What `adds` to what a tenant has is held against its quota; `many` is the field of several.
    `takes` and `gives` say what is read and answered, as JSON Schema: fields of the body, or of the
    query. What else is sent has no effect, as these clients expect.
    """

    method: str
    path: str
    verb: str
    act: Callable[[Recollect, Asked], Any]
    help: str
    gives: Mapping[str, Any]
    takes: Mapping[str, Any] = field(default_factory=dict)
    example: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    adds: bool = False
    many: str | None = None

    @property
    def has_body(self) -> bool:
        """Whether fields come as a JSON object; without one they stand in the query."""
        return self.method in _WITH_BODY


# Texts may be null where they may be left out.
TEXT: Mapping[str, Any] = {"type": ["string", "null"]}
NUMBER: Mapping[str, Any] = {"type": ["number", "null"]}
COUNT: Mapping[str, Any] = {"type": "integer", "minimum": 1}


def object_of(*names: str, **more: Any) -> dict[str, Any]:
    """Return the schema of an object that has all these names, some of them of a known kind."""
    fields = {**{key: {} for key in names}, **more}
    return {"type": "object", "properties": fields, "required": list(fields)}


def list_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": dict(schema)}


def endpoints_of(
    server: Server, prefix: str, spoken: Sequence[Spoken]
) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    """Yield the paths of a dialect with what answers their methods."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for one in spoken:
        by_path.setdefault(prefix + one.path, {})[one.method] = _endpoint(server, one)
    yield from sorted(by_path.items(), key=lambda pair: (pair[0].count("{"), pair[0]))


def _endpoint(server: Server, spoken: Spoken) -> Endpoint:
    verb = by_name(spoken.verb)

    async def answer(came: Request) -> Response:
        request = _with_bearer(came)
        body = await server.body_of(request) if spoken.has_body else b""

        def perform(served: Served) -> Response:
            asked = _asked(request, body)
            if spoken.adds:
                given = {"items": asked.body.get(spoken.many)} if spoken.many else {}
                server.quotas.take(served, *brings(verb, given, len(body)))
            call = partial(spoken.act, served.memory, asked)
            told = server.spans.around(verb.name, served.store, asked.body, call)
            return Response(wire.encode(told), spoken.status, media_type=JSON)

        return await server.begin(request, verb, perform)

    return answer


def _asked(request: Request, body: bytes) -> Asked:
    return Asked(
        path={name: unquote(value) for name, value in request.path_params.items()},
        query=dict(request.query_params),
        body=bodies.json_object(body),
        request_id=name_in(request),
        url=str(request.base_url).rstrip("/"),
    )


def _with_bearer(request: Request) -> Request:
    """Return a request whose key stands where it is looked for, whatever the dialect calls it."""
    key = request.headers.get("x-api-key")
    scheme, _, rest = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "token":
        key = rest.strip()
    if not key or scheme.lower() == "bearer":
        return request
    kept = [one for one in request.scope["headers"] if one[0] != _HEADER]
    bearer = (_HEADER, b"Bearer " + key.encode("utf-8", "replace"))
    # The state is shared: what the request is called, and what it came to, is written there.
    return Request({**request.scope, "headers": [*kept, bearer]}, request.receive)
