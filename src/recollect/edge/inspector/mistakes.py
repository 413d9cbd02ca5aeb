"""What was mistyped: a form comes back as it was sent, with what is wrong beside its field.

In: an error, and the names of what was typed. Out: the name that the error is about, and what to
say there. An error that is about none of them is a page of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.errors import RecollectError

__all__ = ["Mistake", "field_of"]

# What was typed stands in quotation marks; it names nothing.
_QUOTED = re.compile(r"'[^']*'")
# A part of a recipe, a weight, or one of a second question: the verb knows it without.
_PREFIX = re.compile(r"^[rwb]_")
# What stands in an address and in no field that one sees.
_UNSEEN = frozenset({"cursor", "filter", "scope", "garden", "entity", "token", "digest", "before"})


@dataclass(frozen=True, slots=True)
class Mistake:
    """What was typed into a field, and why it will not do."""

    name: str
    typed: str
    message: str
    hint: str

    @classmethod
    def of(cls, field: str, typed: str, error: RecollectError) -> Mistake:
        """Return what to say of a field; `name` is what the message calls it."""
        return cls(_PREFIX.sub("", field), typed, error.message, error.hint or "")


def field_of(error: RecollectError, names: Iterable[str]) -> str | None:
    """Return the field that an error is about; messages begin with its name, or soon have it."""
    said = _QUOTED.sub("", error.message)
    found = [
        (at.start(), name)
        for name in names
        if name not in _UNSEEN
        and (at := re.search(rf"\b{re.escape(_PREFIX.sub('', name))}\b", said)) is not None
    ]
    return min(found)[1] if found else None
