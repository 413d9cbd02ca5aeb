"""What others wrote down, read as turns: a room for each format, and what they all give."""

from __future__ import annotations

from recollect.importers.turns import GivenOut, Heard, Turn, Unread

__all__ = ["GivenOut", "Heard", "Turn", "Unread"]
