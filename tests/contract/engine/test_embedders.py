"""Embedders on good and bad days: the model lock, switching, pending vectors, lexical only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.contract.engine.looking import by_id, everything_stored, recalled

from recollect import Recollect
from recollect.embed import EmbedderError, EmbedderMismatch
from recollect.embed.static import StaticEmbedder
from recollect.testing import FakeClock, FakeEmbedder

Open = Callable[..., Recollect]


class Moody(FakeEmbedder):
    """An embedder with a mood; it may be changed while a store is open."""

    mood = "good"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = super().embed_documents(texts)
        if self.mood == "down":
            raise ConnectionError("no route to host")
        if self.mood == "nan":
            vectors[0, 0] = np.nan
        if self.mood == "short":
            return vectors[:, :5]
        if self.mood == "missing":
            return vectors[:-1]
        if self.mood == "ragged":
            return [[1.0], [1.0, 2.0]]  # type: ignore[return-value]
        if self.mood == "nothing":
            return None  # type: ignore[return-value]
        return vectors


class Tiring(FakeEmbedder):
    """An embedder that gives up after so many texts."""

    def __init__(self, *, most: int, dimension: int = 16) -> None:
        super().__init__(dimension, model_id="new")
        self.most = most

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.calls + len(texts) > self.most:
            self.fail = True
        return super().embed_documents(texts)


class Meddled(FakeEmbedder):
    """An embedder during whose work something else happens, once."""

    meanwhile: Callable[[], object] | None = None

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        return super().embed_documents(texts)


def notes(count: int) -> list[dict[str, str]]:
    return [{"content": f"note {n} about queues", "pak_id": f"p{n}"} for n in range(count)]


MOODS = ["down", "nan", "short", "missing", "ragged", "nothing"]


@pytest.mark.parametrize("mood", MOODS)
@pytest.mark.parametrize("first", [True, False], ids=["new store", "filled store"])
def test_a_bad_day_at_remember_loses_nothing(open_memory: Open, mood: str, first: bool) -> None:
    moody = Moody()
    memory = open_memory(embedder=moody, links=True)
    if not first:
        memory.remember("a note from before", pak_id="before")
    moody.mood = mood
    made = memory.remember("the walrus sleeps", pak_id="late")
    assert (made.created, made.state) == (True, "pending")
    assert memory.stats()["pending"] == 1
    assert memory.stats()["embedder_error"]
    moody.mood = "good"
    answer = memory.recall("walrus")
    assert recalled(answer)[0] == "late"
    assert answer.degraded == ("vector",)
    assert by_id(answer)["late"].signals.lexical
    assert memory.remember("a later note").state == "ready"
    healed = memory.recall("walrus")
    assert healed.degraded == ()
    assert by_id(healed)["late"].signals.semantic
    assert memory.stats()["pending"] == 0
    assert memory.stats()["embedder_error"] is None


def test_many_pending_are_filled_by_asking(open_memory: Open) -> None:
    moody = Moody()
    memory = open_memory(embedder=moody)
    moody.mood = "down"
    assert {one.state for one in memory.remember_many(notes(70))} == {"pending"}
    assert memory.retry_pending() == 0
    moody.mood = "good"
    assert memory.retry_pending() == 70
    assert memory.retry_pending() == 0
    assert memory.recall("queues").degraded == ()
    memory.reindex()
    assert memory.recall("queues").degraded == ()
    assert memory.check() == ()


def test_what_is_pending_elsewhere_does_not_degrade_an_answer(open_memory: Open) -> None:
    moody = Moody()
    memory = open_memory(embedder=moody)
    memory.remember("the walrus sleeps", project="zoo")
    moody.mood = "down"
    memory.remember("the walrus wakes", project="sea")
    moody.mood = "good"
    assert memory.recall("walrus", project="zoo").degraded == ()
    assert memory.recall("walrus", project="sea").degraded == ("vector",)
    assert memory.frame("attention", "walrus").degraded == ("vector",)
    assert memory.frame("attention").degraded == ()


@pytest.mark.parametrize("mood", ["down", "nan", "short"])
def test_a_bad_day_at_the_question_leaves_the_words(open_memory: Open, mood: str) -> None:
    moody = Moody()
    memory = open_memory(embedder=moody)
    memory.remember("the walrus sleeps", pak_id="w")
    memory.remember("the zebra runs", pak_id="z")
    moody.mood = mood
    answer = memory.recall("walrus")
    assert recalled(answer) == ["w"]
    assert answer.degraded == ("vector",)
    assert answer.results[0].signals.semantic is None
    moody.mood = "good"
    assert memory.recall("walrus").degraded == ()


def test_no_embedder_is_first_class(open_memory: Open) -> None:
    memory = open_memory(embedder="none", links=True)
    made = memory.remember("the walrus sleeps")
    assert (made.state, memory.stats()["pending"]) == ("ready", 0)
    for _ in range(2):
        answer = memory.recall("walrus sleeping")
        assert recalled(answer) == [made.pak_id]
        assert (answer.degraded, answer.results[0].signals.semantic) == ((), None)
        memory.close()
        memory = open_memory(embedder="none")


def test_what_waited_for_a_vector_needs_none_where_there_are_none(open_memory: Open) -> None:
    moody = Moody()
    memory = open_memory(embedder=moody)
    moody.mood = "down"
    memory.remember("the walrus sleeps", pak_id="w")
    memory.close()
    lexical = open_memory(embedder="none")
    lexical.remember("the zebra runs")
    answer = lexical.recall("walrus")
    assert (recalled(answer), answer.degraded) == (["w"], ())
    assert lexical.check() == ()


def test_another_model_is_refused_with_the_way_out(open_memory: Open) -> None:
    open_memory().remember("a note")
    for other in (FakeEmbedder(model_id="other"), FakeEmbedder(16), "none"):
        with pytest.raises(EmbedderMismatch) as refusal:
            open_memory(embedder=other)
        assert "reembed" in refusal.value.hint
        assert isinstance(refusal.value, ValueError)


def test_an_empty_store_takes_any_model(open_memory: Open) -> None:
    open_memory().close()
    memory = open_memory(embedder=FakeEmbedder(16, model_id="other"))
    memory.remember("a note")
    assert (memory.stats()["model_id"], memory.stats()["dimension"]) == ("other", 16)


def test_reembedding_switches_and_reports_progress(open_memory: Open) -> None:
    memory = open_memory()
    memory.remember_many(notes(300))
    new, seen = FakeEmbedder(16, model_id="new"), []
    assert memory.reembed(new, progress=lambda done, total: seen.append((done, total))) == 300
    assert seen == [(0, 300), (128, 300), (256, 300), (300, 300)]
    assert (memory.stats()["model_id"], memory.stats()["dimension"]) == ("new", 16)
    assert memory.remember("one more note").state == "ready"
    assert memory.recall("note 7 about queues").results[0].fact.pak_id == "p7"
    assert memory.check() == ()
    memory.close()
    assert open_memory(embedder=new).recall("queues").degraded == ()
    with pytest.raises(EmbedderMismatch):
        open_memory()


@pytest.mark.parametrize("to_nothing", [True, False])
def test_one_may_switch_to_no_vectors_and_back(open_memory: Open, to_nothing: bool) -> None:
    memory = open_memory() if to_nothing else open_memory(embedder="none")
    memory.remember_many(notes(5))
    memory.reembed("none" if to_nothing else FakeEmbedder())
    answer = memory.recall("note 3")
    assert answer.degraded == ()
    assert (answer.results[0].signals.semantic is None) is to_nothing
    assert memory.stats()["pending"] == 0


def test_a_switch_that_failed_goes_on_where_it_stopped(open_memory: Open) -> None:
    memory = open_memory()
    memory.remember_many(notes(600))
    before = memory.recall("note 7 about queues")
    with pytest.raises(EmbedderError):
        memory.reembed(Tiring(most=300))
    assert memory.recall("note 7 about queues") == before
    assert memory.stats()["reembedding_to"] == "new"
    memory.close()
    again, tireless, seen = open_memory(), Tiring(most=10**6), []
    assert again.recall("note 7 about queues") == before
    done = again.reembed(tireless, progress=lambda *counts: seen.append(counts))
    assert done == tireless.calls == 600 - 256
    assert seen == [(256, 600), (384, 600), (512, 600), (600, 600)]
    assert (again.stats()["model_id"], again.stats()["reembedding_to"]) == ("new", None)


def test_the_old_vectors_serve_and_writes_go_on_until_the_new_are_complete(
    open_memory: Open,
) -> None:
    memory, other = open_memory(), open_memory()
    memory.remember_many(notes(300))
    seen = []

    def meanwhile(done: int, total: int) -> None:
        answer = other.recall("note 7 about queues")
        seen.append((answer.degraded, answer.results[0].fact.pak_id))
        if done < total:
            other.remember("the walrus sleeps", pak_id="walrus")
            other.remember("note 1 was rewritten", pak_id="p1")

    memory.reembed(FakeEmbedder(16, model_id="new"), progress=meanwhile)
    assert set(seen) == {((), "p7")}
    assert memory.stats()["pending"] == 0
    for text, pak_id in (("the walrus sleeps", "walrus"), ("note 1 was rewritten", "p1")):
        assert by_id(memory.recall(text))[pak_id].signals.semantic == 1.0
    with pytest.raises(EmbedderMismatch):
        other.recall("note 7")


def test_a_text_that_changes_while_it_is_embedded_gets_its_own_vector(open_memory: Open) -> None:
    memory, other = open_memory(), open_memory()
    memory.remember_many(notes(3))
    new = Meddled(16, model_id="new")
    new.meanwhile = lambda: other.remember("the walrus sleeps", pak_id="p1")
    memory.reembed(new)
    assert by_id(memory.recall("the walrus sleeps"))["p1"].signals.semantic == 1.0


def test_a_pending_text_that_changes_while_it_is_embedded_keeps_its_own_vector(
    open_memory: Open, embedder: FakeEmbedder
) -> None:
    meddled = Meddled()
    memory, other = open_memory(embedder=meddled), open_memory()
    meddled.fail = True
    memory.remember("the zebra runs", pak_id="p")
    meddled.fail = False
    meddled.meanwhile = lambda: other.remember("the walrus sleeps", pak_id="p")
    assert memory.retry_pending() == 0
    assert by_id(memory.recall("the walrus sleeps"))["p"].signals.semantic == 1.0


def test_of_two_switches_at_once_the_second_to_finish_gives_way(open_memory: Open) -> None:
    memory, other = open_memory(), open_memory()
    memory.remember_many(notes(3))
    new = Meddled(16, model_id="new")
    new.meanwhile = lambda: other.reembed(FakeEmbedder(16, model_id="new"))
    with pytest.raises(EmbedderMismatch, match="new"):
        memory.reembed(new)
    assert other.stats()["model_id"] == "new"
    assert other.recall("note 2 about queues").results[0].signals.semantic == 1.0
    assert other.check() == ()


def test_a_switch_in_another_process_during_a_write_refuses_the_write(open_memory: Open) -> None:
    meddled = Meddled()
    memory, other = open_memory(embedder=meddled), open_memory()
    other.remember("a note")
    meddled.meanwhile = lambda: other.reembed(FakeEmbedder(model_id="new"))
    with pytest.raises(EmbedderMismatch):
        memory.remember("of the old model")
    assert other.stats()["memories"] == 1
    assert other.check() == ()


def test_a_like_that_is_deleted_during_a_write_is_not_linked(open_memory: Open) -> None:
    meddled = Meddled()
    memory, other = open_memory(embedder=meddled, links=True), open_memory()
    memory.remember("the walrus sleeps", pak_id="gone")
    memory.remember("tea", pak_id="other")
    meddled.meanwhile = lambda: other.forget("gone")
    made = memory.remember("the walrus sleeps", pak_id="kept")
    assert (made.created, made.linked, made.near_duplicates) == (True, (), ())
    assert memory.check() == ()


def test_a_question_embeds_once_and_a_recall_without_one_never(
    memory: Recollect, embedder: FakeEmbedder
) -> None:
    memory.remember("a note")
    before = embedder.calls
    memory.recall()
    memory.recall("   ")
    assert embedder.calls == before
    memory.recall("note")
    assert embedder.calls == before + 1


def test_a_refused_opening_writes_nothing(open_memory: Open) -> None:
    memory = open_memory()
    memory.remember("a note")
    before = everything_stored(memory)
    with pytest.raises(EmbedderMismatch):
        open_memory(embedder="none")
    with pytest.raises(ValueError, match="no embedder"):
        open_memory(embedder="telepathy")
    assert everything_stored(memory) == before


def test_the_issue_s_example_with_the_static_embedder(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "agent.db", clock=FakeClock()) as memory:
        memory.remember(
            "Use Celery with Redis for background tasks in Django.",
            tags=["django"],
            project="shop",
        )
        memory.remember("The office plants need water on Fridays.")
        memory.remember("Ship 1.0 before the fair.", tags=["self/goal"])
        answer = memory.recall("how do I run background jobs?", top_k=5)
        best = answer.results[0]
        assert best.fact.content.startswith("Use Celery")
        assert 0 < best.score <= 1
        assert best.why
        assert best.signals.semantic
        assert best.signals.lexical
        assert answer.degraded == ()
        prompt = memory.frame("task", "ship the release", token_budget=800).text
    assert prompt.startswith("## Active Goals\n- Ship 1.0 before the fair.\n")
    assert "## Context" in prompt


def test_a_store_of_an_earlier_recipe_goes_on_with_it_until_it_is_embedded_again(
    open_memory: Open,
) -> None:
    text = "The kiln by the shed: the kiln is booked, the shed is not."
    with open_memory(embedder=StaticEmbedder(every_time=True)) as memory:
        memory.remember(text, pak_id="kiln")
        before = memory.recall("is the kiln booked")
    with open_memory(embedder="static") as memory:
        assert memory.stats()["model_id"] == StaticEmbedder(every_time=True).model_id
        assert memory.recall("is the kiln booked") == before
        assert memory.reembed("static") == 1
        assert memory.stats()["model_id"] == StaticEmbedder().model_id
        after = memory.recall("is the kiln booked")
        assert after.results[0].signals.semantic != before.results[0].signals.semantic
    with open_memory(embedder="static") as memory:
        assert memory.recall("is the kiln booked") == after
