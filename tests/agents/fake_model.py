"""A model that says what it is told to: both wire formats on loopback, every request written down.

In: requests of Claude Code (`/v1/messages`) and of Codex (`/v1/responses`). Out: one short
answer as server-sent events, or first the call of a tool. It knows no network beyond 127.0.0.1.
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
    # What it does first, once: a tool and its arguments; and how many tokens it says that took.
    does: tuple[str, dict[str, Any]] | None = None
    tokens: int = 1
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


def anthropic(model: FakeModel, act: tuple[str, dict[str, Any]] | None) -> bytes:
    """Return an answer as Claude Code reads it: a text, or an act."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**USAGE, "input_tokens": model.tokens},
    }
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": model.says}
    if act is not None:
        block = {"type": "tool_use", "id": "toolu_1", "name": act[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(act[1])}
    reason = "end_turn" if act is None else "tool_use"
    return _events(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    )


def openai(model: FakeModel, act: tuple[str, dict[str, Any]] | None) -> bytes:
    """Return an answer as Codex reads it: a text, or an act."""
    item: dict[str, Any] = {
        "id": "item_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": model.says, "annotations": []}],
    }
    if act is not None:
        item = {
            "id": "item_1",
            "type": "function_call",
            "status": "completed",
            "call_id": "call_1",
            "name": act[0],
            "arguments": json.dumps(act[1]),
        }
    usage = {
        **USAGE,
        "total_tokens": model.tokens + 1,
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
            if path in ("/v1/messages", "/v1/responses"):
                # Who is offered no tool is asked for something else than the task.
                act, model.does = (model.does, None) if body.get("tools") else (None, model.does)
                say = anthropic if path == "/v1/messages" else openai
                self._send(say(model, act), "text/event-stream")
                model.tokens = 1
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
