"""What every importer gives: turns in their order, what memory put among them, what was unreadable.

Frozen values. An importer reads and tells; what is kept, under which id and without which words, is
for whoever reads it to decide. Nothing here opens a file.
"""

from __future__ import annotations

from typing import TypeAlias

from recollect.values import dataclass

__all__ = ["GivenOut", "Heard", "Turn", "Unread"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said: where, when and in which folder, as far as it was written down.

    `name` is what its source calls it, the same however often it is read.
    """

    thread: str
    speaker: str
    text: str
    name: str
    source: str
    occurred_at: str | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class GivenOut:
    """A text that a hook put into the conversation: said again, it is an echo."""

    thread: str
    text: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A line that could not be read, by its number, and why."""

    file: str
    line: int
    reason: str


Heard: TypeAlias = Turn | GivenOut | Unread
