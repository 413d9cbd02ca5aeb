"""Which questions ask for a stretch of time, and which for the latest or the first."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall import ranges
from recollect.recall.ranges import NO_TIME, time_asked
from recollect.recall.times import may_hold

TODAY = date(2023, 6, 14)  # a Wednesday


def span(query: str) -> tuple[str | None, str | None]:
    asked = time_asked(query, TODAY).range
    assert asked is not None
    ends = (asked.since, asked.until)
    return tuple(None if end is None else end[: len("2023-05-08")] for end in ends)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ("What did we deploy after 8 May 2023?", "2023-05-09", None),
        ("what was decided before May 2023", None, "2023-04-30"),
        ("since 2022", "2022-01-01", None),
        ("until 2023-05-08", None, "2023-05-08"),
        ("who left till May 2023?", None, "2023-05-31"),
        ("between August 11 and August 15 2022", "2022-08-11", "2022-08-15"),
        ("between May 2022 and January 2023", "2022-05-01", "2023-01-31"),
        ("from May 2022 to June", "2022-05-01", "2022-06-30"),
        ("deploys in the last 3 days", "2023-06-11", "2023-06-14"),
        ("over the past two weeks", "2023-05-31", "2023-06-14"),
        ("since Monday", "2023-06-12", None),
        ("anything before Monday", None, "2023-06-11"),
        ("since yesterday", "2023-06-13", None),
        ("since last week", "2023-06-05", None),
        ("after 8. Mai 2023", "2023-05-09", None),
        ("before 8.5.2023", None, "2023-05-07"),
    ],
)
def test_a_word_before_a_time_makes_a_range_of_it(
    query: str, since: str | None, until: str | None
) -> None:
    assert span(query) == (since, until)


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ("since March", "2023-03-01", None),
        ("since August", "2022-08-01", None),
        ("between March and May", "2023-03-01", "2023-05-31"),
        ("between November and February", "2022-11-01", "2023-02-28"),
        ("since 29 February", "2023-02-28", None),
    ],
)
def test_a_month_without_a_year_is_the_last_that_has_begun(
    query: str, since: str, until: str | None
) -> None:
    assert span(query) == (since, until)


def test_two_ranges_are_what_they_have_in_common() -> None:
    assert span("after May and before July 2023") == ("2023-06-01", "2023-06-30")


@pytest.mark.parametrize(
    "query",
    [
        "the week before August 3, 2023",
        "two weeks before August 11, 2023",
        "last weekend before April 10, 2023",
        "on the Sunday before October 25, 2022",
        "shortly after 8 May 2023",
        "not after May 2023",
        "the talk between John and Tim on 11 December, 2023",
        "after his trip in August 2023",
        "what happens after 2000 requests?",
        "before 2020 or after 2022",
        "by May 2023",
        "in May 2023",
    ],
)
def test_a_time_that_is_only_near_stays_a_time(query: str) -> None:
    asked = time_asked(query, TODAY)

    assert asked.range is None
    assert asked.times
    assert asked.words == ()


@pytest.mark.parametrize("query", ["after 31 December 9999", "before 1 January 0001"])
def test_a_range_beyond_the_calendar_is_none(query: str) -> None:
    assert time_asked(query, TODAY).range is None


def test_what_made_a_range_is_no_time_any_more_and_is_said_in_its_words() -> None:
    asked = time_asked("What broke in July 2022, after 8  May 2022?", TODAY)

    assert [time.words for time in asked.times] == ["July 2022"]
    assert asked.range is not None
    assert asked.range.words == "after 8 May 2022"
    assert asked.words == ("after 8 May 2022",)


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("What is the latest deploy?", "latest"),
        ("our most recent incident", "latest"),
        ("When was the last time it failed?", "latest"),
        ("What was the first deploy?", "earliest"),
        ("Ann's very first job", "earliest"),
        ("When did Joanna first watch it?", "earliest"),
        ("the earliest note on Redis", "earliest"),
    ],
)
def test_latest_and_first_are_orders(query: str, order: str) -> None:
    asked = time_asked(query, TODAY)

    assert asked.order == order
    assert asked.words


@pytest.mark.parametrize(
    "query",
    [
        "Who won first place?",
        "Who knows the first half?",
        "the first of May",
        "what is your first name",
        "Send it on Friday at the latest",
        "their latest project in July 2023",
        "first, do no harm",
        "How do we deploy?",
        "",
    ],
)
def test_what_is_no_order_is_left_alone(query: str) -> None:
    assert time_asked(query, TODAY).order is None


def test_a_question_without_a_time_says_nothing_of_time() -> None:
    assert time_asked("How do we deploy?", TODAY) == NO_TIME


LEADS = ("before", "after", "since", "until", "between", "and", "from", "to", "in", "the")
TIMES = ("May", "2023", "8", "yesterday", "Monday", "February", "29", "2024-02-30", "9999", "0001")
WORDS = st.sampled_from((*LEADS, *TIMES, "last", "first", "latest", "3", "days", "January", "31"))


@given(
    st.lists(WORDS, max_size=12).map(" ".join),
    st.dates(date(1, 1, 2), date(9999, 12, 30)),
)
def test_whatever_is_asked_a_range_is_a_stretch_of_the_calendar(query: str, today: date) -> None:
    asked = time_asked(query, today)

    if asked.range is not None:
        since, until = asked.range.since, asked.range.until
        assert since is not None or until is not None
        assert since is None or until is None or since < until
        assert asked.range.words in asked.words
    assert time_asked(query, today) == asked


CUES = [
    "before",
    "After",
    "since",
    "till",
    "from",
    "LAST",
    "latest",
    "recently",
    "firsts",
    "x-last",
]


@given(st.lists(st.sampled_from([*CUES, "tea's", "from_a", "past?", "kiln"]), max_size=4))
def test_a_question_that_is_not_searched_holds_no_cue(said: list[str]) -> None:
    query = " ".join(said)
    assert may_hold(ranges._CUED, query) or ranges._CUE.search(query) is None
