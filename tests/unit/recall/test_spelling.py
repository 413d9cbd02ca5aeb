from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.index.analyse import terms
from recollect.recall.question import _spoken
from recollect.recall.spelling import Spelling


def shown(query: str, held: str, *, unasked: str = "") -> list[str]:
    """Return what is shown of a query to which a memory holds some words."""
    spoken = {term: word.lower() for term, word in _spoken(query).items()}
    wanted = [term for term in spoken if term not in terms(unasked)]
    found = [term for term in wanted if term in terms(held)]
    return Spelling(spoken, wanted).of(found)


def test_a_word_of_several_terms_is_shown_once() -> None:
    assert shown("server-rendered pages", "rendered by the server") == ["server-rendered"]


def test_of_an_identifier_the_piece_is_shown_that_was_matched() -> None:
    assert shown("where is get_user_name used?", "a user") == ["user"]
    assert shown("where is get_user_name used?", "the user's name") == ["user_name"]
    assert shown("shop.payments/RetryPolicy", "payments of a shop") == ["shop.payments"]


def test_pieces_that_stand_apart_are_shown_apart() -> None:
    assert shown("get_user_name_of_order", "get a name") == ["get", "name"]


def test_what_was_not_looked_for_parts_nothing() -> None:
    held, unasked = "the state of art", "of the"

    assert shown("a state-of-the-art engine", held, unasked=unasked) == ["state-of-the-art"]


def test_of_a_sentence_without_spaces_the_signs_are_shown_that_stand_together() -> None:
    assert shown("東京の天気はどうですか", "東京は晴れ") == ["東京", "は"]
    assert shown("東京の天気", "天気") == ["天気"]
    assert shown("น้ำดีมาก", "ดีมา") == ["ดีมา"]


def test_words_of_one_term_are_shown_as_they_were_written() -> None:
    assert shown("Deploying Caroline's queues", "deploy caroline's queue") == [
        "deploying",
        "caroline's",
        "queues",
    ]


def test_a_word_whose_signs_fold_into_others_is_shown_whole() -> None:
    decomposed = "re\u0301sume\u0301-bar"

    assert shown(decomposed, "bar") == [decomposed]


@given(st.text(alphabet="ab_-東京é ", max_size=30), st.text(alphabet="ab東京é ", max_size=10))
def test_what_is_shown_is_part_of_the_question_and_comes_once(query: str, held: str) -> None:
    found = shown(query, held)

    assert len(found) == len(set(found))
    assert all(piece in query.lower() for piece in found)
    assert bool(found) == bool(set(terms(query)) & set(terms(held)))
