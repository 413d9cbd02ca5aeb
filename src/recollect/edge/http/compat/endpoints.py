"""Where each dialect is found, with what answers it.

In: a server. Out: paths and endpoints, beside those of `/v1`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.edge.http.compat import mem0, stigmem
from recollect.edge.http.compat.dialect import Spoken, endpoints_of

if TYPE_CHECKING:
    from recollect.edge.http.routes import Endpoint
    from recollect.edge.http.server import Server

__all__ = ["DIALECTS", "compat_endpoints"]

DIALECTS: Mapping[str, Sequence[Spoken]] = {
    "/compat/stigmem": stigmem.SPOKEN,
    "/compat/mem0": mem0.SPOKEN,
}


def compat_endpoints(server: Server) -> Iterator[tuple[str, Mapping[str, Endpoint]]]:
    """Yield each path of each dialect with what answers its methods."""
    for prefix, spoken in DIALECTS.items():
        yield from endpoints_of(server, prefix, spoken)
