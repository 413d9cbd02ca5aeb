"""What callers of the engine may ask: each check names what it refuses and says what to do.

In: whatever was passed. Out: the value to use, or `InvalidInput`. Nothing is read or written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.errors import InvalidInput
from recollect.hours import iso

__all__ = ["FUTURE_SECONDS", "arguments", "past", "patterns", "positive", "query"]

# A caller's clock may run ahead of ours by this much; more is a mistake.
FUTURE_SECONDS = 24 * 3600


def arguments(item: object) -> Mapping[str, Any]:
    """Return an item of `remember_many` as arguments of `remember`."""
    if isinstance(item, str):
        return {"content": item}
    if isinstance(item, Mapping):
        return item
    raise InvalidInput(
        f"an item must be a text or a mapping, not {type(item).__name__}.",
        hint='write "a text" or {"content": "a text", "project": "shop"}.',
    )


def query(text: object) -> str | None:
    """Return the query to run, or None for a blank one."""
    if text is None or (isinstance(text, str) and not text.strip()):
        return None
    if not isinstance(text, str):
        raise InvalidInput(
            f"query must be a text, not {type(text).__name__}.", hint="leave it out for none."
        )
    # Half a surrogate pair, as from a broken JSON source, matches nothing and must not hurt.
    return text.encode(errors="replace").decode()


def patterns(tags: object) -> tuple[str, ...]:
    """Return tag patterns as a tuple."""
    if tags is None:
        return ()
    if isinstance(tags, str) or not isinstance(tags, Sequence):
        raise InvalidInput("tags must be a list of strings.", hint='write tags=["django"].')
    if not all(isinstance(tag, str) for tag in tags):
        raise InvalidInput("each tag must be a string.", hint='write tags=["django"].')
    return tuple(tags)


def positive(field: str, value: object, most: int) -> int:
    """Return a whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidInput(
            f"{field} must be a whole number from 1 to {most:,}, not {value!r}.",
            hint=f"leave {field} out for the default.",
        )
    return value


def past(now: object, seconds: float) -> str:
    """Return a caller's time as it is stored; it must be in UTC and not ahead of the clock."""
    given = stamp = None
    try:
        given = datetime.fromisoformat(now) if isinstance(now, str) else None
        stamp = iso(given.timestamp()) if given and given.utcoffset() is not None else None
    except (ValueError, OverflowError):
        pass  # no time at all, or one outside the calendar
    if given is None or stamp is None:
        raise InvalidInput(
            f"now must be an ISO-8601 time in UTC, not {now!r}.", hint="2026-05-11T12:00:00Z"
        )
    if given.timestamp() > seconds + FUTURE_SECONDS:
        raise InvalidInput(
            f"now is {now}, more than a day ahead of the clock.",
            hint="check the clock of the machine that sent it, or leave now out.",
        )
    return stamp
