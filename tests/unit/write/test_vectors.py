"""Vectors for texts, whatever the embedder answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from recollect.embed import EmbedderBadAnswer, EmbedderUnavailable
from recollect.embed.none import NoEmbedder
from recollect.testing import FakeEmbedder
from recollect.write.vectors import embed_texts


class Answering(FakeEmbedder):
    """Answers every question with what it was given."""

    def __init__(self, answer: Any) -> None:
        super().__init__(2)
        self.answer = answer

    def embed_documents(self, texts: Sequence[str]) -> Any:
        self.calls += len(texts)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_one_vector_a_text_in_their_order() -> None:
    embedded = embed_texts(
        FakeEmbedder(vectors={"a": [1.0] * 32, "b": [-1.0] * 32}), ["a", "b"], dimension=32
    )
    assert embedded.error is None
    assert [int(vector[0]) for vector in embedded.vectors if vector is not None] == [127, -127]
    assert embedded.dimension == 32


def test_a_text_without_meaning_is_zero() -> None:
    embedded = embed_texts(FakeEmbedder(4, vectors={"": [0.0] * 4}), [""], dimension=None)
    assert embedded.error is None
    assert [vector.tolist() for vector in embedded.vectors if vector is not None] == [[0, 0, 0, 0]]


@pytest.mark.parametrize(
    "answer",
    [
        np.ones((1, 2), np.float32),
        np.ones((2, 3), np.float32),
        np.ones((2, 0), np.float32),
        np.ones(4, np.float32),
        np.full((2, 2), np.nan, np.float32),
        np.full((2, 2), np.inf, np.float32),
        np.array([["a", "b"], ["c", "d"]]),
        [[1.0], [1.0, 2.0]],
        None,
        "vectors",
    ],
    ids=str,
)
@pytest.mark.parametrize("dimension", [None, 2])
def test_what_is_no_vector_is_carried_along_as_an_error(answer: Any, dimension: int | None) -> None:
    embedded = embed_texts(Answering(answer), ["a", "b"], dimension=dimension)
    assert isinstance(embedded.error, EmbedderBadAnswer)
    assert embedded.error.hint
    assert list(embedded.vectors) == [None, None]
    assert embedded.dimension is None


@pytest.mark.parametrize("failure", [ConnectionError("down"), TimeoutError("late"), OSError("x")])
def test_an_embedder_out_of_reach_is_an_error_of_ours(failure: Exception) -> None:
    embedded = embed_texts(Answering(failure), ["a"], dimension=None)
    assert isinstance(embedded.error, EmbedderUnavailable)
    assert str(failure) in str(embedded.error)


def test_a_mistake_in_the_embedder_itself_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        embed_texts(Answering(KeyError("bug")), ["a"], dimension=None)


def test_plain_lists_and_whole_numbers_are_vectors_too() -> None:
    embedded = embed_texts(Answering([[1, 0], [0, -2]]), ["a", "b"], dimension=2)
    assert [vector.tolist() for vector in embedded.vectors if vector is not None] == [
        [127, 0],
        [0, -127],
    ]


def test_no_texts_need_no_embedder() -> None:
    assert list(embed_texts(Answering(ConnectionError()), [], dimension=2).vectors) == []


def test_no_embedder_gives_no_vectors_and_no_error() -> None:
    embedded = embed_texts(NoEmbedder(), ["a"], dimension=None)
    assert (embedded.vectors, embedded.error, embedded.dimension) == ([None], None, None)
