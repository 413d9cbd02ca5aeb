from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.index import analysed as module
from recollect.index.analysed import Analysed, analysed
from recollect.index.lexicon import Lexicon
from recollect.index.names import Names

SAID = (
    "",
    "Is it there on Monday?",
    "Wir haben die Bestellungen nicht gefunden, aber der Kunde ist und bleibt zufrieden",
    "der und ist the of and to",
    "Don't panic: the server's logs were rotated yesterday",
    "Доброе утро, коллеги",
    "日本語の文章 and English",
    "a" * 200 + " " + "b" * 70,
    "the the the",
)
TEXTS = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(SAID), st.text(max_size=40)),
        st.one_of(st.just(""), st.sampled_from(SAID)),
    ),
    max_size=9,
)


def taken(texts: list[tuple[str, str]], *, many: int, tile: int = 3) -> list[object]:
    """Return what is taken of texts, each term by its name, in whatever order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MANY", many)
        patch.setattr(module, "_TILE", tile)
        names = Names()
        lexicon = Lexicon(names)
        # Twice: words that are known already must come to the same.
        for _ in range(2):
            found = analysed([one for one, _ in texts], [title for _, title in texts], lexicon)
    return [sorted_terms(found, names), *map(array_of, (found.lengths, found.said, found.marks))]


def array_of(numbers: object) -> list[int]:
    return list(map(int, numbers))  # type: ignore[call-overload]


def sorted_terms(found: Analysed, names: Names) -> list[list[str]]:
    in_order, numbers = names.in_order(), array("i", found.terms.numbers.tolist())
    ends = found.terms.sizes.cumsum().tolist()
    starts = [0, *ends[:-1]]
    return [
        sorted(in_order[number] for number in numbers[start:end])
        for start, end in zip(starts, ends, strict=False)
    ]


@given(TEXTS)
def test_many_texts_at_once_are_taken_as_each_by_itself(texts: list[tuple[str, str]]) -> None:
    if texts:
        assert taken(texts, many=1) == taken(texts, many=1_000)


def test_a_lexicon_lets_go_of_what_it_knew_for_many_texts() -> None:
    lexicon = Lexicon(Names())
    known = lexicon.known_words()

    assert lexicon.known_words() is known
    lexicon.rest()
    assert lexicon.known_words() is not known
