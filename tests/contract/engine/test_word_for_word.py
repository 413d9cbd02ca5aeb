"""Who asks with the very words of a memory gets that memory first, whatever says the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recollect import Recollect
from recollect.testing import FakeClock, FakeEmbedder

TWINS = {
    "deploys": ("Deploys run on Friday at noon.", "deploys run at noon on Friday"),
    "invoice": ("The invoice was paid by Ann", "Invoice paid by Ann"),
    "order": ("Order 17 shipped to Oslo", "order 17 was shipped to Oslo"),
}


@pytest.fixture(params=["file", "memory"])
def memory(request: pytest.FixtureRequest, tmp_path: object) -> Iterator[Recollect]:
    place = f"{tmp_path}/a.db" if request.param == "file" else "memory://"
    with Recollect.open(place, clock=FakeClock(), embedder=FakeEmbedder()) as opened:
        opened.remember_many(
            f"Order {number} shipped to Oslo on Friday at noon" for number in range(100, 140)
        )
        for name, (one, other) in TWINS.items():
            opened.remember(one, pak_id=f"{name} doubted", confidence=0.4)
            opened.remember(other, pak_id=f"{name} trusted")
        yield opened


def found(memory: Recollect, query: str, **how: object) -> list[str]:
    return [one.fact.pak_id for one in memory.recall(query, top_k=10, **how).results]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("diversity", [None, 0.7, 1.0])
def test_a_text_that_is_asked_for_word_for_word_comes_first(
    memory: Recollect, name: str, diversity: float | None
) -> None:
    doubted, trusted = TWINS[name]
    assert found(memory, doubted, diversity=diversity)[0] == f"{name} doubted"
    assert found(memory, trusted, diversity=diversity)[0] == f"{name} trusted"


@pytest.mark.parametrize("name", TWINS)
def test_it_is_nearly_as_alike_as_can_be(memory: Recollect, name: str) -> None:
    for text in TWINS[name]:
        best = memory.recall(text).results[0]
        assert best.signals.similarity >= 0.95
        assert best.signals.word_for_word == 1.0
        assert "asked for word for word" in best.why


def test_case_and_signs_are_no_words(memory: Recollect) -> None:
    best = memory.recall("deploys RUN: on friday, at noon!", top_k=1).results[0]
    assert (best.fact.pak_id, best.signals.similarity >= 0.95) == ("deploys doubted", True)


def test_a_title_and_a_thread_make_no_difference(memory: Recollect) -> None:
    memory.remember("Lisbon is warm in May", title="Holidays", pak_id="titled")
    memory.remember("Shall we go to Lisbon in May?", thread="t", speaker="Ann", pak_id="before")
    memory.remember("Lisbon? I would love to, in May", thread="t", speaker="Bob", pak_id="turn")
    for pak_id in ("titled", "before", "turn"):
        kept = memory.get(pak_id)
        assert kept is not None
        best = memory.recall(kept.content).results[0]
        assert (best.fact.pak_id, best.signals.similarity >= 0.95) == (pak_id, True)


def test_what_says_the_same_waits_behind_it(memory: Recollect) -> None:
    doubted, _ = TWINS["order"]
    assert "order trusted" not in found(memory, doubted)
    assert "order trusted" in found(memory, doubted, diversity=1.0)


def test_one_word_more_and_the_better_of_two_comes_first(memory: Recollect) -> None:
    doubted, _ = TWINS["order"]
    assert found(memory, f"{doubted} again")[0] == "order trusted"


def test_a_frame_holds_it_too(memory: Recollect) -> None:
    doubted, trusted = TWINS["order"]
    text = memory.frame("attention", doubted, top_k=3).text
    assert doubted in text
    assert trusted not in text
