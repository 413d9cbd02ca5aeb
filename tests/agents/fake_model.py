"""A model that says what it is told to: both wire formats on loopback, every request written down.

In: requests of Claude Code (`/v1/messages`) and of Codex (`/v1/responses`). Out: one short
answer as server-sent events. It knows no network beyond 127.0.0.1.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"input_tokens": 1, "output_tokens": 1}


@dataclass
class FakeModel:
    """What it says, and what it was asked."""

    url: str
    says: str = "Understood."
    requests: list[tuple[str, Any]] = field(default_factory=list)

    def asked(self) -> list[str]:
        """Return the bodies of requests for an answer, as text."""
        return [
            json.dumps(body, ensure_ascii=False)
            for path, body in self.requests
            if path in ("/v1/messages", "/v1/responses")
        ]


def _events(*told: dict[str, Any]) -> bytes:
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in told)


def anthropic(text: str) -> bytes:
    """Return an answer as Claude Code reads it."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE,
    }
    return _events(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    )


def openai(text: str) -> bytes:
    """Return an answer as Codex reads it."""
    item = {
        "id": "item_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
    usage = {
        **USAGE,
        "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    done = {"id": "resp_1", "status": "completed", "output": [item], "usage": usage}
    return _events(
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    )


@contextmanager
def fake_model() -> Iterator[FakeModel]:
    """Run a model until the body ends."""
    model = FakeModel("")

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.end_headers()

        def do_GET(self) -> None:
            self._send(b'{"data": [], "models": []}', "application/json")

        def do_POST(self) -> None:
            given = self.rfile.read(int(self.headers.get("content-length", 0)))
            path = self.path.partition("?")[0]
            body = json.loads(given or b"{}")
            model.requests.append((path, body))
            if path == "/v1/messages":
                self._send(anthropic(model.says), "text/event-stream")
            elif path == "/v1/responses":
                self._send(openai(model.says), "text/event-stream")
            else:
                self._send(b'{"input_tokens": 1}', "application/json")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
