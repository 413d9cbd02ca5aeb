"""How each client is: set up or not, whether its server answers, what its hooks did last.

In: the machine, the log of hooks. Out: one `Finding` a client. The server is started as the client
would start it and asked who it is; nothing is written.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from recollect.edge.agents import log
from recollect.edge.agents.clients import CLIENTS, Client
from recollect.edge.agents.setup import Machine, entry_of, is_set_up
from recollect.errors import InvalidInput
from recollect.settings import environment_with
from recollect.values import dataclass

__all__ = ["Finding", "Fired", "examine"]

_ANSWER_S = 20
_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "recollect-doctor", "version": "1"},
    },
}


@dataclass(frozen=True, slots=True)
class Fired:
    """When a hook was answered last, how long that took, and what was missing from it."""

    event: str
    at: str
    ms: float | None
    degraded: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of one client.

    `connects` is None where nobody tried. `given` are the ids that were put into a prompt last.
    """

    client: str
    is_there: bool
    is_configured: bool = False
    has_hooks: bool = False
    connects: bool | None = None
    problem: str | None = None
    fired: tuple[Fired, ...] = ()
    given: tuple[str, ...] = ()
    tokens: int = 0
    given_at: str | None = None

    @property
    def is_well(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.problem is None and self.connects is not False


def examine(names: Iterable[str], machine: Machine) -> list[Finding]:
    """Return how these clients are."""
    entries = list(log.entries(machine.state))
    return [_finding(CLIENTS[name], machine, entries) for name in names]


def _finding(client: Client, machine: Machine, entries: Iterable[Mapping[str, Any]]) -> Finding:
    file = client.file(machine.folders)
    has_program = client.program is not None and machine.find(client.program) is not None
    is_there = has_program or file.exists()
    mine = [one for one in entries if one.get("client") == client.name]
    try:
        is_configured, has_hooks = is_set_up(client, machine)
        entry = entry_of(client, machine)
    except InvalidInput as error:
        return Finding(client.name, is_there, problem=error.message)
    connects, problem = _asked(entry) if is_configured else (None, None)
    given = next((one for one in mine if one.get("given")), {})
    return Finding(
        client.name,
        is_there,
        is_configured=is_configured,
        has_hooks=has_hooks,
        connects=connects,
        problem=problem,
        fired=_fired(mine),
        given=tuple(given.get("given", ())),
        tokens=int(given.get("tokens", 0)),
        given_at=given.get("at"),
    )


def _fired(entries: Iterable[Mapping[str, Any]]) -> tuple[Fired, ...]:
    """Return of each event when it was answered last."""
    latest: dict[str, Fired] = {}
    for one in entries:
        event = str(one.get("event"))
        if event not in latest and not one.get("late"):
            latest[event] = Fired(event, str(one.get("at")), one.get("ms"), one.get("degraded"))
    return tuple(latest.values())


def _asked(entry: Any) -> tuple[bool, str | None]:
    """Start a server as a client would; return whether it says who it is, and else why not."""
    words = [str(entry.get("command")), *map(str, entry.get("args", ()))]
    env = environment_with({str(k): str(v) for k, v in (entry.get("env") or {}).items()})
    try:
        # Its input stays open: a server whose client is gone need not answer.
        with subprocess.Popen(  # noqa: S603 - what the client would start
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            text=True,
        ) as server:
            return _greeted(server)
    except OSError as error:
        return False, f"{words[0]} cannot be started: {error.strerror}"


def _greeted(server: subprocess.Popen[str]) -> tuple[bool, str | None]:
    import threading

    watch = threading.Timer(_ANSWER_S, server.kill)
    watch.start()
    try:
        assert server.stdin is not None and server.stdout is not None  # noqa: S101 - pipes of ours
        server.stdin.write(json.dumps(_HELLO) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline() or "{}")
        if isinstance(answer, dict) and "serverInfo" in (answer.get("result") or {}):
            return True, None
        return False, "its server did not say who it is"
    except (OSError, ValueError):
        return False, "its server did not answer"
    finally:
        server.kill()
        server.communicate()
        watch.cancel()
