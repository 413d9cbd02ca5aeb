"""Where time comes from. The engine asks once an operation; nothing below it reads a clock."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Clock"]


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> float:
        """Return the time in Unix seconds."""
