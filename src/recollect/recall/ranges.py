"""Whether a question asks for a stretch of time, or for the latest or the first of something.

In: a question's text and the day it is asked. Out: a `TimeAsked`: the range, as days that a memory
must be from, the order, and the times that are left, to which it is enough to be near. *Before,
after, since, until, between* make a range of the time that follows, *in the last N days* is one;
*latest* and *first* make an order. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Literal

from recollect.dates import WEEKDAYS
from recollect.patterns import regex
from recollect.recall.times import PlacedTime, Time, may_hold, placed_times
from recollect.values import dataclass

__all__ = ["NO_TIME", "Order", "Range", "TimeAsked", "time_asked"]

Order = Literal["latest", "earliest"]

_EPOCH = date(1970, 1, 1)
_LEAST, _MOST = ((day - _EPOCH).days for day in (date.min, date.max))
# Whoever uses none of these words asks for no range and no order, which costs one look to see.
_CUES = (
    *("before", "after", "since", "until", "till", "between", "from", "last", "past"),
    *("latest", "newest", "recent", "recently", "first", "earliest"),
)
_CUE, _CUED = regex(rf"\b(?:{'|'.join(_CUES)})\b", re.IGNORECASE), frozenset(_CUES)
_UNITS = "day|week|weekend|month|year|night|morning|evening"
_LEAD = regex(r"\b(before|after|since|until|till|between|from)\s+(?:the\s+)?$", re.IGNORECASE)
# "The week before 3 August" and "shortly after" are near a time; "not before" is no "before".
_NEAR = regex(
    rf"\b(?:(?:{_UNITS})s?|{'|'.join(WEEKDAYS)}|shortly|right|just|soon|immediately|not|never)\s+$",
    re.IGNORECASE,
)
_JOINED = regex(r"\s*(?:and|to|until|till|[-\u2013])\s*(?:the\s+)?", re.IGNORECASE)
# So far back it is looked for what leads to a time.
_LEAD_CHARACTERS = 40
# A number after "since" is a year where a sentence goes on, and not where it counts something.
_AFTER_YEAR = regex(
    r"\s*(?:$|[^\w\s]|(?:and|or|to|in|on|at|for|with|about|who|what|which|when|where|why|how|do|does"
    r"|did|is|are|was|were|has|have|had|i|you|he|she|it|we|they|the|a|an|my|our|your)\b|(?-i:[A-Z]))",
    re.IGNORECASE,
)
_COUNT = "two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: number for number, word in enumerate(_COUNT.split(), 2)}
_LAST = regex(
    rf"\b(?:(?:in|within|over|during|for|from|of)\s+)?the\s+(?:last|past)\s+"
    rf"(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS)})\s+(?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_WHOSE = r"(?:the|my|your|his|her|its|our|their|[^\W\d_]+['\u2019]s)"
# First aid, first place, the first half and the first of May are no order.
_NO_FIRST = (
    "aid|place|name|names|half|quarter|floor|person|lady|class|part|thing|step|line|of|and|responder"
    "|responders|page|row|column|letter"
)
_ORDERS: Sequence[tuple[Order, re.Pattern[str]]] = (
    (
        "latest",
        regex(r"(?<!at the )\b(?:latest|newest|most\s+recent(?:ly)?|last\s+time)\b", re.IGNORECASE),
    ),
    (
        "earliest",
        regex(
            rf"\bearliest\b|\bfirst\s+time\b|\b{_WHOSE}\s+(?:very\s+)?first\s+(?!(?:{_NO_FIRST})\b)"
            rf"|\bdid\s+(?:\S{{1,40}}\s+){{1,4}}first\s+(?!(?:{_NO_FIRST})\b)",
            re.IGNORECASE,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Range:
    """Days from first to last, counted from 1970 and both included; None is however far.

    `words` asked for it.
    """

    first: int | None
    last: int | None
    words: str

    @property
    def since(self) -> str | None:
        """When it begins."""
        return None if self.first is None else f"{_day(self.first)}T00:00:00Z"

    @property
    def until(self) -> str | None:
        """When it ends."""
        return None if self.last is None else f"{_day(self.last)}T23:59:59.999999Z"


@dataclass(frozen=True, slots=True)
class TimeAsked:
    """What a question says about time.

    `words` asked for the range and the order, and are no part of what the question is about.
    """

    range: Range | None = None
    order: Order | None = None
    times: tuple[Time, ...] = ()
    words: tuple[str, ...] = ()


NO_TIME = TimeAsked()


def time_asked(query: str, today: date) -> TimeAsked:
    """Return what a question says about time."""
    placed = placed_times(query, today)
    if not may_hold(_CUED, query) or not _CUE.search(query):
        return TimeAsked(times=tuple(one.time for one in placed)) if placed else NO_TIME
    found = [*_recent(query, today), *_led(query, placed, today)]
    joined = _joined([one for one, _ in found])
    used = {one for _, some in found for one in some} if joined is not None else set()
    times = tuple(one.time for one in placed if one not in used)
    # Beside a time that is named, being near to it says which one is meant.
    order = None if times else _order(query)
    words = () if joined is None else (joined.words,)
    return TimeAsked(
        range=joined,
        order=None if order is None else order[0],
        times=times,
        words=(*words, *_ORDER_WORDS.findall(order[1][0])) if order is not None else words,
    )


# Of what asked for an order, the words that say nothing else.
_ORDER_WORDS = regex(
    r"\b(?:latest|newest|most\s+recent(?:ly)?|last\s+time|earliest|first\s+time|first)\b",
    re.IGNORECASE,
)


def _order(query: str) -> tuple[Order, re.Match[str]] | None:
    found = ((kind, said.search(query)) for kind, said in _ORDERS)
    return next(((kind, match) for kind, match in found if match is not None), None)


_Found = tuple[Range, tuple[PlacedTime, ...]]


def _recent(query: str, today: date) -> Iterator[_Found]:
    """Yield the range of "in the last three days"."""
    said = _LAST.search(query)
    if said is None:
        return
    count = said["count"].lower()
    many = _NUMBERS[count] if count in _NUMBERS else int(count)
    days = many * _DAYS[said["unit"].lower()]
    last = _number(today)
    yield Range(last - days, last, " ".join(said[0].split())), ()


def _led(query: str, placed: Sequence[PlacedTime], today: date) -> Iterator[_Found]:
    """Yield the ranges that a word before a time makes of it."""
    passed = -1
    for number, one in enumerate(placed):
        lead = _lead(query, one)
        if number <= passed or lead is None or _is_part_of_a_fact(lead, one):
            continue
        following = placed[number + 1] if number + 1 < len(placed) else None
        if lead in ("between", "from"):
            if following is not None and _JOINED.fullmatch(query[one.end : following.start]):
                passed = number + 1
                yield _between(lead, one, following, today), (one, following)
        else:
            yield _open(lead, one, today), (one,)


def _is_part_of_a_fact(lead: str, one: PlacedTime) -> bool:
    """Return whether a time says what is asked about: "booked until May" is no time of writing."""
    return one.time.yearly and lead in ("until", "till")


def _lead(query: str, one: PlacedTime) -> str | None:
    """Return the word that leads to a time, if it makes a range of it."""
    if one.is_year and not _AFTER_YEAR.match(query, one.end):
        return None
    start = one.start
    if one.led_by:
        lead = one.led_by if one.led_by not in ("on", "by") else None
    else:
        found = _LEAD.search(query[max(0, start - _LEAD_CHARACTERS) : start])
        lead = None if found is None else found[1].lower()
        start -= 0 if found is None else len(found[0])
    before = query[max(0, start - _LEAD_CHARACTERS) : start]
    return None if _NEAR.search(before) else lead


def _open(lead: str, one: PlacedTime, today: date) -> Range:
    time = _of_one_year(one.time, _number(today))
    words = one.time.words if one.led_by else f"{lead} {one.time.words}"
    if lead == "before":
        return Range(None, time.first - 1, words)
    if lead == "after":
        return Range(time.last + 1, None, words)
    return Range(time.first, None, words) if lead == "since" else Range(None, time.last, words)


def _between(lead: str, start: PlacedTime, end: PlacedTime, today: date) -> Range:
    """Return the range between two times; one without a year is of the year of the other."""
    joint = "and" if lead == "between" else "to"
    words = f"{lead} {start.time.words} {joint} {end.time.words}"
    if start.time.yearly or not end.time.yearly:
        last = _of_one_year(end.time, _number(today))
        return Range(_of_one_year(start.time, last.last).first, last.last, words)
    ahead = _of_one_year(end.time, min(start.time.first + 365, _MOST))
    return Range(start.time.first, ahead.last, words)


def _of_one_year(time: Time, latest: int) -> Time:
    """Return a time of every year as the last that began by a day."""
    if not time.yearly:
        return time
    first, last = (_day(day) for day in (time.first, time.last))
    this = _day(latest).year
    for year in (this, max(1, this - 1)):
        start, end = (_in_year(day, year) for day in (first, last))
        if _number(start) <= latest:
            break
    return Time(_number(start), _number(end), time.words)


def _in_year(day: date, year: int) -> date:
    is_shorter = day.month == 2 and day.day == 29
    return date(year, 3, 1) - timedelta(days=1) if is_shorter else day.replace(year=year)


def _joined(ranges: Sequence[Range]) -> Range | None:
    """Return what all ranges have in common; None for none, or if they have nothing in common."""
    first = max((one.first for one in ranges if one.first is not None), default=_LEAST)
    last = min((one.last for one in ranges if one.last is not None), default=_MOST)
    is_open = first <= _LEAST and last >= _MOST
    if is_open or first > last or first > _MOST or last < _LEAST:
        return None
    words = ", ".join(one.words for one in ranges)
    return Range(None if first <= _LEAST else first, None if last >= _MOST else last, words)


def _day(number: int) -> date:
    return _EPOCH + timedelta(days=number)


def _number(day: date) -> int:
    return (day - _EPOCH).days
