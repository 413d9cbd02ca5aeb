"""Signing in with a key, and out again.

In: a key that was typed, or the code by which `recollect inspector` lets its own browser in. Out: a
session, and a cookie that no script reads and no other site sends. A key that is wrong, expired or
revoked is one and the same answer.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response

from recollect.edge.http.identity import noted
from recollect.edge.inspector.headers import PAGE_HEADERS
from recollect.edge.inspector.problems import on_a_page
from recollect.edge.inspector.rendering import render
from recollect.edge.inspector.sessions import Held, Session, form_token, is_form_token
from recollect.edge.inspector.visit import name_of
from recollect.errors import KeyNeeded, NoSuchRoute, WrongHost

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.edge.http.routes import Endpoint
    from recollect.edge.http.server import Server

__all__ = ["session_of", "sign_in_endpoints"]

_FIRST_PAGE = "/ask"
_MOST_BYTES = 16_384
_WRONG_KEY = 401
_FROM_HERE = ("same-origin", "none")


def session_of(server: Server, request: Request) -> Session | None:
    """Return the session that a request comes in, if that is not at its end."""
    return server.sessions.find(request.cookies.get(_cookie(request)))


def sign_in_endpoints(server: Server) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    """Yield each path with what answers its methods."""

    async def asked(request: Request) -> Response:
        return _form(server, request, next_page=request.query_params.get("next"))

    async def signed_in(request: Request) -> Response:
        given = await _sent(server, request)
        _need_own_form(request, given.get("token"))
        key = given.get("key", "").strip()
        try:
            return await _let_in(server, request, key, next_page=given.get("next"))
        except KeyNeeded:
            return _form(server, request, next_page=given.get("next"), is_wrong=True)

    async def signed_out(request: Request) -> Response:
        given = await _sent(server, request)
        session = session_of(server, request)
        if session is not None:
            _need_here(request)
            if not is_form_token(given.get("token"), session.name):
                raise _not_from_here()
            server.sessions.end(session.name)
        away = RedirectResponse("/sign-in", 303, headers=PAGE_HEADERS)
        away.delete_cookie(_cookie(request), httponly=True, samesite="strict")
        return away

    async def entered(request: Request) -> Response:
        code, owner = server.options.entrance, server.options.owner_token
        shown = request.query_params.get("code", "")
        if code is None or owner is None or not _is_same(shown, code):
            raise NoSuchRoute("there is nothing at this path.", hint="/sign-in takes a key.")
        if not server.sessions.first_with(code):
            return RedirectResponse(_FIRST_PAGE, 303, headers=PAGE_HEADERS)
        return await _let_in(server, request, owner, next_page=None)

    yield "/sign-in", {"GET": asked, "POST": signed_in}
    yield "/sign-out", {"POST": signed_out}
    yield "/enter", {"GET": entered}


async def _let_in(server: Server, request: Request, key: str, *, next_page: str | None) -> Response:
    """Begin a session of whoever has this key; one that was there goes on in it."""
    who = await server.begin_as(
        request, "sign in", shown=key or None, act=lambda served: served.memory.principal
    )
    before = session_of(server, request)
    held = Held(name_of(who), noted(key, server.options))
    session = server.sessions.begin((held,) if before is None else before.with_key(held))
    if before is not None:
        server.sessions.end(before.name)
    there = RedirectResponse(_own_path(next_page), 303, headers=PAGE_HEADERS)
    there.set_cookie(
        _cookie(request),
        session.name,
        httponly=True,
        samesite="strict",
        secure=_is_secure(request),
    )
    there.delete_cookie(f"{_cookie(request)}_form")
    return there


def _form(
    server: Server, request: Request, *, next_page: str | None, is_wrong: bool = False
) -> Response:
    session = session_of(server, request)
    name = request.cookies.get(f"{_cookie(request)}_form") or secrets.token_urlsafe(24)
    html = render(
        "sign_in.html",
        title="Sign in",
        token=form_token(name),
        next_page=_own_path(next_page),
        is_wrong=is_wrong,
        has_token=server.options.token is not None,
        has_entrance=server.options.entrance is not None,
        held=[] if session is None else [one.who for one in session.held],
    )
    status = _WRONG_KEY if is_wrong else 200
    page = Response(html, status, media_type="text/html", headers=PAGE_HEADERS)
    page.set_cookie(
        f"{_cookie(request)}_form",
        name,
        httponly=True,
        samesite="strict",
        secure=_is_secure(request),
    )
    return page


async def _sent(server: Server, request: Request) -> dict[str, str]:
    on_a_page(request, dict)
    body = await server.body_of(request, most=_MOST_BYTES)
    given = parse_qs(body.decode("utf-8", "replace"), max_num_fields=10)
    return {name: texts[0] for name, texts in given.items()}


def _need_own_form(request: Request, token: str | None) -> None:
    """Refuse a form that was not shown to this browser: nobody is signed in as somebody else."""
    _need_here(request)
    name = request.cookies.get(f"{_cookie(request)}_form")
    if name is None or not is_form_token(token, name):
        raise _not_from_here()


def _need_here(request: Request) -> None:
    if request.headers.get("sec-fetch-site", _FROM_HERE[0]) not in _FROM_HERE:
        raise _not_from_here()


def _not_from_here() -> WrongHost:
    return WrongHost(
        "this form was not sent from a page of yours.", hint="open /sign-in again, and send it."
    )


def _cookie(request: Request) -> str:
    """Return the name of the cookie; browsers tell servers on one machine apart by nothing else."""
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"recollect_{port if port.isdigit() else 'session'}"


def _is_secure(request: Request) -> bool:
    """Return whether the browser came by https, also if that ends before this server."""
    origin = request.headers.get("origin", "")
    return request.url.scheme == "https" or origin.startswith("https:")


def _own_path(path: str | None) -> str:
    """Return a path of this server, whatever was asked for."""
    is_own = path is not None and path.startswith("/") and path[1:2] not in ("/", "\\")
    return path if path is not None and is_own and path.isprintable() else _FIRST_PAGE


def _is_same(shown: str, known: str) -> bool:
    return hmac.compare_digest(shown.encode("utf-8", "replace"), known.encode())
