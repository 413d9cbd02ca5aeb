"""Raise an exception at a chosen instant of a call, instead of hoping that a signal hits it.

A call is run once to see where it comes by: every line, or every opcode, of some files. Then it is
run again, each time with an exception at one of these instants.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import recollect

SOURCE = Path(recollect.__file__).parent

Place = tuple[CodeType, int]


class Instants:
    """Counts the instants of a call in some files, and raises at one of them if it is told to."""

    def __init__(self, files: Iterable[Path], *, opcodes: bool) -> None:
        self._files = {str(file) for file in files}
        self._opcodes = opcodes
        self.seen: list[Place] = []
        self._raise_at: int | None = None
        self._error: BaseException | None = None

    def of(self, call: Callable[[], object]) -> list[Place]:
        """Return the instants of a call, in their order."""
        self.seen, self._raise_at = [], None
        self._run(call)
        return self.seen

    def raising(self, call: Callable[[], object], at: int, error: BaseException) -> Place | None:
        """Run a call with an exception at one instant; return which, None if it never came by."""
        self.seen, self._raise_at, self._error = [], at, error
        try:
            self._run(call)
        finally:
            self._error = None  # it would keep the frames that it came through
        return self.seen[at] if len(self.seen) > at else None

    def _run(self, call: Callable[[], object]) -> None:
        sys.settrace(self._enter)
        try:
            call()
        finally:
            sys.settrace(None)

    def _enter(self, frame: FrameType, *_: object) -> Any:
        if frame.f_code.co_filename not in self._files:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = self._opcodes, not self._opcodes
        return self._step

    def _step(self, frame: FrameType, event: str, _: object) -> Any:
        if event in ("opcode", "line"):
            at = frame.f_lasti if event == "opcode" else frame.f_lineno
            self.seen.append((frame.f_code, at))
            if len(self.seen) - 1 == self._raise_at and self._error is not None:
                raise self._error
        return self._step


def distinct(seen: Sequence[Place], *, most: int | None = None) -> list[int]:
    """Return at which instants to raise: of every place the first, second and last time it came by.

    With `most` only so many, evenly chosen: the same ones each time.
    """
    visits: dict[Place, list[int]] = {}
    for number, place in enumerate(seen):
        visits.setdefault(place, []).append(number)
    chosen = sorted({one for all_ in visits.values() for one in (*all_[:2], all_[-1])})
    if most is None or len(chosen) <= most:
        return chosen
    return [chosen[number * len(chosen) // most] for number in range(most)]


def named(place: Place | None) -> str:
    """Return an instant in words."""
    if place is None:
        return "nowhere"
    code, at = place
    return f"{Path(code.co_filename).name}:{code.co_qualname}+{at}"


def files(*names: str) -> list[Path]:
    """Return files of the package by their path in it; a folder stands for all in it."""
    found = [SOURCE / name for name in names]
    return [
        file for path in found for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]
