"""`recollect mcp` over standard input and output, until its client goes away.

In: how the memory is opened. Out: nothing but messages of the protocol on stdout. The SDK is loaded
first, and the memory while its client says hello: the first prompt comes soon after that.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from recollect.edge.mcp.local import LocalMemory

if TYPE_CHECKING:
    from recollect.edge.mcp.local import Opening

__all__ = ["serve_stdio"]


def serve_stdio(opening: Opening, *, tools: str) -> None:
    """Serve one client; come back when it has closed its end."""
    import anyio

    memory = LocalMemory(opening)
    with _ended_by_signals(memory):
        try:
            anyio.run(partial(_serve, memory, tools))
        finally:
            memory.close()


async def _serve(memory: LocalMemory, tools: str) -> None:
    from recollect.edge.mcp.pipes import pipes
    from recollect.edge.mcp.server import make_server

    server = make_server(memory, tools=tools)
    memory.open_meanwhile()
    async with pipes() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@contextmanager
def _ended_by_signals(memory: LocalMemory) -> Iterator[None]:
    """Close the memory when we are told to end: a thread that waits for input never comes back."""

    def end(*_: object) -> None:
        # A client that lost patience while we close: the end is near, and must not be cut off.
        if not memory.is_closing:
            memory.close()
            os._exit(0)

    before = {one: signal.signal(one, end) for one in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
