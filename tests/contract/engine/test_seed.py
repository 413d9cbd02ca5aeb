"""The seed's nine invariants and seven edge cases, one test each, through the engine."""

from __future__ import annotations

from itertools import combinations

import pytest
from tests.contract.engine.looking import by_id, edge_weights, everything_stored, ids, recalled

from recollect import Recollect
from recollect.frames import BUILTIN_FRAMES
from recollect.model import Weights
from recollect.testing import FakeClock, FakeEmbedder

FRAMES = sorted(BUILTIN_FRAMES)
QUERIES = [None, "queue"]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("query", QUERIES)
def test_invariant_1_retrieval_is_pure(memory: Recollect, frame: str, query: str | None) -> None:
    memory.remember_many(
        [{"content": f"queue {n}", "pak_id": f"p{n}", "tags": ["self/goal"]} for n in range(6)]
    )
    memory.link("p0", "p1")
    before = everything_stored(memory)
    assert memory.recall(query, frame=frame, top_k=3).results
    assert everything_stored(memory) == before


def test_invariant_2_what_only_a_link_led_to_has_no_similarity(memory: Recollect) -> None:
    memory.remember("queue worker", pak_id="seed")
    memory.remember_many([f"queue worker {n}" for n in range(12)])
    # Nothing of this is in the question, and twelve others are nearer: no seed of top_k 1.
    memory.remember("zebra", pak_id="far")
    memory.link("seed", "far")
    memory.frames.register("graph", weights=Weights(0.1, 0.1, 0.1, 0.7, 0.0))
    (block,) = [b for b in memory.frame("graph", "queue worker", top_k=2).blocks if b.was_expanded]
    assert (block.pak_id, block.signals.similarity) == ("far", 0.0)


def test_invariant_3_the_window_is_strictly_greater(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("queue at the edge", pak_id="edge")
    clock.advance(seconds=1)
    memory.remember("queue just inside", pak_id="inside")
    clock.advance(hours=200, seconds=-1)
    assert recalled(memory.recall("queue", frame="attention")) == ["inside"]


def test_invariant_4_weights_sum_to_one_also_without_similarity(memory: Recollect) -> None:
    memory.frames.register("mine", weights=Weights(0.40, 0.40, 0.10, 0.05, 0.05))
    for frame in memory.frames.list():
        for weights in (frame.weights, frame.weights.renormalized_without_similarity()):
            parts = [getattr(weights, name) for name in Weights.__dataclass_fields__]
            assert sum(parts) == pytest.approx(1.0, abs=1e-9)


def test_invariant_5_guaranteed_blocks_survive_the_budget(memory: Recollect) -> None:
    memory.remember("Ship the release " * 20, tags=["self/goal"], pak_id="goal", confidence=0.0)
    memory.remember("a small note", pak_id="note")
    result = memory.frame("task", top_k=5, token_budget=10)
    assert ids(result.blocks) == ["goal"]
    assert result.over_budget
    assert [(one.pak_id, one.stage) for one in result.dropped] == [("note", "budget")]


def test_invariant_6_suppression_never_adds(memory: Recollect) -> None:
    memory.remember_many([{"content": f"queue {n}", "pak_id": f"p{n}"} for n in range(8)])
    before = recalled(memory.recall("queue", top_k=20))
    for one, other in (("p0", "p1"), ("p1", "p2"), ("p4", "p7")):
        memory.dispute(one, other)
    after = recalled(memory.recall("queue", top_k=20))
    assert after == [pak_id for pak_id in before if pak_id in after]
    assert len(after) < len(before)


def test_invariant_7_the_self_frame_embeds_nothing(
    memory: Recollect, embedder: FakeEmbedder
) -> None:
    memory.remember_many([{"content": f"I am {n}", "tags": ["self/value"]} for n in range(30)])
    before = embedder.calls
    assert len(memory.frame("self", top_k=10).blocks) == 10
    assert embedder.calls == before


def test_invariant_8_co_retrieval_makes_no_edge(memory: Recollect) -> None:
    memory.remember_many([{"content": f"queue {n}", "pak_id": f"p{n}"} for n in range(4)])
    for _ in range(3):
        assert len(memory.frame("attention", "queue").blocks) == 4
    assert edge_weights(memory) == {}


def test_invariant_9_centrality_is_a_share_of_the_largest_degree(memory: Recollect) -> None:
    links = {
        "a": {"a1": 1.0, "a2": 1.0, "a3": 1.0, "a4": 0.25},
        "b": {"b1": 1.0, "b2": 0.15},
        "c": {"c1": 0.62},
    }
    for hub, leaves in links.items():
        memory.remember(f"hub {hub}", pak_id=hub)
        for leaf, weight in leaves.items():
            memory.remember(f"leaf {leaf}", pak_id=leaf)
            memory.link(hub, leaf, weight=weight)
    found = by_id(memory.recall("hub", frame="attention", top_k=20))
    shares = [round(found[hub].signals.centrality, 3) for hub in links]
    assert shares == [1.0, 0.354, 0.191]
    assert all(0.0 <= result.signals.centrality <= 1.0 for result in found.values())


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("query", QUERIES)
def test_edge_case_1_no_blocks_no_text(memory: Recollect, frame: str, query: str | None) -> None:
    result = memory.frame(frame, query)
    assert (result.text, result.blocks, result.tokens_used) == ("", (), 0)
    assert (result.over_budget, result.dropped, result.degraded) == (False, (), ())
    assert memory.recall(query, frame=frame).results == ()


@pytest.mark.parametrize("query", QUERIES)
def test_edge_case_2_fewer_than_top_k_are_all_returned(
    memory: Recollect, query: str | None
) -> None:
    memory.remember_many(["queue one", "queue two"])
    assert len(memory.frame("attention", query, top_k=50).blocks) == 2


def test_edge_case_3_without_edges_nothing_is_central_and_nothing_expands(
    memory: Recollect,
) -> None:
    memory.remember_many([f"queue {n}" for n in range(9)])
    blocks = memory.frame("attention", "queue", top_k=9).blocks
    assert {block.signals.centrality for block in blocks} == {0.0}
    assert not any(block.was_expanded for block in blocks)


def test_edge_case_4_when_all_contradict_each_other_one_is_left(memory: Recollect) -> None:
    names = ["a", "b", "c", "d"]
    for number, name in enumerate(names):
        memory.remember(f"queue {name}", pak_id=name, confidence=0.5 + number / 10)
    for one, other in combinations(names, 2):
        memory.dispute(one, other)
    result = memory.frame("attention", "queue", top_k=4)
    assert ids(result.blocks) == ["d"]
    assert {one.pak_id for one in result.dropped} == {"a", "b", "c"}
    assert {one.stage for one in result.dropped} == {"suppress"}


def test_edge_case_5_all_guaranteed_are_included_and_the_rest_is_filled(
    memory: Recollect,
) -> None:
    for number in range(3):
        memory.remember(
            f"goal {number}", tags=["self/goal"], pak_id=f"goal{number}", confidence=0.0
        )
    memory.remember("a strong note", pak_id="strong")
    memory.remember("a weak note", pak_id="weak", confidence=0.1)
    filled = memory.frame("task", top_k=4)
    assert set(ids(filled.blocks[:3])) == {"goal0", "goal1", "goal2"}
    assert ids(filled.blocks[3:]) == ["strong"]
    assert set(ids(memory.frame("task", top_k=1).blocks)) == {"goal0", "goal1", "goal2"}


def test_edge_case_6_only_active_blocks_are_guaranteed(memory: Recollect) -> None:
    memory.remember("an old goal", tags=["self/goal"], pak_id="old")
    memory.remember("a note", pak_id="note")
    memory.paks.conn.execute("UPDATE memories SET status = 'archived' WHERE pak_id = 'old'")
    memory.reindex()
    assert ids(memory.frame("task").blocks) == ["note"]


def test_edge_case_7_a_question_like_nothing_still_ranks_by_the_other_signals(
    memory: Recollect,
) -> None:
    memory.remember("queue one", pak_id="low", confidence=0.2)
    memory.remember("queue two", pak_id="high", confidence=0.9)
    silent = FakeEmbedder(vectors={"xylophone": [0.0] * 32})
    memory.reembed(silent)
    assert recalled(memory.recall("xylophone", frame="attention")) == ["high", "low"]
    assert recalled(memory.recall("xylophone")) == []


def test_a_guaranteed_block_that_lost_a_dispute_appears_marked(memory: Recollect) -> None:
    memory.remember("Ship on Monday", tags=["self/goal"], pak_id="goal", confidence=0.2)
    memory.remember("Ship on Friday", pak_id="other", confidence=0.9)
    memory.dispute("goal", "other")
    blocks = {block.pak_id: block for block in memory.frame("task", "ship").blocks}
    assert blocks.keys() == {"goal", "other"}
    assert (blocks["goal"].disputed, blocks["other"].disputed) == (True, False)


def test_suppression_refills_from_below(memory: Recollect) -> None:
    memory.remember_many(
        [{"content": f"queue {n}", "pak_id": f"p{n}", "confidence": 1 - n / 20} for n in range(12)]
    )
    for number in range(1, 5):
        memory.dispute("p0", f"p{number}")
    result = memory.frame("attention", "queue", top_k=5)
    assert len(result.blocks) == 5
    assert not {"p1", "p2", "p3", "p4"} & set(ids(result.blocks))


def test_results_say_whether_they_were_reached_by_a_link_promised_or_disputed(
    memory: Recollect,
) -> None:
    memory.remember("ship the release", pak_id="goal", tags=["self/goal"], confidence=0.2)
    memory.remember("never ship the release", pak_id="rival", confidence=0.9)
    memory.remember("an unrelated thing", pak_id="near")
    memory.dispute("goal", "rival")
    memory.link("rival", "near")
    answer = memory.recall("ship the release", frame="task", top_k=1)
    assert [one.fact.pak_id for one in answer.results] == ["goal"]
    answer = memory.recall("ship the release", frame="task")
    said = {one.fact.pak_id: (one.expanded, one.guaranteed, one.disputed) for one in answer.results}
    assert said["goal"] == (False, True, True)
    assert said["rival"] == (False, False, False)
    wire = answer.to_dict()["results"][0]
    assert (wire["expanded"], wire["guaranteed"], wire["disputed"]) == (False, True, True)


def test_a_rendered_frame_marks_a_disputed_line_and_counts_the_mark(memory: Recollect) -> None:
    memory.remember("ship the release\nby May", pak_id="goal", tags=["self/goal"], confidence=0.2)
    memory.remember("never ship the release", pak_id="rival", confidence=0.9)
    plain = memory.frame("task", "ship the release")
    assert "(disputed)" not in plain.text
    memory.dispute("goal", "rival")
    framed = memory.frame("task", "ship the release")
    assert framed.text.startswith("## Active Goals\n- ship the release (disputed)\n  by May\n")
    assert framed.tokens_used == max(1, len(framed.text) // 4)
    assert framed.tokens_used > plain.tokens_used
