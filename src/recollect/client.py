"""A memory on a server: `RemoteRecollect(url, key)` has the verbs and types of `Recollect`.

Code moves from a file to a server by changing the line that opens it. Takes `recollect[client]`;
httpx and the types of answers are loaded when a name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import ClientMissing
from recollect.on_demand import names_of

if TYPE_CHECKING:
    from recollect.edge.remote.awaited import AsyncRemoteRecollect
    from recollect.edge.remote.blocking import RemoteRecollect

__all__ = ["AsyncRemoteRecollect", "RemoteRecollect"]

_load = names_of(
    __name__,
    {
        "recollect.edge.remote.awaited": "AsyncRemoteRecollect",
        "recollect.edge.remote.blocking": "RemoteRecollect",
    },
)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        raise ClientMissing(
            "asking a server takes httpx.", hint='pip install "recollect[client]".'
        ) from error
