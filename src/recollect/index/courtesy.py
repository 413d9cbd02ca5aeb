"""Long work in pieces, so that whoever is being answered meanwhile comes first.

One interpreter runs one thread at a time: beside a thread that never stops for a moment an answer
waits each time it lets go of the interpreter. In: things to work on and what to do in a pause. Out:
the same things, with pauses between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

__all__ = ["Pause", "go_on", "with_pauses"]

Pause: TypeAlias = Callable[[], None]
Thing = TypeVar("Thing")

# What is done with so many takes a millisecond or two.
_PIECE = 256


def go_on() -> None:
    """Make no pause."""


def with_pauses(things: Iterable[Thing], pause: Pause, every: int = _PIECE) -> Iterator[Thing]:
    """Yield each of many things, with a pause before every so many."""
    for number, thing in enumerate(things):
        if number % every == 0:
            pause()
        yield thing
