"""Dates as people write them: a moment in free words into ISO-8601, a moment into a day number.

In: what somebody wrote. Out: the same moment in one spelling, or None where nobody can tell which
it is: 3/4/2023 is a different day on each side of the Atlantic. This room reads no clock.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from recollect import check

__all__ = ["MONTHS", "MONTH_NAMES", "NO_DAY", "WEEKDAYS", "day_number", "read_moment"]

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Whole names and their usual short forms, to the number of the month.
MONTH_NAMES = {
    **{name: number for number, name in enumerate(MONTHS, 1)},
    **{name[:3]: number for number, name in enumerate(MONTHS, 1)},
    "sept": 9,
}
# Stands for "no day is known" in a column of day numbers.
NO_DAY = -(2**31)

_EPOCH = date(1970, 1, 1).toordinal()
_MONTH = "|".join(sorted(MONTH_NAMES, key=len, reverse=True))
_NAMED = rf"(?P<month>{_MONTH})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY}(?:\s+of)?[\s-]+{_NAMED},?[\s-]+{_YEAR}\b",
        rf"\b{_NAMED}\s+{_DAY},?\s+{_YEAR}\b",
        r"\b(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)",
    )
)
_TIME = re.compile(
    r"\b(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?\s*(?P<half>[ap])\.?m\b\.?"
    r"|\b(?P<hour24>\d{1,2}):(?P<minute24>\d{2})(?::(?P<second24>\d{2}))?\b",
    re.IGNORECASE,
)
# What may stand around a date and a time without saying anything more.
_FILLING = re.compile(
    rf"\b(?:{'|'.join(day[:3] + f'(?:{day[3:]})?' for day in WEEKDAYS)}|at|on|the)\b|[\s,.|@-]+",
    re.IGNORECASE,
)


def read_moment(text: str) -> str | None:
    """Return a moment as ISO-8601: as it is if it is that already; None if it cannot be told."""
    return _read(text) if check.read_time(text) is None else text


@lru_cache(maxsize=4096)
def day_number(text: str | None) -> int:
    """Return the day of an ISO-8601 moment, as written, counted from 1970; else NO_DAY."""
    at = check.read_time(text)
    return NO_DAY if at is None else at.toordinal() - _EPOCH


def _read(text: str) -> str | None:
    for pattern in _DATES:
        found = pattern.search(text)
        if found is None:
            continue
        day = _day(found)
        rest = text[: found.start()] + " " + text[found.end() :]
        time = _TIME.search(rest)
        if time is not None:
            rest = rest[: time.start()] + " " + rest[time.end() :]
        clock = _clock(time) if time is not None else ""
        return None if day is None or clock is None or _FILLING.sub("", rest) else day + clock
    return None


def _day(found: re.Match[str]) -> str | None:
    named = found["month"].lower()
    month = int(named) if named.isdigit() else MONTH_NAMES[named]
    try:
        return date(int(found["year"]), month, int(found["day"])).isoformat()
    except ValueError:
        return None


def _clock(found: re.Match[str]) -> str | None:
    hour = int(found["hour"] or found["hour24"])
    minute, second = (
        int(found[f"{unit}24" if found["hour24"] else unit] or 0) for unit in ("minute", "second")
    )
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"].lower() == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return f"T{hour:02d}:{minute:02d}:{second:02d}"
