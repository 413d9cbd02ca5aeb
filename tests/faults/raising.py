"""Raise an exception at a chosen instant of a call, instead of hoping that a signal hits it.

A call is run once to see where it comes by: every line, or every opcode, of some files. Then it is
run again, each time with an exception at one of these instants.
"""

from __future__ import annotations

import dis
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import recollect

SOURCE = Path(recollect.__file__).parent


@dataclass(frozen=True)
class Instant:
    """A line, or an opcode, of some code, and the how manieth time it comes by there."""

    code: CodeType
    at: int
    visit: int = 1

    def __str__(self) -> str:
        again = f", time {self.visit}" if self.visit > 1 else ""
        return f"{Path(self.code.co_filename).name}:{self.code.co_qualname}+{self.at}{again}"


class Instants:
    """Where a call comes by in some files, and how to raise there."""

    def __init__(self, files: Iterable[Path], *, opcodes: bool) -> None:
        self._files = {str(file) for file in files}
        self._opcodes = opcodes

    def of(self, call: Callable[[], object]) -> list[Instant]:
        """Return the instants of a call, in their order."""
        seen: list[Instant] = []
        visits: Counter[tuple[CodeType, int]] = Counter()

        def step(code: CodeType, at: int) -> None:
            if self._opcodes and at in leaving_with(code):
                return
            visits[code, at] += 1
            seen.append(Instant(code, at, visits[code, at]))

        self._run(call, lambda code: code.co_filename in self._files, step)
        return seen

    def raising(self, call: Callable[[], object], instant: Instant, error: BaseException) -> bool:
        """Run a call with an exception at one instant; return False if it never came by there.

        Only the code of that instant is watched, which costs a tenth of watching all.
        """
        left = instant.visit

        def step(_: CodeType, at: int) -> None:
            nonlocal left, error
            if at == instant.at:
                left -= 1
                if not left:
                    raise error

        try:
            self._run(call, lambda code: code is instant.code, step)
        finally:
            del error  # it would keep the frames that it came through
        return left <= 0

    def _run(
        self,
        call: Callable[[], object],
        watches: Callable[[CodeType], bool],
        step: Callable[[CodeType, int], None],
    ) -> None:
        def enter(frame: FrameType, *_: object) -> Any:
            if not watches(frame.f_code):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = self._opcodes, not self._opcodes
            return go

        def go(frame: FrameType, event: str, _: object) -> Any:
            if event == "opcode":
                step(frame.f_code, frame.f_lasti)
            elif event == "line":
                step(frame.f_code, frame.f_lineno)
            return go

        sys.settrace(enter)
        try:
            call()
        finally:
            sys.settrace(None)


@cache
def leaving_with(code: CodeType) -> frozenset[int]:
    """Return the opcodes at which a `with` is being left in the ordinary way.

    Python looks for signals after calls and jumps, and nowhere in there: nothing can be raised, and
    whoever is about to be let go is let go.
    """
    found: set[int] = set()
    steps = list(dis.get_instructions(code))
    for number in range(len(steps) - 4):
        three = steps[number : number + 3]
        if [(step.opname, step.argval) for step in three] == [("LOAD_CONST", None)] * 3:
            call = number + 3 + (steps[number + 3].opname == "PRECALL")
            if steps[call].opname == "CALL" and steps[call].arg == 2:
                found |= {step.offset for step in steps[number : call + 1]}
    return frozenset(found)


def distinct(seen: Sequence[Instant], *, most: int | None = None) -> list[Instant]:
    """Return at which instants to raise: of every place the first, second and last time it came by.

    With `most` only so many, evenly chosen: the same ones each time.
    """
    last = {(one.code, one.at): one.visit for one in seen}
    chosen = [one for one in seen if one.visit in (1, 2, last[one.code, one.at])]
    return evenly(chosen, most)


def first_times(seen: Sequence[Instant], *, most: int | None = None) -> list[Instant]:
    """Return at which instants to raise: once at each place."""
    return evenly([one for one in seen if one.visit == 1], most)


def evenly(chosen: list[Instant], most: int | None) -> list[Instant]:
    """Return so many of them, from the first on."""
    if most is None or len(chosen) <= most:
        return chosen
    return [chosen[number * len(chosen) // most] for number in range(most)]


def files(*names: str) -> list[Path]:
    """Return files of the package by their path in it; a folder stands for all in it."""
    found = [SOURCE / name for name in names]
    return [
        file for path in found for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]


@contextmanager
def told(when: str) -> Iterator[None]:
    """Say of whatever is found when that was."""
    try:
        yield
    except BaseException as found:
        found.add_note(when)
        raise
