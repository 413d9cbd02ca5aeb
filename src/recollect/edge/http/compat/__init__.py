"""Dialects: what clients of other memories send and expect, spoken by the same engine.

A client is given `…/compat/stigmem` or `…/compat/mem0` as its base address. Who asks comes from the
key, as everywhere; what a dialect calls a user is something to filter by, never a principal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from recollect.edge.http.compat import mem0, stigmem
from recollect.edge.http.compat.dialect import endpoints_of

if TYPE_CHECKING:
    from recollect.edge.http.routes import Endpoint
    from recollect.edge.http.server import Server

__all__ = ["compat_endpoints"]

_DIALECTS = {"/compat/stigmem": stigmem.SPOKEN, "/compat/mem0": mem0.SPOKEN}


def compat_endpoints(server: Server) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    """Yield each path of each dialect with what answers its methods."""
    for prefix, spoken in _DIALECTS.items():
        yield from endpoints_of(server, prefix, spoken)
