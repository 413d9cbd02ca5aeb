"""How long a text is for the model that will read it."""

from __future__ import annotations

from typing import Protocol

__all__ = ["TokenCounter"]


class TokenCounter(Protocol):
    """Counts tokens; must be a pure function of the text."""

    def __call__(self, text: str) -> int: ...
