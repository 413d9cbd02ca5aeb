from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from recollect.edge.http.turns import Turns

AT_MOST_S = 10


class Long:
    """A job that goes on until it is let go."""

    def __init__(self) -> None:
        self.is_begun = threading.Event()
        self.may_end = threading.Event()

    def __call__(self) -> None:
        self.is_begun.set()
        self.may_end.wait(AT_MOST_S)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turns(clock: Clock) -> Iterator[Turns]:
    made = Turns(2, "turn", clock=clock)
    yield made
    made.close()


def _done_by(turns: Turns, times: int) -> list[str]:
    """Return which thread did each of some jobs."""
    by: list[str] = []
    all_done = threading.Event()

    def job() -> None:
        by.append(str(threading.get_ident()))
        if len(by) == times:
            all_done.set()

    for _ in range(times):
        assert turns.begin(job)
    assert all_done.wait(AT_MOST_S)
    return by


def test_short_jobs_are_done_by_one_thread_in_their_order(turns: Turns) -> None:
    assert len(set(_done_by(turns, 50))) == 1


def test_a_job_behind_a_long_one_waits_until_help_is_due(turns: Turns, clock: Clock) -> None:
    long, behind = Long(), threading.Event()
    turns.begin(long)
    assert long.is_begun.wait(AT_MOST_S)
    turns.begin(behind.set)
    turns.help()
    assert (turns.waiting, behind.is_set()) == (1, False)
    clock.now += 1
    turns.help()
    assert behind.wait(AT_MOST_S)
    long.may_end.set()


def test_no_more_help_than_there_are_threads(turns: Turns, clock: Clock) -> None:
    longs = [Long() for _ in range(3)]
    turns.begin(longs[0])
    assert longs[0].is_begun.wait(AT_MOST_S)
    turns.begin(longs[1])
    clock.now += 1
    turns.help()
    assert longs[1].is_begun.wait(AT_MOST_S)
    turns.begin(longs[2])
    clock.now += 1
    turns.help()
    assert turns.waiting == 1
    longs[0].may_end.set()
    assert longs[2].is_begun.wait(AT_MOST_S)
    longs[1].may_end.set()
    longs[2].may_end.set()


def test_who_helped_leaves_the_rest_to_the_one_who_is_at_it(turns: Turns, clock: Clock) -> None:
    first, second, third = Long(), Long(), Long()
    turns.begin(first)
    assert first.is_begun.wait(AT_MOST_S)
    turns.begin(second)
    clock.now += 1
    turns.help()
    assert second.is_begun.wait(AT_MOST_S)
    first.may_end.set()
    turns.begin(third)
    # The one at `second` began a moment ago: whoever is free lets it come to its end.
    assert not third.is_begun.wait(0.05)
    second.may_end.set()
    assert third.is_begun.wait(AT_MOST_S)
    third.may_end.set()


def test_what_was_not_begun_can_be_taken_back(turns: Turns) -> None:
    long, behind = Long(), threading.Event()
    turns.begin(long)
    assert long.is_begun.wait(AT_MOST_S)
    turns.begin(behind.set)
    assert turns.take_back(behind.set)
    assert not turns.take_back(behind.set)
    assert not turns.take_back(long)
    long.may_end.set()


def test_at_the_end_what_was_begun_is_done_and_the_rest_is_told(clock: Clock) -> None:
    turns = Turns(1, "turn", clock=clock)
    long, behind = Long(), threading.Event()
    turns.begin(long)
    assert long.is_begun.wait(AT_MOST_S)
    turns.begin(behind.set)
    threading.Timer(0.05, long.may_end.set).start()
    assert turns.close() == [behind.set]
    assert long.may_end.is_set()
    assert not turns.begin(behind.set)
