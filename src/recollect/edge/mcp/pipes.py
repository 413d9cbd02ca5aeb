"""Standard input and output as the SDK's streams of messages.

In: lines on stdin, as the loop finds them there; a file, which it cannot wait for, is read by a
thread. Out: lines on stdout, written as soon as there is an answer. The SDK's own hands each line,
each write and each flush to another thread, which costs half of what a short call does. While it
serves, what else is printed goes to stderr.
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
        os.fdopen(_kept(0, os.devnull, os.O_RDONLY), "rb", buffering=0) as incoming,
        os.fdopen(_kept(1, None, os.O_WRONLY), "wb", buffering=0) as outgoing,
    ):
        heard, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](_MANY)
        said, saying = anyio.create_memory_object_stream[SessionMessage](0)
        ears = _Ears(incoming, heard)
        ears.listen()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write, saying, outgoing)
            try:
                yield hearing, said
            finally:
                ears.rest()


# Nobody waits for room: who writes to us must never be held up by what we write.
_MANY = 1_000_000
_AT_ONCE_BYTES = 65_536


def _kept(number: int, instead: str | None, flags: int) -> int:
    """Return a descriptor of our own for a stream; under its number there is something else."""
    own = os.dup(number)
    other = os.dup(2) if instead is None else os.open(instead, flags)
    os.dup2(other, number)
    os.close(other)
    return own


class _Ears:
    """Reads what comes in, and passes it on line by line."""

    def __init__(self, incoming: IO[bytes], heard: Any) -> None:
        self._incoming = incoming
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._begun = bytearray()
        self._is_waited_for = False

    def listen(self) -> None:
        """Begin: without a thread, if the loop can wait for what comes."""
        try:
            self._loop.add_reader(self._incoming.fileno(), self._hear)
            self._is_waited_for = True
        except (OSError, NotImplementedError):
            threading.Thread(target=self._hear_all, daemon=True).start()

    def rest(self) -> None:
        """Listen no more."""
        if self._is_waited_for:
            self._is_waited_for = False
            self._loop.remove_reader(self._incoming.fileno())

    def _hear(self) -> None:
        # There is something to read, or the end: a read comes back at once.
        self._take(os.read(self._incoming.fileno(), _AT_ONCE_BYTES))

    def _hear_all(self) -> None:
        part = b"first"
        while part:
            part = os.read(self._incoming.fileno(), _AT_ONCE_BYTES)
            self._loop.call_soon_threadsafe(self._take, part)

    def _take(self, part: bytes) -> None:
        self._begun += part
        if part and b"\n" not in part:
            return
        *lines, rest = self._begun.split(b"\n")
        self._begun = rest
        for line in lines if part else (*lines, rest):
            if line.strip():
                self._heard.send_nowait(_message(line))
        if not part:
            self.rest()
            self._heard.close()


def _message(line: bytes | bytearray) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _write(saying: Any, outgoing: IO[bytes]) -> None:
    async with saying:
        async for message in saying:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            left = memoryview(f"{text}\n".encode())
            while left:
                left = left[outgoing.write(left) :]
