"""The breaker and the back-off, with a clock in the test's hand."""

from __future__ import annotations

from recollect.hooks.breaker import Backoff, Breaker


def opened() -> Breaker:
    breaker = Breaker()
    for _ in range(5):
        assert breaker.admits(0.0)
        breaker.failed(0.0)
    return breaker


def test_it_opens_with_the_fifth_failure_in_a_row() -> None:
    breaker = Breaker()
    assert [breaker.failed(0.0) for _ in range(5)] == [False] * 4 + [True]
    assert breaker.state(0.5) == "open"
    assert not breaker.admits(0.5)


def test_a_success_in_between_starts_the_count_anew() -> None:
    breaker = Breaker()
    for _ in range(4):
        breaker.failed(0.0)
    breaker.succeeded()
    for _ in range(4):
        breaker.failed(0.0)
    assert breaker.admits(0.0)
    assert breaker.state(0.0) == "closed"


def test_after_the_pause_one_probe_at_a_time() -> None:
    breaker = opened()
    assert breaker.state(1.0) == "half_open"
    assert breaker.admits(1.0)
    assert not breaker.admits(1.0)
    breaker.unused()
    assert breaker.admits(1.0)
    breaker.succeeded()
    assert breaker.state(1.0) == "closed"
    assert breaker.admits(1.0)


def test_pauses_double_up_to_thirty_seconds_while_probes_fail() -> None:
    breaker, now, pauses = opened(), 0.0, []
    for _ in range(7):
        pause = next(step for step in range(1, 100) if breaker.state(now + step) == "half_open")
        pauses.append(pause)
        now += pause
        assert breaker.admits(now)
        breaker.failed(now)
    assert pauses == [1, 2, 4, 8, 16, 30, 30]


def test_failures_that_were_under_way_when_it_opened_change_nothing() -> None:
    breaker = opened()
    assert not any(breaker.failed(0.5) for _ in range(20))
    assert breaker.state(1.0) == "half_open"


def test_a_process_that_dies_young_waits_ever_longer() -> None:
    backoff = Backoff()
    waits = [round(backoff.delay_s(0.01), 1) for _ in range(11)]
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


def test_one_that_lived_long_is_started_again_at_once() -> None:
    backoff = Backoff()
    for _ in range(5):
        backoff.delay_s(0.01)
    assert backoff.delay_s(60.0) == 0.0
    assert backoff.delay_s(0.01) == 0.1
