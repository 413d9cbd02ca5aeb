from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index.names import Names

NAMES = st.lists(st.text(st.characters(codec=None), max_size=4), max_size=30)


@settings(deadline=None)
@given(st.lists(NAMES, max_size=4), st.text(max_size=2))
def test_names_keep_their_numbers_through_files_and_additions(
    batches: list[list[str]], prefix: str
) -> None:
    names, expected = Names(), dict[str, int]()
    for batch in batches:
        for name in batch:
            assert names[name] == expected.setdefault(name, len(expected))
        names = Names.restore(**names.export())

    assert names.in_order() == list(expected)
    assert names.starting_with(prefix) == sorted(n for n in expected if n.startswith(prefix))
    assert [names.find(name) for name in expected] == list(range(len(expected)))


@settings(deadline=None)
@given(st.lists(NAMES, max_size=4), st.booleans())
def test_many_names_get_the_numbers_that_each_would(
    batches: list[list[str]], is_settled: bool
) -> None:
    many, each = Names(), Names()
    for batch in batches:
        assert many.numbers(batch) == [each[name] for name in batch]
        if is_settled:
            many = Names.restore(**many.export())

    assert many.in_order() == each.in_order()


def test_looking_for_a_name_does_not_give_it_a_number() -> None:
    names = Names(["red", "blue"])
    saved = Names.restore(**names.export())

    for known in (names, saved):
        assert known.find("green") == -1
        assert known["green"] == 2
        assert known.in_order() == ["red", "blue", "green"]
        assert known.starting_with("") == ["blue", "green", "red"]


@pytest.mark.parametrize("settled", [0, 1, 40])
def test_of_many_names_those_are_known_that_are_found_one_by_one(settled: int) -> None:
    names = Names.restore(**Names(f"payment{number}" for number in range(settled)).export())
    late = ["pay", "late", "payment99"]
    for name in late:
        _ = names[name]
    asked = {*late, "payment7", "payment", "payments", "zebra", "payment39", "p", ""}
    known = {name: number for name in sorted(asked) if (number := names.find(name)) >= 0}
    assert list(names.known_of(asked).items()) == list(known.items())


LONG = st.text("ab", max_size=12) | st.text(st.characters(codec=None), max_size=4)


@settings(deadline=None)
@given(st.sets(LONG, max_size=40), st.sets(LONG, max_size=5), st.sets(LONG, max_size=8))
def test_many_names_are_known_as_single_ones_are(
    settled: set[str], late: set[str], asked: set[str]
) -> None:
    names = Names.restore(**Names(sorted(settled)).export())
    for name in late:
        _ = names[name]
    known = {name: names[name] for name in sorted(asked & (settled | late))}
    assert list(names.known_of(asked).items()) == list(known.items())
