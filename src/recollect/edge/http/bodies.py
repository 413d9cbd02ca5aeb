"""What a request brings: a JSON object of bounded size and depth, or the query of a URL.

In: a request as it arrives. Out: values by name; or an error that says what is wrong with the
bytes. Nothing is read past the limit.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import IO, Any

from recollect.errors import BadBody, BodyTooLarge

__all__ = ["json_object", "kept_lines", "read_whole", "spooled", "spooled_lines"]

# So much of an import is held in memory; the rest waits in a file of the server's own.
_HELD_BYTES = 2**20


async def read_whole(parts: AsyncIterator[bytes], length: str | None, *, most: int) -> bytes:
    """Return a body of at most so many bytes."""
    _need_small(length, most)
    found = bytearray()
    async for part in parts:
        found += part
        if len(found) > most:
            raise _too_large(most)
    return bytes(found)


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


async def spooled(parts: AsyncIterator[bytes], length: str | None, *, most: int) -> IO[bytes]:
    """Return a long body as a file that is gone when it is closed."""
    _need_small(length, most)
    kept = tempfile.SpooledTemporaryFile(max_size=_HELD_BYTES)  # noqa: SIM115 - handed on
    size = 0
    try:
        async for part in parts:
            size += len(part)
            if size > most:
                raise _too_large(most)
            kept.write(part)
    except BaseException:
        kept.close()
        raise
    kept.seek(0)
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


def _until_closed(kept: IO[bytes]) -> Iterator[str]:
    with kept:
        for line in kept:
            yield line.decode()


def _need_small(length: str | None, most: int) -> None:
    if length is not None and length.isdigit() and int(length) > most:
        raise _too_large(most)


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"the body is larger than {most:,} bytes.", hint="send less at a time; import takes more."
    )


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")
