"""Active hours: how much time an agent has lived through, as opposed to the calendar's.

Time between two writes counts up to an idle cap, so a store that nobody uses does not age, and a
command line that lives for milliseconds still does. Pure functions of what the store kept.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from recollect.ports.store import ClockState

__all__ = ["IDLE_CAP_HOURS", "HoursMode", "iso", "later", "moved"]

IDLE_CAP_HOURS = 0.25

HoursMode = Literal["active", "wall"]


def moved(kept: ClockState, now: float, *, mode: HoursMode = "active") -> ClockState:
    """Return the counter as of `now`; a clock that went backwards adds nothing.

    In wall mode every hour counts, idle or not.
    """
    if kept.seen_at is None:
        return ClockState(kept.active_hours, now)
    passed = max(0.0, now - kept.seen_at) / 3600
    counted = passed if mode == "wall" else min(passed, IDLE_CAP_HOURS)
    return ClockState(round(kept.active_hours + counted, 9), max(now, kept.seen_at))


def later(kept: ClockState, counted: ClockState) -> ClockState:
    """Return the later of two counts, part by part: what another process counted is not lost."""
    seen = [at for at in (kept.seen_at, counted.seen_at) if at is not None]
    return ClockState(max(kept.active_hours, counted.active_hours), max(seen) if seen else None)


def iso(now: float) -> str:
    """Return a Unix time as the text that is stored."""
    moment = datetime.fromtimestamp(now, UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='seconds')}Z"
