"""What the MCP door costs: a recall through it, a hook through it, and its start.

In: nothing. Out: ratios, each the median of nine rounds by turns, in CPU as the system counts it
for the process that answers. A tool that does nothing is one of a bare server of the same SDK, over
the same transport, behind bearer tokens too; a recall may add not much more. Run `python -m
bench.mcp` on a machine that does nothing else.
"""

from __future__ import annotations

import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from bench.http import fill, question
from recollect import Recollect
from recollect.edge.agents import log

__all__ = ["HOOK", "OVER_HTTP", "OVER_STDIO", "START", "measure"]

OVER_STDIO = "what a recall over stdio adds to the library's, beside a tool that does nothing"
OVER_HTTP = "what a recall over HTTP adds to the library's, beside a tool that does nothing"
HOOK = "a prompt's hook on a warm server, beside a spawned `recollect recall`"
START = "start of `recollect mcp` to its list of tools, beside importing the SDK"
_ROUNDS, _BLOCK, _SPAWNED, _PROMPTS = 9, 60, 2, 6
_RECOLLECT = str(Path(sys.executable).with_name("recollect"))
_VERSION = "2025-11-25"
_INITIALIZE = {
    "protocolVersion": _VERSION,
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_BARE = """
import sys
import mcp_types as types
from mcp.server.lowlevel import Server

async def call(ctx, params):
    return {"content": [{"type": "text", "text": "done"}], "resultType": "complete"}

server = Server("bare")
server.add_request_handler("tools/call", types.CallToolRequestParams, call)
"""
_BARE_STDIO = (
    _BARE
    + """
import anyio
from mcp.server.stdio import stdio_server

async def main():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""
)
_BARE_HTTP = (
    _BARE
    + """
import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

class Token:
    async def verify_token(self, token):
        return AccessToken(token=token, client_id="bench", scopes=[])

print("{}", flush=True)
place = "http://127.0.0.1/mcp"
auth = AuthSettings(issuer_url=place, resource_server_url=place, validate_token_resource=False)
app = server.streamable_http_app(stateless_http=True, auth=auth, token_verifier=Token())
uvicorn.run(app, port=int(sys.argv[1]), loop="uvloop", http="httptools", log_config=None)
"""
)


def _cpu_of(process: int) -> float:
    """Return what a process used so far, by the clock that the system keeps for it."""
    return time.clock_gettime((~process << 3) | 2)


class _Tools(Protocol):
    """Somewhere that tools are called."""

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]: ...
    def cpu_seconds(self) -> float: ...
    def close(self) -> None: ...


class _Stdio:
    """A server at the other end of two pipes."""

    def __init__(self, *words: str, **env: str) -> None:
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **env},
        )
        self._number = 0
        self.ask("initialize", _INITIALIZE)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        told: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not told.get("isError"), told
        return told

    def ask(self, method: str, params: object = None) -> Any:
        """Return the result of a request."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params or {}})
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())["result"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def cpu_seconds(self) -> float:
        return _cpu_of(self._process.pid)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class _Http:
    """A server on loopback."""

    def __init__(self, *words: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as found:
            port: int = found.getsockname()[1]
        self._process = subprocess.Popen(
            [one.replace("{port}", str(port)) for one in words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        # Where it listens and what it takes to come in, from the one; anything from the other.
        self._token = json.loads(self._process.stdout.readline()).get("token")
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        until = time.monotonic() + 60
        while not self._is_there():
            if time.monotonic() > until:
                raise RuntimeError("the server does not answer")
            time.sleep(0.01)

    def _is_there(self) -> bool:
        try:
            return bool(self._ask("initialize", _INITIALIZE)["serverInfo"])
        except OSError:
            self._connection.close()
            return False

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        told: dict[str, Any] = self._ask("tools/call", {"name": tool, "arguments": arguments})
        assert not told.get("isError"), told
        return told

    def _ask(self, method: str, params: object) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        headers = {
            "authorization": f"Bearer {self._token}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": _VERSION,
        }
        return json.loads(_message(self._sent(body, headers).decode()))["result"]

    def _sent(self, body: str, headers: dict[str, str]) -> bytes:
        try:
            self._connection.request("POST", "/mcp", body, headers)
            return self._connection.getresponse().read()
        except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
            # It was let go while others had their turn.
            self._connection.close()
            self._connection.request("POST", "/mcp", body, headers)
            return self._connection.getresponse().read()

    def cpu_seconds(self) -> float:
        return _cpu_of(self._process.pid)

    def close(self) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.wait()


def _message(text: str) -> str:
    """Return the message in an answer: the whole of it, or the one event of a stream."""
    if text.startswith("{"):
        return text
    return next(line[6:] for line in text.splitlines() if line.startswith("data: {"))


@dataclass(frozen=True)
class _Round:
    """What one call took of the processor: of the library, of nothing, and of a recall."""

    library: float
    nothing: float
    recall: float

    @property
    def ratio(self) -> float:
        return (self.recall - self.library) / self.nothing


def measure() -> dict[str, float]:
    """Return what each row comes to."""
    with tempfile.TemporaryDirectory(prefix="recollect-mcp-") as folder:
        db = Path(folder) / "a.db"
        fill(db)
        with Recollect.open(db) as memory:
            memory.recall(question(0))
            return {
                **_over(OVER_STDIO, memory, _bare_stdio(), _our_stdio(db)),
                **_over(OVER_HTTP, memory, _bare_http(), _our_http(db)),
                **_hook(db),
                **_start(db),
            }


def _bare_stdio() -> _Tools:
    return _Stdio(sys.executable, "-c", _BARE_STDIO)


def _our_stdio(db: Path) -> _Stdio:
    return _Stdio(_RECOLLECT, "mcp", "--db", str(db))


def _bare_http() -> _Tools:
    return _Http(sys.executable, "-c", _BARE_HTTP, "{port}")


def _our_http(db: Path) -> _Tools:
    words = ("serve", "--db", str(db), "--port", "{port}", "--json")
    return _Http(_RECOLLECT, *words)


def _over(row: str, memory: Recollect, bare: _Tools, ours: _Tools) -> dict[str, float]:
    try:
        for warm in range(5):
            bare.call("nothing")
            ours.call("recall", query=question(warm))
        rounds = [_round(memory, bare, ours, turn) for turn in range(_ROUNDS)]
    finally:
        bare.close()
        ours.close()
    return {
        row: median(one.ratio for one in rounds),
        f"  the library's recall, of CPU ({row.split()[4]})": median(o.library for o in rounds),
        f"  a tool that does nothing, of CPU ({row.split()[4]})": median(
            one.nothing for one in rounds
        ),
        f"  a recall, of CPU ({row.split()[4]})": median(one.recall for one in rounds),
    }


def _round(memory: Recollect, bare: _Tools, ours: _Tools, turn: int) -> _Round:
    """Call each of the three by turns, so that each finds caches as the others left them.

    In a loop of its own the library would keep what a server, which is woken for each call, has to
    fetch anew: that is no cost of a door.
    """
    library, bare_before, ours_before = 0.0, bare.cpu_seconds(), ours.cpu_seconds()
    for number in range(turn * _BLOCK, (turn + 1) * _BLOCK):
        bare.call("nothing")
        before = time.process_time()
        memory.recall(question(number))
        library += time.process_time() - before
        ours.call("recall", query=question(number))
    return _Round(
        library / _BLOCK,
        (bare.cpu_seconds() - bare_before) / _BLOCK,
        (ours.cpu_seconds() - ours_before) / _BLOCK,
    )


def _each(act: Callable[[int], object], turn: int, cpu: Callable[[], float]) -> float:
    before = cpu()
    for number in range(turn * _BLOCK, (turn + 1) * _BLOCK):
        act(number)
    return (cpu() - before) / _BLOCK


def _hook(db: Path) -> dict[str, float]:
    home = db.parent / "home"
    home.mkdir()
    # As it is usually, but for a deadline, which would cut off what is measured.
    (home / "agents.toml").write_text("deadline_ms = 60000\n")
    server = _Stdio(_RECOLLECT, "mcp", "--db", str(db), RECOLLECT_HOME=str(home))
    prompts = _Prompts(server, home / "agents")
    try:
        prompts.ask(0)
        rounds = [(prompts.ask(turn), _spawned(db, turn)) for turn in range(_ROUNDS)]
    finally:
        server.close()
    return {
        HOOK: median(hook.answered / spawned for hook, spawned in rounds),
        "  a prompt's hook, of CPU up to its answer": median(hook.answered for hook, _ in rounds),
        "  and until what was said is kept": median(hook.kept for hook, _ in rounds),
        "  a spawned recall, of CPU": median(spawned for _, spawned in rounds),
    }


@dataclass(frozen=True)
class _Prompted:
    """What a prompt took of the processor: up to its answer, and until it was kept."""

    answered: float
    kept: float


class _Prompts:
    """Prompts for a server, one by one: the next comes when the one before is kept."""

    def __init__(self, server: _Stdio, state: Path) -> None:
        self._server = server
        self._state = state
        self._asked = 0

    def ask(self, turn: int) -> _Prompted:
        taken = [self._one(number) for number in range(turn * _PROMPTS, (turn + 1) * _PROMPTS)]
        answered = sum(one.answered for one in taken) / _PROMPTS
        return _Prompted(answered, sum(one.kept for one in taken) / _PROMPTS)

    def _one(self, number: int) -> _Prompted:
        self._asked += 1
        event = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": f"s{self._asked}",
            "cwd": "/",
            "prompt": question(number),
        }
        before = self._server.cpu_seconds()
        told = self._server.call("on_hook", event=event)["content"][0]["text"]
        answered = self._server.cpu_seconds()
        assert told == "{}" or "additionalContext" in told, told
        until = time.monotonic() + 60
        while not any(one.get("late") for one in log.of_session(self._state, f"s{self._asked}")):
            if time.monotonic() > until:
                raise RuntimeError("the prompt is not kept")
            time.sleep(0.01)
        return _Prompted(answered - before, self._server.cpu_seconds() - before)


def _spawned(db: Path, turn: int) -> float:
    before = _children()
    for number in range(turn * _SPAWNED, (turn + 1) * _SPAWNED):
        words = [_RECOLLECT, "recall", question(number), "--db", str(db)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return (_children() - before) / _SPAWNED


def _start(db: Path) -> dict[str, float]:
    rounds = []
    for _ in range(_ROUNDS):
        before = _children()
        subprocess.run([sys.executable, "-c", "import mcp.server"], check=True)
        alone = _children() - before
        server = _our_stdio(db)
        assert len(server.ask("tools/list")["tools"]) == 8
        rounds.append((server.cpu_seconds(), alone))
        server.close()
    return {
        START: median(ours / alone for ours, alone in rounds),
        "  start to the list of tools, of CPU": median(ours for ours, _ in rounds),
        "  importing the SDK, of CPU": median(alone for _, alone in rounds),
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    for what, value in measure().items():
        print(f"{what:90} {value:.4f}")
