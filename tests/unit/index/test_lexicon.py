from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index import lexicon as module
from recollect.index.analyse import TIME_TERMS, terms, words
from recollect.index.lexicon import Lexicon
from recollect.index.names import Names

said = st.lists(
    st.sampled_from(("runs", "running", "Days", "1999", "naïve", "don't", "x_y", "東京"))
)
texts = st.one_of(said.map(" ".join), st.text())


@settings(deadline=None)
@given(st.lists(texts, max_size=6), st.sampled_from((1, 3, 1 << 16)))
def test_numbers_are_those_of_the_terms_however_few_words_are_remembered(
    texts: list[str], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_WORDS", most)
        names = Names()
        lexicon = Lexicon(names)
        for text in texts:
            numbers = lexicon.numbers(words(text))
            assert [names.in_order()[number] for number in numbers] == terms(text)
            assert lexicon.tells_time(numbers) == (not TIME_TERMS.isdisjoint(terms(text)))
            assert len(lexicon) <= most


def test_a_word_without_end_is_not_remembered() -> None:
    names = Names()
    lexicon = Lexicon(names)

    assert list(lexicon.numbers(["a" * 5_000])) == [names["a" * 64]]
    assert not lexicon
