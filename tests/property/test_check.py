"""Each check, given anything at all: a value that passes again unchanged, or `InvalidInput`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import check
from recollect.errors import InvalidInput

CHECKS: dict[str, Callable[[str, object], Any]] = {
    "text": check.text,
    "text with NUL": partial(check.text, nul=True),
    "filled_text": check.filled_text,
    "optional_text": check.optional_text,
    "name": check.name,
    "optional_name": check.optional_name,
    "pak_id": check.pak_id,
    "share": check.share,
    "share with slack": partial(check.share, slack=0.0001),
    "positive_share": check.positive_share,
    "number": check.number,
    "number within bounds": partial(check.number, least=0, most=1e9),
    "whole": partial(check.whole, most=10**9),
    "whole from below": partial(check.whole, least=-5, most=5),
    "time": check.time,
    "utc_time": check.utc_time,
    "time_in_utc": check.time_in_utc,
}

every_character = st.text(st.characters(), max_size=20)
offsets = st.sampled_from(
    ["", "Z", "+00:00", "-00:00", "+02:00", "-23:59", "+23:59", "+00:00:00.5"]
)
times = st.builds(
    lambda at, spelling, offset: f"{at.isoformat(timespec=spelling)}{offset}",
    st.datetimes(),
    st.sampled_from(["hours", "seconds", "microseconds"]),
    offsets,
)
numbers = (
    st.integers()
    | st.integers(-3, 3)
    | st.floats()
    | st.floats(-0.1, 1.1)
    | st.sampled_from(
        [10**400, -(10**400), 10**5000, np.float64(0.5), np.float32(0.5), np.int64(1)]
    )
    | st.booleans()
    | st.decimals(allow_nan=False).map(Decimal)
    | st.fractions().map(Fraction)
    | st.complex_numbers()
)
plain = st.none() | st.binary(max_size=9) | every_character | times | numbers
anything = plain | st.lists(plain, max_size=3) | st.dictionaries(every_character, plain, max_size=2)


@pytest.mark.parametrize("named", CHECKS)
@given(value=anything)
def test_a_check_gives_a_value_that_passes_again_unchanged_or_refuses(
    named: str, value: object
) -> None:
    one = CHECKS[named]
    try:
        passed = one("colour", value)
    except InvalidInput as error:
        assert "colour" in error.message
        assert error.hint
        assert len(str(error)) < 300
        assert str(error).encode()
        return
    again = one("colour", passed)
    assert again == passed
    assert type(again) is type(passed)


@given(value=anything)
def test_what_is_read_as_a_time_is_a_number_of_microseconds_and_nothing_raises(
    value: object,
) -> None:
    at = check.instant(value)
    assert (at is None) == (check.read_time(value) is None) == (check.microseconds(value) is None)
    assert at is None or at.utcoffset() is not None


@given(value=anything)
def test_a_share_is_a_number_within_its_bounds_and_nothing_else(value: object) -> None:
    try:
        passed = check.share("share", value)
    except InvalidInput:
        assert isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1
    else:
        assert type(passed) is float
        assert 0 <= passed <= 1


@given(value=times)
def test_a_time_that_is_stored_means_the_second_that_was_written(value: str) -> None:
    try:
        stored = check.time_in_utc("now", value)
    except InvalidInput:
        return
    written, kept = check.microseconds(value), check.microseconds(stored)
    assert written is not None
    assert kept == written // 1_000_000 * 1_000_000
