"""Dates as people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from recollect.dates import NO_DAY, day_number, moment_of, read_moment


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
        ("8.5.2023", "2023-05-08"),
        ("08.05.2023 14:05", "2023-05-08T14:05:00"),
        ("May 2023", "2023-05-01"),
        ("2023-05", "2023-05-01"),
        ("Mon, 08 May 2023 13:56:00 +0200", "2023-05-08T13:56:00+02:00"),
        ("Mon, 8 May 2023 13:56:00 -0700 (PDT)", "2023-05-08T13:56:00-07:00"),
        ("8 May 2023 13:56:00 GMT", "2023-05-08T13:56:00Z"),
        ("8 May 2023 13:56 EST", "2023-05-08T13:56:00-05:00"),
        ("1683554160", "2023-05-08T13:56:00Z"),
        ("1683554160.5", "2023-05-08T13:56:00.500000Z"),
    ],
)
def test_what_people_write_becomes_one_spelling(written: str, moment: str) -> None:
    assert read_moment(written) == moment


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("8. Mai 2023", "2023-05-08"),
        ("Mittwoch, 8. M\u00e4rz 2023 um 14:05 Uhr", "2023-03-08T14:05:00"),
        ("8. Ma\u0308rz 2023", "2023-03-08"),
        ("Dez. 2022", "2022-12-01"),
        ("lundi 8 mai 2023", "2023-05-08"),
        ("1er f\u00e9vrier 2023", "2023-02-01"),
        ("15 aout 2023", "2023-08-15"),
        ("8 de mayo de 2023", "2023-05-08"),
        ("martes, 15 de agosto del 2023", "2023-08-15"),
        ("enero de 2024", "2024-01-01"),
    ],
)
def test_months_are_known_in_german_french_and_spanish(written: str, moment: str) -> None:
    assert read_moment(written) == moment


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (date(2023, 5, 8), "2023-05-08"),
        (datetime(2023, 5, 8, 13, 56), "2023-05-08T13:56:00"),
        (datetime(2023, 5, 8, 13, 56, tzinfo=UTC), "2023-05-08T13:56:00+00:00"),
        (1683554160, "2023-05-08T13:56:00Z"),
        (1683554160.25, "2023-05-08T13:56:00.250000Z"),
        (-5, "1969-12-31T23:59:55Z"),
        ("8 May 2023", "2023-05-08"),
    ],
)
def test_what_programs_pass_for_a_time_is_one(value: object, moment: str) -> None:
    assert moment_of(value) == moment
    assert day_number(moment) != NO_DAY


@pytest.mark.parametrize(
    "value", [True, None, 1683554160000, float("nan"), float("inf"), [2023, 5], b"2023-05-08"]
)
def test_what_is_no_time_is_none(value: object) -> None:
    assert moment_of(value) is None


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
        "12.13.2023",
        "168355416",
        "1683554160000",
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
    assert day_number("1712111512345") == NO_DAY
    assert day_number("once") == day_number(None) == NO_DAY
