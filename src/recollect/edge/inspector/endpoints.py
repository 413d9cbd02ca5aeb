"""Pages and forms as routes: a request in, HTML or its JSON twin out.

In: what `pages` declares, and the server that lends stores. Out: paths with what answers them. Who
asks is known from the session, or from a bearer key; a form counts only with the session's token,
from a page of this server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response

from recollect.edge import wire
from recollect.edge.http.identity import Presented, bearer
from recollect.edge.http.problems import status_of
from recollect.edge.inspector.headers import PAGE_HEADERS
from recollect.edge.inspector.mistakes import Mistake, field_of
from recollect.edge.inspector.page import Data, Form, Go, Page, Shown
from recollect.edge.inspector.pages import FORMS, PAGES
from recollect.edge.inspector.problems import on_a_page
from recollect.edge.inspector.rendering import render
from recollect.edge.inspector.sessions import Session, form_token, is_form_token
from recollect.edge.inspector.signing_in import session_of, sign_in_endpoints
from recollect.edge.inspector.visit import Visit, name_of
from recollect.errors import BadBody, InvalidInput, KeyNeeded, RecollectError, WrongHost
from recollect.values import dataclass

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.edge.http.routes import Endpoint
    from recollect.edge.http.server import Server
    from recollect.edge.http.stores import Served

__all__ = ["inspector_endpoints"]

_JSON = "application/json"
_HTML = "text/html"
_FIRST_PAGE = "/ask"
_FINE, _MISTYPED = 200, 422
_TO_PUT_RIGHT = (400, 409, 422)
_NOTHING_WRONG: Mapping[str, Mistake] = {}
_NOTHING_SENT: Mapping[str, Sequence[str]] = {}
# What a browser says of a form that comes from here, or was sent by hand.
_FROM_HERE = ("same-origin", "none")


def inspector_endpoints(server: Server) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    """Yield each path with what answers its methods."""
    yield "/", {"GET": _first}
    yield from sign_in_endpoints(server)
    by_path: dict[str, dict[str, Endpoint]] = {}
    for page in PAGES:
        # First, so that an id is not read up to the end of the name.
        by_path.setdefault(f"{page.path}.json", {})["GET"] = _page(server, page, as_json=True)
        by_path.setdefault(page.path, {})["GET"] = _page(server, page, as_json=False)
    for form in FORMS:
        by_path.setdefault(form.path, {})["POST"] = _form(server, form)
    yield from by_path.items()


async def _first(_: Request) -> Response:
    return RedirectResponse(_FIRST_PAGE, 303, headers=PAGE_HEADERS)


@dataclass(frozen=True, slots=True)
class _Coming:
    """A request, with the session that it came in."""

    request: Request
    session: Session | None

    @property
    def shown(self) -> Presented:
        """The key that it shows in a header, or what its session has noted of one."""
        given = bearer(self.request.headers.get("Authorization"))
        return given if given is not None or self.session is None else self.session.key


def _page(server: Server, page: Page, *, as_json: bool) -> Endpoint:
    async def answer(request: Request) -> Response:
        coming = await _coming(server, request, as_json=as_json)

        def act(served: Served) -> Response:
            with _visit(server, served, coming) as visit:
                if as_json:
                    data = page.view(visit)
                    answer = Response(wire.encode(data), media_type=_JSON, headers=PAGE_HEADERS)
                else:
                    answer = _shown(visit, coming, page)
                request.state.recall_id = visit.receipt
                return answer

        name = f"page {page.path}"
        return await _begun(server, coming, name, act)

    return answer


def _form(server: Server, form: Form) -> Endpoint:
    async def answer(request: Request) -> Response:
        coming = await _coming(server, request, as_json=False)
        given = await _sent(server, request)
        _need_own_page(request, coming.session, given)

        def act(served: Served) -> Response:
            with _visit(server, served, coming, form=given) as visit:
                try:
                    done = form.act(visit)
                except RecollectError as error:
                    return _as_sent(visit, coming, form, error)
                if isinstance(done, Shown):
                    return _drawn(visit, coming, done.template, {"title": done.title, **done.data})
            return _gone_on(server, coming.session, done)

        name = f"form {form.path}"
        return await _begun(server, coming, name, act)

    return answer


def _shown(
    visit: Visit, coming: _Coming, page: Page, wrong: Mapping[str, Mistake] = _NOTHING_WRONG
) -> Response:
    """Draw a page; what was mistyped is left out of what it shows, and told beside its field."""
    found, sent = dict(wrong), visit.typed if wrong else _NOTHING_SENT
    while True:
        try:
            data = page.view(visit)
            break
        except InvalidInput as error:
            name = field_of(error, set(visit.typed) - set(found))
            if name is None:
                raise
            found[name] = Mistake.of(name, visit.typed[name][-1], error)
            visit.leave_out(name)
    more = {"title": page.title, **data, "wrong": found, "sent": sent}
    return _drawn(visit, coming, page.template, more, status=_MISTYPED if found else _FINE)


def _as_sent(visit: Visit, coming: _Coming, form: Form, error: RecollectError) -> Response:
    """Draw the page of a form that will not do, as it was sent."""
    page = next((one for one in PAGES if one.path == (form.on or form.path)), None)
    name = field_of(error, visit.typed)
    if page is None or name is None or status_of(error) not in _TO_PUT_RIGHT:
        raise error
    wrong = {name: Mistake.of(name, visit.typed[name][-1], error)}
    visit.leave_out(name)
    return _shown(visit, coming, page, wrong)


async def _begun(
    server: Server, coming: _Coming, name: str, act: Callable[[Served], Response]
) -> Response:
    """Answer as whoever asks; with its key, a session ends."""
    try:
        return await server.begin_as(coming.request, name, shown=coming.shown, act=act)
    except KeyNeeded:
        if coming.session is not None and coming.shown is coming.session.key:
            server.sessions.end(coming.session.name)
        raise


async def _coming(server: Server, request: Request, *, as_json: bool) -> _Coming:
    coming = _Coming(request, session_of(server, request))
    if not as_json:
        on_a_page(request, lambda: _around(None, coming))
    return coming


def _visit(
    server: Server, served: Served, coming: _Coming, *, form: Mapping[str, list[str]] | None = None
) -> Visit:
    query = coming.request.query_params
    return Visit(
        server,
        served,
        shown=coming.shown,
        session=coming.session,
        in_path=coming.request.path_params,
        query={name: query.getlist(name) for name in query},
        form=form,
    )


async def _sent(server: Server, request: Request) -> dict[str, list[str]]:
    """Return the fields of a form."""
    body = await server.body_of(request)
    try:
        return parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=1_000)
    except ValueError:
        raise BadBody("this is no form that can be read.", hint="send it from its page.") from None


def _need_own_page(
    request: Request, session: Session | None, given: Mapping[str, list[str]]
) -> None:
    """Refuse a form that no page of this session sent."""
    site = request.headers.get("sec-fetch-site", _FROM_HERE[0])
    token = given.get("token", [None])[0]
    if site not in _FROM_HERE or session is None or not is_form_token(token, session.name):
        raise WrongHost(
            "this form was not sent from a page of yours.", hint="open the page again, and send it."
        )


def _gone_on(server: Server, session: Session | None, done: Go) -> Response:
    if done.said and session is not None:
        server.sessions.say(session, done.said)
    return RedirectResponse(done.path, 303, headers=PAGE_HEADERS)


def _drawn(
    visit: Visit, coming: _Coming, template: str, data: Data, *, status: int = _FINE
) -> Response:
    html = render(template, **{**_around(visit, coming), **data})
    session = coming.session
    if session is not None and session.said:
        visit.server.sessions.say(session, "")
    return Response(html, status, media_type=_HTML, headers=PAGE_HEADERS)


def _around(visit: Visit | None, coming: _Coming) -> dict[str, Any]:
    """Return what stands around each page; without a visit, what there is for anybody."""
    request, session = coming.request, coming.session
    permissions = () if visit is None else visit.me.permissions
    query = f"?{request.url.query}" if request.url.query else ""
    return {
        "here": request.url.path,
        "twin": f"{request.url.path}.json{query}" if request.method == "GET" else None,
        "wrong": _NOTHING_WRONG,
        "sent": _NOTHING_SENT,
        "token": "" if session is None else form_token(session.name),
        "said": "" if session is None else session.said,
        "is_signed_in": session is not None,
        "whoami": _name(visit, session),
        "may": {name: name in permissions for name in _PERMISSIONS},
        "nav": _navigation(permissions, is_known=visit is not None),
    }


def _name(visit: Visit | None, session: Session | None) -> str | None:
    if visit is not None:
        return name_of(visit.me)
    return None if session is None else session.held[0].who


_PERMISSIONS = ("read", "write", "admin", "moderate", "instruct")


def _navigation(permissions: tuple[str, ...], *, is_known: bool) -> dict[str, list[Page]]:
    """Return the pages that stand in the navigation, by group."""
    groups: dict[str, list[Page]] = {}
    for page in PAGES:
        if page.label is not None and (not is_known or page.permission in permissions):
            groups.setdefault(page.group, []).append(page)
    return groups
