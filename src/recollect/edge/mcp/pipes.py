"""Standard input and output as the SDK's streams of messages.

In: lines on stdin, read by one thread that does nothing else. Out: lines on stdout, written as soon
as there is an answer. The SDK's own hands each line, each write and each flush to another thread,
which costs half of what a short call does. While it serves, what else is printed goes to stderr.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import IO, Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

__all__ = ["pipes"]


@asynccontextmanager
async def pipes() -> AsyncIterator[tuple[Any, Any]]:
    """Give the streams of messages that come in and that go out."""
    with (
        os.fdopen(_kept(0, os.devnull, os.O_RDONLY), "rb") as incoming,
        os.fdopen(_kept(1, None, os.O_WRONLY), "wb", buffering=0) as outgoing,
    ):
        heard, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](_MANY)
        said, saying = anyio.create_memory_object_stream[SessionMessage](0)
        loop = asyncio.get_running_loop()
        threading.Thread(target=_read, args=(incoming, heard, loop), daemon=True).start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write, saying, outgoing)
            yield hearing, said


# Nobody waits for room: who writes to us must never be held up by what we write.
_MANY = 1_000_000


def _kept(number: int, instead: str | None, flags: int) -> int:
    """Return a descriptor of our own for a stream; under its number there is something else."""
    own = os.dup(number)
    other = os.dup(2) if instead is None else os.open(instead, flags)
    os.dup2(other, number)
    os.close(other)
    return own


def _read(incoming: IO[bytes], heard: Any, loop: asyncio.AbstractEventLoop) -> None:
    for line in incoming:
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            told: SessionMessage | Exception = SessionMessage(message)
        except ValueError as error:
            told = error
        loop.call_soon_threadsafe(heard.send_nowait, told)
    loop.call_soon_threadsafe(heard.close)


async def _write(saying: Any, outgoing: IO[bytes]) -> None:
    async with saying:
        async for message in saying:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            left = memoryview(f"{text}\n".encode())
            while left:
                left = left[outgoing.write(left) :]
