"""Slips of a key: what is mended, into what, and what is left alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.index.analyse import terms
from recollect.limits import WORDS_MENDED
from recollect.recall.misspelt import Reading, read

TEXTS = ("payment payment payments", "the department of deployment", "optimization of queries")


class Known:
    """The stems of some texts, and how many stems were asked for."""

    def __init__(self, texts: Sequence[str] = TEXTS) -> None:
        self.texts = [set(terms(text)) for text in texts]
        self.asked = 0

    def __call__(self, stems: Collection[str]) -> Mapping[str, int]:
        self.asked += len(stems)
        counts = {stem: sum(stem in held for held in self.texts) for stem in stems}
        return {stem: count for stem, count in counts.items() if count}


def reading(query: str, known: Known) -> Reading:
    return read(query, unknown=set(terms(query)) - known(terms(query)).keys(), found=known)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("paymnet", "payment"),  # two changed places
        ("paymeent", "payment"),  # one too many
        ("paymnt", "payment"),  # one too few
        ("psyment", "payment"),  # another key
        ("optimizaton", "optimization"),  # in an ending that a stem has not
    ],
)
def test_a_slip_is_read_as_the_word_that_may_be_found(written: str, meant: str) -> None:
    found = reading(f"When is the {written} due?", Known())
    assert found.text == f"When is the {meant} due?"
    assert found.mended == {written: meant}


@pytest.mark.parametrize("query", ["payment", "When? 2023-05-08 v2 x_y", "", "pay", "東京 น้ำดี"])
def test_what_needs_no_mending_stays_as_it_is(query: str) -> None:
    assert reading(query, Known()).text == query


def test_a_word_that_the_tokeniser_knows_was_meant() -> None:
    assert reading("the apartment", Known()) == ("the apartment", {})


def test_each_of_several_words_is_mended_by_itself() -> None:
    found = reading("optimizaton of the paymnet", Known())
    assert found.mended == {"optimizaton": "optimization", "paymnet": "payment"}
    assert found.text == "optimization of the payment"


def test_words_that_are_known_are_not_looked_at() -> None:
    assert read("paymnet", unknown=(), found=Known()).text == "paymnet"


def test_the_same_first_letter_counts_before_frequency() -> None:
    texts = ["xargle", *["bargle"] * 5, "xargly"]
    assert reading("xaargle", Known(texts)).text == "xargle"
    assert reading("xrgle", Known(texts)).text == "xargle"


def test_of_two_the_more_frequent_is_meant_then_the_first_by_the_alphabet() -> None:
    assert reading("grolm", Known(["grolk", "groln", "groln"])).text == "groln"
    assert reading("grolm", Known(["groln", "grolk"])).text == "grolk"


@given(st.integers(0, 5_000))
def test_however_many_words_nobody_knows_a_bounded_number_is_tried(count: int) -> None:
    known = Known()
    letters = "bcdfghjklm"
    query = " ".join("zq" + "".join(letters[int(one)] for one in f"{n:04d}") for n in range(count))
    reading(query, known)
    assert known.asked <= count + WORDS_MENDED * 60 * 24


@given(st.text(max_size=60))
def test_reading_never_fails_and_mends_into_what_may_be_found(query: str) -> None:
    known = Known()
    found = reading(query, known)
    assert all(known(terms(meant)) for meant in found.mended.values())
    assert (found.text == query) == (not found.mended)
