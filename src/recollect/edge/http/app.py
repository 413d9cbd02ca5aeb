"""The application: routes, errors, request ids, put together for one worker.

In: options. Out: an ASGI application that opens its memory when it starts and closes it when it
ends. Whatever goes wrong leaves as problem+json.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import Response

from recollect import __version__
from recollect.edge.http.compat.endpoints import compat_endpoints
from recollect.edge.http.counts import Counts
from recollect.edge.http.health import health_routes, keep_figures
from recollect.edge.http.logs import hear_libraries, log_like
from recollect.edge.http.named import Named
from recollect.edge.http.operating import operating_endpoints
from recollect.edge.http.options import ServerOptions
from recollect.edge.http.pages import description_routes
from recollect.edge.http.parent import end_with_parent
from recollect.edge.http.paths import Compressing, Paths, Problem, Routed
from recollect.edge.http.places import NOBODY_LISTENS, Gone
from recollect.edge.http.problems import problem
from recollect.edge.http.reloading import Reloads
from recollect.edge.http.routes import Endpoint, endpoints
from recollect.edge.http.server import Server
from recollect.edge.http.slow import SlowCalls
from recollect.edge.http.stores import NodeStores, OneStore, is_folder
from recollect.edge.http.watched import CANNOT_SERVE, Watched
from recollect.edge.inspector.assets import asset_routes
from recollect.edge.inspector.endpoints import inspector_endpoints
from recollect.edge.inspector.problems import drawn
from recollect.edge.mcp.http import McpDoor, mcp_routes
from recollect.errors import (
    InvalidInput,
    NoSuchRoute,
    RecollectError,
    ServerFault,
    WrongMethod,
)
from recollect.settings import one_blas_thread, serve_options

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from recollect.edge.http.stores import Stores
    from recollect.engine import Recollect
    from recollect.node import Node

__all__ = ["from_environment", "make_app"]

_HINT = "/openapi.json lists what {}."
_TELLS_NOBODY: Any = {"auto_configure": False, "tracing": False, "metrics": False, "logs": False}


def from_environment() -> FastAPI:
    """Return the application of a worker; its parent left the options in the environment."""
    options = ServerOptions.from_text(serve_options())
    hear_libraries(log_like(options))
    return make_app(options)


def make_app(options: ServerOptions, *, memory: Recollect | None = None) -> FastAPI:
    """Return an application that serves as the options say, or a memory that is open already."""
    counts, slow = Counts(options.run_dir), SlowCalls(options.run_dir)
    paths = Paths()

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        reloads = Reloads(options.run_dir)
        try:
            stores = _open_stores(options) if memory is None else OneStore(memory, options)
        except RecollectError as error:
            setattr(app.state, CANNOT_SERVE, f"cannot serve: {error}")
            raise
        server = Server(options, stores, counts=counts, reloads=reloads, slow=slow)
        app.state.server = server
        door = McpDoor(server)
        app.router.routes += [*health_routes(server), *mcp_routes(door)]
        if not options.only_mcp:
            paths.add(_guarded(server, _endpoints(server)))
        watches = [asyncio.ensure_future(keep_figures(server))]
        if options.workers > 1:
            watches.append(asyncio.ensure_future(end_with_parent()))
        try:
            yield
        finally:
            for watch in watches:
                watch.cancel()
            await door.close()
            server.close()

    app = _Application(
        title="Recollect",
        version=__version__,
        lifespan=living,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        # It would tell whoever collects spans what stands in queries and in errors.
        telemetry=_TELLS_NOBODY,
    )
    if not options.only_mcp:
        app.router.routes += [*description_routes(), *asset_routes()]
    for kind, told in _PROBLEMS.items():
        app.add_exception_handler(kind, told)
    app.add_middleware(Compressing)
    routed = Routed(app.pass_on, paths=paths, problems=_PROBLEMS)
    app.front = Watched(Named(routed), log=log_like(options), counts=counts, slow=slow)
    return app


class _Application(FastAPI):
    """FastAPI, with what we serve in front of it: it answers what is at none of our paths."""

    front: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a request in."""
        scope["app"] = self
        await self.front(scope, receive, send)

    async def pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let FastAPI answer."""
        await super().__call__(scope, receive, send)


def _endpoints(server: Server) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    yield from endpoints(server)
    yield from operating_endpoints(server)
    yield from compat_endpoints(server)
    yield from inspector_endpoints(server)


def _open_stores(options: ServerOptions) -> Stores:
    if is_folder(options.db):
        return NodeStores(_open_node(options), options)
    return OneStore(_open_memory(options), options)


def _open_node(options: ServerOptions) -> Node:
    from recollect.edge.cli.open_memory import embedder_for

    with one_blas_thread():
        from recollect.node import Node
    if options.read_only:
        raise InvalidInput("a folder is not served read-only.", hint="serve one file of it.")
    return Node(
        options.db,
        embedder=embedder_for(options.embedder),
        hooks=options.hooks,
        any_filesystem=options.any_filesystem,
        receipts=options.receipts,
        receipt_days=options.receipt_days,
    )


def _open_memory(options: ServerOptions) -> Recollect:
    from recollect.edge.cli.open_memory import embedder_for

    with one_blas_thread():
        from recollect.engine import Recollect
    return Recollect.open(
        options.db,
        embedder=embedder_for(options.embedder),
        hooks=options.hooks,
        read_only=options.read_only,
        any_filesystem=options.any_filesystem,
        receipts=options.receipts,
        receipt_days=options.receipt_days,
    )


def _guarded(
    server: Server, endpoints: Iterator[tuple[str, Mapping[str, Endpoint]]]
) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    """Yield endpoints that answer for our own hosts and pages alone."""

    def guarded(endpoint: Endpoint) -> Endpoint:
        async def answer(request: Request) -> Response:
            server.guard.check(request.headers)
            found: Response = await endpoint(request)
            return found

        return answer

    for path, methods in endpoints:
        yield path, {method: guarded(endpoint) for method, endpoint in methods.items()}


async def _problem(request: Request, error: RecollectError) -> Response:
    request.state.problem = error.code
    return drawn(request, error) or _as_data(request, error)


def _as_data(request: Request, error: RecollectError) -> Response:
    status, headers, body = problem(error, request.state.request_id)
    return Response(body, status, headers=headers)


async def _nobody_listens(_: Request, __: Exception) -> Response:
    """End what was asked by somebody who has gone away: no fault, and nothing that is sent."""
    return Response(status_code=NOBODY_LISTENS)


async def _misrouted(request: Request, error: HTTPException) -> Response:
    """Answer what came to no path, or with a method that its path does not take."""
    if error.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        nothing = "there is nothing at this path."
        return await _problem(
            request, NoSuchRoute(nothing, hint="/openapi.json lists what there is.")
        )
    other = f"this path takes no {request.method}."
    said = await _problem(request, WrongMethod(other, hint="/openapi.json lists what it takes."))
    said.headers.update(error.headers or {})
    return said


async def _unforeseen(request: Request, _: Exception) -> Response:
    """Tell nothing of what nobody foresaw; the log has all of it."""
    return await _problem(
        request,
        ServerFault("something went wrong that should not.", hint="the server's log says what."),
    )


# The first that fits an error answers it.
_PROBLEMS: Mapping[type[Exception], Problem] = {
    RecollectError: _problem,
    Gone: _nobody_listens,
    HTTPException: _misrouted,
    Exception: _unforeseen,
}
