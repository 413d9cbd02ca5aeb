"""What anybody may read of a server: its description, for programs and for people.

In: nothing. Out: routes for /openapi.json, /compat/openapi.json and /reference. They tell of the
release, not of a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from recollect.edge import wire
from recollect.edge.http.compat.described import document as compat_document
from recollect.edge.http.openapi import document
from recollect.edge.http.reference import STYLE, page
from recollect.edge.http.routes import JSON

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["description_routes"]

# Nothing is run and nothing is loaded but the style that is served here.
_POLICY = {"content-security-policy": "default-src 'none'; style-src 'self'"}


async def _openapi(_: Request) -> Response:
    return Response(wire.encode(document()), media_type=JSON)


async def _compat(_: Request) -> Response:
    return Response(wire.encode(compat_document()), media_type=JSON)


async def _reference(_: Request) -> Response:
    return Response(page(), media_type="text/html", headers=_POLICY)


async def _style(_: Request) -> Response:
    return Response(STYLE, media_type="text/css")


def description_routes() -> list[Route]:
    """Return the routes."""
    return [
        Route("/openapi.json", _openapi, methods=["GET"]),
        Route("/compat/openapi.json", _compat, methods=["GET"]),
        Route("/reference", _reference, methods=["GET"]),
        Route("/reference.css", _style, methods=["GET"]),
    ]
