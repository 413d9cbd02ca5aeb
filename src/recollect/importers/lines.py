"""Lines of a file, one at a time, with their numbers; and the JSON object of each.

In: a path. Out: numbered lines, streamed, from the start or from the last so many bytes. A line
that is too long or cut off is told as unreadable and passed over; the next one is read all the
same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

__all__ = ["MOST_CHARACTERS", "Numbered", "numbered", "objects"]

Numbered: TypeAlias = tuple[int, bytes]
# A line of a transcript holds a turn, at times with pictures in it.
MOST_CHARACTERS = 64_000_000
_PART_BYTES = 2**20


def numbered(path: Path, *, last_bytes: int | None = None) -> Iterator[Numbered]:
    """Yield the lines of a file with their numbers; of its end alone they count from where it is.

    The line that `last_bytes` falls into is left out, as is a last one that is still being written.
    """
    with path.open("rb") as opened:
        number = 0 if last_bytes is None else _skip_to_last(opened, last_bytes)
        while line := opened.readline(MOST_CHARACTERS):
            number += 1
            yield number, line
            while line and not line.endswith(b"\n") and len(line) == MOST_CHARACTERS:
                line = opened.readline(MOST_CHARACTERS)


def _skip_to_last(opened: BinaryIO, last_bytes: int) -> int:
    """Go to the first line of the last so many bytes; return how many are before it."""
    start = max(0, opened.seek(0, 2) - last_bytes)
    opened.seek(0)
    if start == 0:
        return 0
    before, left = 0, start
    while part := opened.read(min(left, _PART_BYTES)):
        before, left = before + part.count(b"\n"), left - len(part)
    opened.readline()
    return before + 1


def objects(lines: Iterable[Numbered]) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    """Yield the object of each line, or why there is none; blank lines are passed over."""
    for number, line in lines:
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, f"no JSON: {str(error)[:120]}"
            continue
        yield number, found if isinstance(found, dict) else "no JSON object"
