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


def test_what_says_the_same_waits_behind_it(memory: Recollect) -> None:
    doubted, _ = TWINS["order"]
    assert "order trusted" not in found(memory, doubted)
    assert "order trusted" in found(memory, doubted, diversity=1.0)


def test_one_word_more_and_the_better_of_two_comes_first(memory: Recollect) -> None:
    doubted, _ = TWINS["order"]
    assert found(memory, f"{doubted}?")[0] == "order trusted"


def test_a_frame_holds_it_too(memory: Recollect) -> None:
    doubted, trusted = TWINS["order"]
    text = memory.frame("attention", doubted, top_k=3).text
    assert doubted in text
    assert trusted not in text
