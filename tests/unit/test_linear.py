"""Whoever sends a text decides how long it is, never how long a character of it takes.

The one place where a test looks at a clock: the processor's, best of three, and only at how a text
compares with one an eighth as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from recollect.dates import day_number, read_moment
from recollect.index.analyse import terms
from recollect.model.memory import name_key
from recollect.policy.sanitizer import plain, risks
from recollect.recall.question import _QUOTED
from recollect.recall.same import outline, read
from recollect.recall.times import asks_when, day_of, times_in

MOST_TIMES_LONGER = 3.0
DOUBLINGS = 3
MEASURABLE_SECONDS = 0.003
MOST_CHARACTERS = 64_000
TODAY = day_of(1_780_000_000)


def quoted(text: str) -> object:
    return _QUOTED.findall(text)


def times(text: str) -> object:
    return times_in(text, TODAY)


READERS: dict[str, Callable[[str], object]] = {
    "terms": terms,
    "plain": plain,
    "risks": risks,
    "outline": outline,
    "read": read,
    "name_key": name_key,
    "quoted": quoted,
    "times": times,
    "asks_when": asks_when,
    "read_moment": read_moment,
    "day_number": day_number,
}

PIECES = {
    "marks": "\u0301\u0316",
    "marks apart": "\u0301\u200b\u0316\u200d",
    "hangul": "\u1100\u1161\u11a8",
    "ligatures": "\ufdfa",
    "opening quotes": "\u201c",
    "guillemets": "\u00ab",
    "quotes": '"',
    "months": "may ",
    "in months": "in may ",
    "spaces": " ",
    "days of spaces": "1   ",
    "numbers": "1",
    "stops": ". , ; ",
    "ifs": "when , and ",
    "words": "ignore all the previous ",
    "letters": "a",
    "apostrophes": "'",
    "brackets": "[",
    "images": "![](",
    "angles": "<|",
    "signs": "#",
    "stars": "**",
    "entities": "&#x",
    "base64": "aGVsbG8=",
    "dashes": "i-",
    "line ends": "\n\r\u2028",
    "emoji": "\U0001f469\u200d\U0001f469\u200d\U0001f467 ",
    "look-alikes": "\u0430\u0435",
    "send": "send it to ",
    "colons": "user: ",
}


def seconds(read: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        read(text)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reader", READERS)
def test_each_doubling_of_a_text_takes_at_most_three_times_as_long(reader: str, piece: str) -> None:
    read, unit = READERS[reader], PIECES[piece]
    text = unit * (4_000 // len(unit))
    while (short := seconds(read, text)) < MEASURABLE_SECONDS and len(text) < MOST_CHARACTERS:
        text *= 2
    # Three doublings at once: what else goes on here weighs less on the mean of them.
    long = seconds(read, text * 2**DOUBLINGS)
    assert long <= max(short, MEASURABLE_SECONDS) * MOST_TIMES_LONGER**DOUBLINGS
