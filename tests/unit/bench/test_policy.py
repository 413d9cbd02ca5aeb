from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from bench.policy import ENTITY, HERS, MARK, READER, Shape, nothing_left, plant, same_answers, ways
from bench.recall_stores import opened

from recollect import Recollect

SMALL = Shape(paks=400, gardens=20, memberships=2)


@pytest.fixture
def memory(tmp_path: Path) -> Recollect:
    memory = opened(tmp_path / "small.db")
    plant(memory, SMALL)
    memory.remember_many(map(SMALL.item, range(SMALL.paks)))
    return memory


def test_gardens_hold_equally_many_and_the_entity_one_in_a_hundred() -> None:
    items = [Shape().item(number) for number in range(2_000)]
    assert set(Counter(item["garden"] for item in items).values()) == {2}
    assert sum(item["project"] == HERS for item in items) == 100
    about = [item for item in items if item["entity"] == ENTITY]
    assert len(about) == 20
    assert [item for item in items if MARK in item["content"]] == about
    assert Shape().about == 1_000


def test_both_ways_lead_to_the_same_rows_and_answers(memory: Recollect) -> None:
    with memory:
        member = memory.as_principal(READER)
        assert {one.project for one in member.list(limit=1000).items} == {HERS}
        assert len(member.list(limit=1000).items) == 40
        asking = ways(memory)
        questions = [SMALL.question(number) for number in range(10)]
        assert len(set(questions)) == 10
        same_answers(asking, questions)
        asking["filter"] = lambda text: memory.recall(text, top_k=4, project="others")
        with pytest.raises(RuntimeError, match="answer differently"):
            same_answers(asking, questions)


def test_bytes_that_are_left_are_found_and_those_of_the_forgotten_are_not(
    memory: Recollect,
) -> None:
    with memory, pytest.raises(RuntimeError, match="still holds"):
        nothing_left(memory.path)
    with opened(memory.path) as again:
        assert len(again.forget(entity=ENTITY).pak_ids) == SMALL.about
        nothing_left(again.path)
    nothing_left(memory.path)
