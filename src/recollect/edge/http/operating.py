"""What looks after a server: its stores, and its hooks. The operator asks, and reads no memory.

In: requests that show the operator's token; for hooks also the local token of a start. Out: names
of stores, the first key of a new one, how hooks are. No key of a store opens any of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.responses import Response

from recollect.edge import wire
from recollect.edge.http import bodies
from recollect.edge.http.health import note_figures
from recollect.edge.http.identity import bearer, is_local_token, is_operator
from recollect.edge.http.routes import given_in
from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.edge.verbs.verb import Effect, Route, Verb
from recollect.errors import KeyNeeded, NoSuchRoute, RequestIdReused, StoreExists
from recollect.model import PERMISSIONS, Principal
from recollect.policy import IssuedKey
from recollect.values import dataclass

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.edge.http.routes import Endpoint
    from recollect.edge.http.server import Server
    from recollect.engine import Recollect
    from recollect.hooks import Hooks
    from recollect.node import Node

__all__ = ["OPERATIONS", "Operation", "operating_endpoints", "told_of_hooks"]

JSON = "application/json"
_FIRST, _FIRST_KEY = "admin", "first"
# Whose requests are counted together, beside those of each key.
OPERATOR = "\0operator"
_ROUNDS = 3

Act = Callable[["Server", dict[str, Any]], wire.Object]


@dataclass(frozen=True, slots=True)
class Operation:
    """What an operator may ask for: described like a verb, and asked of the server itself.

    `locally`: the token of a start on this machine will do, too.
    """

    described: Verb
    act: Act
    locally: bool = False


def operating_endpoints(server: Server) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    """Yield each path with what answers its methods."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for one in OPERATIONS:
        route = one.described.route
        by_path.setdefault(route.path, {})[route.method] = _endpoint(server, one)
    yield from by_path.items()


def _endpoint(server: Server, operation: Operation) -> Endpoint:
    verb = operation.described

    async def answer(request: Request) -> Response:
        request.state.verb = verb.name
        _need_operator(server, request, locally=operation.locally)
        body = await server.body_of(request)

        def perform() -> Response:
            server.rates.take("", OPERATOR)
            server.reloads.follow(server.stores)
            given = given_in(verb, request, bodies.json_object(body))
            told = operation.act(server, verb.checked(given))
            return Response(wire.encode(told), media_type=JSON)

        return await server.go_on(perform)

    return answer


def _need_operator(server: Server, request: Request, *, locally: bool) -> None:
    """Refuse whoever does not show the operator's token: all others look alike."""
    shown = bearer(request.headers.get("Authorization"))
    if is_operator(shown, server.options):
        return
    if locally and is_local_token(shown, server.options):
        return
    raise KeyNeeded(
        "this takes the operator's token.", hint="start the server with --operator-token FILE."
    )


def _node(server: Server) -> Node:
    node = server.stores.node
    if node is None:
        raise NoSuchRoute(
            "this server has one store.", hint="serve a folder to have many: --db FOLDER."
        )
    return node


def _stores(server: Server, _: dict[str, Any]) -> wire.Object:
    return {"stores": list(_node(server).names())}


def _create(server: Server, given: dict[str, Any]) -> wire.Object:
    """Make a store, and the one key by which its owner makes others."""
    node, name, request_id = _node(server), given["name"], given.get("request_id")
    first = Principal("local", given.get("principal") or _FIRST, (), PERMISSIONS)
    label = _FIRST_KEY if request_id is None else f"{_FIRST_KEY} {_digest(request_id)}"
    try:
        node.create(name)
    except StoreExists:
        if request_id is None:
            raise
        with node.store(name) as memory:
            return {"store": name, **wire.issued(_made_before(memory, first, label))}
    with node.store(name) as memory:
        return {"store": name, **wire.issued(memory.keys.create(first, name=label))}


def _made_before(memory: Recollect, first: Principal, label: str) -> IssuedKey:
    """Return the first key of a store that the same request made; its secret was told then.

    A request that was cut off before it made the key makes it now. The label is written with the
    key, in one commit, and says by which request.
    """
    rows = memory.keys.list()
    if not rows:
        return memory.keys.create(first, name=label)
    for row in rows:
        if row.name == label:
            if row.principal.id != first.id:
                raise RequestIdReused(
                    "this request id was used for another request; nothing was written.",
                    hint="use an id once, and again only to repeat the very same request.",
                )
            return IssuedKey(None, row)
    raise StoreExists("there is a store of this name.", hint="choose another name, or drop it.")


def _digest(request_id: str) -> str:
    return blake2b(request_id.encode(), digest_size=8).hexdigest()


def _drop(server: Server, given: dict[str, Any]) -> wire.Object:
    _node(server).drop(given["name"])
    return {"dropped": given["name"]}


def _hooks(server: Server, _: dict[str, Any]) -> wire.Object:
    """Tell of each hook what it is, and what it did in all workers."""
    note_figures(server)
    everywhere = server.counts.hooks_told()
    told = told_of_hooks(server.stores.hooks)
    return {**told, "hooks": [{**one, **everywhere.get(one["hook"], {})} for one in told["hooks"]]}


def told_of_hooks(hooks: Hooks) -> wire.Object:
    """Tell of each hook what it is and did, in the worker that answers."""
    told = hooks.stats()
    specs = {one.name: one for one in hooks.list()}
    shown = ("priority", "timeout_ms", "namespace", "fail_mode", "enabled")
    listed = [
        {**one, **{name: getattr(specs[one["hook"]], name) for name in shown}}
        for one in told["hooks"]
    ]
    return {**told, "hooks": listed}


def _reload(server: Server, _: dict[str, Any]) -> wire.Object:
    server.reloads.reload(server.stores)
    return {"hooks": [one.name for one in server.stores.hooks.list()]}


def _doctor(server: Server, _: dict[str, Any]) -> wire.Object:
    from recollect.hooks.doctor import examine

    findings = examine(server.stores.hooks.list(), rounds=_ROUNDS)
    return {
        "findings": [asdict(one) for one in findings],
        "ok": all(one.problem is None for one in findings),
    }


def _of_no_memory(*_: object) -> NoReturn:
    raise TypeError("what an operator asks for is asked of the server, not of a memory")


def _described(
    name: str, text: str, effect: Effect, route: Route, answer: Any, *fields: Field, **more: bool
) -> Verb:
    return Verb(name, text, effect, None, fields, answer, _of_no_memory, route, **more)


_STORE = Field("name", "text", "The name of the store.", REQUIRED, example="acme")
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        _described(
            "stores.list",
            "List the stores of a folder that is served.",
            "reads",
            Route("GET", "/v1/stores"),
            {"stores": list[str]},
        ),
        _stores,
    ),
    Operation(
        _described(
            "stores.create",
            "Make a store, and its first key, of an admin, which makes all others.",
            "writes",
            Route("POST", "/v1/stores"),
            {"store": str, "secret": str | None, "key": dict[str, Any]},
            _STORE,
            Field("principal", "text", "Whom the first key stands for.", _FIRST),
            repeats=True,
        ),
        _create,
    ),
    Operation(
        _described(
            "stores.drop",
            "Remove a store with all its files.",
            "destroys",
            Route("DELETE", "/v1/stores/{name}"),
            {"dropped": str},
            _STORE,
        ),
        _drop,
    ),
    Operation(
        _described(
            "hooks.list",
            "Tell of each hook what it is, how often it was asked and how long it took.",
            "reads",
            Route("GET", "/v1/hooks"),
            {"hooks": list[dict[str, Any]]},
        ),
        _hooks,
        locally=True,
    ),
    Operation(
        _described(
            "hooks.reload",
            "Read the file of hooks again, in every worker before its next answer.",
            "writes",
            Route("POST", "/v1/hooks/reload"),
            {"hooks": list[str]},
        ),
        _reload,
        locally=True,
    ),
    Operation(
        _described(
            "hooks.doctor",
            "Start each hook, ask it a few times, and say what is wrong with it.",
            "reads",
            Route("POST", "/v1/hooks/doctor"),
            {"findings": list[dict[str, Any]], "ok": bool},
        ),
        _doctor,
        locally=True,
    ),
)
