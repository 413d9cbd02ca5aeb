"""A model beside the static table: one vector for both, and a question that weighs them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.embed import EmbedderMismatch, ModelIdentity, check_model
from recollect.embed.ahead import embed_ahead, reads_whole, weighs_words
from recollect.embed.beside import BesideStatic
from recollect.embed.static import StaticEmbedder
from recollect.embed.unrelated import SENTENCES, unrelated_cosine
from recollect.errors import EmbedderError
from recollect.ports.embedder import SentenceEmbedder
from recollect.testing import FakeEmbedder

Floats = NDArray[np.floating]
TEXT, QUESTION = "The kiln is booked until May.", "Is the kiln free?"


def cosine(one: Floats, other: Floats) -> float:
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def nearness(embedder: BesideStatic, text: str, question: str) -> float:
    asked = embedder.embed_query(question).astype(np.float64)
    (held,) = embedder.embed_documents([text]).astype(np.float64)
    return cosine(asked, held) * float(np.sqrt(asked @ asked)) - embedder.base()


def test_a_text_is_both_vectors_each_of_length_one() -> None:
    model = FakeEmbedder(8)
    embedder = BesideStatic(model, unrelated=0.2)
    (held,) = embedder.embed_documents([TEXT])
    assert held.shape == (embedder.dimension,) == (256 + 8,)
    assert (
        held[:256].tolist() == StaticEmbedder(every_time=True).embed_documents([TEXT])[0].tolist()
    )
    raw = model.embed_documents([TEXT])[0]
    assert held[256:] == pytest.approx(raw / np.sqrt(raw @ raw))


@pytest.mark.parametrize("unrelated", [0.0, 0.06, 0.45])
def test_one_product_is_the_rule_of_both_cosines(unrelated: float) -> None:
    model, static = FakeEmbedder(8), StaticEmbedder(every_time=True)
    found = nearness(BesideStatic(model, unrelated=unrelated), TEXT, QUESTION)
    words = cosine(static.embed_documents([TEXT])[0], static.embed_query(QUESTION))
    whole = cosine(model.embed_documents([TEXT])[0], model.embed_query(QUESTION))
    assert found == pytest.approx(
        0.3 * words + 0.7 * (whole - unrelated) / (1 - unrelated), abs=1e-6
    )


def test_what_is_the_same_is_at_one_and_what_is_unrelated_adds_nothing() -> None:
    vectors = {TEXT: [1.0, 0.0], "other": [0.45, (1 - 0.45**2) ** 0.5]}
    embedder = BesideStatic(FakeEmbedder(2, vectors=vectors), unrelated=0.45)
    words = StaticEmbedder(every_time=True)
    plain = words.embed_documents([TEXT])[0].astype(np.float64)
    asked = embedder.beside(plain, asked=TEXT, heard=TEXT)
    same, other = embedder.embed_documents([TEXT, "other"]).astype(np.float64)
    length = float(np.sqrt(asked @ asked))
    assert cosine(asked, same) * length - embedder.base() == pytest.approx(1.0)
    by_words = cosine(*words.embed_documents([TEXT, "other"]).astype(np.float64))
    assert cosine(asked, other) * length - embedder.base() == pytest.approx(
        0.3 * by_words, abs=1e-6
    )


def test_the_model_is_asked_once_where_unrelated_texts_lie() -> None:
    model = FakeEmbedder(8)
    embedder = BesideStatic(model)
    embedder.embed_documents([TEXT])
    embedder.embed_documents([TEXT])
    assert model.calls == len(SENTENCES) + 2
    assert embedder.unrelated() == unrelated_cosine(model)


def test_where_unrelated_texts_lie_is_their_mean_cosine() -> None:
    vectors = {text: [1.0, 0.0] for text in SENTENCES[:12]}
    vectors |= {text: [0.0, 3.0] for text in SENTENCES[12:]}
    pairs = len(SENTENCES) * (len(SENTENCES) - 1)
    assert unrelated_cosine(FakeEmbedder(2, vectors=vectors)) == round(2 * 12 * 11 / pairs, 2)


@pytest.mark.parametrize(("vector", "expected"), [([1.0, 0.0], 0.9), ([0.0, 0.0], 0.0)])
def test_a_model_that_tells_nothing_apart_still_gives_a_number(
    vector: list[float], expected: float
) -> None:
    model = FakeEmbedder(2, vectors=dict.fromkeys(SENTENCES, vector))
    assert unrelated_cosine(model) == expected


def test_no_two_of_the_sentences_share_a_rare_word() -> None:
    seen: dict[str, str] = {}
    for sentence in SENTENCES:
        for word in {word.strip(".,?").lower() for word in sentence.split() if len(word) > 6}:
            assert seen.setdefault(word, sentence) == sentence, word


def test_a_store_knows_where_unrelated_texts_lie_and_nobody_is_asked() -> None:
    model = FakeEmbedder(8)
    stored = f"fake~0.31+{StaticEmbedder(every_time=True).model_id}"
    embedder = BesideStatic(model)
    check_model(ModelIdentity(stored, 264), embedder)
    assert (embedder.model_id, embedder.unrelated(), model.calls) == (stored, 0.31, 0)


def test_another_models_store_is_refused() -> None:
    for stored in (
        "fake",
        f"other~0.31+{StaticEmbedder(every_time=True).model_id}",
        "fake~0.31+static:else",
    ):
        with pytest.raises(EmbedderMismatch):
            check_model(ModelIdentity(stored, 264), BesideStatic(FakeEmbedder(8)))


def test_a_question_is_weighed_word_by_word_and_read_as_a_whole() -> None:
    embedder = BesideStatic(FakeEmbedder(8), unrelated=0.1)
    assert [reads_whole(kind) for kind in (BesideStatic, StaticEmbedder)] == [True, False]
    assert weighs_words(BesideStatic)
    tokens = embedder.tokenise_query(QUESTION)
    weights = [0.0, 0.0, 3.0, 1.0]
    assert embedder.combine(tokens, weights).tolist() == (
        StaticEmbedder(every_time=True).combine(tokens, weights).tolist()
    )


def test_a_model_far_away_reads_the_question_ahead_and_as_it_was_asked() -> None:
    model = FakeEmbedder(8)
    embedder = BesideStatic(model, unrelated=0.1, is_far=True)
    words = StaticEmbedder(every_time=True).embed_query(QUESTION).astype(np.float64)
    expected = embedder.beside(words, asked=QUESTION, heard="free").tolist()
    ahead = embed_ahead(embedder, QUESTION)
    assert isinstance(ahead, SentenceEmbedder)
    before = model.calls
    assert ahead.beside(words, asked=QUESTION, heard="free").tolist() == expected
    assert model.calls == before
    assert ahead.base() == embedder.base()
    other = ahead.beside(words, asked="else", heard="else").tolist()
    assert other == embedder.beside(words, asked="else", heard="else").tolist()


def test_a_model_at_hand_reads_once_what_is_not_known_by_other_means() -> None:
    model = FakeEmbedder(8)
    embedder = BesideStatic(model, unrelated=0.1)
    ahead = embed_ahead(embedder, QUESTION)
    assert isinstance(ahead, SentenceEmbedder)
    assert model.calls == 0
    words = StaticEmbedder(every_time=True).embed_query(QUESTION).astype(np.float64)
    found = ahead.beside(words, asked=QUESTION, heard="free").tolist()
    assert model.calls == 1
    assert found == embedder.beside(words, asked="free", heard="free").tolist()


def test_a_model_that_is_down_leaves_the_question_to_its_words() -> None:
    model = FakeEmbedder(8)
    model.fail = True
    ahead = embed_ahead(BesideStatic(model, unrelated=0.1, is_far=True), QUESTION)
    with pytest.raises(EmbedderError):
        ahead.embed_query(QUESTION)


def test_a_model_that_learns_its_dimension_is_told_its_own_part() -> None:
    class Learning(FakeEmbedder):
        told = 0

        def expect_dimension(self, dimension: int) -> None:
            self.told = dimension

    model = Learning(8)
    BesideStatic(model, unrelated=0.1).expect_dimension(264)
    assert model.told == 8


def test_a_model_that_can_be_closed_is() -> None:
    class Closing(FakeEmbedder):
        closed = False

        def close(self) -> None:
            self.closed = True

    model = Closing(8)
    embedder = BesideStatic(model, unrelated=0.1)
    embedder.close()
    assert model.closed
    assert embedder.earlier[0] is model
    BesideStatic(FakeEmbedder(8), unrelated=0.1).close()
