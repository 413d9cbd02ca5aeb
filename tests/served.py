"""A memory that is open here, served on loopback by the real server in a thread of this process.

So a test has the clock of the memory that others ask over HTTP, and what they change.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from recollect import Recollect
from recollect.edge.http.app import make_app
from recollect.edge.http.options import ServerOptions

START_S = 60
TOKEN = "let-me-in"


class _Ready(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_ready.set()


@contextmanager
def served(memory: Recollect, *, at: Path | None = None, **options: Any) -> Iterator[str]:
    """Serve a memory, which is closed then; give its address: a port, or a socket at a path."""
    chosen = ServerOptions(
        str(memory.path), token=TOKEN, socket=None if at is None else str(at), **options
    )
    family = socket.AF_INET if at is None else socket.AF_UNIX
    with socket.socket(family) as listener:
        listener.bind(("127.0.0.1", 0) if at is None else str(at))
        listener.listen(64)
        config = uvicorn.Config(
            make_app(chosen, memory=memory),
            log_config=None,
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=2,
        )
        server = _Ready(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            assert server.is_ready.wait(START_S)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}" if at is None else f"unix:{at}"
        finally:
            server.should_exit = True
            thread.join(START_S)
