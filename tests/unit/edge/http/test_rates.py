from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recollect.edge.http.quotas import Quotas
from recollect.edge.http.rates import Rates
from recollect.edge.http.shared_slots import SharedSlots
from recollect.errors import OverQuota, TooManyRequests


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _taken(rates: Rates, key: str, times: int) -> int:
    taken = 0
    for _ in range(times):
        try:
            rates.take("", key)
        except TooManyRequests:
            break
        taken += 1
    return taken


def test_a_burst_is_let_in_and_then_the_rate(tmp_path: Path) -> None:
    clock = Clock()
    rates = Rates(2.0, burst=4, folder=str(tmp_path), clock=clock)
    assert _taken(rates, "a", 10) == 4
    clock.now += 0.5
    assert _taken(rates, "a", 10) == 1
    clock.now += 1.5
    assert _taken(rates, "a", 10) == 3
    clock.now += 1_000
    assert _taken(rates, "a", 10) == 4


def test_whoever_waits_as_long_as_was_said_is_let_in(tmp_path: Path) -> None:
    clock = Clock()
    rates = Rates(0.3, burst=1, folder=str(tmp_path), clock=clock)
    rates.take("", "a")
    with pytest.raises(TooManyRequests) as refused:
        rates.take("", "a")
    clock.now += refused.value.retry_after_s + 1e-9
    rates.take("", "a")


def test_two_that_share_a_folder_share_the_allowance(tmp_path: Path) -> None:
    clock = Clock()
    first = Rates(1.0, burst=3, folder=str(tmp_path), clock=clock)
    second = Rates(1.0, burst=3, folder=str(tmp_path), clock=clock)
    assert _taken(first, "a", 2) == 2
    assert _taken(second, "a", 10) == 1
    assert _taken(first, "b", 10) == 3


def test_a_clock_that_began_anew_locks_nobody_out(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = 1e9
    assert _taken(Rates(1.0, burst=3, folder=str(tmp_path), clock=clock), "a", 10) == 3
    clock.now = 5.0
    rates = Rates(1.0, burst=3, folder=str(tmp_path), clock=clock)
    assert _taken(rates, "a", 10) == 0
    clock.now += 3.0
    assert _taken(rates, "a", 10) == 3


def test_without_a_rate_nobody_is_refused() -> None:
    assert _taken(Rates(None, burst=1, folder=None), "a", 100) == 100


def test_names_on_one_slot_share_its_value(tmp_path: Path) -> None:
    slots = SharedSlots(str(tmp_path), "s", form="q", slots=1)
    add = lambda kept: ((kept[0] + 1,), kept[0] + 1)  # noqa: E731
    assert [slots.change(name, add) for name in ("a", "b", "a")] == [1, 2, 3]


class _Principal(NamedTuple):
    tenant: str


class _Memory(NamedTuple):
    principal: _Principal


class _Served:
    """A store of a given size that counts how often it was asked."""

    store = ""

    def __init__(self, memories: int, text_bytes: int) -> None:
        self.has = (memories, text_bytes)
        self.asked = 0
        self.memory = _Memory(_Principal("acme"))

    @property
    def opener(self) -> _Served:
        return self

    def holdings(self, _: str) -> tuple[int, int]:
        self.asked += 1
        return self.has


def test_a_store_is_counted_once_while_there_is_room(tmp_path: Path) -> None:
    clock, served = Clock(), _Served(10, 1_000)
    quotas = _quotas(tmp_path, clock)
    for _ in range(90):
        quotas.take(served, 1, 10)  # type: ignore[arg-type]
    assert served.asked == 1
    clock.now += 2
    served.has = (100, 1_900)
    with pytest.raises(OverQuota, match="100 memories"):
        quotas.take(served, 1, 10)  # type: ignore[arg-type]
    assert served.asked == 2


def test_one_that_is_over_is_counted_at_most_once_a_second(tmp_path: Path) -> None:
    clock, served = Clock(), _Served(100, 0)
    quotas = _quotas(tmp_path, clock)
    for _ in range(50):
        with pytest.raises(OverQuota):
            quotas.take(served, 1, 10)  # type: ignore[arg-type]
    assert served.asked == 1
    served.has = (50, 0)
    clock.now += 1.5
    quotas.take(served, 1, 10)  # type: ignore[arg-type]
    assert served.asked == 2


def _quotas(folder: Path, clock: Any) -> Quotas:
    return Quotas(most_memories=100, most_bytes=5_000, folder=str(folder), clock=clock)
