"""The times a question speaks of, and how close a day comes to them."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.dates import LONG_MONTHS, NO_DAY, WEEKDAYS
from recollect.recall import times
from recollect.recall.times import Time, asks_when, closeness, day_of, nearest_time, times_in

TODAY = date(2023, 6, 14)  # a Wednesday
EPOCH = date(1970, 1, 1)
WORDS = [
    *LONG_MONTHS,
    *WEEKDAYS,
    *[
        "last",
        "This",
        "past",
        "next",
        "a",
        "one",
        "two",
        "ago",
        "on",
        "since",
        "by",
        "week",
        "weekends",
        "MONTH",
        "years",
        "day",
    ],
    *[
        "yesterday",
        "Today",
        "tonight",
        "tomorrow",
        "3",
        "2023",
        "2023-05",
        "tea",
        "kiln",
        "who",
        "when",
        "jan",
        "feb",
    ],
]


def spans(query: str) -> list[tuple[str, str]]:
    return [
        (str(EPOCH + timedelta(days=time.first)), str(EPOCH + timedelta(days=time.last)))
        for time in times_in(query, TODAY)
    ]


def number(text: str) -> int:
    return (date.fromisoformat(text) - EPOCH).days


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("What happened in May 2023?", "2023-05-01", "2023-05-31"),
        ("the show on October 13, 2023?", "2023-10-13", "2023-10-13"),
        ("what was on 8th December, 2023", "2023-12-08", "2023-12-08"),
        ("on Feb 3 2024", "2024-02-03", "2024-02-03"),
        ("on 2023-05-08", "2023-05-08", "2023-05-08"),
        ("since 2023-05", "2023-05-01", "2023-05-31"),
        ("how many in 2022?", "2022-01-01", "2022-12-31"),
        ("what did I do yesterday", "2023-06-13", "2023-06-13"),
        ("what is on today", "2023-06-14", "2023-06-14"),
        ("last week", "2023-06-05", "2023-06-11"),
        ("this week", "2023-06-12", "2023-06-18"),
        ("last weekend", "2023-06-10", "2023-06-11"),
        ("next month", "2023-07-01", "2023-07-31"),
        ("last year", "2022-01-01", "2022-12-31"),
        ("last Friday", "2023-06-09", "2023-06-09"),
        ("last Wednesday", "2023-06-07", "2023-06-07"),
        ("next Wednesday", "2023-06-21", "2023-06-21"),
        ("on Monday", "2023-06-12", "2023-06-12"),
        ("last May", "2023-05-01", "2023-05-31"),
        ("last July", "2022-07-01", "2022-07-31"),
        ("next May", "2024-05-01", "2024-05-31"),
        ("two weeks ago", "2023-05-28", "2023-06-03"),
        ("3 days ago", "2023-06-11", "2023-06-11"),
        ("a year ago", "2022-01-01", "2022-12-31"),
        ("am 8. Mai 2023", "2023-05-08", "2023-05-08"),
        ("Was war am 8.5.2023?", "2023-05-08", "2023-05-08"),
        ("le 1er f\u00e9vrier 2023", "2023-02-01", "2023-02-01"),
        ("en ao\u00fbt 2022", "2022-08-01", "2022-08-31"),
        ("el 8 de mayo de 2023", "2023-05-08", "2023-05-08"),
        ("before Friday", "2023-06-09", "2023-06-09"),
    ],
)
def test_a_time_covers_its_days(query: str, first: str, last: str) -> None:
    assert spans(query) == [(first, last)]


@pytest.mark.parametrize(
    "query",
    [
        "May I go?",
        "the march of time",
        "Will June come?",
        "Is there water in Mars?",
        "der Mai ist gekommen",
        "on 31 June 2023",
        "room 12",
        "",
        "year 0",
    ],
)
def test_what_is_no_time_is_left_alone(query: str) -> None:
    assert times_in(query, TODAY) == ()


def test_a_month_or_a_day_without_a_year_is_every_years() -> None:
    (june,) = times_in("When did we go camping in June?", TODAY)
    days = np.array([number(d) for d in ("2021-06-03", "2023-06-30", "2023-08-30")] + [NO_DAY])

    assert june.yearly
    assert closeness(days, [june]).tolist() == [1.0, 1.0, 0.0, 0.0]
    (leap,) = times_in("what was on 29 February", TODAY)
    assert closeness(np.array([number("2023-02-28")]), [leap]).tolist() == [1.0]


@pytest.mark.parametrize("query", ["im M\u00e4rz", "en mars", "desde marzo", "since March"])
def test_a_month_alone_is_known_where_its_language_leads_to_it(query: str) -> None:
    (march,) = times_in(query, TODAY)

    assert march.yearly
    assert closeness(np.array([number("2021-03-03")]), [march]).tolist() == [1.0]


def test_a_day_counts_less_the_further_it_is_from_the_time() -> None:
    times = times_in("in May 2023", TODAY)
    days = np.array([number(d) for d in ("2023-05-31", "2023-06-07", "2023-04-24", "2023-06-14")])

    assert closeness(days, times).tolist() == [1.0, 0.5, 0.5, 0.0]


def test_of_several_times_the_nearest_counts() -> None:
    times = times_in("in March 2021 or in May 2023", TODAY)

    assert [time.words for time in times] == ["March 2021", "May 2023"]
    assert nearest_time(number("2023-05-20"), times) == "May 2023"
    assert nearest_time(number("2021-04-02"), times) == "close to March 2021"
    assert nearest_time(number("2022-04-02"), times) is None
    assert nearest_time(NO_DAY, times) is None


def test_a_question_may_ask_when() -> None:
    asking = ["When did it rain?", "How long have they dated?", "in which year was it", "What day?"]
    asking += ["Tell me when it opens.", "If so, when?", "since when"]
    assert all(asks_when(query) for query in asking)
    assert not any(
        asks_when(query) for query in ["Who helps when it rains?", "whenever", "what a day", ""]
    )


def test_today_is_a_day_in_utc() -> None:
    assert day_of(0.0) == EPOCH
    assert day_of(86_399.9) == EPOCH


def test_times_are_found_in_the_order_they_are_named() -> None:
    assert times_in("in 2020, in May 2021", TODAY) == (
        Time(number("2020-01-01"), number("2020-12-31"), "2020"),
        Time(number("2021-05-01"), number("2021-05-31"), "May 2021"),
    )


@given(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join))
def test_a_question_that_is_not_looked_at_names_no_time(query: str) -> None:
    assert times._may_name_a_time(query) or times._TIME.search(query) is None


@given(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join))
def test_a_question_without_a_word_that_asks_when_asks_for_no_time(query: str) -> None:
    assert asks_when(query) == (times._WHEN.search(query) is not None)
