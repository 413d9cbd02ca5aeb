"""Pauses: spans of time in which nothing is kept and nothing shown.

In: a folder and moments. Out: whether a moment lies in a pause; a file of spans, so that what was
said in one stays out when its transcript is read later. A file that cannot be read counts as one
long pause: somebody paused, and we do not know when.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.values import dataclass

__all__ = ["NAME", "Span", "is_paused", "paused_since", "resume", "spans", "start"]

NAME = "pauses.json"


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when; `until` None is until somebody resumes."""

    since: float
    until: float | None

    def holds(self, moment: float) -> bool:
        """Return whether a moment lies in it."""
        return self.since <= moment and (self.until is None or moment < self.until)


def spans(folder: Path) -> tuple[Span, ...]:
    """Return all pauses, the earliest first."""
    try:
        told = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return tuple(_span(one["since"], one["until"]) for one in told)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except (OSError, ValueError, TypeError, KeyError):
        return (Span(0.0, None),)


def _span(since: object, until: object) -> Span:
    return Span(float(str(since)), None if until is None else float(str(until)))


def is_paused(found: Sequence[Span], moment: float) -> bool:
    """Return whether a moment, in seconds since 1970, lies in one of these."""
    return any(one.holds(moment) for one in found)


def paused_since(folder: Path, now: float) -> Span | None:
    """Return the pause that is on, None if there is none."""
    return next((one for one in spans(folder) if one.holds(now)), None)


def start(folder: Path, now: float, until: float | None) -> Span:
    """Begin a pause; one that is on is ended first."""
    resume(folder, now)
    span = Span(now, until)
    _write(folder, (*spans(folder), span))
    return span


def resume(folder: Path, now: float) -> bool:
    """End the pause that is on; return whether there was one."""
    before = spans(folder)
    after = tuple(Span(one.since, now) if one.holds(now) else one for one in before)
    if after != before:
        _write(folder, after)
    return after != before


def _write(folder: Path, found: Sequence[Span]) -> None:
    text = json.dumps([{"since": one.since, "until": one.until} for one in found], indent=1)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = folder / f".{NAME}.{os.getpid()}"
        draft.write_text(text + "\n", encoding="utf-8")
        draft.chmod(0o600)
        draft.replace(folder / NAME)
    except OSError as error:
        raise InvalidInput(
            f"{folder / NAME} cannot be written: {error.strerror}.",
            hint="make the folder writable, or set RECOLLECT_HOME.",
        ) from error
