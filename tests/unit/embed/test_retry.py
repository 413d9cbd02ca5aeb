from __future__ import annotations

import pytest

from recollect.embed.retry import Backoff, retry_after_s

NOON = "Mon, 15 Jan 2024 12:00:00 GMT"


def test_waits_double_up_to_the_longest() -> None:
    backoff = Backoff(attempts=9, first_s=1.0, longest_s=5.0)

    assert [backoff.wait_s(attempt, chance=1.0) for attempt in range(5)] == [1, 2, 4, 5, 5]


def test_chance_shortens_a_wait_to_no_less_than_its_half() -> None:
    backoff = Backoff(first_s=1.0)

    assert backoff.wait_s(1, chance=0.0) == 1.0
    assert backoff.wait_s(1, chance=0.5) == 1.5


def test_a_wait_is_never_shorter_than_asked_for() -> None:
    assert Backoff().wait_s(0, chance=0.0, server_wait_s=9.0) == 9.0


@pytest.mark.parametrize(
    ("attempt", "server_wait_s", "allowed"),
    [(0, 0.0, True), (1, 0.0, True), (2, 0.0, False), (0, 30.0, True), (0, 30.5, False)],
)
def test_tries_end_with_the_attempts_or_with_too_long_a_wait(
    attempt: int, server_wait_s: float, allowed: bool
) -> None:
    assert (
        Backoff(attempts=3, longest_s=30.0).allows_more(attempt, server_wait_s=server_wait_s)
        is allowed
    )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"Retry-After": "12"}, 12.0),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "soon"}, 0.0),
        ({"Retry-After": "\u0663"}, 0.0),
        ({"Retry-After": "Mon, 15 Jan 2024 12:00:20 GMT", "Date": NOON}, 20.0),
        ({"Retry-After": "Mon, 15 Jan 2024 11:00:00 GMT", "Date": NOON}, 0.0),
        ({"Retry-After": "Mon, 15 Jan 2024 12:00:20 GMT"}, 0.0),
        ({"Retry-After": "Mon, 15 Jan 2024 12:00:20 -0000", "Date": NOON}, 0.0),
        ({"Retry-After": "Mon, 15 Jan 99999999999 00:00:00 GMT", "Date": NOON}, 0.0),
    ],
)
def test_retry_after_is_read_as_seconds_or_against_the_servers_clock(
    headers: dict[str, str], seconds: float
) -> None:
    assert retry_after_s(headers) == seconds
