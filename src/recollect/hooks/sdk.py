"""For those who write hooks in Python: name a function's event, and serve.

    from recollect.hooks.sdk import hook, modify, serve

    @hook("pre_recall_expand")
    def expand(payload):
        return modify(query=payload["query"] + " checkout")

    serve()

The same file works as a daemon and with one process a call. Standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

__all__ = ["allow", "ask_user", "deny", "hook", "modify", "serve"]

Handler = TypeVar("Handler", bound=Callable[[dict[str, Any]], Any])

_CHUNK = 64 * 1024
_QUICK_S = 0.001
_SLOW_S = 5.0
_handlers: dict[str, Callable[[dict[str, Any]], Any]] = {}


def hook(event: str) -> Callable[[Handler], Handler]:
    """Say that a function handles an event. It gets the payload; None allows."""

    def register(handler: Handler) -> Handler:
        _handlers[event] = handler
        return handler

    return register


def allow() -> dict[str, Any]:
    """Let it happen."""
    return {"action": "allow"}


def modify(**delta: Any) -> dict[str, Any]:
    """Let it happen with these fields changed."""
    return {"action": "modify", "delta": delta}


def deny(reason: str, code: int = 403) -> dict[str, Any]:
    """Refuse it."""
    return {"action": "deny", "reason": reason, "code": code}


def ask_user(
    prompt: str, options: Sequence[str] = ("y", "n"), default: str | None = None
) -> dict[str, Any]:
    """Have a person asked; the first option goes on, any other refuses."""
    return {"action": "ask_user", "prompt": prompt, "options": list(options), "default": default}


def serve(*, threads: int = 8) -> None:
    """Answer requests until there will be no more, several at once.

    What a handler prints goes to stderr: stdout is for replies.
    """
    _Server(threads).run()


class _Server:
    """Threads that take turns: one reads the next request while the others answer theirs.

    As long as handlers are quick, the one that reads also answers: to wake another thread would
    take longer than the answer.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._requests = os.dup(0)
        self._replies = os.dup(1)
        os.dup2(2, 1)
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        self._rest = b""
        self._lines: list[bytes] = []
        self._ends = 0.0
        self._slow_until = 0.0
        self._at_end = threading.Event()

    def run(self) -> None:
        """Serve until stdin ends; what is under way then may still finish within its deadline."""
        self._write('{"ready":true}')
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(self._threads)]
        for worker in workers:
            worker.start()
        self._at_end.wait()
        for worker in workers:
            worker.join(max(0.0, self._ends - time.monotonic()))
        sys.stderr.flush()
        os._exit(0)  # a handler that hangs must not keep the process

    def _work(self) -> None:
        while True:
            with self._reading:
                line = self._next_line()
                alone = not self._lines and time.monotonic() >= self._slow_until
                if line and alone:
                    self._serve(line)
            if line is None:
                return
            if line and not alone:
                self._serve(line)

    def _serve(self, line: bytes) -> None:
        began = time.monotonic()
        self._write(self._reply_to(line))
        if time.monotonic() - began > _QUICK_S:
            self._slow_until = began + _SLOW_S

    def _next_line(self) -> bytes | None:
        while not self._lines:
            chunk = b"" if self._at_end.is_set() else os.read(self._requests, _CHUNK)
            if not chunk:
                self._at_end.set()
                line, self._rest = self._rest, b""
                return line or None
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            self._lines = lines[::-1]
        return self._lines.pop()

    def _reply_to(self, line: bytes) -> str:
        request = json.loads(line)
        self._ends = max(self._ends, time.monotonic() + request.get("deadline_ms", 0) / 1000)
        try:
            decision = _handlers[request["event"]](request["payload"]) or allow()
            return json.dumps({"id": request["id"], **decision})
        except Exception as error:  # noqa: BLE001 - one failed request must not end the others
            traceback.print_exc()
            return json.dumps({"id": request["id"], "error": f"{type(error).__name__}: {error}"})

    def _write(self, reply: str) -> None:
        line = reply.encode() + b"\n"
        try:
            with self._writing:
                while line:
                    line = line[os.write(self._replies, line) :]
        except OSError:
            self._at_end.set()  # nobody reads replies any more
