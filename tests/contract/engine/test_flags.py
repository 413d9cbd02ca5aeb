"""A frame says what is to be known of its text as a whole."""

from __future__ import annotations

import pytest

from recollect import Recollect
from recollect.model import FrameResult, Weights
from recollect.testing import FakeClock, FakeEmbedder


def flags(result: FrameResult) -> list[tuple[str, str]]:
    return [(flag.risk_flag, flag.severity) for flag in result.flags]


def test_an_answer_with_nothing_strange_has_none(memory: Recollect) -> None:
    memory.remember("Redis holds the queue.")
    assert flags(memory.frame("attention", "redis")) == []


def test_nothing_in_it_matches_the_question(memory: Recollect, embedder: FakeEmbedder) -> None:
    memory.remember("Redis holds the queue.")
    embedder.vectors["elephants"] = [0.0] * 32
    assert flags(memory.frame("attention", "elephants")) == [("possible_context_miss", "warn")]
    assert flags(memory.frame("attention")) == []


def test_a_source_was_down(memory: Recollect, embedder: FakeEmbedder) -> None:
    memory.remember("Redis holds the queue.")
    embedder.fail = True
    assert flags(memory.frame("attention", "redis")) == [("possible_context_miss", "warn")]


def test_all_that_is_guaranteed_is_there(memory: Recollect) -> None:
    memory.remember("Ship it.", tags=["self/goal"])
    assert flags(memory.frame("task")) == [("mandatory_context_present", "info")]


def test_something_guaranteed_is_out_of_the_window(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("Ship it.", tags=["self/goal"])
    clock.advance(hours=500)
    memory.remember("Ship the other one.", tags=["self/goal"])
    assert flags(memory.frame("task")) == [("mandatory_context_missing", "block")]


def test_blocks_that_nobody_is_sure_of(memory: Recollect) -> None:
    memory.remember("Redis holds the queue.", confidence=0.4)
    memory.remember("Redis holds the cache.", confidence=0.5)
    assert flags(memory.frame("attention", "redis")) == [("low_confidence_plan", "warn")]


def test_a_tenth_of_what_there_was(memory: Recollect) -> None:
    memory.frames.register("one", weights=Weights(0, 1, 0, 0, 0), token_budget=1000)
    memory.remember_many([f"note {number}" for number in range(11)])
    assert flags(memory.frame("one", top_k=1)) == [("large_context_reduction", "warn")]
    assert flags(memory.frame("one", top_k=2)) == []


def test_the_budget_cut_what_ranked_above_something_that_stayed(memory: Recollect) -> None:
    memory.remember("redis " * 100, confidence=1.0)
    memory.remember("a redis", confidence=0.9)
    assert flags(memory.frame("attention", "redis", token_budget=30)) == [
        ("possible_context_miss", "warn")
    ]


@pytest.mark.parametrize("cached", [False, True])
def test_a_frame_that_keeps_its_answers_is_sensitive_to_order(
    memory: Recollect, cached: bool
) -> None:
    memory.remember("I am careful.", tags=["self/value"])
    result = memory.frame("self")
    if cached:
        result = memory.frame("self")
        assert result.cached
    assert flags(result) == [("cache_sensitive_ordering", "info")]
    assert list(result.to_dict()["flags"]) == [
        {"risk_flag": "cache_sensitive_ordering", "severity": "info"}
    ]
