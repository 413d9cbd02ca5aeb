"""The times a question speaks of: months, years, days, weekdays, and words relative to now.

In: the question's text and the day it is asked. Out: `Time`s, each with the days it covers and
the words that named it, and how close a memory's day comes to any of them. Months are known in
German, French and Spanish too; all else is English, and what is not known changes nothing.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from recollect.dates import LONG_MONTHS, MONTH_NAMES, MONTHS, NO_DAY, WEEKDAYS
from recollect.index.arrays import distinct, is_in
from recollect.limits import TIMES_NAMED
from recollect.patterns import regex
from recollect.values import dataclass

__all__ = [
    "PlacedTime",
    "Time",
    "asks_when",
    "closeness",
    "day_of",
    "may_hold",
    "nearest_time",
    "placed_times",
    "times_in",
]

# A turn tells of the days before it and plans those after: so far away a day still counts a little.
_TAIL_DAYS = 14.0

_EPOCH = date(1970, 1, 1).toordinal()
_SHORT = "|".join(name for name in MONTH_NAMES if name not in LONG_MONTHS)
_ENGLISH = "|".join(MONTHS)
_LONG = "|".join(sorted(LONG_MONTHS, key=len, reverse=True))
_ANY = rf"(?:{_LONG}|(?:{_SHORT})\b)\.?"
_COUNT = "a one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: max(number, 1) for number, word in enumerate(_COUNT.split())}
_DAYS = "|".join(WEEKDAYS)
_TH = r"(?:st|nd|rd|th|er|\.|º)?"
_OF = r"(?:\s+(?:of|de|del))?"
_TIME = regex(
    rf"""\b(?=\w)(?:
      (?P<iso>\d{{4}}-\d{{2}}(?:-\d{{2}})?)
    | (?P<dotted>\d{{1,2}}\.\s?\d{{1,2}}\.\s?\d{{4}})
    | (?P<day>\d{{1,2}}){_TH}{_OF}\s+(?P<day_month>{_ANY})
      (?:,?(?:\s+del?)?\s*(?P<day_year>\d{{4}}))?
    | (?P<month_day>{_ANY})\s+(?P<day_after>\d{{1,2}}){_TH}(?!\d)
      (?:,?\s*(?P<year_after>\d{{4}}))?
    | (?P<month_year>{_ANY}),?\s+(?:del?\s+)?(?P<year_of_month>\d{{4}})
    | (?P<which_month>last|this|next)\s+(?P<that_month>{_ENGLISH})
    | (?P<month>{_LONG})
    | (?P<year>(?:19|20)\d{{2}})
    | (?P<named_day>yesterday|today|tonight|tomorrow)
    | (?P<which>last|past|previous|this|next)\s+(?P<unit>week|weekend|month|year|{_DAYS})
    | (?P<count>\d{{1,3}}|{"|".join(_NUMBERS)})\s+(?P<ago>day|week|month|year)s?\s+ago
    | (?P<led_by>on|since|until|till|by|before|after)\s+(?P<weekday>{_DAYS})
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
# Without a digit each of them holds one of these words.
_DIGITS = frozenset("0123456789")
_TELLING = frozenset(
    (
        *(*LONG_MONTHS, *WEEKDAYS, "yesterday", "today", "tonight", "tomorrow", "weekend"),
        *("day", "days", "week", "weeks", "month", "months", "year", "years"),
    )
)
# What becomes of each ASCII sign where words alone are looked at.
_LETTERS = "".join(sign.lower() if sign.isalpha() else " " for sign in map(chr, range(128)))
# May, March and their like are words and names too: alone they are months where one of these leads.
_LEADING = regex(
    r"\b(?:(?:in|of|since|during|by|before|after|until|till|from|between|early|late|mid)"
    r"[\s-]+(?:the\s+)?|(?:between|from)\s+\w+(?:\s+\d{4})?\s+(?:and|to|until|till)\s+)$",
    re.IGNORECASE,
)
# Names that English does not know for months are months where their own language leads to them.
_LEADING_ELSEWHERE = regex(
    r"\b(?:im|seit|bis|vor|nach|ab|anfang|mitte|ende|en|de|depuis|avant|après|desde|hasta|del)\s+$",
    re.IGNORECASE,
)
# So far back it is looked for: for each month once through all of a question would be too long.
_LEAD_CHARACTERS = 40
# "When" asks only where a question or a clause begins: "who helps when it rains?" does not.
_WHEN = regex(
    r"(?:^|[,;:.?!]|\b(?:me|us|know|remember|say|said|exactly|since|and|or))\s*\bwhen\b"
    r"|\bhow long\b|\b(?:what|which) (?:year|month|week|day|date|time)\b"
    r"|\bhow many (?:years|months|weeks|days)\b",
    re.IGNORECASE,
)
# Who asks so uses one of these words.
_ASKING = frozenset(("when", "how", "what", "which"))


@dataclass(frozen=True, slots=True)
class Time:
    """Days from first to last, counted from 1970; `yearly`: in every year. `words` named it."""

    first: int
    last: int
    words: str
    yearly: bool = False


def asks_when(query: str) -> bool:
    """Whether a question asks for a time."""
    return may_hold(_ASKING, query) and _WHEN.search(query) is not None


def may_hold(words: frozenset[str], query: str) -> bool:
    """Return False for most questions without any of these words, at a fraction of a search."""
    return not query.isascii() or not words.isdisjoint(query.translate(_LETTERS).split())


def day_of(seconds: float) -> date:
    """Return the day of a moment in Unix seconds, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).date()


@dataclass(frozen=True, slots=True)
class PlacedTime:
    """A time, and where in a question it is named. `led_by` is a word of its own that leads to it.

    `is_year`: a number alone, which might be of anything.
    """

    time: Time
    start: int
    end: int
    led_by: str = ""
    is_year: bool = False


def times_in(query: str, today: date) -> tuple[Time, ...]:
    """Return the times that a question names, in the order it names them."""
    return tuple(placed.time for placed in placed_times(query, today))


def _may_name_a_time(query: str) -> bool:
    """Return False for most questions that name none, at a fraction of the price of looking."""
    return not _DIGITS.isdisjoint(query) or may_hold(_TELLING, query)


def placed_times(query: str, today: date) -> list[PlacedTime]:
    """Return the times that a question names, and where, in the order it names them."""
    found: list[PlacedTime] = []
    if not _may_name_a_time(query):
        return found
    for match in _TIME.finditer(query):
        if len(found) == TIMES_NAMED:
            break
        try:
            span = _span(match, query, today)
        except (ValueError, OverflowError):
            continue  # the 31st of June, or a year before the first
        if span is not None:
            first, last, yearly = span
            time = Time(_number(first), _number(last), " ".join(match[0].split()), yearly)
            led_by = (match["led_by"] or "").lower()
            found.append(PlacedTime(time, match.start(), match.end(), led_by, bool(match["year"])))
    return found


def closeness(days: NDArray[np.integer], times: Iterable[Time]) -> NDArray[np.float64]:
    """Return how close each day comes to any of the times: 1 within, 0 a fortnight away."""
    known = days != NO_DAY
    close = np.zeros(len(days))
    for time in times:
        for gap in _yearly_gaps(time, days, known) if time.yearly else (_gap(time, days),):
            np.maximum(close, 1.0 - gap / _TAIL_DAYS, out=close, where=known)
    return close


def nearest_time(day: int, times: Sequence[Time]) -> str | None:
    """Return the words of the time that a day comes closest to; None if it comes close to none."""
    days = np.array([day])
    close = [float(closeness(days, [time])[0]) for time in times]
    nearest = max(range(len(times)), key=close.__getitem__)
    if close[nearest] <= 0.0:
        return None
    words = times[nearest].words
    return words if close[nearest] == 1.0 else f"close to {words}"


def _gap(time: Time, days: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return how many days lie between each day and a time."""
    gap: NDArray[np.integer] = np.maximum(np.maximum(time.first - days, days - time.last), 0)
    return gap


def _yearly_gaps(
    time: Time, days: NDArray[np.integer], known: NDArray[np.bool_]
) -> Iterator[NDArray[np.float64]]:
    """Yield the same for a time of every year that is met: of a day's own year and those beside it.

    Further away is nothing that comes close.
    """
    first, last = (date.fromordinal(day + _EPOCH) for day in (time.first, time.last))
    years = days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64)
    met = distinct(years[known])
    for beside in (0, -1, 1):
        year = years + beside
        gap = np.maximum(_in_year(first, year) - days, days - _in_year(last, year))
        yield np.where(is_in(year, met), np.maximum(gap, 0), np.inf)


def _in_year(day: date, years: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the same day of other years, from 1970; of a shorter February the last."""
    months = years * 12 + day.month - 1
    start, following = (_first_of(months + step) for step in (0, 1))
    return np.minimum(start + day.day, following) - 1


def _first_of(months: NDArray[np.int64]) -> NDArray[np.int64]:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


_Span = tuple[date, date, bool]
# A leap year, so that the 29th of February can be any year's.
_ANY_YEAR = 2000


def _span(match: re.Match[str], query: str, today: date) -> _Span | None:
    """Return the days that a match stands for, and whether they are every year's."""
    for group, read in _READERS:
        if match[group]:
            return read(match, query, today)
    return None


def _iso(match: re.Match[str], _query: str, _today: date) -> _Span:
    year, month, *day = map(int, match["iso"].split("-"))
    return _day(year, month, day[0]) if day else _month(year, month)


def _day_month(match: re.Match[str], _query: str, _today: date) -> _Span:
    return _dated(match["day_month"], match["day"], match["day_year"])


def _month_day(match: re.Match[str], _query: str, _today: date) -> _Span:
    return _dated(match["month_day"], match["day_after"], match["year_after"])


def _month_year(match: re.Match[str], _query: str, _today: date) -> _Span:
    return _month(int(match["year_of_month"]), _month_number(match["month_year"]))


def _which_month(match: re.Match[str], _query: str, today: date) -> _Span:
    month, which = _month_number(match["that_month"]), match["which_month"].lower()
    year = today.year
    if which == "last" and month >= today.month:
        year -= 1
    if which == "next" and month <= today.month:
        year += 1
    return _month(year, month)


def _dotted(match: re.Match[str], _query: str, _today: date) -> _Span:
    day, month, year = map(int, match["dotted"].split("."))
    return _day(year, month, day)


def _bare_month(match: re.Match[str], query: str, _today: date) -> _Span | None:
    start = match.start()
    lead = query[max(0, start - _LEAD_CHARACTERS) : start]
    is_english = match["month"].lower() in MONTHS
    if not (is_english and _LEADING.search(lead)) and not _LEADING_ELSEWHERE.search(lead):
        return None
    return (*_month(_ANY_YEAR, _month_number(match["month"]))[:2], True)


def _year(match: re.Match[str], _query: str, _today: date) -> _Span:
    year = int(match["year"])
    return date(year, 1, 1), date(year, 12, 31), False


def _named_day(match: re.Match[str], _query: str, today: date) -> _Span:
    steps = {"yesterday": -1, "tomorrow": 1}.get(match["named_day"].lower(), 0)
    day = today + timedelta(days=steps)
    return day, day, False


def _which(match: re.Match[str], _query: str, today: date) -> _Span:
    unit, which = match["unit"].lower(), match["which"].lower()
    step = {"this": 0, "next": 1}.get(which, -1)
    if unit == "year":
        return date(today.year + step, 1, 1), date(today.year + step, 12, 31), False
    if unit == "month":
        months = today.year * 12 + today.month - 1 + step
        return _month(months // 12, months % 12 + 1)
    if unit in WEEKDAYS:
        return _weekday(unit, today, ahead=step > 0)
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
    start = 5 if unit == "weekend" else 0
    return monday + timedelta(days=start), monday + timedelta(days=6), False


def _ago(match: re.Match[str], _query: str, today: date) -> _Span:
    count, unit = match["count"].lower(), match["ago"].lower()
    many = int(count) if count.isdigit() else _NUMBERS[count]
    if unit == "year":
        return date(today.year - many, 1, 1), date(today.year - many, 12, 31), False
    days, around = {"day": (1, 0), "week": (7, 3), "month": (30, 15)}[unit]
    middle = today - timedelta(days=many * days)
    return middle - timedelta(days=around), middle + timedelta(days=around), False


def _on_weekday(match: re.Match[str], _query: str, today: date) -> _Span:
    return _weekday(match["weekday"].lower(), today, ahead=False)


_Reader = Callable[[re.Match[str], str, date], _Span | None]
_READERS: Sequence[tuple[str, _Reader]] = (
    ("iso", _iso),
    ("dotted", _dotted),
    ("day_month", _day_month),
    ("month_day", _month_day),
    ("month_year", _month_year),
    ("which_month", _which_month),
    ("month", _bare_month),
    ("year", _year),
    ("named_day", _named_day),
    ("which", _which),
    ("ago", _ago),
    ("weekday", _on_weekday),
)


def _weekday(name: str, today: date, *, ahead: bool) -> _Span:
    """Return the last such day before today, or the next one after."""
    apart = (WEEKDAYS.index(name) - today.weekday()) % 7
    day = today + timedelta(days=(apart or 7) if ahead else apart - 7)
    return day, day, False


def _dated(month: str, day: str, year: str | None) -> _Span:
    if year is not None:
        return _day(int(year), _month_number(month), int(day))
    return (*_day(_ANY_YEAR, _month_number(month), int(day))[:2], True)


def _day(year: int, month: int, day: int) -> _Span:
    only = date(year, month, day)
    return only, only, False


def _month(year: int, month: int) -> _Span:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1]), False


def _month_number(name: str) -> int:
    return MONTH_NAMES[name.lower().rstrip(".")]


def _number(day: date) -> int:
    return day.toordinal() - _EPOCH
