"""Active hours as arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.hours import IDLE_CAP_HOURS, JUMP_HOURS, LONGEST_HOURS, iso, moved
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
        (87_660 * 3600, 0.25, 87_660.0),
        (87_661 * 3600, 0.25, 0.25),
        (10**9, 0.25, 0.25),
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


@given(
    life=st.floats(0, 1e6),
    ahead=st.floats(2 * JUMP_HOURS + 2, LONGEST_HOURS) | st.floats(LONGEST_HOURS + 200, 1e6),
    writes=st.integers(1, 4),
    later=st.floats(0, JUMP_HOURS),
)
def test_on_the_wall_a_clock_that_was_ahead_has_aged_nothing_once_it_is_right(
    life: float, ahead: float, writes: int, later: float
) -> None:
    begun = ClockState(life, 5000.0)
    state = begun
    for step in range(writes):
        state = moved(state, 5000.0 + (ahead + step) * 3600, mode="wall")
    back = 5000.0 + (later + 1e-3) * 3600
    state = moved(state, back, mode="wall")
    right = moved(begun, back, mode="wall")
    aged = state.active_hours - right.active_hours
    if ahead <= LONGEST_HOURS:
        assert aged == pytest.approx(0, abs=1e-6)
    else:
        # The step was not counted, so nothing is taken back; what was counted since is.
        assert -JUMP_HOURS - 1 <= aged <= IDLE_CAP_HOURS + writes
    assert state.seen_at == back


@given(life=st.floats(0, 1e6), behind=st.floats(LONGEST_HOURS + 1, 4e5))
def test_on_the_wall_a_clock_that_was_far_behind_ages_nothing_when_it_is_right(
    life: float, behind: float
) -> None:
    now = 1_767_225_600.0
    begun = ClockState(life, now)
    wrong = moved(begun, now - behind * 3600, mode="wall")
    right = moved(wrong, now, mode="wall")
    assert right.active_hours - life == pytest.approx(IDLE_CAP_HOURS)


def test_many_short_steps_are_one_long_one() -> None:
    state = ClockState(0.0, 0.0)
    for step in range(1, 61):
        state = moved(state, step * 60.0)
    assert state.active_hours == pytest.approx(1.0)
    assert IDLE_CAP_HOURS == 0.25


def test_times_are_written_in_utc_to_the_second() -> None:
    assert iso(1_767_225_600.9) == "2026-01-01T00:00:00Z"
