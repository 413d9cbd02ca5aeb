"""What a request brings: a JSON object of bounded size and depth, or the query of a URL.

In: a request as it arrives. Out: values by name; or an error that says what is wrong with the
bytes. Nothing is read past the limit, and nobody is waited for who sends nothing.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

from recollect.edge.http.places import Gone
from recollect.errors import BadBody, BodyTooLarge, BodyTooSlow

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = [
    "json_object",
    "kept_answer",
    "kept_lines",
    "read_on",
    "read_whole",
    "spooled",
    "spooled_lines",
]

# So much of an import is held in memory; the rest waits in a file of the server's own.
_HELD_BYTES = 2**20
_READ_BYTES = 2**16


async def read_whole(request: Request, *, most: int, patience_s: float) -> bytes:
    """Return a body of at most so many bytes."""
    found: list[bytes] = []
    await _read(request, found.append, most=most, patience_s=patience_s)
    return b"".join(found)


async def _read(
    request: Request, keep: Callable[[bytes], object], *, most: int, patience_s: float
) -> None:
    """Keep each part of a body; one that does not come in time is waited for no longer.

    Nobody does anything for it yet: how long a verb may take is another matter. Whoever goes on
    sending is given as long again: an import may take its time.
    """
    length = request.headers.get("content-length")
    if length is not None and length.isdigit() and int(length) > most:
        raise _too_large(most)
    size, has_more = 0, True
    try:
        async with asyncio.timeout(patience_s) as patience:
            while has_more:
                part, has_more = await _part(request)
                size += len(part)
                if size > most:
                    raise _too_large(most)
                keep(part)
                if part and has_more:
                    patience.reschedule(asyncio.get_running_loop().time() + patience_s)
    except TimeoutError:
        raise BodyTooSlow(
            f"the body did not come within {patience_s:g} seconds.",
            hint="send it at once, or less at a time.",
        ) from None


async def _part(request: Request) -> tuple[bytes, bool]:
    """Return what came of a body, and whether there is more."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise Gone
    return message.get("body", b""), message.get("more_body", False)


def json_object(body: bytes) -> dict[str, Any]:
    """Return the object that a body is."""
    if not body.strip():
        return {}
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise BadBody(
            f"the body is not UTF-8: byte {error.start} cannot be read.",
            hint="encode it as UTF-8.",
        ) from None
    except ValueError as error:
        raise BadBody(f"the body is no JSON: {error}.", hint='{"query": "..."}') from None
    except RecursionError:
        raise BadBody("the body has too many levels.", hint="send objects that are flat.") from None
    if not isinstance(value, dict):
        raise BadBody("the body is no JSON object.", hint='{"query": "..."}')
    return value


async def spooled(request: Request, *, most: int, patience_s: float) -> IO[bytes]:
    """Return a long body as a file that is gone when it is closed."""
    kept = tempfile.SpooledTemporaryFile(max_size=_HELD_BYTES)  # noqa: SIM115 - handed on
    try:
        await _read(request, kept.write, most=most, patience_s=patience_s)
    except BaseException:
        kept.close()
        raise
    return kept


def spooled_lines(kept: IO[bytes]) -> Iterator[str]:
    """Yield the lines of a body that was kept."""
    for number, line in enumerate(kept, start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise BadBody(f"line {number} is not UTF-8.", hint="encode it as UTF-8.") from None
        if text.strip():
            yield text


def kept_lines(lines: Iterator[str]) -> Iterator[str]:
    """Return lines that were all read, in a file of our own if there are many."""
    kept = tempfile.SpooledTemporaryFile(max_size=_HELD_BYTES)  # noqa: SIM115 - handed on
    for line in lines:
        kept.write(f"{line.rstrip(chr(10))}\n".encode())
    kept.seek(0)
    return _until_closed(kept)


def kept_answer(parts: Iterator[bytes]) -> IO[bytes]:
    """Return a long answer, in a file of our own if it is very long; it stands at its end."""
    kept = tempfile.SpooledTemporaryFile(max_size=_HELD_BYTES)  # noqa: SIM115 - handed on
    for part in parts:
        kept.write(part)
    return kept


def read_on(kept: IO[bytes]) -> Iterator[bytes]:
    """Yield what was kept, a piece at a time."""
    with kept:
        while part := kept.read(_READ_BYTES):
            yield part


def _until_closed(kept: IO[bytes]) -> Iterator[str]:
    with kept:
        for line in kept:
            yield line.decode()


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"the body is larger than {most:,} bytes.", hint="send less at a time; import takes more."
    )


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")
