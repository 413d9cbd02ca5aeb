"""What a value from outside must be, case by case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from recollect import check
from recollect.errors import InvalidInput

Check = Callable[[str, object], Any]


def whole(field: str, value: object) -> int:
    return check.whole(field, value, most=10)


REFUSED: list[tuple[Check, list[object]]] = [
    (check.text, [None, 5, b"x", "a\x00", "\ud800"]),
    (check.filled_text, ["", " \n\u2003", None, "a\x00"]),
    (check.name, ["", " ", "x" * 1001, 5, "\ud800", "a\x00"]),
    (check.pak_id, ["", " ", 5, None, "\ud800"]),
    (check.share, [-0.1, 1.1, True, "1", None, float("nan"), float("inf"), 10**400, -(10**5000)]),
    (check.positive_share, [0, -1, 1.01, float("nan"), True, "1", None, 10**5000]),
    (check.number, [float("nan"), float("inf"), 10**400, True, "1", None]),
    (whole, [0, 11, 2.0, "5", True, None, 10**5000]),
    (check.time, ["", "tomorrow", "2026-13-01", 5, "\ud800", "10000-01-01T00:00:00Z"]),
    (check.utc_time, ["2026-01-01T00:00:00", "2026-01-01T00:00:00+02:00", "", 5, None]),
    (check.time_in_utc, ["2026-01-01T00:00:00", "0001-01-01T00:00:00+02:00", "", 5]),
    (check.time_in_utc, ["9999-12-31T23:59:59-02:00", "10000-01-01T00:00:00Z"]),
]


@pytest.mark.parametrize(
    ("one", "value"),
    [(one, value) for one, values in REFUSED for value in values],
    ids=lambda value: getattr(value, "__name__", check.shown(value)),
)
def test_what_is_none_is_refused_by_the_name_of_its_field(one: Check, value: object) -> None:
    with pytest.raises(InvalidInput, match=r"\bcolour\b") as caught:
        one("colour", value)
    assert caught.value.hint


def test_what_is_one_is_given_back_in_the_form_to_use() -> None:
    assert check.text("t", "") == ""
    assert check.text("t", "a\x00", nul=True) == "a\x00"
    assert check.optional_text("t", None) is None
    assert check.name("t", "x" * 1000) == "x" * 1000
    assert check.optional_name("t", None) is None
    assert type(check.share("t", 1)) is float
    assert check.share("t", 0) == 0.0
    assert check.share("t", 1.00005, slack=0.0001) == 1.00005
    assert check.positive_share("t", 5e-324) == 5e-324
    assert whole("t", 10) == 10
    assert check.time("t", "2026-01-01") == "2026-01-01"
    assert check.utc_time("t", "2026-01-01T00:00:00+00:00") == "2026-01-01T00:00:00+00:00"
    assert check.time_in_utc("t", "2026-01-01T02:00:00.9+02:00") == "2026-01-01T00:00:00Z"


def test_a_time_without_an_offset_means_utc() -> None:
    assert check.microseconds("1970-01-01T00:00:01") == 1_000_000
    assert check.microseconds("1970-01-01T00:00:01+01:00") == -3_599_000_000
    assert check.microseconds("9999-12-31T23:59:59.999999Z") == 253402300799999999
    assert check.microseconds("once") is None
    assert check.read_time("1970-01-01").tzinfo is None  # type: ignore[union-attr]


def test_an_error_quotes_little_of_what_was_passed_and_all_of_it_printable() -> None:
    endless: list[object] = []
    for _ in range(100_000):
        endless = [endless]
    for value in ("x" * 10**6, "é\ud800", 10**5000, [10**5000], endless):
        words = check.shown(value)
        assert len(words) <= 60
        assert words.isascii()
