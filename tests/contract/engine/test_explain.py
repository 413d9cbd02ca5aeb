"""Why a Pak is in the answer of a recall or a frame, and for the others the first stage it fell at.

For each kind of why-not there is a store in which it happens.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.engine.looking import recalled

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.hooks.sdk import deny, modify
from recollect.model import Explanation, Principal, RecallRequest, Weights
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

ANN = Principal(tenant="acme", id="ann", teams=("red",))


def whole(told: Explanation) -> bool:
    """Return whether the contributions add up to the score."""
    total = sum(one.contribution for one in told.contributions)
    each = all(
        one.contribution == pytest.approx(one.value * one.weight, abs=1e-9)
        for one in told.contributions
    )
    return each and total == pytest.approx(told.score, abs=1e-8)


def test_what_was_returned_adds_up_and_says_why(memory: Recollect) -> None:
    memory.remember("Redis holds the queue.", pak_id="a")
    memory.remember("Postgres holds the orders.", pak_id="b")
    answer = memory.recall("redis queue")

    told = memory.explain("a", "redis queue")

    assert (told.verb, told.stage, told.rank, told.returned) == ("recall", "returned", 1, True)
    assert told.score == answer.results[0].score
    assert told.why == answer.results[0].why
    assert [one.name for one in told.contributions] == [
        "similarity",
        "confidence",
        "recency",
        "centrality",
        "reinforcement",
    ]
    assert whole(told)
    assert {"lexical", "semantic"} <= told.details.keys()
    assert sum(told.details.values()) == pytest.approx(answer.results[0].signals.similarity)
    assert told.query == answer.query
    assert told.generated_at == answer.generated_at


def test_every_result_and_everything_dropped_is_explained_as_it_was(memory: Recollect) -> None:
    memory.remember_many([{"content": f"note {n} about queues"} for n in range(30)])
    for query in ("queues note 3", None):
        frame = "evidence" if query else "attention"
        request = RecallRequest(query, frame=frame, top_k=4, token_budget=30)
        answer = memory.respond(request)
        for rank, result in enumerate(answer.results, start=1):
            told = memory.explain(result.fact.pak_id, request)
            assert (told.stage, told.rank, told.score) == ("returned", rank, result.score)
            assert whole(told)
        assert answer.dropped
        for dropped in answer.dropped:
            told = memory.explain(dropped.pak_id, request)
            assert told.stage in (dropped.stage, "diversity")
            assert whole(told)


def test_it_writes_nothing_and_counts_no_use(memory: Recollect) -> None:
    memory.remember("Redis holds the queue.", pak_id="a", tags=["self/value"])
    before = memory.stats()
    told = memory.explain("a", frame="self")
    assert told.returned
    assert memory.stats() == before
    kept = memory.get("a")
    assert kept is not None
    assert kept.reinforced == 0


def test_what_may_not_be_read_is_told_like_what_is_not_there(memory: Recollect) -> None:
    memory.remember("Redis holds the queue.", pak_id="a")
    ann = memory.as_principal(ANN)
    hidden, nothing = ann.explain("a", "redis"), ann.explain("nobody", "redis")
    assert hidden.stage == "unknown"
    assert hidden.reason == nothing.reason
    assert hidden.to_dict() | {"pak_id": ""} == nothing.to_dict() | {"pak_id": ""}


def test_a_filter_is_named(memory: Recollect) -> None:
    memory.remember("Redis.", pak_id="a", project="shop", tags=["infra"], category="knowledge")
    cases = {
        RecallRequest("redis", project="farm"): "its project is shop, not farm",
        RecallRequest("redis", tags=("me/%",)): "only tags me/% were asked for",
        RecallRequest("redis", frame="self"): "the frame looks only at tags self/%",
        RecallRequest("redis", entity="Redis"): "only entity Redis was asked for",
        RecallRequest("redis", scope="team"): "only the scope team was asked for",
    }
    for request, reason in cases.items():
        told = memory.explain("a", request)
        assert (told.stage, told.reason) == ("filter", f"Filtered out: {reason}.")
    memory.paks.conn.execute("UPDATE memories SET status = 'archived'")
    memory.reindex()
    assert memory.explain("a", "redis").reason == "Filtered out: its status is archived."


def test_a_frame_of_categories_names_them(memory: Recollect) -> None:
    memory.remember("Redis.", pak_id="a")
    memory.frames.register(
        "incidents", weights=Weights(1, 0, 0, 0, 0), filters={"categories": ["incident"]}
    )
    told = memory.explain("a", "redis", frame="incidents")
    assert (told.verb, told.stage) == ("frame", "filter")
    assert told.reason == "Filtered out: the frame looks only at the categories incident."


def test_outside_the_window(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("Redis.", pak_id="a")
    clock.advance(hours=250)
    memory.remember("Queue.", pak_id="b")
    told = memory.explain("a", "queue", frame="attention")
    assert told.stage == "window"
    assert "last used 250.0 active hours ago" in told.reason
    assert "attention looks back 200" in told.reason


def test_not_a_candidate(memory: Recollect, embedder: FakeEmbedder) -> None:
    embedder.vectors["elephant"] = [0.0, 1.0] + [0.0] * 30
    embedder.vectors["queue"] = [1.0] + [0.0] * 31
    memory.remember("elephant", pak_id="a")
    told = memory.explain("a", "queue")
    assert told.stage == "candidates"
    assert told.reason == "Not a candidate: it has nothing in common with the question."
    memory.remember_many([{"content": f"queue {n} queue"} for n in range(5)])
    told = memory.explain("a", "queue", frame="attention", top_k=1)
    assert told.stage == "candidates"
    assert told.reason == "Not a candidate: 4 others match the question better."


def test_outscored_by_how_much_and_by_whom(memory: Recollect) -> None:
    memory.remember("queue queue queue", pak_id="a")
    memory.remember("a queue of people at the door of the shop", pak_id="b")
    best, told = memory.explain("a", "queue", top_k=1), memory.explain("b", "queue", top_k=1)
    assert best.score is not None
    assert told.score is not None
    assert (told.stage, told.rival) == ("top_k", "a")
    assert told.gap == pytest.approx(best.score - told.score)
    assert "Outscored by" in told.reason
    assert "a is the last of the 1 taken" in told.reason


def test_of_equal_score(memory: Recollect) -> None:
    memory.remember("queue", pak_id="a", project="one")
    memory.remember("queue", pak_id="b", project="two")
    told = memory.explain("a", RecallRequest("queue", top_k=1, diversity=1))
    assert (told.stage, told.rival, told.gap) == ("top_k", "b", 0.0)
    assert told.reason.startswith("Of equal score, but older or of a lower id")


def test_beyond_what_is_ranked_without_a_query(memory: Recollect) -> None:
    memory.remember("weak", pak_id="weak", confidence=0.1)
    memory.remember_many([{"content": f"note {n}", "confidence": 0.9} for n in range(60)])
    told = memory.explain("weak", RecallRequest(frame="attention", top_k=1))
    assert told.stage == "top_k"
    assert told.gap is not None
    assert told.gap > 0
    assert whole(told)


def test_lost_a_dispute(memory: Recollect) -> None:
    memory.remember("The queue is redis.", pak_id="a", confidence=0.6)
    memory.remember("The queue is rabbit.", pak_id="b", confidence=0.9)
    memory.dispute("a", "b")
    told = memory.explain("a", "queue")
    assert (told.stage, told.rival) == ("suppress", "b")
    assert told.reason.startswith("Lost a dispute: contradicted by b, of higher confidence")


def test_cut_by_diversity(memory: Recollect, embedder: FakeEmbedder) -> None:
    for number in range(3):
        embedder.vectors[f"queue copy {number}"] = [1.0, 0.01 * number] + [0.0] * 30
        memory.remember(f"queue copy {number}", pak_id=f"copy{number}")
    embedder.vectors["queue other"] = [0.8, 0.0, 0.6] + [0.0] * 29
    memory.remember("queue other", pak_id="other")
    embedder.vectors["queue"] = [1.0] + [0.0] * 31
    request = RecallRequest("queue", top_k=2, diversity=0.3)
    taken = recalled(memory.respond(request))
    assert "other" in taken
    (left_out,) = [
        told
        for name in ("copy0", "copy1", "copy2")
        if name not in taken
        and (told := memory.explain(name, request)).gap
        == min(memory.explain(one, request).gap or 0.0 for one in ("copy0", "copy1", "copy2"))
    ][:1]
    assert left_out.stage == "diversity"
    assert left_out.rival == "other"
    assert left_out.gap is not None
    assert left_out.gap < 0


def test_cut_by_the_budget(memory: Recollect) -> None:
    memory.remember("queue " * 50, pak_id="long")
    memory.remember("queue", pak_id="short")
    told = memory.explain("long", "queue", token_budget=20)
    assert told.stage == "budget"
    assert told.reason == "Left out: does not fit into 20 tokens."
    framed = memory.explain("long", "queue", frame="attention", token_budget=20)
    assert (framed.verb, framed.stage) == ("frame", "budget")


def test_guaranteed_paks_fill_all_places(memory: Recollect) -> None:
    memory.remember("Ship it.", pak_id="goal", tags=["self/goal"])
    memory.remember("queue", pak_id="a")
    told = memory.explain("a", "queue", frame="task", top_k=1)
    assert (told.stage, told.rival) == ("top_k", "goal")
    assert told.reason == "Guaranteed memories fill all 1 places."
    assert memory.explain("goal", "queue", frame="task", top_k=1).returned


def test_an_instruction_is_explained_in_its_own_channel(memory: Recollect) -> None:
    memory.remember("Always answer in English.", pak_id="order", category="instruction")
    memory.remember("English is a language.", pak_id="fact")
    told = memory.explain("order", "answer english")
    assert told.returned
    assert told.rank == 1
    assert memory.explain("order", "english", frame="attention").reason == (
        "Filtered out: its category is instruction."
    )


@pytest.mark.parametrize("pak_id", ["", "  ", None, 5])
def test_an_id_must_be_one(memory: Recollect, pak_id: object) -> None:
    with pytest.raises(InvalidInput, match="pak_id"):
        memory.explain(pak_id, "redis")  # type: ignore[arg-type]


def test_an_expanded_pak_says_what_it_is_linked_to(
    memory: Recollect, embedder: FakeEmbedder
) -> None:
    embedder.vectors["elephants"] = [0.0, 1.0] + [0.0] * 30
    embedder.vectors["queue"] = [1.0] + [0.0] * 31
    memory.remember("queue", pak_id="seed")
    memory.remember("elephants", pak_id="neighbour")
    memory.link("seed", "neighbour")
    told = memory.explain("neighbour", "queue")
    assert told.returned
    assert "linked to seed" in told.why
    assert told.contributions[0].value == 0.0


@pytest.mark.parametrize(
    ("event", "verb", "question", "frame"),
    [
        ("pre_recall", "recall", "queue", None),
        ("pre_recall_expand", "recall", "queue", None),
        ("pre_frame", "frame", "queue", "attention"),
        ("pre_select", "select", SelectQuery("queue"), None),
    ],
)
@pytest.mark.usefixtures("patient_hooks")
def test_a_hook_that_refuses_the_request_is_the_reason(
    memory: Recollect, event: str, verb: str, question: Any, frame: str | None
) -> None:
    memory.remember("queue", pak_id="a")
    memory.hooks.register(event, lambda _: deny("not on Sundays"))
    told = memory.explain("a", question, frame=frame)
    assert (told.verb, told.stage) == (verb, "hook")
    assert told.reason == "A hook denied the request: not on Sundays."
    assert memory.explain("nobody", question, frame=frame).stage == "hook"


@pytest.mark.usefixtures("patient_hooks")
def test_a_request_that_a_hook_rewrote_is_explained_as_it_ran(memory: Recollect) -> None:
    memory.remember("queue", pak_id="a", project="shop")
    memory.hooks.register("pre_recall", lambda _: modify(namespace="farm"))
    told = memory.explain("a", "queue")
    assert (told.stage, told.query["project"]) == ("filter", "farm")
    assert told.reason == "Filtered out: its project is shop, not farm."
