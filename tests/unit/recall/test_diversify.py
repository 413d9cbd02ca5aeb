"""When two texts say the same, and who then has to wait."""

from __future__ import annotations

import numpy as np
import pytest

from recollect.recall.blocks import Ranked
from recollect.recall.diversify import any_alike, diversified, sameness, word_sameness


def pair(cosine: float, lengths: tuple[int, int]) -> float:
    cosines = np.array([[1.0, cosine], [cosine, 1.0]])
    same = sameness(cosines, np.array(lengths))
    assert same[0, 0] == same[1, 1] == 1.0
    assert same[0, 1] == same[1, 0]
    return float(same[0, 1])


@pytest.mark.parametrize("length", [1, 5, 10])
def test_short_texts_are_compared_by_their_cosine(length: int) -> None:
    assert pair(0.85, (length, 1)) == pytest.approx(0.85)


def test_of_long_texts_a_cosine_must_be_nearer_to_one() -> None:
    assert pair(0.99, (20, 20)) == pytest.approx(0.98)
    assert pair(0.99, (300, 20)) == pair(0.99, (20, 300)) == pytest.approx(0.7)
    assert pair(1.0, (300, 300)) == 1.0


@pytest.mark.parametrize(
    ("words", "different", "expected"),
    [(4, 1, 0.75), (10, 1, 0.9), (10, 2, 0.8), (300, 1, 0.9), (300, 30, -2.0)],
)
def test_words_that_differ_are_counted(words: int, different: int, expected: float) -> None:
    one = [f"w{number}" for number in range(words)]
    other = [*one[different:], *(f"x{number}" for number in range(different))]
    found = word_sameness([one, other])
    assert found[0, 1] == found[1, 0] == pytest.approx(expected)
    assert found[0, 0] == 1.0


def test_a_text_without_words_or_vector_is_like_nobody() -> None:
    assert word_sameness([[], ["tea"]]).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert not any_alike(word_sameness([[], []]))
    assert not any_alike(sameness(np.zeros((2, 2)), np.array([5, 500])))


def ranked(name: str, score: float) -> Ranked:
    return Ranked(score, 0, name, 1.0, 0.0, False, 0, 0)


def test_what_says_the_same_waits_until_all_others_are_taken() -> None:
    candidates = [ranked("a", 0.9), ranked("a again", 0.8), ranked("b", 0.2)]
    likeness = np.array([[1.0, 0.95, 0.1], [0.95, 1.0, 0.1], [0.1, 0.1, 1.0]])
    taken = [one.pak_id for one in diversified(candidates, likeness)]
    assert taken == ["a", "b", "a again"]
    assert diversified(candidates, likeness, balance=1.0) == tuple(candidates)


def test_what_is_different_enough_keeps_its_rank() -> None:
    candidates = [ranked("a", 0.9), ranked("like a", 0.8), ranked("b", 0.2)]
    likeness = np.array([[1.0, 0.79, 0.1], [0.79, 1.0, 0.1], [0.1, 0.1, 1.0]])
    assert diversified(candidates, likeness) == tuple(candidates)
