"""The log of hooks: when each was answered, how long it took, which memories went where.

In: entries of ids, counts and times; never a text. Out: lines of JSON in the state folder, for
their owner alone, and those of one session again. Two files of bounded size. Writing never raises:
a log that cannot be kept must not stop a prompt.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["MOST_BYTES", "NAME", "entries", "of_session", "write"]

NAME = "hooks.jsonl"
MOST_BYTES = 1_000_000
# How far back a session is looked for: some thousand entries.
_TAIL_BYTES = 512_000
Entry = Mapping[str, Any]


def write(folder: Path, entry: Entry) -> bool:
    """Add an entry; return whether it was written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / NAME
        with suppress(FileNotFoundError):
            if file.stat().st_size >= MOST_BYTES:
                file.replace(_older(folder))
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)
    except (OSError, ValueError, TypeError):
        return False
    return True


def entries(folder: Path) -> Iterator[Entry]:
    """Yield what is in the log, the latest first; lines that are cut off are passed over."""
    for file in (folder / NAME, _older(folder)):
        yield from _parsed(reversed(_tail(file)))


def of_session(folder: Path, session: str) -> list[Entry]:
    """Return the entries of one session, in their order."""
    mark = json.dumps(session).encode()
    lines = [
        line for file in (_older(folder), folder / NAME) for line in _tail(file) if mark in line
    ]
    return [one for one in _parsed(lines) if one.get("session") == session]


def _older(folder: Path) -> Path:
    return folder / f"{NAME}.1"


def _tail(file: Path) -> list[bytes]:
    try:
        with file.open("rb") as opened:
            size = opened.seek(0, os.SEEK_END)
            opened.seek(max(0, size - _TAIL_BYTES))
            lines = opened.read().split(b"\n")
    except OSError:
        return []
    return lines if size <= _TAIL_BYTES else lines[1:]


def _parsed(lines: Any) -> Iterator[Entry]:
    for line in lines:
        with suppress(ValueError):
            one = json.loads(line) if line else None
            if isinstance(one, dict):
                yield one
