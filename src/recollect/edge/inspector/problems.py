"""Errors as pages: what happened, in words for a person, and what to do next.

In: a request of a page, and an error. Out: a page, or the way to sign in; nothing for whoever did
not ask for a page, who gets problem+json. What one may not read and what is not there are one page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from recollect.edge.http.problems import status_of
from recollect.edge.inspector.headers import PAGE_HEADERS
from recollect.edge.inspector.rendering import render
from recollect.errors import KeyNeeded, NoSuchRoute, RecollectError

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["drawn", "on_a_page"]

Frame = Callable[[], dict[str, object]]

# What stands around a page while nobody knows who asks.
_NOBODY: Mapping[str, object] = {
    "here": "",
    "twin": None,
    "wrong": {},
    "sent": {},
    "token": "",
    "said": "",
    "is_signed_in": False,
    "whoami": None,
    "may": {},
    "nav": {},
}

_ABSENT, _DENIED = 404, 403
_TITLES = {
    _ABSENT: "Nothing here",
    _DENIED: "Not yours to do",
    405: "Not like this",
    409: "There already",
    413: "Too much at once",
    422: "Not quite",
    400: "Not quite",
    429: "Too often",
    503: "Busy",
}
_BROKEN = "Something is broken"
_KINDS = {_ABSENT: "absent", _DENIED: "denied", 422: "asked", 400: "asked", 409: "asked"}


def on_a_page(request: Request, around: Frame) -> None:
    """Say that this request is for a page, and what stands around whatever is shown."""
    request.state.around = around


def drawn(request: Request, error: RecollectError) -> Response | None:
    """Return an error as a page, if one was asked for."""
    around: Frame | None = getattr(request.state, "around", None)
    if around is None and not _is_lost(request, error):
        return None
    if isinstance(error, KeyNeeded):
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        next_page = "" if request.method != "GET" else f"?next={quote(here, safe='')}"
        return RedirectResponse(f"/sign-in{next_page}", 303, headers=PAGE_HEADERS)
    status = status_of(error)
    html = render(
        "problem.html",
        **{**_NOBODY, **({} if around is None else around())},
        title=_TITLES.get(status, _BROKEN),
        kind=_KINDS.get(status, "broken"),
        message=error.message,
        hint=error.hint or "",
        code=error.code,
        request_id=request.state.request_id,
    )
    return Response(html, status, media_type="text/html", headers=PAGE_HEADERS)


def _is_lost(request: Request, error: RecollectError) -> bool:
    """Return whether a person came to a path where nothing is."""
    return isinstance(error, NoSuchRoute) and "text/html" in request.headers.get("accept", "")
