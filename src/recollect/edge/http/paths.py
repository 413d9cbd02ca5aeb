"""What answers at which path: found by a look, however many there are, and answered at once.

In: paths with endpoints, and requests. Out: what the endpoint answers, or the problem that came of
it, compressed for whoever accepts that; what is at none of the paths is passed on. This is the way
of nearly all requests, so nothing stands around it that need not (ADR-0094).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Compressing", "Paths", "Problem", "Routed"]

Endpoint = Callable[[Request], Awaitable[Response]]
Methods = Mapping[str, Endpoint]
Problem = Callable[[Request, Any], Awaitable[Response]]
_COMPRESSED_FROM = 1_024
_QUICKLY = 4
_VARIES = (b"vary", b"Accept-Encoding")
_NAME = re.compile(r"\{(\w+)\}")
# The same request at the other path; another method at this one.
_THERE, _OTHER_METHOD = 307, 405


class Paths:
    """Endpoints by path and method. A name in braces stands for anything but a slash."""

    def __init__(self) -> None:
        self._fixed: dict[str, dict[str, Endpoint]] = {}
        self._named: dict[int, list[tuple[re.Pattern[str], Methods]]] = {}

    def add(self, endpoints: Iterable[tuple[str, Methods]]) -> None:
        """Add more; the first of two that fit a path is asked first."""
        for path, methods in endpoints:
            if "{" not in path:
                self._fixed.setdefault(path, {}).update(methods)
                continue
            named = "".join(
                re.escape(part) if number % 2 == 0 else f"(?P<{part}>[^/]+)"
                for number, part in enumerate(_NAME.split(path))
            )
            of_a_length = self._named.setdefault(path.count("/"), [])
            of_a_length.append((re.compile(named), methods))

    def find(self, path: str, method: str) -> tuple[Endpoint, dict[str, str]] | None:
        """Return what answers, and what stands for the names; None if nothing is there."""
        found = self._fixed.get(path)
        if found is not None and method in found:
            return found[method], {}
        others: Methods | None = found
        for pattern, methods in self._named.get(path.count("/"), ()):
            fits = pattern.fullmatch(path)
            if fits is not None:
                if method in methods:
                    return methods[method], fits.groupdict()
                others = others or methods
        if others is not None:
            return _refusing(others), {}
        return None

    def beside(self, path: str) -> str | None:
        """Return the path that was meant, with a slash at its end more or less."""
        other = path[:-1] if path.endswith("/") else f"{path}/"
        return other if self.find(other, "") is not None else None


class Routed:
    """Answers what is at one of the paths, and passes the rest on."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        paths: Paths,
        problems: Mapping[type[Exception], Problem],
    ) -> None:
        self._app = app
        self._paths = paths
        self._problems = problems

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        found = None
        if scope["type"] == "http":
            found = self._paths.find(scope["path"], scope["method"])
        if found is None:
            await self._elsewhere(scope, receive, send)
            return
        endpoint, scope["path_params"] = found
        request = Request(scope, receive)
        try:
            response = await endpoint(request)
        except Exception as error:
            kind = next(one for one in self._problems if isinstance(error, one))
            response = await self._problems[kind](request, error)
            if kind is Exception:
                await response(scope, receive, send)
                raise
        await _as_accepted(response, request)(scope, receive, send)

    async def _elsewhere(self, scope: Scope, receive: Receive, send: Send) -> None:
        meant = self._paths.beside(scope["path"]) if scope["type"] == "http" else None
        if meant is None:
            await self._app(scope, receive, send)
            return
        query = scope["query_string"].decode("ascii", "replace")
        to = f"{meant}?{query}" if query else meant
        await RedirectResponse(to, _THERE)(scope, receive, send)


def _refusing(methods: Methods) -> Endpoint:
    """Return what refuses a method, and says which there are."""

    async def refuse(_: Request) -> Response:
        raise HTTPException(_OTHER_METHOD, headers={"Allow": ", ".join(sorted(methods))})

    return refuse


class Compressing(GZipMiddleware):
    """Compresses what is long, for whoever accepts that."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, minimum_size=_COMPRESSED_FROM, compresslevel=_QUICKLY)


def _as_accepted(response: Response, request: Request) -> ASGIApp:
    """Return a response as whoever asked wants it: most are short, or wanted as they are."""
    body: Any = getattr(response, "body", None)
    if body is None or "gzip" in request.headers.get("accept-encoding", ""):
        return Compressing(response)
    if len(body) >= _COMPRESSED_FROM:
        response.raw_headers.append(_VARIES)
    return response
