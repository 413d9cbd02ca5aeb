"""Whether a server is alive, whether it can answer, and what it has counted.

In: requests of whoever looks after it. Out: ok or not, without a key and without another word; and
numbers, for the operator alone, or for whoever is at the machine while a store has no key.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from recollect.edge.http.identity import LOCAL_READER, bearer, is_operator, key_needed
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.edge.http.server import Server

__all__ = ["health_routes", "keep_figures", "note_figures"]

_JSON = "application/json"
_NUMBERS = "text/plain; version=0.0.4; charset=utf-8"
_OK, _NOT_OK = b'{"ok":true}', b'{"ok":false}'
_EVERY_S = 5.0


def health_routes(server: Server) -> list[Route]:
    """Return the routes of one worker."""

    async def alive(_: Request) -> Response:
        return Response(_OK, media_type=_JSON)

    async def ready(_: Request) -> Response:
        is_ready = await asyncio.to_thread(_is_ready, server)
        return Response(_OK if is_ready else _NOT_OK, 200 if is_ready else 503, media_type=_JSON)

    async def numbers(request: Request) -> Response:
        server.guard.check(request.headers)
        shown = bearer(request.headers.get("Authorization"))
        page = await asyncio.to_thread(_numbers, server, shown)
        return Response(page, headers={"content-type": _NUMBERS})

    return [
        Route("/healthz", alive, methods=["GET"]),
        Route("/readyz", ready, methods=["GET"]),
        Route("/metrics", numbers, methods=["GET"]),
    ]


async def keep_figures(server: Server) -> None:
    """Note every few seconds what this worker holds, for whichever worker is asked."""
    while True:
        await asyncio.to_thread(note_figures, server)
        await asyncio.sleep(_EVERY_S)


def _is_ready(server: Server) -> bool:
    if server.is_ending:
        return False
    try:
        return server.stores.is_ready()
    except (RecollectError, OSError):
        return False


def _numbers(server: Server, shown: str | None) -> bytes:
    if not is_operator(shown, server.options):
        with server.stores.serve(shown) as served:
            if served.memory.principal != LOCAL_READER:
                raise key_needed()
    note_figures(server)
    return server.counts.page()


def note_figures(server: Server) -> None:
    """Note what this worker holds and what its hooks did."""
    try:
        figures = server.stores.figures()
        server.counts.holds(figures.memories, figures.held_bytes, figures.behind)
        for hook in server.stores.hooks.stats().get("hooks", ()):
            server.counts.hook_did(hook["hook"], hook["counts"])
            server.counts.hook_took(hook["hook"], hook["latency_ms"])
    except RecollectError:
        # A store that cannot be looked at now is not ready; that is asked elsewhere.
        return
