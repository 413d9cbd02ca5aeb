"""A connection of a server: so many at a time, so long and so large a head, the rest is refused.

In: bytes of a client. Out: requests, for uvicorn. A client that sends a head byte by byte, or none
at all, loses its connection after a while; one too many hears so at once instead of waiting for an
accept that does not come. What a request says is read elsewhere.
"""

from __future__ import annotations

import asyncio
import resource

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from recollect.edge.http.problems import problem
from recollect.errors import BadBody

__all__ = ["Connection", "most_connections", "raise_file_limit"]

# A head is complete within so many seconds and bytes.
HEAD_SECONDS = 30.0
HEAD_BYTES = 64 * 2**10
# Files that a worker opens beside its connections: the store's, the index's, pipes of hooks.
_OTHER_FILES = 128
_FULL = (
    b'{"type":"urn:recollect:problem:server_busy","title":"Service Unavailable","status":503,'
    b'"detail":"the server has as many connections as it can.","code":"server_busy",'
    b'"hint":"ask again in a second or so.","instance":null}'
)
_REFUSED = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\n"
    b"retry-after: 1\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"
)


def raise_file_limit() -> None:
    """Let this process open as many files as it may."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def most_connections() -> int:
    """Return how many connections fit this process's limit of open files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, limit - _OTHER_FILES)


class Connection(HttpToolsProtocol):
    """One client's connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a client in, if there is room."""
        super().connection_made(transport)
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        if len(self.connections) > most_connections():
            transport.write(_REFUSED % (len(_FULL), _FULL))
            transport.close()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let a client go."""
        self._head_is_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head of any length would fill the memory."""
        if self._head_timer is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES + len(data):
                self.send_400_response("")
                return
        if self.parser is not None:
            super().data_received(data)

    def on_message_begin(self) -> None:
        """Begin to read a head."""
        super().on_message_begin()
        if self._head_timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """Go on with a request whose head is there."""
        self._head_is_there()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's own words
        """Refuse what is no request, in the form of all errors."""
        error = BadBody("this is no HTTP request that can be read.", hint="is the URL too long?")
        status, headers, body = problem(error, "unread")
        lines = {**headers, "content-length": str(len(body)), "connection": "close"}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.transport.write(f"HTTP/1.1 {status} Bad Request\r\n{head}\r\n".encode() + body)
        self.transport.close()

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _head_is_there(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
