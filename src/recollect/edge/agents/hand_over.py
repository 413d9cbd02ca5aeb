"""Asking a server of ours that is there, by hand: a socket and one message, nothing to load.

In: an event, where a server listens. Out: the JSON of its answer, or None where it is to be
answered some other way: nobody listens, or somebody who sees other folders than we do. What a
server refuses, and one that does not answer in time, are errors.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recollect.errors import ServerFault, ServerTooSlow

__all__ = ["PATH", "SEEN", "WAITED_MS", "ask", "listens", "seen_by"]

PATH = "/mcp/hook"
SEEN = "seen"
WAITED_MS = "waited_ms"
_UNIX = "unix:"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SOON_S = 0.2
_MOST_BYTES = 4_000_000
# What says that a server is not for us, and no more: it is another's, or older.
_NOT_HERE = (404, 405, 409)


def seen_by(home: Path, cwd: object) -> dict[str, list[int] | None]:
    """Return what tells the folders that an event is about, as this process sees them."""
    return {"home": _identity(home), "cwd": _identity(cwd) if isinstance(cwd, str) else None}


def _identity(folder: str | Path) -> list[int] | None:
    try:
        found = Path(folder).stat()
    except (OSError, ValueError):
        return None
    return [found.st_dev, found.st_ino]


def ask(
    url: str, key: str | None, event: Mapping[str, Any], home: Path, *, began: float, left_s: float
) -> str | None:
    """Return what a server answers to an event, None where it is not asked."""
    until = time.monotonic() + left_s
    connected = _connected(url, left_s)
    if connected is None:
        return None
    told = {
        "event": dict(event),
        SEEN: seen_by(home, event.get("cwd")),
        WAITED_MS: int(1000 * (time.monotonic() - began)),
    }
    there, host = connected
    with there:
        try:
            there.sendall(_message(host, key, json.dumps(told).encode()))
            status, body = _answer(_all_of(there, until))
        except OSError as error:
            raise ServerTooSlow("the server did not answer a hook in time.") from error
    if status in _NOT_HERE:
        return None
    if status != 200:
        raise ServerFault(f"the server answered a hook with {status}.")
    return body.decode("utf-8")


def listens(path: Path) -> bool:
    """Return whether somebody answers at a socket."""
    connected = _connected(f"{_UNIX}{path}", _SOON_S) if path.is_socket() else None
    if connected is not None:
        connected[0].close()
    return connected is not None


def _connected(url: str, seconds: float) -> tuple[socket.socket, str] | None:
    """Return a connection and the name of its host; None where nobody of this machine listens."""
    if url.startswith(_UNIX):
        family, place, host = (
            socket.AF_UNIX,
            url.removeprefix(_UNIX).removeprefix("//"),
            "localhost",
        )
    else:
        scheme, _, host = url.rstrip("/").partition("://")
        name, _, port = host.rpartition(":")
        if scheme != "http" or name not in _LOOPBACK or not port.isdigit():
            return None
        family = socket.AF_INET6 if name.startswith("[") else socket.AF_INET
        place = ("::1" if name.startswith("[") else "127.0.0.1", int(port))  # type: ignore[assignment]
    there = socket.socket(family, socket.SOCK_STREAM)
    there.settimeout(max(0.001, seconds))
    try:
        there.connect(place)
    except OSError:
        there.close()
        return None
    return there, host


def _message(host: str, key: str | None, body: bytes) -> bytes:
    lines = [
        f"POST {PATH} HTTP/1.1",
        f"Host: {host}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *([f"Authorization: Bearer {key}"] if key is not None else []),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body


def _all_of(there: socket.socket, until: float) -> bytes:
    """Return all that comes, to its end; the whole of it has to come in time."""
    came = bytearray()
    while len(came) < _MOST_BYTES:
        there.settimeout(max(0.001, until - time.monotonic()))
        part = there.recv(65_536)
        if not part:
            break
        came += part
    return bytes(came)


def _answer(came: bytes) -> tuple[int, bytes]:
    head, _, body = came.partition(b"\r\n\r\n")
    words = head.split(b"\r\n", 1)[0].split()
    if len(words) < 2 or not words[1].isdigit():
        raise ServerFault("what answered a hook is no server of ours.")
    return int(words[1]), body
