"""Active hours through the engine: what ages a memory, and what does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.testing import FakeClock

Open = Callable[..., Recollect]


def hours(memory: Recollect) -> float:
    return float(memory.stats()["active_hours"])


def test_time_between_two_writes_counts_up_to_a_quarter_of_an_hour(
    open_memory: Open, clock: FakeClock
) -> None:
    memory = open_memory(hours="active")
    memory.remember("one")
    clock.advance(seconds=600)
    memory.remember("two", pak_id="two")
    clock.advance(hours=1000)
    memory.remember("three", pak_id="three")
    kept = [memory.get(name).last_reinforced for name in ("two", "three")]  # type: ignore[union-attr]
    assert kept == [pytest.approx(1 / 6), pytest.approx(1 / 6 + 0.25)]


def test_the_counter_is_kept_and_a_handle_that_lives_for_a_moment_still_ages(
    open_memory: Open, clock: FakeClock
) -> None:
    for number in range(4):
        memory = open_memory(hours="active")
        memory.remember(f"note {number}")
        memory.close()
        clock.advance(seconds=60)
    assert hours(open_memory(hours="active")) == pytest.approx(4 / 60)


def test_idle_calendar_time_costs_no_recency(open_memory: Open, clock: FakeClock) -> None:
    memory = open_memory(hours="active")
    memory.remember("queue")
    clock.advance(hours=24 * 365)
    (result,) = memory.recall("queue", frame="attention").results
    assert result.signals.recency == pytest.approx(0.997503122)


def test_in_wall_mode_every_hour_counts(open_memory: Open, clock: FakeClock) -> None:
    memory = open_memory(hours="wall")
    memory.remember("queue")
    clock.advance(hours=100)
    assert hours(memory) == 100.0
    (result,) = memory.recall("queue", frame="attention").results
    assert result.signals.recency == pytest.approx(0.367879441)


def test_a_clock_that_goes_backwards_takes_nothing_away(
    open_memory: Open, clock: FakeClock
) -> None:
    memory = open_memory(hours="active")
    memory.remember("one")
    clock.advance(seconds=600)
    memory.remember("two")
    before = hours(memory)
    clock.advance(hours=-48)
    memory.remember("three", pak_id="three")
    assert hours(memory) == before
    (newest,) = [one for one in memory.recall("three").results if one.fact.pak_id == "three"]
    assert newest.signals.recency == 1.0
    # Coming back to where it was is no time passed either.
    clock.advance(hours=48)
    memory.remember("four")
    assert hours(memory) == before


def test_tiers_fade_at_their_own_pace_and_the_slowest_wins(
    memory: Recollect, clock: FakeClock
) -> None:
    rates = {
        "permanent": (["self/constitutional", "self/goal"], "observation", 0.00001),
        "durable": (["self/goal"], "observation", 0.001),
        "standard": ([], "knowledge", 0.010),
        "ephemeral": ([], "observation", 0.050),
    }
    for name, (tags, category, _) in rates.items():
        memory.remember(f"queue {name}", pak_id=name, tags=tags, category=category)
    decays = {name: memory.get(name).decay for name in rates}  # type: ignore[union-attr]
    assert decays == {name: rate for name, (_, _, rate) in rates.items()}
    clock.advance(hours=50)
    found = {one.fact.pak_id: one.signals.recency for one in memory.recall("queue").results}
    expected = {"permanent": 0.999500125, "durable": 0.951229425}
    expected |= {"standard": 0.60653066, "ephemeral": 0.082084999}
    assert found == pytest.approx(expected, abs=1e-8)


def test_a_frame_moves_the_counter_and_a_recall_does_not(
    open_memory: Open, clock: FakeClock
) -> None:
    memory = open_memory(hours="active")
    memory.remember("queue")
    for _ in range(3):
        clock.advance(seconds=600)
        memory.recall("queue")
    assert hours(memory) == 0.25
    memory.frame("attention", "queue")
    clock.advance(seconds=600)
    assert hours(memory) == pytest.approx(0.25 + 1 / 6)


YEARS = 73 * 365.25 * 24


@pytest.mark.parametrize("place", ["agent.db", "memory://"])
def test_one_write_by_a_clock_far_ahead_does_not_stop_the_hours(
    open_memory: Open, clock: FakeClock, place: str
) -> None:
    memory = open_memory(place, hours="active") if place != "memory://" else _in_memory(clock)
    memory.remember("one", pak_id="one")
    clock.advance(hours=YEARS)
    memory.remember("from 2099", pak_id="wrong")
    clock.advance(hours=-YEARS)
    before = hours(memory)
    clock.advance(hours=0.1)
    memory.remember("two", pak_id="two")
    clock.advance(hours=0.1)
    memory.remember("three", pak_id="three")
    assert hours(memory) == pytest.approx(before + 0.1)
    wrong = memory.get("wrong")
    assert wrong is not None
    assert wrong.created_at[:2] == "20"
    assert wrong.created_at > "2090"
    memory.close()


@pytest.mark.parametrize("years", [1, 9, 73])
def test_on_the_wall_one_write_by_a_clock_far_ahead_fades_no_memory(
    open_memory: Open, clock: FakeClock, years: int
) -> None:
    memory = open_memory(hours="wall")
    memory.remember("the queue is long", pak_id="one")
    clock.advance(hours=years * 365.25 * 24)
    memory.remember("from another time", pak_id="wrong")
    clock.advance(hours=-years * 365.25 * 24)
    assert any("far ahead of the clock" in note for note in memory.examine().notes)
    clock.advance(hours=10)
    memory.remember("after", pak_id="two")
    assert hours(memory) == pytest.approx(10 if years < 10 else 0.25)
    assert memory.examine().notes == ()
    clock.advance(hours=10)
    (found,) = (one for one in memory.recall("queue").results if one.fact.pak_id == "one")
    assert found.signals.recency == pytest.approx(math.exp(-0.01 * hours(memory)))


def _in_memory(clock: FakeClock) -> Recollect:
    return Recollect.open("memory://", clock=clock, embedder="none", hours="active")


def test_hours_never_go_back_whatever_the_clocks_say(open_memory: Open, clock: FakeClock) -> None:
    memory = open_memory(hours="active")
    steps = (0.1, YEARS, -YEARS, 200, -300, 0.2, -168, 168, -1000, 1000.5)
    known = [0.0]
    for number, step in enumerate(steps):
        memory.remember(f"note {number}")
        clock.advance(hours=step)
        memory.remember(f"later note {number}")
        known.append(hours(memory))
    assert known == sorted(known)
    assert known[-1] <= len(steps) * 2 * 0.25


@pytest.mark.parametrize(
    "seconds", [math.nan, math.inf, -math.inf, -1, 253_402_300_800, 2**70, 1e300, None, "now"]
)
def test_a_clock_that_says_no_time_is_refused_and_nothing_is_written(
    open_memory: Open, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, seconds: Any
) -> None:
    memory = open_memory()
    memory.remember("one", pak_id="one")
    revision = memory.stats()["revision"]
    with monkeypatch.context() as patched:
        patched.setattr(clock, "now", lambda: seconds)
        for act in (
            lambda: memory.remember("two"),
            lambda: memory.remember_many(["two"]),
            lambda: memory.forget("one"),
            lambda: memory.frame("attention", "one"),
            lambda: memory.recall("one"),
            lambda: memory.gardens.create("ops"),
            lambda: memory.keys.create(memory.principal),
            lambda: memory.ingest([{"content": "x"}], source="mail"),
            lambda: memory.import_(['{"kind": "memory", "content": "x"}']),
            lambda: memory.reindex(),
        ):
            with pytest.raises(InvalidInput, match="clock"):
                act()
    assert memory.stats()["revision"] == revision
