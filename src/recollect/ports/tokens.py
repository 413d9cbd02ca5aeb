"""How long a text is for the model that will read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["TokenCounter"]

# Counts the tokens of a text; must depend on nothing else.
TokenCounter: TypeAlias = Callable[[str], int]
