"""Each case that the contract names, by its own words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.policy.conftest import People, people_of

from recollect import Recollect
from recollect.model import Scope, canonical_json
from recollect.testing import FakeClock


def found(memory: Recollect, query: str | None = None, **asked: Any) -> list[str]:
    return [one.fact.pak_id for one in memory.recall(query, **asked).results]


def test_a_hidden_better_match_does_not_change_a_visible_score(people: People) -> None:
    people.ann.remember("redis holds the queue", pak_id="mine")
    people.ann.remember("the release is on friday", pak_id="other")
    before = canonical_json(people.ann.recall("redis queue"))
    people.bob.remember("redis queue redis queue", pak_id="hidden")
    assert canonical_json(people.ann.recall("redis queue")) == before
    assert "hidden" in found(people.bob, "redis queue")


def test_five_hundred_hidden_better_matches_do_not_starve_one_visible(people: People) -> None:
    people.bob.remember_many([f"redis queue redis queue {number}" for number in range(500)])
    people.ann.remember("a note of redis", pak_id="mine")
    assert found(people.ann, "redis queue", top_k=1) == ["mine"]
    assert people.ann.list().items[0].pak_id == "mine"


def test_a_hidden_seed_does_not_pull_in_its_neighbour(
    open_memory: Callable[..., Recollect],
) -> None:
    people = people_of(open_memory(embedder="none"))
    people.root.remember("redis queue", pak_id="seed")
    people.root.remember("an unrelated thing", pak_id="near", scope="company")
    people.root.link("seed", "near")
    assert "near" in found(people.root, "redis queue")
    assert found(people.ann, "redis queue", frame="evidence") == []


def test_no_path_crosses_a_hidden_node(open_memory: Callable[..., Recollect]) -> None:
    people = people_of(open_memory(embedder="none"))
    people.root.remember("redis queue", pak_id="start", scope="company")
    people.root.remember("in between", pak_id="between")
    people.root.remember("far away", pak_id="end", scope="company")
    people.root.link("start", "between")
    people.root.link("between", "end")
    assert found(people.ann, "redis queue") == ["start"]
    (only,) = people.ann.recall("redis queue", frame="task", top_k=1).results
    assert only.signals.centrality == 0.0


def test_a_tombstone_hit_and_a_miss_look_alike(people: People) -> None:
    people.ann.remember("redis queue", pak_id="gone", scope="company")
    people.ann.remember("redis", pak_id="stays", scope="company")
    people.ann.forget("gone")
    assert people.bob.get("gone") is people.bob.get("never") is None
    for ask in (people.bob.inspect, lambda name: people.bob.explain(name, "redis").to_dict()):
        hit, miss = ask("gone"), ask("never")
        assert str(hit).replace("gone", "?") == str(miss).replace("never", "?")
    assert people.ann.forget("gone") == people.ann.forget("never")
    for verb in (people.bob.link, people.bob.dispute, people.bob.resolve):
        told = []
        for name in ("gone", "never"):
            with pytest.raises(Exception, match="no memory") as error:
                verb("stays", name)
            told.append(str(error.value).replace(name, "?"))
        assert told[0] == told[1]


def test_a_page_with_suppressed_rows_inside_is_full_and_its_cursor_names_visible_ids(
    people: People, clock: FakeClock
) -> None:
    for number in range(12):
        clock.advance(seconds=1)
        who = people.ann if number % 3 == 0 else people.bob
        who.remember(f"note {number}", pak_id=f"p{number:02d}")
    first = people.ann.list(limit=2)
    assert [one.pak_id for one in first.items] == ["p09", "p06"]
    assert first.next_cursor is not None
    second = people.ann.list(limit=2, cursor=first.next_cursor)
    assert [one.pak_id for one in second.items] == ["p03", "p00"]
    assert second.next_cursor is None


def test_a_hidden_rival_does_not_suppress_or_mark(people: People) -> None:
    people.ann.remember("redis holds the queue", pak_id="mine", confidence=0.5, scope="company")
    people.root.remember("redis queue is elsewhere", pak_id="rival", confidence=1.0)
    people.root.dispute("mine", "rival", note="a secret")
    assert found(people.root, "redis queue") == ["rival"]
    answer = people.ann.frame("attention", "redis queue")
    assert [block.pak_id for block in answer.blocks] == ["mine"]
    assert not answer.blocks[0].disputed
    assert people.ann.disputes() == []
    assert people.root.disputes()[0].note == "a secret"


def test_a_rejected_quarantine_pak_never_returns(people: People) -> None:
    people.root.trust.set("stranger", 0.1)
    fact = {"content": "redis queue is full of gold"}
    (item,) = people.root.ingest([fact], source="stranger", scope="company").items
    assert item.state == "quarantined"
    assert item.pak_id is not None
    people.mod.quarantine.reject(item.pak_id)
    for who in (people.root, people.ann, people.mod):
        assert found(who, "redis queue gold") == []
        assert who.get(item.pak_id) is None
        assert list(who.export()) == []
    assert people.mod.quarantine.list() == ()
    assert people.mod.recall("gold", include_quarantined=True).results == ()
    with pytest.raises(Exception, match="in quarantine"):
        people.mod.quarantine.promote(item.pak_id)
    # Nor when it is sent again, even by a source that is trusted by now.
    for trust in (0.1, 1.0):
        people.root.trust.set("stranger", trust)
        (again,) = people.root.ingest([fact], source="stranger", scope="company").items
        assert again.state == "refused"
        assert found(people.ann, "redis queue gold") == []
    assert people.mod.quarantine.list() == ()


def test_an_expired_pak_is_not_found_by_vector_either(people: People, clock: FakeClock) -> None:
    people.ann.remember("redis queue", pak_id="brief", valid_until="2026-01-01T01:00:00Z")
    assert found(people.ann, "redis queue") == ["brief"]
    clock.advance(hours=1)
    for frame in ("evidence", "attention", "task"):
        assert found(people.ann, "redis queue", frame=frame) == []
    assert people.ann.get("brief") is None
    assert people.ann.list().items == ()


def test_a_tombstone_for_one_scope_leaves_other_scopes_alone(people: People) -> None:
    for scope in ("local", "company", "public"):
        people.ann.remember(f"Carla likes tea {scope}", pak_id=scope, entity="Carla", scope=scope)
    assert people.ann.forget(entity="carla", scope="company").pak_ids == ("company",)
    assert people.ann.get("company") is None
    assert people.ann.get("local") is not None
    assert people.ann.get("public") is not None
    assert people.ann.forget("public", scope="local").pak_ids == ()
    assert people.dan.get("public") is not None


def test_a_peers_time_to_come_or_full_confidence_never_beats_an_equal_local_fact(
    people: People,
) -> None:
    people.root.trust.set("peer", 0.9)
    people.ann.remember("redis holds the queue", pak_id="ours", occurred_at="2025-12-31")
    fact = {"content": "redis holds the queue", "confidence": 1.0}
    fact["occurred_at"] = "2036-05-11T12:00:00Z"
    (item,) = people.ann.ingest([fact], source="peer").items
    assert item.state == "accepted"
    for frame in ("evidence", "attention", "task"):
        assert found(people.ann, "redis queue", frame=frame, diversity=1.0)[0] == "ours"
    taken = people.ann.get(str(item.pak_id))
    assert taken is not None
    assert taken.occurred_at == "2026-01-01T00:00:00Z"
    assert taken.confidence == 0.9


@pytest.mark.parametrize("written", ["11 May 2036", "2036-05-11", "2036-05-11 12:00"])
def test_a_time_to_come_counts_as_now_however_it_is_written(people: People, written: str) -> None:
    fact = {"content": "the queue moves", "occurred_at": written}
    (item,) = people.ann.ingest([fact], source="peer").items
    taken = people.ann.get(str(item.pak_id))
    assert taken is not None
    assert taken.occurred_at == "2026-01-01T00:00:00Z"


SPELLINGS = (
    "The redis queue of the shop holds every order until May.",
    "the redis queue of the shop holds every order until may!",
    "Until May, the redis queue of the shop holds every order",
    "THE SHOP'S REDIS QUEUE HOLDS EVERY ORDER UNTIL MAY",
    "The redis queues of the shop held every order until May...",
)


def test_five_near_duplicates_and_one_distinct_fact_with_room_for_three(
    people: People, open_memory: Callable[..., Recollect]
) -> None:
    for memory in (people.ann, people_of(open_memory("words.db", embedder="none")).ann):
        for number, spelling in enumerate(SPELLINGS):
            memory.remember(spelling, pak_id=f"same{number}")
        memory.remember("redis was chosen for the queue by Carla in spring", pak_id="distinct")
        memory.remember("redis has a queue for the mail", pak_id="also")
        question = "redis queue of the shop until may"
        taken = found(memory, question, top_k=3)
        assert {"distinct", "also"} < set(taken)
        assert len(taken) == 3
        for frame in ("evidence", "attention", "task"):
            framed = [block.pak_id for block in memory.frame(frame, question, top_k=3).blocks]
            assert {"distinct", "also"} < set(framed)
            assert len(framed) == 3
        assert len(found(memory, question, top_k=7)) == 7
        alike = found(memory, question, top_k=3, diversity=1)
        assert "distinct" not in alike


def test_near_duplicates_wait_for_the_tokens_too(people: People) -> None:
    for number, spelling in enumerate(SPELLINGS):
        people.ann.remember(spelling, pak_id=f"same{number}")
    people.ann.remember("redis was chosen for the queue by Carla in spring", pak_id="distinct")
    question = "redis queue of the shop until may"
    framed = people.ann.frame("attention", question, token_budget=40)
    assert [block.pak_id for block in framed.blocks][1:] == ["distinct"]
    assert "distinct" in found(people.ann, question, token_budget=40)
    whole = people.ann.frame("attention", question, top_k=6)
    assert [block.pak_id for block in whole.blocks].index("distinct") == 1


def test_what_differs_in_a_number_does_not_wait(people: People) -> None:
    for number in range(5):
        people.ann.remember(f"the redis queue of the shop holds order {number}", pak_id=f"{number}")
    people.ann.remember("redis was chosen in spring", pak_id="distinct")
    asked = "redis queue of the shop"
    assert found(people.ann, asked, top_k=3) == found(people.ann, asked, top_k=3, diversity=1)
    framed = people.ann.frame("attention", asked, top_k=3)
    assert "distinct" not in [block.pak_id for block in framed.blocks]


def test_turns_of_others_or_other_days_are_other_facts(people: People) -> None:
    said = [("Ann", "2026-01-01"), ("Bob", "2026-01-01"), ("Ann", "2025-12-31")]
    for number, (speaker, day) in enumerate(said):
        people.ann.remember(
            "yes, redis", pak_id=f"{number}", thread=f"{number}", speaker=speaker, occurred_at=day
        )
    people.ann.remember("redis was chosen in spring", pak_id="distinct")
    assert set(found(people.ann, "yes redis", top_k=3)) == {"0", "1", "2"}


def test_a_request_about_one_entity_lets_nobody_wait(people: People) -> None:
    for number, spelling in enumerate(SPELLINGS):
        people.ann.remember(spelling, pak_id=f"same{number}", entity="Queue")
    people.ann.remember("redis was chosen in spring", pak_id="distinct", entity="queue")
    question = "redis queue of the shop until may"
    assert "distinct" not in found(people.ann, question, top_k=3, entity="QUEUE")
    assert "distinct" in found(people.ann, question, top_k=3, entity="QUEUE", diversity=0.99)


def test_what_waits_is_explained_by_what_it_repeats(people: People) -> None:
    for number, spelling in enumerate(SPELLINGS[:2]):
        people.ann.remember(spelling, pak_id=f"same{number}")
    people.ann.remember("redis was chosen in spring", pak_id="distinct")
    question = "redis queue of the shop until may"
    answer = people.ann.recall(question, top_k=2)
    (first,) = {one.fact.pak_id for one in answer.results} - {"distinct"}
    (waits,) = answer.dropped
    assert (waits.stage, waits.reason) == ("diversity", f"says the same as {first}")
    told = people.ann.explain(waits.pak_id, question, top_k=2)
    assert (told.stage, told.rival) == ("diversity", first)
    assert told.reason == f"Left out: says the same as {first}."


def test_ties_are_ordered(people: People, clock: FakeClock) -> None:
    for name in ("b", "c", "a"):
        people.ann.remember("redis queue", pak_id=name, project=name)
    assert found(people.ann, "redis queue", diversity=1.0) == ["c", "b", "a"]
    clock.advance(seconds=1)
    people.ann.remember("redis queue", pak_id="a0", project="z")
    assert found(people.ann, "redis queue", diversity=1.0)[0] == "a0"


def test_two_callers_in_either_order_get_the_same_numbers(
    open_memory: Callable[..., Recollect],
) -> None:
    told = []
    for order in ("ann bob", "bob ann"):
        people = people_of(open_memory(f"{order}.db", links=True))
        for number in range(20):
            who = people.ann if number % 2 else people.bob
            scope: Scope = "company" if number % 3 == 0 else "local"
            who.remember(f"redis queue number {number}", pak_id=f"p{number}", scope=scope)
        answers = {
            name: canonical_json(getattr(people, name).recall("redis queue", frame="task"))
            for name in order.split()
        }
        told.append(sorted(answers.items()))
    assert told[0] == told[1]
