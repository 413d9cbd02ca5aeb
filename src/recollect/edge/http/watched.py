"""Each request from outside: how long it took, what came of it, as a log and as numbers.

In: whatever passes between server and application. Out: the same, unaltered, and a line and counts
beside it. It is the outermost room, so that what goes wrong further in is seen here too.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from recollect.edge.http.counts import Counts
    from recollect.edge.http.logs import Log
    from recollect.edge.http.slow import SlowCalls

__all__ = ["Watched"]

_NO_VERB = "none"
_NOT_WATCHED = ("/healthz", "/readyz", "/metrics")
_FAILED = 500
CANNOT_SERVE = "cannot_serve"


class Watched:
    """Watches one application."""

    def __init__(self, app: ASGIApp, *, log: Log, counts: Counts, slow: SlowCalls) -> None:
        self._app = app
        self._log = log
        self._counts = counts
        self._slow = slow

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and look at what comes back."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, _plainly(scope, send))
            return
        if scope["type"] != "http" or scope["path"] in _NOT_WATCHED:
            await self._app(scope, receive, send)
            return
        await self._watch(scope, receive, send)

    async def _watch(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = scope.setdefault("state", {})
        status, sent = _FAILED, 0

        async def sending(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                sent += len(message.get("body", b""))
            await send(message)

        self._counts.began()
        began = time.perf_counter()
        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            # Under the id that whoever asked was told: what it says here leads to it.
            self._log.fault(error, request_id=known.get("request_id"), verb=known.get("verb"))
            raise
        finally:
            seconds = time.perf_counter() - began
            verb = known.get("verb") or _NO_VERB
            self._counts.ended(verb, status, seconds, reason=known.get("problem"))
            self._slow.took(verb, seconds, known)
            self._log.request(
                request_id=known.get("request_id"),
                verb=verb,
                status=status,
                ms=round(seconds * 1_000, 2),
                store=known.get("store"),
                key=known.get("key"),
                bytes=sent,
                code=known.get("problem"),
                query=scope["query_string"].decode("ascii", "replace"),
            )


def _plainly(scope: Scope, send: Send) -> Send:
    """Say in one line why a server does not start, where that is known."""

    async def sending(message: Message) -> None:
        state: Any = scope["app"].state if "app" in scope else None
        known = getattr(state, CANNOT_SERVE, None)
        if message["type"] == "lifespan.startup.failed" and known is not None:
            message = {**message, "message": known}
        await send(message)

    return sending
