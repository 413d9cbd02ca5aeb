"""Each request by a name, and by its path as it was sent.

In: whatever passes between server and application. Out: the same, with an id that comes back in a
header and stands in the log. Nothing else is read here.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Named"]


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
