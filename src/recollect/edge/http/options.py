"""How a server was started, as one frozen value that every worker gets.

In: what the command line and the environment said. Out: a text, and the same value again in another
process. Nothing here opens anything.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Literal

from recollect.values import dataclass

__all__ = ["LOOPBACK", "LogForm", "ServerOptions"]

LogForm = Literal["people", "json"]
# Hosts that nobody else reaches.
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How to serve. `token` is what the local principal shows while a store has no key.

    `at_once` verbs are carried out at a time by a worker and `waiting` more may wait, each for
    `seconds` in all. A key may ask `rate` times a second, `burst` at once; a tenant may have
    `most_memories`, and `most_bytes` of text. `run_dir` is where workers share counts.
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
    embedder: str | None = None
    hooks: str | None = None
    receipts: bool = False
    receipt_days: float = 30.0
    read_only: bool = False
    any_filesystem: bool = False
    at_once: int = 4
    waiting: int = 256
    seconds: float = 30.0
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
        return cls(**given)
