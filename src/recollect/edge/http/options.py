"""How a server was started, as one frozen value that every worker gets.

In: what the command line and the environment said. Out: a text, and the same value again in another
process. Nothing here opens anything.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Literal

from recollect.values import dataclass

__all__ = ["LOOPBACK", "LogForm", "OutsideIssuer", "ServerOptions"]

# Who looks on their own machine wants to hear of what goes wrong alone.
LogForm = Literal["people", "json", "quiet"]
# Hosts that nobody else reaches.
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class OutsideIssuer:
    """Who else gives out tokens for `resource`, our address at `/mcp`, and how they are read."""

    issuer: str
    resource: str
    principal_claim: str = "sub"
    tenant_claim: str | None = None
    teams_claim: str | None = None


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How to serve. `token` is what the local principal shows while a store has no key.

    `owner_token` stands for whoever opened the file on this machine, who may do everything, and is
    told to nobody; `entrance` is good for one browser to come in as that. A browser that asked for
    nothing in `idle_seconds` is signed out.

    `at_once` verbs are carried out at a time by a worker and `waiting` more may wait, each for
    `seconds` in all; before that, a body may be silent for `body_seconds`. A key may ask `rate`
    times a second, `burst` at once; a tenant may have `most_memories`, and `most_bytes` of text.
    `run_dir` is where workers share counts.
    At `/mcp` the tools of a profile are told, with `only_mcp` nothing else is served; `outside` is
    who else may say who asks there.
    """

    db: str
    host: str = "127.0.0.1"
    port: int = 8377
    socket: str | None = None
    workers: int = 1
    tls_cert: str | None = None
    tls_key: str | None = None
    token: str | None = None
    operator_token: str | None = None
    owner_token: str | None = None
    entrance: str | None = None
    idle_seconds: float = 1_800.0
    embedder: str | None = None
    hooks: str | None = None
    receipts: bool = False
    receipt_days: float = 30.0
    read_only: bool = False
    any_filesystem: bool = False
    at_once: int = 4
    waiting: int = 256
    seconds: float = 30.0
    body_seconds: float = 30.0
    most_body_bytes: int = 8 * 2**20
    most_import_bytes: int = 2**30
    rate: float | None = None
    burst: int = 20
    most_memories: int | None = None
    most_bytes: int | None = None
    allowed_hosts: tuple[str, ...] = ()
    log: LogForm = "people"
    log_texts: bool = False
    run_dir: str | None = None
    mcp_tools: str = "default"
    only_mcp: bool = False
    outside: OutsideIssuer | None = None

    @property
    def is_local(self) -> bool:
        """Whether nobody from another machine can ask."""
        return self.socket is not None or self.host in LOOPBACK

    def to_text(self) -> str:
        """Return it as a text for another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> ServerOptions:
        """Return what `to_text` was told."""
        given: dict[str, Any] = json.loads(text)
        given["allowed_hosts"] = tuple(given["allowed_hosts"])
        if given["outside"] is not None:
            given["outside"] = OutsideIssuer(**given["outside"])
        return cls(**given)
