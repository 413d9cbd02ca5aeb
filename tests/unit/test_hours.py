"""Active hours as arithmetic."""

from __future__ import annotations

import pytest

from recollect.hours import IDLE_CAP_HOURS, iso, moved
from recollect.ports.store import ClockState


def test_the_first_look_starts_the_counter_where_it_stands() -> None:
    assert moved(ClockState(3.0, None), 1000.0) == ClockState(3.0, 1000.0)


@pytest.mark.parametrize(
    ("seconds", "active", "wall"),
    [
        (0, 0.0, 0.0),
        (36, 0.01, 0.01),
        (900, 0.25, 0.25),
        (901, 0.25, 0.250277778),
        (3600, 0.25, 1.0),
        (10**9, 0.25, 277777.777777778),
        (-36, 0.0, 0.0),
    ],
)
def test_time_counts_up_to_the_cap_and_on_the_wall_all_of_it(
    seconds: int, active: float, wall: float
) -> None:
    kept = ClockState(2.0, 5000.0)
    assert moved(kept, 5000.0 + seconds).active_hours == pytest.approx(2.0 + active)
    assert moved(kept, 5000.0 + seconds, mode="wall").active_hours == pytest.approx(2.0 + wall)


def test_a_clock_set_back_is_remembered_at_its_furthest() -> None:
    back = moved(ClockState(2.0, 5000.0), 4000.0)
    assert back == ClockState(2.0, 5000.0)
    assert moved(back, 5036.0).active_hours == pytest.approx(2.01)


def test_many_short_steps_are_one_long_one() -> None:
    state = ClockState(0.0, 0.0)
    for step in range(1, 61):
        state = moved(state, step * 60.0)
    assert state.active_hours == pytest.approx(1.0)
    assert IDLE_CAP_HOURS == 0.25


def test_times_are_written_in_utc_to_the_second() -> None:
    assert iso(1_767_225_600.9) == "2026-01-01T00:00:00Z"
