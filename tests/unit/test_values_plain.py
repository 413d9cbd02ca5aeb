from __future__ import annotations

from dataclasses import asdict
from typing import Any, NamedTuple

from recollect import Recollect
from recollect.values import as_plain, dataclass


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class Held:
    some: Any
    more: Any = None


def test_plain_data_of_any_value_is_what_the_standard_library_gives() -> None:
    inner = Held((1, "two", 3.0), {"four": [None, True, b"five"]})
    value = Held(
        [inner, (inner,), Pair(inner, {6})], {"seven": inner, ("eight",): Pair(9, [inner])}
    )
    assert as_plain(value) == asdict(value)
    assert type(as_plain(value)["some"][2]) is Pair


def test_plain_data_shares_nothing_that_can_change() -> None:
    value = Held([{"one": [1]}])
    copied = as_plain(value)
    copied["some"][0]["one"].append(2)
    assert value.some == [{"one": [1]}]


def test_answers_are_plain_data_as_they_were() -> None:
    with Recollect.open("memory://") as memory:
        memory.remember_many([f"The kiln is booked on day {day}." for day in range(30)])
        answer, frame = memory.recall("When is the kiln booked?"), memory.frame("attention", "kiln")
    assert as_plain(answer) == asdict(answer)
    assert as_plain(frame) == asdict(frame)
