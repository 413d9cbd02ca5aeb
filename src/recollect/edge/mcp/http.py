"""MCP at `/mcp` of a server: keys as bearer tokens, each request by itself.

In: requests that came to the server's own routes. Out: what the SDK answers, with a memory that
acts for whoever the key stands for. The SDK is loaded when somebody first asks. Nothing is kept
between requests, so that any worker can answer any of them; limits are those of the server.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect.edge import wire
from recollect.edge.agents import hand_over
from recollect.edge.agents.deadline import CLOSING_S, wait_for_rest
from recollect.edge.echo import Echoes
from recollect.edge.http.identity import bearer
from recollect.edge.http.problems import problem
from recollect.edge.http.routes import carried_out
from recollect.edge.mcp.calls import Session
from recollect.errors import KeyNeeded, NoSuchRoute, WrongMethod
from recollect.model import LOCAL_PRINCIPAL
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Message, Receive, Scope, Send

    from recollect.edge.http.server import Server
    from recollect.edge.http.stores import Served
    from recollect.edge.mcp.issuer import Issuer
    from recollect.edge.verbs import Verb
    from recollect.engine import Recollect
    from recollect.model import Principal

__all__ = ["PATH", "McpDoor", "mcp_routes"]

Answer = TypeVar("Answer")
PATH = "/mcp"
_METADATA = "/.well-known/oauth-protected-resource"
_PRINCIPAL = "principal_of_token"
# For so long whoever was let in is let in again, and so many are kept in mind.
_MOMENT_S = 5.0
_MOST_KNOWN = 256
# What a message says whose sender wants to be told how far it is, which takes a stream of events.
_PROGRESS = b"progressToken"


@dataclass(frozen=True, slots=True, eq=False)
class _Managers:
    """What the SDK answers with: one JSON text, or a stream of events, which costs more."""

    brief: Any
    telling: Any


def mcp_routes(door: McpDoor) -> Iterator[Route]:
    """Yield the routes of a door."""
    yield Route(PATH, door)
    yield Route(hand_over.PATH, door.hook, methods=["POST"])
    if door.options.outside is not None:
        for path in (_METADATA, f"{_METADATA}{PATH}"):
            yield Route(path, door.metadata, methods=["GET"])


class McpDoor:
    """The door of one worker."""

    def __init__(self, server: Server) -> None:
        self.options = server.options
        self._server = server
        self._echoes = Echoes()
        self._let_in_before: dict[str | None, tuple[float, Principal | None]] = {}
        self._issuer: Issuer | None = None
        self._managers: _Managers | None = None
        self._opening = asyncio.Lock()
        self._end = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, once it is known who asks."""
        # What stands around a value in a header is no part of it, and some parsers leave it there.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        request = Request(scope, receive)
        self._server.guard.check(request.headers)
        if request.method != "POST":
            raise WrongMethod(
                f"this path takes no {request.method}.", hint="POST messages of MCP to it."
            )
        opened = await self._opened()
        try:
            await self._let_in(request)
        except KeyNeeded as error:
            await self._challenge(error, request)(scope, receive, send)
            return
        body = await self._server.body_of(request)
        manager = opened.telling if _PROGRESS in body else opened.brief
        await manager.handle_request(scope, _once_more(body, receive), send)

    async def metadata(self, _: Request) -> Response:
        """Tell who gives out tokens for this server."""
        from recollect.edge.mcp.issuer import metadata

        if self.options.outside is None:
            raise NoSuchRoute("this server has no outside issuer.", hint="it takes keys.")
        body = wire.encode(metadata(self.options.outside))
        return Response(body, media_type="application/json")

    async def hook(self, request: Request) -> Response:
        """Answer a hook of a coding agent: what the tool `on_hook` does, without the SDK.

        Who sees other folders than we do is told so, and answers by itself.
        """
        from recollect.edge.mcp.hidden import Hook, answered

        self._server.guard.check(request.headers)
        await self._let_in(request)
        hook = Hook(_object(await self._server.body_of(request)))
        if not hook.is_of_here:
            return Response(b"{}", HTTPStatus.CONFLICT, media_type="application/json")
        outcome = await answered(hook, self._run(request, "on_hook", hook.answer))
        return Response(outcome.text, media_type="application/json")

    async def run(self, ctx: Any, verb: str, act: Callable[[Session], Answer]) -> Answer:
        """Return what is done in a thread, with the memory of whoever asks."""
        return await self._run(ctx.request, verb, act)

    async def _run(self, request: Request, verb: str, act: Callable[[Session], Answer]) -> Answer:
        request.state.verb = verb

        def call() -> Answer:
            server = self._server
            server.reloads.follow(server.stores)
            with server.stores.serve(_shown(request), known=_known(request)) as served:
                who = served.memory.principal
                request.state.store, request.state.key = served.store, who.key
                server.rates.take(served.store, who.key or "")
                if verb == "on_hook" and server.quotas.is_on:
                    server.quotas.take(served, 1, 0)
                listener = (served.store, who.tenant, who.id)
                perform = partial(self._perform, served)
                again = partial(self._lent_again, _shown(request), _known(request))
                whose = None if _is_own(who) else f"{who.tenant}/{who.id}"
                return act(Session(served.memory, listener, self._echoes, perform, again, whose))

        return await self._server.places.run(call)

    @contextmanager
    def _lent_again(self, shown: str | None, known: Principal | None) -> Iterator[Recollect]:
        with self._server.stores.serve(shown, known=known) as served:
            yield served.memory

    async def close(self) -> None:
        """Come to an end; what hooks began is done first."""
        await asyncio.to_thread(wait_for_rest, CLOSING_S)
        self._end.set()
        if self._life is not None:
            await self._life

    def _perform(
        self, served: Served, verb: Verb, given: Mapping[str, Any], **more: Any
    ) -> wire.Object | Iterator[str]:
        """Carry out a verb as the other routes do: counted, within quotas, inside of a span."""
        size = len(json.dumps(given, default=str)) if self._server.quotas.is_on else 0
        answer: wire.Object | Iterator[str] = carried_out(
            self._server, verb, served, given, size=size, **more
        )
        return answer

    async def _let_in(self, request: Request) -> None:
        """Refuse whoever shows nothing good, before a message is read.

        Who was good a moment ago may list tools without being looked at again; a key is looked at
        by whatever is done with a memory, each time.
        """
        shown, now = _shown(request), time.monotonic()
        known = self._let_in_before.get(shown)
        if known is None or not 0 <= now - known[0] < _MOMENT_S:
            known = (now, await self._server.go_on(partial(self._identified, shown)))
            self._let_in_before.pop(shown, None)
            self._let_in_before[shown] = known
            while len(self._let_in_before) > _MOST_KNOWN:
                del self._let_in_before[next(iter(self._let_in_before))]
        setattr(request.state, _PRINCIPAL, known[1])

    def _identified(self, shown: str | None) -> Principal | None:
        """Return who showed a token of the issuer's, None for a key that is good."""
        if self._issuer is not None and shown is not None and shown.count(".") == 2:
            return self._issuer.principal_of(shown)
        with self._server.stores.serve(shown):
            return None

    def _challenge(self, error: KeyNeeded, request: Request) -> Response:
        request.state.problem = error.code
        status, headers, body = problem(error, request.state.request_id)
        outside = self.options.outside
        if outside is not None:
            at = outside.resource.removesuffix(PATH) + _METADATA + PATH
            reason = ', error="invalid_token"' if "authorization" in request.headers else ""
            headers["www-authenticate"] = f'Bearer resource_metadata="{at}"{reason}'
        return Response(body, status, headers=headers)

    async def _opened(self) -> _Managers:
        """Return what the SDK answers with; the first who asks waits for it to be loaded."""
        if self._managers is not None:
            return self._managers
        async with self._opening:
            if self._managers is None:
                managers = await asyncio.to_thread(self._load)
                ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._life = asyncio.ensure_future(self._live(managers, ready))
                await ready
                self._managers = managers
        return self._managers

    def _load(self) -> _Managers:
        try:
            from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

            from recollect.edge.mcp.server import make_server
        except ImportError as error:
            raise NoSuchRoute(
                "this server does not speak MCP.", hint='pip install "recollect[mcp]".'
            ) from error
        if self.options.outside is not None:
            from recollect.edge.mcp.issuer import Issuer

            self._issuer = Issuer(self.options.outside)
        server = make_server(self, tools=self.options.mcp_tools)
        make = partial(
            StreamableHTTPSessionManager,
            server,
            stateless=True,
            max_request_body_size=self.options.most_body_bytes,
        )
        return _Managers(brief=make(json_response=True), telling=make())

    async def _live(self, managers: _Managers, ready: asyncio.Future[None]) -> None:
        async with managers.brief.run(), managers.telling.run():
            ready.set_result(None)
            await self._end.wait()


def _is_own(who: Principal) -> bool:
    """Return whether somebody is who this machine's memory is of, and showed no key for it."""
    own = LOCAL_PRINCIPAL
    return who.key is None and (who.tenant, who.id) == (own.tenant, own.id)


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = None
    return told if isinstance(told, Mapping) else {}


def _once_more(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, then whatever comes."""
    told = iter(({"type": "http.request", "body": body, "more_body": False},))

    async def receiving() -> Message:
        return next(told, None) or await receive()

    return receiving


def _shown(request: Request) -> str | None:
    return bearer(request.headers.get("Authorization"))


def _known(request: Request) -> Principal | None:
    """Return who asks, where that was found out when the request was let in."""
    found: Principal | None = getattr(request.state, _PRINCIPAL, None)
    return found
