"""Regular expressions that are compiled when they are first used.

Compiling one takes up to some milliseconds, and what asks one question needs few of them. An
expression comes in; what goes out is used like a compiled one.
"""

from __future__ import annotations

import re
from typing import Any, cast

__all__ = ["regex"]


def regex(expression: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when one of its methods is first used."""
    return cast("re.Pattern[str]", _Pattern(expression, flags))


class _Pattern:
    def __init__(self, expression: str, flags: int) -> None:
        self._expression, self._flags = expression, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._expression, self._flags), name)
        # From now on the compiled pattern's own method is found without coming here.
        setattr(self, name, found)
        return found
