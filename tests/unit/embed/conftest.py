"""A real embeddings server on loopback that follows a script, misbehaving included."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Step = Callable[["Handler", dict[str, Any]], None]


def vector_of(text: str) -> list[float]:
    """Give each text a vector that tells it apart."""
    return [float(len(text)), float(ord(text[0])), 0.5]


@dataclass
class Server:
    """What the script says next, and what was asked so far; an empty script answers well."""

    url: str = ""
    script: list[Step] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    released: Event = field(default_factory=Event)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        state = self.state
        state.requests.append(body)
        state.keys.append(self.headers.get("Authorization"))
        state.paths.append(self.path)
        step = state.script.pop(0) if state.script else answer_well
        step(self, body)

    def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


def answer_well(handler: Handler, body: dict[str, Any]) -> None:
    items = [
        {"object": "embedding", "index": at, "embedding": vector_of(text)}
        for at, text in enumerate(body["input"])
    ]
    handler.reply(200, json.dumps({"object": "list", "data": items}).encode())


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()
    handler = type("ScriptedHandler", (Handler,), {"state": state})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    state.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    state.released.set()
    http.shutdown()
    thread.join()
    http.server_close()
