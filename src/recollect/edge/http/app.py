"""The application: routes, errors, request ids, put together for one worker.

In: options. Out: an ASGI application that opens its memory when it starts and closes it when it
ends. Whatever goes wrong leaves as problem+json.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import Route

from recollect import __version__
from recollect.edge.http.compat.endpoints import compat_endpoints
from recollect.edge.http.counts import Counts
from recollect.edge.http.health import health_routes, keep_figures
from recollect.edge.http.logs import hear_libraries, log_like
from recollect.edge.http.operating import operating_endpoints
from recollect.edge.http.options import ServerOptions
from recollect.edge.http.pages import description_routes
from recollect.edge.http.parent import end_with_parent
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
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from recollect.edge.http.stores import Stores
    from recollect.engine import Recollect
    from recollect.node import Node

__all__ = ["from_environment", "make_app"]

_COMPRESSED_FROM = 1_024
_QUICKLY = 4


def from_environment() -> FastAPI:
    """Return the application of a worker; its parent left the options in the environment."""
    options = ServerOptions.from_text(serve_options())
    hear_libraries(log_like(options))
    return make_app(options)


def make_app(options: ServerOptions, *, memory: Recollect | None = None) -> FastAPI:
    """Return an application that serves as the options say, or a memory that is open already."""
    counts, slow = Counts(options.run_dir), SlowCalls(options.run_dir)

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
        # Routes are tried in their order, and those of the verbs are many.
        app.router.routes += [*health_routes(server), *mcp_routes(door)]
        for path, methods in () if options.only_mcp else _endpoints(server):
            app.router.routes.append(_route(path, methods))
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

    app = FastAPI(
        title="Recollect",
        version=__version__,
        lifespan=living,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    if not options.only_mcp:
        app.router.routes += [*description_routes(), *asset_routes()]
    app.add_exception_handler(RecollectError, _problem)  # type: ignore[arg-type]
    app.add_exception_handler(Gone, _nobody_listens)
    app.add_exception_handler(404, _nothing_there)
    app.add_exception_handler(405, _other_method)  # type: ignore[arg-type]
    app.add_exception_handler(Exception, _unforeseen)
    app.add_middleware(GZipMiddleware, minimum_size=_COMPRESSED_FROM, compresslevel=_QUICKLY)
    app.add_middleware(Named)
    app.add_middleware(Watched, log=log_like(options), counts=counts, slow=slow)
    return app


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


def _route(path: str, methods: Mapping[str, Endpoint]) -> Route:
    async def answer(request: Request) -> Response:
        server: Server = request.app.state.server
        server.guard.check(request.headers)
        found: Response = await methods[request.method](request)
        return found

    route = Route(path, answer, methods=sorted(methods))
    # A HEAD would do the work of a GET and throw the answer away.
    route.methods = set(methods)
    return route


async def _problem(request: Request, error: RecollectError) -> Response:
    request.state.problem = error.code
    return drawn(request, error) or _as_data(request, error)


def _as_data(request: Request, error: RecollectError) -> Response:
    status, headers, body = problem(error, request.state.request_id)
    return Response(body, status, headers=headers)


async def _nobody_listens(_: Request, __: Exception) -> Response:
    """End what was asked by somebody who has gone away: no fault, and nothing that is sent."""
    return Response(status_code=NOBODY_LISTENS)


async def _nothing_there(request: Request, _: Exception) -> Response:
    return await _problem(
        request,
        NoSuchRoute("there is nothing at this path.", hint="/openapi.json lists what there is."),
    )


async def _other_method(request: Request, error: HTTPException) -> Response:
    said = await _problem(
        request,
        WrongMethod(
            f"this path takes no {request.method}.", hint="/openapi.json lists what it takes."
        ),
    )
    said.headers.update(error.headers or {})
    return said


async def _unforeseen(request: Request, _: Exception) -> Response:
    """Tell nothing of what nobody foresaw; the log has all of it."""
    return await _problem(
        request,
        ServerFault("something went wrong that should not.", hint="the server's log says what."),
    )


class Named:
    """Gives each request an id, and routes by the path as it was sent.

    An id with a slash in it stays one segment that way: a server that decodes the path first takes
    it for two.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on under its name."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        name = _given_name(scope) or secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = name
        scope["path"] = scope.get("raw_path", scope["path"].encode()).decode("ascii", "replace")

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", name.encode())]
            await send(message)

        await self._app(scope, receive, sending)


def _given_name(scope: Mapping[str, Any]) -> str | None:
    """Return the id that a client gave its request, if it can be written in a log as it is."""
    for header, value in scope["headers"]:
        if header == b"x-request-id" and 0 < len(value) <= 128 and value.isascii():
            text: str = value.decode()
            return text if text.isprintable() and " " not in text else None
    return None
