"""The files that pages load: one style sheet, scripts, a picture. They tell of the release alone.

In: nothing. Out: routes below /static, each file at a path with a digest of it, so that a browser
may keep it for as long as it likes. Only files that are listed here are served.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from recollect.errors import NoSuchRoute

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["address_of", "asset_routes"]

_FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_NOTE = re.compile(r"/\*.*?\*/", re.DOTALL)
# Before a colon a space may mean something, after it never.
_SPACES = (
    (re.compile(r"\s*([{}])\s*"), r"\1"),
    (re.compile(r"([;,:])\s+"), r"\1"),
    (re.compile(r";}"), "}"),
)
_FOR_LONG = "public, max-age=31536000, immutable"


def asset_routes() -> list[Route]:
    """Return the routes."""
    return [Route("/static/{digest}/{name}", _asset, methods=["GET"])]


def address_of(name: str) -> str:
    """Return where a file is found."""
    return f"/static/{_files()[name][0]}/{name}"


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _files():
        raise NoSuchRoute("there is no such file.", hint="/ is the first page.")
    headers = {"cache-control": _FOR_LONG, "x-content-type-options": "nosniff"}
    return Response(_files()[name][1], media_type=_TYPES[Path(name).suffix], headers=headers)


@functools.cache
def _files() -> Mapping[str, tuple[str, bytes]]:
    """Return each file with its digest, by name, whichever folder it is in."""
    found = sorted(path for path in _FOLDER.rglob("*") if path.suffix in _TYPES)
    sent = {path.name: _sent(path) for path in found}
    return {name: (_digest(content), content) for name, content in sent.items()}


def _sent(path: Path) -> bytes:
    """Return a file as it is sent: a style sheet without what is there for its readers alone."""
    if path.suffix != ".css":
        return path.read_bytes()
    style = _NOTE.sub("", path.read_text(encoding="utf-8"))
    for pattern, shorter in _SPACES:
        style = pattern.sub(shorter, style)
    return style.encode()


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=6).hexdigest()
