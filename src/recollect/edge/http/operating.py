"""What looks after a server: its stores, and its hooks. The operator asks, and reads no memory.

In: requests that show the operator's token; for hooks also the local token of a start. Out: names
of stores, the first key of a new one, how hooks are. No key of a store opens any of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.responses import Response

from recollect.edge import wire
from recollect.edge.http import bodies
from recollect.edge.http.identity import bearer, is_local_token, is_operator
from recollect.errors import InvalidInput, KeyNeeded, NoSuchRoute
from recollect.model import PERMISSIONS, Principal

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.edge.http.routes import Endpoint
    from recollect.edge.http.server import Server
    from recollect.node import Node

__all__ = ["operating_endpoints"]

JSON = "application/json"
_FIRST = "admin"
_ROUNDS = 3

Act = Callable[["Server", Mapping[str, Any]], wire.Object]


def operating_endpoints(server: Server) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    """Yield each path with what answers its methods."""

    def of(act: Act, *, locally: bool = False) -> Endpoint:
        return _endpoint(server, act, locally=locally)

    yield "/v1/stores", {"GET": of(_stores), "POST": of(_create)}
    yield "/v1/stores/{name}", {"DELETE": of(_drop)}
    yield "/v1/hooks", {"GET": of(_hooks, locally=True)}
    yield "/v1/hooks/reload", {"POST": of(_reload, locally=True)}
    yield "/v1/hooks/doctor", {"POST": of(_doctor, locally=True)}


def _endpoint(server: Server, act: Act, *, locally: bool) -> Endpoint:
    async def answer(request: Request) -> Response:
        _need_operator(server, request, locally=locally)
        length = request.headers.get("content-length")
        most = server.options.most_body_bytes
        body = await bodies.read_whole(request.stream(), length, most=most)
        in_path = {name: unquote(value) for name, value in request.path_params.items()}

        def perform() -> Response:
            server.reloads.follow(server.stores)
            told = act(server, {**bodies.json_object(body), **in_path})
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


def _stores(server: Server, _: Mapping[str, Any]) -> wire.Object:
    return {"stores": list(_node(server).names())}


def _create(server: Server, given: Mapping[str, Any]) -> wire.Object:
    """Make a store, and the one key by which its owner makes others."""
    _need_known(given, ("name", "principal"))
    node, name = _node(server), given.get("name")
    first = Principal("local", given.get("principal") or _FIRST, (), PERMISSIONS)
    node.create(name)  # type: ignore[arg-type] # what is no name is refused there
    with node.store(str(name)) as memory:
        made = memory.keys.create(first, name="first")
    return {"store": name, **wire.issued(made)}


def _drop(server: Server, given: Mapping[str, Any]) -> wire.Object:
    _need_known(given, ("name",))
    _node(server).drop(given["name"])
    return {"dropped": given["name"]}


def _hooks(server: Server, _: Mapping[str, Any]) -> wire.Object:
    """Tell of each hook what it is and did, in the worker that answers."""
    hooks = server.stores.hooks
    told = hooks.stats()
    specs = {one.name: one for one in hooks.list()}
    shown = ("priority", "timeout_ms", "namespace", "fail_mode", "enabled")
    listed = [
        {**one, **{name: getattr(specs[one["hook"]], name) for name in shown}}
        for one in told["hooks"]
    ]
    return {**told, "hooks": listed}


def _reload(server: Server, given: Mapping[str, Any]) -> wire.Object:
    _need_known(given, ())
    server.reloads.reload(server.stores)
    return {"hooks": [one.name for one in server.stores.hooks.list()]}


def _doctor(server: Server, given: Mapping[str, Any]) -> wire.Object:
    from recollect.hooks.doctor import examine

    _need_known(given, ())
    findings = examine(server.stores.hooks.list(), rounds=_ROUNDS)
    return {
        "findings": [asdict(one) for one in findings],
        "ok": all(one.problem is None for one in findings),
    }


def _need_known(given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            has = f"it has {', '.join(known)}." if known else "it takes none."
            raise InvalidInput(f"there is no field {name!r:.60}.", hint=has)
