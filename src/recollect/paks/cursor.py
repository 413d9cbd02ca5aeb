"""Cursors of a listing: where the last page ended, and under which filters.

In: the last row of a page and the filters that found it. Out: an opaque token, and back. A token
that was not made here, or was made under other filters, is refused.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect import check
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.model.pak import PakListFilters, PakRow

__all__ = ["Position", "decode", "encode"]


class Position(NamedTuple):
    """The sort key of the last row already seen."""

    updated_at: str
    pak_id: str


def encode(last: PakRow, filters: PakListFilters) -> str:
    """Return the token that resumes after `last`."""
    fields = [last.updated_at, last.pak_id, filters.project, filters.pak_type]
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(token: Any, filters: PakListFilters) -> Position:
    """Return where `token` points, if it belongs to a listing under `filters`."""
    fields = _fields(token)
    if fields[2:] != [filters.project, filters.pak_type]:
        raise InvalidInput(
            "This cursor belongs to a listing with other filters.",
            hint="keep project and pak_type the same for all pages, or start without a cursor.",
        )
    return Position(fields[0], fields[1])


def _fields(token: Any) -> list[Any]:
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        fields = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (AttributeError, UnicodeError, binascii.Error, ValueError, RecursionError):
        fields = None
    if not _well_formed(fields):
        raise InvalidInput(
            "This is not a cursor of a listing.",
            hint="pass next_cursor of the page before unchanged, or none for the first page.",
        )
    assert isinstance(fields, list)  # noqa: S101 - narrows the type for mypy
    return fields


def _well_formed(fields: Any) -> bool:
    return (
        isinstance(fields, list)
        and len(fields) == 4
        and all(isinstance(field, str) and check.is_storable(field) for field in fields[:2])
        and all(field is None or isinstance(field, str) for field in fields[2:])
    )
