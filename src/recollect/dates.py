"""Dates as people write them: a moment in free words into ISO-8601, a moment into a day number.

In: what somebody wrote, in English, German, French or Spanish, or what a program passes: a `date`,
a `datetime`, seconds since 1970. Out: the same moment in one spelling, or None where nobody can
tell which it is: 3/4/2023 is a different day on each side of the Atlantic. This room reads no
clock.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from recollect import check
from recollect.normalise import normalise
from recollect.patterns import regex

__all__ = [
    "LONG_MONTHS",
    "MONTHS",
    "MONTH_NAMES",
    "NO_DAY",
    "WEEKDAYS",
    "day_number",
    "moment_of",
    "read_moment",
]

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# In each language in the order of the year; where people leave an accent out, both.
_ELSEWHERE = (
    "januar februar märz april mai juni juli august september oktober november dezember",
    "jänner feber maerz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
)
_SHORTER = {
    **{name[:3]: number for number, name in enumerate(MONTHS, 1)},
    **dict.fromkeys(("janv", "ene"), 1),
    **dict.fromkeys(("févr", "fevr"), 2),
    **dict.fromkeys(("mär", "mrz"), 3),
    **dict.fromkeys(("avr", "abr"), 4),
    "juil": 7,
    "sept": 9,
    "okt": 10,
    **dict.fromkeys(("dez", "déc", "dic"), 12),
}
# Whole names, and with their usual short forms, to the number of the month.
LONG_MONTHS = {
    name: number
    for language in (" ".join(MONTHS), *_ELSEWHERE)
    for number, name in enumerate(language.split(), 1)
}
MONTH_NAMES = {**LONG_MONTHS, **_SHORTER}
# Stands for "no day is known" in a column of day numbers.
NO_DAY = -(2**31)

_EPOCH = date(1970, 1, 1).toordinal()
_START = datetime(1970, 1, 1, tzinfo=UTC)
# Seconds since 1970 up to the year 3000: beyond that, it is milliseconds that somebody passed.
_MOST_SECONDS = 32_503_680_000
_SECONDS = regex(r"\d{10}(?:\.\d{1,9})?")
_MONTH = "|".join(sorted(MONTH_NAMES, key=len, reverse=True))
_NAMED = rf"(?P<month>{_MONTH})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
_YEAR = r"(?P<year>\d{4})"
_DATES = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY}(?:\s+(?:of|de|del))?[\s-]+{_NAMED},?[\s-]+(?:del?\s+)?{_YEAR}\b",
        rf"\b{_NAMED}\s+{_DAY},?\s+{_YEAR}\b",
        r"\b(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)",
        r"\b(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})(?!\d)",
        rf"\b(?P<day>){_NAMED},?\s+(?:del?\s+)?{_YEAR}\b",
        r"^(?P<day>)(?P<year>\d{4})-(?P<month>\d{2})$",
    )
)
_WEST = {"e": 5, "c": 6, "m": 7, "p": 8}
# What e-mail calls by name, to hours from Greenwich.
_ZONES = {
    **dict.fromkeys(("ut", "utc", "gmt", "z"), 0),
    **{f"{zone}st": -hours for zone, hours in _WEST.items()},
    **{f"{zone}dt": 1 - hours for zone, hours in _WEST.items()},
}
_TIME = regex(
    r"(?:\b(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?\s*(?P<half>[ap])\.?m\b\.?"
    r"|\b(?P<hour24>\d{1,2}):(?P<minute24>\d{2})(?::(?P<second24>\d{2}))?\b)"
    rf"(?:\s*(?P<zone>[+-]\d{{2}}:?\d{{2}}|{'|'.join(_ZONES)})\b)?",
    re.IGNORECASE,
)
_WEEKDAYS_ELSEWHERE = (
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles miercoles jueves viernes sábado sabado domingo",
)
_SMALL_WORDS = "at on the am um uhr den der le à el a las del de"
_WORDS_AROUND = (
    *(day[:3] + f"(?:{day[3:]})?" for day in WEEKDAYS),
    *" ".join((*_WEEKDAYS_ELSEWHERE, _SMALL_WORDS)).split(),
)
# What may stand around a date and a time without saying anything more.
_FILLING = regex(rf"\b(?:{'|'.join(_WORDS_AROUND)})\b|\([a-z ]{{1,40}}\)|[\s,.|@-]+", re.IGNORECASE)


def moment_of(value: object) -> str | None:
    """Return what a program passes for a time as ISO-8601, None if it is no time.

    Numbers are seconds since 1970; a text is read as people write.
    """
    if isinstance(value, str):
        return read_moment(value)
    if isinstance(value, date):
        return value.isoformat()
    return _since_1970(value) if check.is_number(value) else None


def read_moment(text: str) -> str | None:
    """Return a moment as ISO-8601: as it is if it is that already; None if it cannot be told.

    A month alone is its first day.
    """
    if check.read_time(text) is not None:
        return text
    if _SECONDS.fullmatch(text):
        return _since_1970(float(text))
    return _read(normalise("NFC", text))


@lru_cache(maxsize=4096)
def day_number(text: str | None) -> int:
    """Return the day of an ISO-8601 moment, as written, counted from 1970; else NO_DAY."""
    at = check.read_time(text)
    return NO_DAY if at is None else at.toordinal() - _EPOCH


def _since_1970(seconds: float) -> str | None:
    if not -_MOST_SECONDS <= seconds <= _MOST_SECONDS:
        return None
    at = _START + timedelta(seconds=seconds)
    return f"{at.replace(tzinfo=None).isoformat()}Z"


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
        return date(int(found["year"]), month, int(found["day"] or 1)).isoformat()
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
    zone = "" if found["zone"] is None else _offset(found["zone"].lower())
    return None if zone is None else f"T{hour:02d}:{minute:02d}:{second:02d}{zone}"


def _offset(zone: str) -> str | None:
    """Return how far a zone is from Greenwich, as ISO-8601 writes it."""
    if zone in _ZONES:
        hours = _ZONES[zone]
        return f"{hours:+03d}:00" if hours else "Z"
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return f"{zone[0]}{hours:02d}:{minutes:02d}" if hours < 24 and minutes < 60 else None
