"""Long work in pieces, so that whoever is being answered meanwhile comes first.

One interpreter runs one thread at a time: beside a thread that never stops for a moment an answer
waits each time it lets go of the interpreter. In: things to work on and what to do in a pause. Out:
the same things, with pauses between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeAlias, TypeVar

__all__ = ["Pause", "go_on", "in_pieces", "with_pauses"]

Pause: TypeAlias = Callable[[], None]
Thing = TypeVar("Thing")

# What is done with so many small things takes a millisecond or two.
_PIECE = 256


def go_on() -> None:
    """Make no pause."""


def with_pauses(things: Iterable[Thing], pause: Pause) -> Iterator[Thing]:
    """Yield each of some things that take long, with a pause before each."""
    for thing in things:
        pause()
        yield thing


def in_pieces(things: Iterable[Thing], pause: Pause) -> Iterator[Iterator[Thing]]:
    """Yield many small things, so many at a time, with a pause before each piece.

    Each piece has to be walked over before the next.
    """
    rest = iter(things)
    for first in rest:
        pause()
        yield chain((first,), islice(rest, _PIECE - 1))
