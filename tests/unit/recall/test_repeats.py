"""Which memories wait behind others that say the same."""

from __future__ import annotations

from itertools import count
from typing import Any

from recollect.model import Memory
from recollect.recall.repeats import Said

numbers = count()


def turn(content: str, **fields: Any) -> Memory:
    name = f"m{next(numbers)}"
    return Memory(pak_id=name, content=content, title=name, **fields)


def test_who_said_it_and_when_are_part_of_what_was_said() -> None:
    said = Said()
    first = turn("Sounds good!", speaker="Ann", occurred_at="2023-05-08")

    assert said.first_to_say(first) is None
    assert said.first_to_say(turn("sounds good", speaker="Ben")) is None
    again = turn("sounds good", speaker="Ann", occurred_at="2023-05-08")
    assert said.first_to_say(again) == first.pak_id


def test_beyond_its_second_turn_a_thread_says_nothing_again_whoever_says_it() -> None:
    said = Said()
    speakers = ("Ann", "Ben", "Cleo", "Dora")
    turns = [turn("Sounds good!", speaker=name, thread="t1") for name in speakers]

    assert [said.first_to_say(one) for one in turns] == [None, None, *[turns[0].pak_id] * 2]


def test_a_further_turn_that_says_something_else_does_not_wait() -> None:
    said = Said()
    texts = ("Sounds good!", "We ship on Friday.", "We do not ship on Friday.", "See you then.")

    assert {said.first_to_say(turn(text, thread="t1")) for text in texts} == {None}


def test_it_also_gives_way_to_a_turn_of_another_thread() -> None:
    said = Said()
    elsewhere = turn("Sounds good!", speaker="Zoe", thread="t2")
    said.first_to_say(elsewhere)
    for text in ("We ship on Friday.", "See you then."):
        said.first_to_say(turn(text, thread="t1"))

    assert said.first_to_say(turn("Sounds good.", thread="t1")) == elsewhere.pak_id
    assert said.first_to_say(turn("Sounds good.", thread="t2")) is None


def test_threads_of_one_name_in_two_projects_are_two() -> None:
    said = Said()
    for project in ("shop", "bank"):
        for name in ("Ann", "Ben"):
            one = turn("Sounds good!", thread="t1", project=project, speaker=name + project)
            assert said.first_to_say(one) is None


def test_what_is_in_no_thread_is_no_flood() -> None:
    said = Said()
    notes = [turn("Sounds good!", speaker=name) for name in ("Ann", "Ben", "Cleo", "Dora")]

    assert {said.first_to_say(note) for note in notes} == {None}
