"""Active hours: how much time an agent has lived through, as opposed to the calendar's.

Time between two writes counts up to an idle cap, so a store that nobody uses does not age, and a
command line that lives for milliseconds still does. What the store kept and what a clock says come
in; a clock that is wrong, or was, does no lasting harm.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from recollect import check
from recollect.errors import InvalidInput
from recollect.ports.state import ClockState

if TYPE_CHECKING:
    from recollect.ports.clock import Clock

__all__ = [
    "IDLE_CAP_HOURS",
    "JUMP_HOURS",
    "LAST_SECOND",
    "LONGEST_HOURS",
    "CheckedClock",
    "HoursMode",
    "clock_jump",
    "iso",
    "later",
    "moved",
]

IDLE_CAP_HOURS = 0.25
# A clock that is behind the last write by more than this is right: the other one was wrong.
JUMP_HOURS = 168.0
# Nobody leaves a store alone for longer than ten years: one of two clocks was wrong.
LONGEST_HOURS = 87_660.0
# The last second of the year 9999, after which there are no dates.
LAST_SECOND = 253_402_300_799

HoursMode = Literal["active", "wall"]


def moved(kept: ClockState, now: float, *, mode: HoursMode = "active") -> ClockState:
    """Return the counter as of `now`; a clock that went backwards adds nothing.

    One that went back a little is waited for; one that went back by more than `JUMP_HOURS` is
    counted on from where it stands. In wall mode every hour counts, idle or not, and what a clock
    that was ahead had counted is taken back; but no step is longer than `LONGEST_HOURS`.
    """
    if kept.seen_at is None:
        return ClockState(kept.active_hours, now)
    if clock_jump(kept, now) is not None:
        ahead = _taken_back(kept, now) if mode == "wall" else 0.0
        return ClockState(round(kept.active_hours - ahead, 9), now)
    passed = max(0.0, now - kept.seen_at) / 3600
    is_counted = mode == "wall" and passed <= LONGEST_HOURS
    counted = passed if is_counted else min(passed, IDLE_CAP_HOURS)
    return ClockState(round(kept.active_hours + counted, 9), max(now, kept.seen_at))


def _taken_back(kept: ClockState, now: float) -> float:
    """Return how many hours were counted that have not been, by a clock that was ahead.

    More than there are were not counted, but by a handle to which they were idle.
    """
    ahead = ((kept.seen_at or now) - now) / 3600
    return ahead if ahead <= min(LONGEST_HOURS, kept.active_hours) else 0.0


def clock_jump(kept: ClockState, now: float) -> str | None:
    """Return when the last write claims to have been, if a clock must have been wrong by far."""
    if kept.seen_at is None or (kept.seen_at - now) / 3600 <= JUMP_HOURS:
        return None
    return iso(kept.seen_at)


class CheckedClock:
    """A clock that says a time which can be written down, or that it cannot be right."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        """Return the time in Unix seconds."""
        seconds = self._clock.now()
        # A NaN fails the comparison too.
        if not check.is_number(seconds) or not 0 <= seconds <= LAST_SECOND:
            raise InvalidInput(
                f"the clock says {check.shown(seconds)}, which is no time from 1970 to 9999 in"
                " Unix seconds; nothing was written.",
                hint="set the machine's clock, or mend the one that was passed to open.",
            )
        return seconds


def later(kept: ClockState, counted: ClockState) -> ClockState:
    """Return the later of two counts, part by part: what another process counted is not lost."""
    seen = [at for at in (kept.seen_at, counted.seen_at) if at is not None]
    return ClockState(max(kept.active_hours, counted.active_hours), max(seen) if seen else None)


def iso(now: float) -> str:
    """Return a Unix time as the text that is stored."""
    moment = datetime.fromtimestamp(now, UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='seconds')}Z"
