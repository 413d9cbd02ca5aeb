"""Fields that are made when they are read: nobody who reads a value can tell."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from recollect.values import as_plain, as_told, dataclass, later, made_when_read


@made_when_read("why")
@dataclass(frozen=True, slots=True)
class Line:
    """Something, and why."""

    text: str
    why: tuple[str, ...] = ()


class Making:
    """Counts how often it makes reasons."""

    def __init__(self, reason: str = "because") -> None:
        self.reason = reason
        self.times = 0

    def __call__(self) -> tuple[str, ...]:
        self.times += 1
        return (self.reason,)


def test_a_field_is_made_when_it_is_first_read_and_then_stays() -> None:
    make = Making()
    line = Line("tea", later(make))
    assert (line.text, make.times) == ("tea", 0)
    assert (line.why, line.why, make.times) == (("because",), ("because",), 1)


def test_what_is_given_at_once_is_what_it_is() -> None:
    assert Line("tea", ("so",)).why == ("so",)
    assert Line("tea").why == ()


@pytest.mark.parametrize(
    "read",
    [
        repr,
        hash,
        copy.copy,
        copy.deepcopy,
        dataclasses.asdict,
        dataclasses.replace,
        as_plain,
        lambda line: pickle.loads(pickle.dumps(line)),
        lambda line: line == Line("tea", ("because",)),
    ],
    ids=["repr", "hash", "copy", "deepcopy", "asdict", "replace", "plain", "pickle", "equal"],
)
def test_whatever_reads_a_value_gets_what_it_would_have_got_at_once(read: object) -> None:
    assert callable(read)
    assert read(Line("tea", later(Making()))) == read(Line("tea", ("because",)))


def test_a_value_is_matched_by_what_is_made() -> None:
    match Line("tea", later(Making())):
        case Line("tea", (reason,)):
            assert reason == "because"
        case _:
            pytest.fail("it was not read")


def test_two_values_share_what_is_not_made_yet() -> None:
    make = Making()
    line = Line("tea", later(make))
    other = Line("coffee", as_told(line, "why"))
    assert make.times == 0
    assert other.why == line.why == ("because",)


def test_it_is_frozen_before_and_after() -> None:
    line = Line("tea", later(Making()))
    for _ in range(2):
        with pytest.raises(dataclasses.FrozenInstanceError):
            line.why = ()  # type: ignore[misc]
        assert line.why[0] == "because"


def test_what_cannot_be_made_is_told_to_whoever_reads_it_each_time() -> None:
    def fail() -> tuple[str, ...]:
        raise LookupError("gone")

    line = Line("tea", later(fail))
    for _ in range(2):
        with pytest.raises(LookupError, match="gone"):
            _ = line.why
