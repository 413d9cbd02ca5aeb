"""Dates as people write them."""

from __future__ import annotations

from datetime import date

import pytest

from recollect.dates import NO_DAY, day_number, read_moment


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00"),
        ("8 May 2023", "2023-05-08"),
        ("8th of May 2023", "2023-05-08"),
        ("8-May-2023", "2023-05-08"),
        ("May 8th, 2023 1:56 PM", "2023-05-08T13:56:00"),
        ("Sept. 3, 2023", "2023-09-03"),
        ("Monday, 8 May 2023 at 14:05", "2023-05-08T14:05:00"),
        ("2023/5/8", "2023-05-08"),
        ("2023.05.08 14:05:06", "2023-05-08T14:05:06"),
        ("3 p.m., 8 May 2023", "2023-05-08T15:00:00"),
    ],
)
def test_what_people_write_becomes_one_spelling(written: str, moment: str) -> None:
    assert read_moment(written) == moment


@pytest.mark.parametrize("written", ["2023-05-08", "2023-05-08T13:56:00Z", "20230508"])
def test_iso_stays_as_it_is(written: str) -> None:
    assert read_moment(written) == written


@pytest.mark.parametrize(
    "written",
    [
        "",
        "yesterday",
        "3/4/2023",
        "May",
        "May 2023",
        "31 June 2023",
        "8 May 2023 or later",
        "25:10 on 8 May 2023",
        "13 pm on 8 May 2023",
        "9:75 on 8 May 2023",
    ],
)
def test_what_nobody_can_tell_is_none(written: str) -> None:
    assert read_moment(written) is None


def test_a_day_is_counted_from_1970_as_it_was_written() -> None:
    assert day_number("1970-01-02") == 1
    assert day_number("2023-05-08T23:30:00-05:00") == (date(2023, 5, 8) - date(1970, 1, 1)).days
    assert day_number("once") == day_number(None) == NO_DAY
