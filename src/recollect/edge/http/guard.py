"""Which hosts a server answers for, and which pages may ask it.

In: the headers of a request. Out: nothing, or `WrongHost`. On loopback a page of another site could
reach the server through the visitor's own browser, by a name that leads to 127.0.0.1: so the name
must be one of ours, and a page must be of this very server.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from recollect.edge.http.options import LOOPBACK, ServerOptions
from recollect.errors import WrongHost

__all__ = ["Guard"]


class Guard:
    """Looks at Host and Origin."""

    def __init__(self, options: ServerOptions) -> None:
        # A socket of the user's own is reached by no browser; its Host is whatever a client says.
        checks = options.socket is None and (options.is_local or bool(options.allowed_hosts))
        names = (*LOOPBACK, *options.allowed_hosts) if options.is_local else options.allowed_hosts
        self._names = frozenset(names) if checks else None

    def check(self, headers: Mapping[str, str]) -> None:
        """Refuse a request that names another host, or comes from another site's page."""
        host = headers.get("host", "")
        if self._names is not None and _name(host) not in self._names:
            raise WrongHost(
                "this server does not serve that host.",
                hint="use the address it printed; --allow-host adds a name.",
            )
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            raise WrongHost(
                "a page of another site may not ask.", hint="ask from a program, or from here."
            )


def _name(host: str) -> str:
    """Return a host without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
