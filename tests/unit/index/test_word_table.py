from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.index import word_table as module
from recollect.index.analyse import words
from recollect.index.word_table import WordTable, words_of_many

ODD = (
    *("", "  ", "'", "Don't 'quote' a''b x'y'z' '", "ünï straße don\u2019t", "a\nb\tc", "A1-b2_c3"),
    *("Привет, мир", "日本語テスト abc", "ไทยภาษา\u200bไทย", "x\ud800y", "e\u0301" * 40),
    *("eightlet", "ninelette", "s" * 16, "s" * 17, "s" * 32, "s" * 33, "s" * 5000, "\0 nul\0nul"),
)
TEXTS = st.lists(st.one_of(st.sampled_from(ODD), st.text(max_size=60)), max_size=8)


def told(table: WordTable, known: list[str], texts: list[str]) -> list[list[str]]:
    many = words_of_many(texts)
    numbers, new = table.numbers(many)
    known += new
    bounds = many.bounds.tolist()
    return [
        [known[number] for number in numbers[first:last].tolist()]
        for first, last in pairwise(bounds)
    ]


@given(st.lists(TEXTS, max_size=3))
def test_words_of_many_are_those_of_each(batches: list[list[str]]) -> None:
    table, known = WordTable(), list[str]()

    for texts in batches:
        assert told(table, known, texts) == [words(text) for text in texts]

    assert len(known) == len({*known}) == len(table)


@given(TEXTS)
def test_joined_words_have_a_space_between_two(texts: list[str]) -> None:
    expected = [" ".join(words(text)).encode("utf-8", "surrogatepass") for text in texts]

    assert words_of_many(texts).joined() == expected


@given(TEXTS, TEXTS)
def test_words_that_share_a_hash_are_told_apart(first: list[str], second: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SPREAD", np.zeros(4, dtype=np.uint64))
        table, known = WordTable(), list[str]()
        for texts in (first, second, first):
            assert told(table, known, texts) == [words(text) for text in texts]


def test_a_table_outgrows_its_places() -> None:
    table, known = WordTable(), list[str]()
    text = " ".join(f"word{number} {'long' * 9}{number}" for number in range(3_000))

    assert told(table, known, [text]) == told(table, known, [text]) == [words(text)]
    assert len(known) == 6_000
