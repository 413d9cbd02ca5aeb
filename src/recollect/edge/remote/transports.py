"""How steps are carried out over HTTP: by a client that blocks, and by one that is awaited.

In: steps of an exchange, or a request whose answer is lines. Out: what the exchange gives. One
client keeps its connections; no proxy or certificate is taken from the environment.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, TypeVar

import httpx

from recollect import __version__
from recollect.edge.remote.exchange import Lost, Pause, Reply, Sent, Steps, failure
from recollect.errors import InvalidInput, RecollectError

__all__ = ["AsyncTransport", "Transport"]

Answer = TypeVar("Answer")
_UNIX = "unix:"
# Sent at once, so that a long import is not one packet a line.
_PART_BYTES = 2**16


class _Address:
    """Where a server is, and how it is asked."""

    def __init__(
        self, url: str, key: str | None, *, timeout: float, tls: ssl.SSLContext | None
    ) -> None:
        is_socket = isinstance(url, str) and url.startswith(_UNIX)
        self.socket = url.removeprefix(_UNIX).removeprefix("//") if is_socket else None
        self._url = "http://localhost" if is_socket else _checked(url)
        self._headers = {"user-agent": f"recollect/{__version__}"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {_printable(key)}"
        self._timeout = timeout
        self.tls = tls if tls is not None else True

    def options(self) -> dict[str, Any]:
        """Return what both clients are made with."""
        return {"base_url": self._url, "headers": self._headers, "timeout": self._timeout}


def _checked(url: object) -> str:
    try:
        parsed = httpx.URL(url) if isinstance(url, str) else httpx.URL("")
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise InvalidInput(
            f"{url!r:.80} is no address of a server.",
            hint="http://127.0.0.1:8377, https://memory.example.org or unix:/run/recollect.sock",
        )
    return str(parsed)


def _printable(key: object) -> str:
    if not isinstance(key, str) or not key.isascii() or not key.isprintable():
        raise InvalidInput("a key is printable ASCII text.", hint="rk_…, as it was given out.")
    return key


class Transport:
    """Asks a server and waits for its answer."""

    def __init__(
        self, url: str, key: str | None, *, timeout: float, tls: ssl.SSLContext | None
    ) -> None:
        address = _Address(url, key, timeout=timeout, tls=tls)
        way = httpx.HTTPTransport(uds=address.socket, verify=address.tls, trust_env=False)
        self._client = httpx.Client(transport=way, **address.options())

    def run(self, steps: Steps[Answer]) -> Answer:
        """Carry out steps to their end."""
        came: Reply | Lost | None = None
        try:
            while True:
                step = steps.send(came)
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    came = None
                else:
                    came = self._send(step)
        except StopIteration as done:
            answer: Answer = done.value
            return answer

    def _send(self, request: Sent) -> Reply | Lost:
        content = _parts(request.lines) if request.lines is not None else request.body
        try:
            response = self._client.request(**_named(request), content=content)
        except httpx.TransportError as error:
            return _lost(error)
        return _reply(response)

    def lines(self, request: Sent) -> Iterator[str]:
        """Yield the lines that answer a request, as they come."""
        try:
            with self._client.stream(**_named(request)) as response:
                if response.is_error:
                    response.read()
                    raise _refused(response)
                rest = b""
                for part in response.iter_bytes():
                    *whole, rest = (rest + part).split(b"\n")
                    yield from (line.decode() for line in whole)
        except httpx.TransportError as error:
            raise _unanswered(error) from error

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()


class AsyncTransport:
    """Asks a server; others go on meanwhile."""

    def __init__(
        self, url: str, key: str | None, *, timeout: float, tls: ssl.SSLContext | None
    ) -> None:
        address = _Address(url, key, timeout=timeout, tls=tls)
        way = httpx.AsyncHTTPTransport(uds=address.socket, verify=address.tls, trust_env=False)
        self._client = httpx.AsyncClient(transport=way, **address.options())

    async def run(self, steps: Steps[Answer]) -> Answer:
        """Carry out steps to their end."""
        came: Reply | Lost | None = None
        try:
            while True:
                step = steps.send(came)
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    came = None
                else:
                    came = await self._send(step)
        except StopIteration as done:
            answer: Answer = done.value
            return answer

    async def _send(self, request: Sent) -> Reply | Lost:
        lines = request.lines
        content = _later(_parts(lines)) if lines is not None else request.body
        try:
            response = await self._client.request(**_named(request), content=content)
        except httpx.TransportError as error:
            return _lost(error)
        return _reply(response)

    async def lines(self, request: Sent) -> AsyncIterator[str]:
        """Yield the lines that answer a request, as they come."""
        try:
            async with self._client.stream(**_named(request)) as response:
                if response.is_error:
                    await response.aread()
                    raise _refused(response)
                rest = b""
                async for part in response.aiter_bytes():
                    *whole, rest = (rest + part).split(b"\n")
                    for line in whole:
                        yield line.decode()
        except httpx.TransportError as error:
            raise _unanswered(error) from error

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()


def _named(request: Sent) -> dict[str, Any]:
    query = httpx.QueryParams(request.query)
    # Whole as it is: a part of the path that is escaped stays so.
    url = f"{request.path}?{query}" if request.query else request.path
    return {"method": request.method, "url": url, "headers": [*request.headers, *_json(request)]}


def _json(request: Sent) -> list[tuple[str, str]]:
    return [] if request.body is None else [("content-type", "application/json")]


def _parts(lines: Iterable[str]) -> Iterator[bytes]:
    part = bytearray()
    for line in lines:
        part += line.rstrip("\n").encode("utf-8", "surrogatepass") + b"\n"
        if len(part) >= _PART_BYTES:
            yield bytes(part)
            part.clear()
    if part:
        yield bytes(part)


async def _later(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def _reply(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.content, response.headers.get("retry-after"))


def _refused(response: httpx.Response) -> RecollectError:
    error = failure(_reply(response))
    return error if error is not None else RecollectError("the server refused.")


def _lost(error: httpx.TransportError) -> Lost:
    was_sent = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
    is_late = isinstance(error, httpx.TimeoutException)
    said = "did not answer in time" if is_late else "cannot be reached"
    why = f": {error}" if str(error) and not is_late else ""
    return Lost(f"the server {said}{why}.", is_late=is_late, was_sent=was_sent)


def _unanswered(error: httpx.TransportError) -> RecollectError:
    return failure(_lost(error)) or RecollectError("the server cannot be reached.")
