"""The scenarios that need the whole engine, each with its numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.contract.engine.looking import edge_weights, ids, recalled

from recollect import Recollect
from recollect.model import Weights
from recollect.testing import FakeClock, FakeEmbedder


def test_r001_the_window_is_strict_and_archived_is_out(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("start", pak_id="start")
    begun = clock.seconds
    for hours in (80, 100, 180, 290):
        clock.seconds = begun + hours * 3600
        memory.remember(f"deploy notes {hours}", pak_id=f"at{hours}")
    assert memory.archive("at290")
    clock.seconds = begun + 300 * 3600
    answer = memory.recall("deploy notes", frame="attention", top_k=10)
    assert recalled(answer) == ["at180"]


@pytest.mark.parametrize(("stored", "seeds"), [(35, 20), (8, 8)])
def test_r002_r003_seeds_are_four_times_top_k(memory: Recollect, stored: int, seeds: int) -> None:
    memory.remember_many([{"content": f"note {n} about queues"} for n in range(stored)])
    answer = memory.recall("queues note", frame="attention", top_k=5)
    assert len(answer.results) + len(answer.dropped) == seeds


def test_r004_one_hop_neighbours_join_with_similarity_zero(
    memory: Recollect, embedder: FakeEmbedder
) -> None:
    for number in range(1, 7):
        embedder.vectors[f"B{number}"] = [1.0 if n == min(number, 4) else 0.0 for n in range(32)]
        memory.remember(f"B{number}", pak_id=f"B{number}")
    # Only B1, B2 and B3 are like the question, and a frame about the question seeds no others.
    embedder.vectors["ask"] = [0.0, 1.0, 1.0, 1.0] + [0.0] * 28
    for one, other in (("B1", "B4"), ("B2", "B5"), ("B3", "B1"), ("B4", "B6")):
        memory.link(one, other)
    memory.frames.register(
        "near", weights=Weights(0.6, 0.1, 0.1, 0.1, 0.1), filters={"search_window_hours": None}
    )
    answer = memory.recall("ask", frame="near", top_k=20)
    found = {result.fact.pak_id: result for result in answer.results}
    assert found.keys() == {"B1", "B2", "B3", "B4", "B5"}
    assert [found[name].signals.similarity for name in ("B4", "B5")] == [0.0, 0.0]
    assert any("linked to B1" in why for why in found["B4"].why)


def test_r006_the_self_frame_embeds_nothing_and_holds_only_self_blocks(
    memory: Recollect, embedder: FakeEmbedder
) -> None:
    memory.remember("I explain my reasoning.", tags=["self/value"], pak_id="me")
    memory.remember("Redis is a store.", pak_id="fact")
    before = embedder.calls
    result = memory.frame("self")
    assert embedder.calls == before
    assert ids(result.blocks) == ["me"]
    assert result.text == "## Identity\n- I explain my reasoning."


def test_r007_an_open_dispute_leaves_the_better_one_and_resolving_brings_both(
    memory: Recollect,
) -> None:
    memory.remember("The port is 8080", pak_id="old", confidence=0.60)
    memory.remember("The port is 9090", pak_id="new", confidence=0.85)
    memory.dispute("old", "new")
    answer = memory.recall("the port", top_k=5)
    assert recalled(answer) == ["new"]
    assert [(d.pak_id, d.stage) for d in answer.dropped] == [("old", "suppress")]
    assert memory.resolve("old", "new")
    assert set(recalled(memory.recall("the port"))) == {"old", "new"}


def test_f001_constitutional_comes_first_even_for_one_place(memory: Recollect) -> None:
    memory.remember("Be kind.", tags=["self/constitutional"], pak_id="law", confidence=0.1)
    memory.remember("Prefer tests.", tags=["self/value"], pak_id="value")
    assert ids(memory.frame("self", top_k=1).blocks) == ["law"]
    assert ids(memory.frame("self", top_k=2).blocks) == ["law", "value"]


def test_f002_f003_the_self_frame_is_cached_until_a_self_block_changes(
    memory: Recollect, clock: FakeClock
) -> None:
    memory.remember("Be kind.", tags=["self/value"], pak_id="a")
    first = memory.frame("self")
    clock.advance(seconds=60)
    second = memory.frame("self")
    assert (first.cached, second.cached) == (False, True)
    assert (second.text, second.blocks) == (first.text, first.blocks)
    assert memory.get("a").reinforced == 1  # type: ignore[union-attr]
    memory.remember("Prefer tests.", tags=["self/value"], pak_id="b")
    third = memory.frame("self")
    assert not third.cached
    assert set(ids(third.blocks)) == {"a", "b"}


def test_the_cache_expires_after_its_hour(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("Be kind.", tags=["self/value"])
    memory.frame("self")
    clock.advance(seconds=3599)
    assert memory.frame("self").cached
    clock.advance(seconds=1)
    assert not memory.frame("self").cached


def test_a_change_in_another_process_drops_the_cache(
    open_memory: Callable[..., Recollect],
) -> None:
    here, there = open_memory(), open_memory()
    here.remember("Be kind.", tags=["self/value"])
    here.frame("self")
    assert here.frame("self").cached
    there.remember("Prefer tests.", tags=["self/value"])
    assert not here.frame("self").cached


@pytest.mark.parametrize("query", [None, "unrelated words entirely"])
def test_f005_the_task_frame_guarantees_goals(memory: Recollect, query: str | None) -> None:
    memory.remember("Ship the release", tags=["self/goal"], pak_id="goal", confidence=0.1)
    memory.remember_many([f"strong note {n} unrelated words" for n in range(30)])
    result = memory.frame("task", query, top_k=3)
    assert "goal" in ids(result.blocks)
    assert len(result.blocks) == 3
    assert result.text.startswith("## Active Goals\n- Ship the release\n")


def test_f006_the_budget_keeps_the_three_best(memory: Recollect) -> None:
    texts = [(f"queue note {n} " + "x" * 320)[:320] for n in range(5)]
    memory.remember_many(
        [{"content": text, "confidence": 1 - n / 10} for n, text in enumerate(texts)]
    )
    result = memory.frame("attention", "queue note", top_k=5, token_budget=300)
    assert len(result.blocks) == 3
    assert result.tokens_used <= 300
    assert len([d for d in result.dropped if d.stage == "budget"]) == 2


def test_f009_without_a_query_nothing_is_embedded(
    memory: Recollect, embedder: FakeEmbedder
) -> None:
    memory.remember("low", pak_id="low", confidence=0.2)
    memory.remember("high", pak_id="high", confidence=0.9)
    before = embedder.calls
    result = memory.frame("attention")
    assert ids(result.blocks) == ["high", "low"]
    assert embedder.calls == before


def test_g004_g005_co_retrieval_strengthens_edges_that_exist(memory: Recollect) -> None:
    for name in ("a", "b", "c"):
        memory.remember(f"queue {name}", pak_id=name)
    memory.link("a", "b", weight=0.65)
    memory.frame("attention", "queue", top_k=3)
    assert edge_weights(memory) == {("a", "b"): 0.75}
    memory.forget("b")
    memory.remember("faraway", pak_id="b2")
    memory.link("a", "b2", weight=0.95)
    memory.frame("attention", "queue", top_k=3)
    assert edge_weights(memory) == {("a", "b2"): 1.0}


def test_g005_one_end_alone_strengthens_nothing(memory: Recollect) -> None:
    memory.remember("queue", pak_id="a")
    memory.remember("other", pak_id="b", confidence=0.0)
    memory.link("a", "b", weight=0.65)
    memory.frame("attention", "queue", top_k=1)
    assert edge_weights(memory) == {("a", "b"): 0.65}


def test_l009_l010_a_frame_counts_the_use_of_what_it_returned_and_of_nothing_else(
    memory: Recollect, clock: FakeClock
) -> None:
    begun = clock.seconds
    memory.remember_many([{"content": f"queue {n}", "pak_id": f"p{n:02d}"} for n in range(20)])
    clock.seconds = begun + 150 * 3600
    returned = ids(memory.frame("attention", "queue", top_k=5).blocks)
    counted = {m.pak_id: (m.reinforced, m.last_reinforced) for m in memory.list().items}
    assert len(returned) == 5
    assert {pak_id for pak_id, (uses, _) in counted.items() if uses} == set(returned)
    assert all(counted[pak_id] == (1, 150.0) for pak_id in returned)


def test_recall_obeys_top_k_and_writes_nothing(memory: Recollect) -> None:
    memory.remember_many([f"queue {n}" for n in range(20)])
    before = memory.stats()
    assert len(memory.recall("queue", top_k=7).results) == 7
    assert len(memory.recall("queue", top_k=7, frame="self").results) == 0
    assert memory.stats() == before
    assert all(m.reinforced == 0 for m in memory.list().items)


def test_a_custom_frame_scores_by_its_own_weights(memory: Recollect) -> None:
    memory.frames.register("sure", weights=Weights(0.1, 0.9, 0, 0, 0))
    memory.remember("queue queue queue", pak_id="match", confidence=0.2)
    memory.remember("queue of something else", pak_id="sure", confidence=0.9)
    assert ids(memory.frame("sure", "queue").blocks)[0] == "sure"
    with pytest.raises(ValueError, match="known frames"):
        memory.frame("nope")
