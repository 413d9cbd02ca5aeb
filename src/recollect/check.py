"""What a value from outside must be: a text, a name, an id, a share, a whole number, a time.

In: the name of a field and whatever was passed for it. Out: the value to use, which passes again
unchanged, or `InvalidInput` that names the field and says what to do. Standard library only. No
other room says for itself what one of these is; how long it may be stands in `limits`. What follows
from a value is not decided here.
"""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, timedelta
from typing import TypeGuard

from recollect.errors import InvalidInput
from recollect.limits import most_characters
from recollect.patterns import regex

__all__ = [
    "at_most",
    "edge_of_time",
    "filled_text",
    "instant",
    "is_id",
    "is_number",
    "is_share",
    "is_storable",
    "is_store_name",
    "length",
    "microseconds",
    "name",
    "number",
    "optional_name",
    "optional_text",
    "pak_id",
    "positive_share",
    "query",
    "read_time",
    "share",
    "shown",
    "store_name",
    "text",
    "time",
    "time_in_utc",
    "utc_time",
    "whole",
]

_SHOWN_CHARS = 60
# 2026-05-11, or shorter: 20260511, 2026-W20.
_DAY_CHARS = 10
_DIGITS_OF_A_DAY = 8
_LARGEST = sys.float_info.max
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LIKE_THIS = "write it like 2026-05-11T12:00:00Z."
# A store's name is the name of its folder too: on every file system, whatever it makes of case, one
# name is one folder, and none leads elsewhere or looks like another in other letters.
_STORE_NAME = regex(r"[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?")
_SHORTER = {
    "content": "split it into parts, one memory each, in one thread.",
    "query": "ask with the few sentences that matter.",
    "payload": "send fewer facts in a call.",
}


def length(field: str, value: str | bytes) -> None:
    """Refuse a text that is longer than its field may be."""
    most = most_characters(field)
    if len(value) > most:
        raise InvalidInput(
            f"{field} has {len(value):,} characters; the most is {most:,}.",
            hint=_SHORTER.get(field, f"shorten the {field}."),
        )


def at_most(field: str, count: int, most: int, *, hint: str = "") -> None:
    """Refuse more of a thing than there may be."""
    if count > most:
        raise InvalidInput(
            f"{count:,} {field} are too many; the most is {most:,}.",
            hint=hint or f"leave some {field} out, or call several times.",
        )


def text(field: str, value: object, *, nul: bool = False, limited: bool = True) -> str:
    """Return a string that can be stored; NUL is let through only where it always was.

    What is not `limited` was kept before, or is measured by whoever asks.
    """
    if not isinstance(value, str):
        raise InvalidInput(
            f"{field} must be a text, not {shown(value)}.", hint=f"pass {field} as text."
        )
    if "\x00" in value and not nul:
        raise InvalidInput(
            f"{field} holds a NUL character.", hint="strip it: text.replace('\\x00', '')."
        )
    if not is_storable(value):
        raise InvalidInput(
            f"{field} holds half of a surrogate pair and cannot be stored as UTF-8.",
            hint="decode the text with errors='replace' before you pass it on.",
        )
    if limited:
        length(field, value)
    return value


def filled_text(field: str, value: object, *, nul: bool = False, limited: bool = True) -> str:
    """Return a string that can be stored and says something."""
    if isinstance(value, str) and not value.strip():
        raise InvalidInput(
            f"{field} is blank.", hint=f"pass a {field} with at least one visible character."
        )
    return text(field, value, nul=nul, limited=limited)


def optional_text(
    field: str, value: object, *, nul: bool = False, limited: bool = True
) -> str | None:
    """Return a string that can be stored, or None."""
    return None if value is None else text(field, value, nul=nul, limited=limited)


def name(field: str, value: object) -> str:
    """Return a text that says something, to call a thing by."""
    return filled_text(field, value)


def optional_name(field: str, value: object) -> str | None:
    """Return a name, or None."""
    return None if value is None else name(field, value)


def store_name(field: str, value: object) -> str:
    """Return a name by which a node finds a store."""
    written = name(field, value)
    if not _STORE_NAME.fullmatch(written):
        raise InvalidInput(
            f"{field} must be of a-z, 0-9, - and _ and begin and end with a letter or a digit,"
            f" not {shown(written)}.",
            hint="write it in small plain letters, like acme-support.",
        )
    return written


def is_store_name(value: str) -> bool:
    """Return whether a store may have this name."""
    return len(value) <= most_characters("store") and _STORE_NAME.fullmatch(value) is not None


def query(field: str, value: object) -> str:
    """Return a question to look things up by; it may be blank."""
    if not isinstance(value, str):
        raise InvalidInput(
            f"{field} must be a text, not {shown(value)}.", hint=f"leave {field} out for none."
        )
    length(field, value)
    # Half a surrogate pair, as from a broken JSON source, matches nothing and must not hurt.
    return value if is_storable(value) else value.encode(errors="replace").decode()


def pak_id(field: str, value: object) -> str:
    """Return what could be the id of a memory."""
    return filled_text(field, value, nul=True, limited=False)


def is_id(value: object) -> TypeGuard[str]:
    """Return whether a value could be the id of a memory, so that looking it up is safe."""
    return isinstance(value, str) and bool(value.strip()) and is_storable(value)


def is_share(value: object, *, slack: float = 0.0) -> TypeGuard[float]:
    """Return whether this is a number from 0 to 1."""
    # A NaN fails the comparison too, and a whole number of any size passes through it unharmed.
    return is_number(value) and 0 <= value <= 1 + slack


def share(field: str, value: object, *, hint: str = "", slack: float = 0.0) -> float:
    """Return a number from 0 to 1; `slack` is what rounding may have added to the 1."""
    if not is_share(value, slack=slack):
        raise InvalidInput(
            f"{field} must be a number from 0 to 1, not {shown(value)}.",
            hint=hint or f"write {field} as a share: 0 is nothing, 1 is all.",
        )
    return float(value)


def positive_share(field: str, value: object, *, hint: str = "") -> float:
    """Return a number above 0 and at most 1."""
    if not is_number(value) or not 0 < value <= 1:
        raise InvalidInput(
            f"{field} must be above 0 and at most 1, not {shown(value)}.",
            hint=hint or f"write {field} as a share: 1 is all.",
        )
    return float(value)


def number(
    field: str, value: object, *, least: float = -_LARGEST, most: float = _LARGEST, hint: str = ""
) -> float:
    """Return a finite number within bounds."""
    if not is_number(value) or not least <= value <= most:
        bounds = f" from {least:g} to {most:g}" if most < _LARGEST else ""
        bounds = bounds or (f", {least:g} or more" if least > -_LARGEST else "")
        raise InvalidInput(
            f"{field} must be a finite number{bounds}, not {shown(value)}.",
            hint=hint or f"leave {field} out for the default.",
        )
    return float(value)


def whole(field: str, value: object, *, most: int, least: int = 1, hint: str = "") -> int:
    """Return a whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(
            f"{field} must be a whole number from {least:,} to {most:,}, not {shown(value)}.",
            hint=hint or f"leave {field} out for the default.",
        )
    return value


def time(field: str, value: object) -> str:
    """Return an ISO-8601 time as it was written, with or without an offset."""
    written = filled_text(field, value)
    if read_time(written) is None:
        raise InvalidInput(
            f"{field} must be an ISO-8601 time, not {shown(value)}.", hint=_LIKE_THIS
        )
    return written


def utc_time(field: str, value: object) -> str:
    """Return an ISO-8601 time in UTC as it was written."""
    at = read_time(value)
    if at is None or at.utcoffset() != timedelta(0) or not isinstance(value, str):
        raise _no_utc(field, value)
    length(field, value)
    return value


def time_in_utc(field: str, value: object) -> str:
    """Return an ISO-8601 time that says its offset as it is stored: in UTC, to the second."""
    at = read_time(value)
    if at is None or at.utcoffset() is None:
        raise _no_utc(field, value)
    try:
        moved = at.astimezone(UTC)
    except OverflowError:  # its offset takes it out of the calendar
        raise _no_utc(field, value) from None
    return f"{moved.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def edge_of_time(field: str, value: object, *, last: bool) -> str:
    """Return where a stretch of time begins, or ends, in UTC: a day alone is all of that day.

    What says no offset is in UTC.
    """
    at = _at(value) if isinstance(value, date) else instant(value)
    if isinstance(value, str):
        length(field, value)
    if at is None:
        raise InvalidInput(
            f"{field} must be a day or an ISO-8601 time, not {shown(value)}.",
            hint="write it like 2026-05-11 or 2026-05-11T12:00:00Z.",
        )
    try:
        moved = at.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # its offset takes it out of the calendar
        raise _no_utc(field, value) from None
    is_day = not isinstance(value, datetime) and len(str(value)) <= _DAY_CHARS
    if is_day and last:
        moved = moved.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return f"{moved.isoformat()}Z"


def _at(value: date) -> datetime:
    at = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def read_time(value: object) -> datetime | None:
    """Return an ISO-8601 time as it was written, or None for what is none."""
    # Of more digits in a row Python makes a day, a sign between, and a time: 1712111512345.
    if not isinstance(value, str) or (len(value) > _DIGITS_OF_A_DAY and value.isdigit()):
        return None
    try:
        return datetime.fromisoformat(value)
    except (ValueError, OverflowError):
        return None


def instant(value: object) -> datetime | None:
    """Return the moment that an ISO-8601 time means, in UTC unless it says otherwise, or None."""
    at = read_time(value)
    return at if at is None or at.tzinfo is not None else at.replace(tzinfo=UTC)


def microseconds(value: object) -> int | None:
    """Return an ISO-8601 time as microseconds since 1970, or None for what is none."""
    at = instant(value)
    return None if at is None else (at - _EPOCH) // _MICROSECOND


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_storable(value: str) -> bool:
    """Return whether a string can be stored as UTF-8, which half of a surrogate pair cannot."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: object) -> str:
    """Return a value as an error quotes it: short and printable, whatever it is."""
    try:
        written = ascii(value)
    except (ValueError, RecursionError):  # a number of too many digits, or a list without an end
        return f"a {type(value).__name__} that is too large to show"
    return written if len(written) <= _SHOWN_CHARS else f"{written[: _SHOWN_CHARS - 3]}..."


def _no_utc(field: str, value: object) -> InvalidInput:
    return InvalidInput(
        f"{field} must be an ISO-8601 time in UTC, not {shown(value)}.", hint=_LIKE_THIS
    )
