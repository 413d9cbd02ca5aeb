"""Counters, queues, caches and positions are inside the View: what others do moves none of mine."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest
from tests.contract.engine.looking import ids
from tests.contract.policy.conftest import People, people_of
from tests.property.policy.asking import answer

from recollect import Recollect
from recollect.testing import FakeClock, FakeEmbedder

Open = Callable[..., Recollect]


def test_explain_names_the_rival_that_won_and_not_one_with_a_like_name(people: People) -> None:
    people.root.remember("the launch is in May", pak_id="loser", scope="company", confidence=0.2)
    people.root.remember("the launch is in June", pak_id="plan, final", scope="company")
    people.root.remember("the launch is in July", pak_id="plan")
    people.root.dispute("loser", "plan")
    people.root.dispute("loser", "plan, final")
    told = people.ann.explain("loser", "when is the launch")
    assert (told.stage, told.rival) == ("suppress", "plan, final")


@pytest.mark.parametrize("who", ["dan", "bob"])
def test_frames_of_others_evict_none_of_mine(people: People, who: str) -> None:
    people.ann.remember("I am ann.", pak_id="me", tags=["self/value"])
    assert not people.ann.frame("self", "who am I").cached
    other: Recollect = getattr(people, who)
    for number in range(140):
        other.frame("self", f"question {number}")
    assert people.ann.frame("self", "who am I").cached


def test_acts_are_numbered_within_their_tenant(people: People) -> None:
    people.root.trust.set("mail", 0.5)
    for number in range(7):
        people.dan.trust.set(f"source {number}", 0.5)
    people.root.trust.set("post", 0.5)
    assert [act.number for act in people.root.audit()] == [2, 1]
    assert [act.number for act in people.dan.audit(before=3)] == [2, 1]


def positions(memory: Recollect, *pak_ids: str) -> list[int | None]:
    with sqlite3.connect(memory.path) as conn:
        found = dict(conn.execute("SELECT pak_id, position FROM memories"))
    return [found[pak_id] for pak_id in pak_ids]


def test_a_thread_counts_the_turns_of_its_own_tenant(people: People) -> None:
    for number in range(3):
        people.dan.remember(f"hidden {number}", pak_id=f"d{number}", thread="standup")
    people.ann.remember("good morning", pak_id="a0", thread="standup")
    people.ann.remember("good evening", pak_id="a1", thread="standup")
    assert positions(people.opener, "a0", "a1", "d2") == [0, 1, 2]


def test_a_turn_that_moves_to_another_thread_comes_last_in_it(people: People) -> None:
    people.ann.remember("packing for the trip", pak_id="t0", thread="trip")
    people.ann.remember("good morning", pak_id="a0", thread="standup")
    people.ann.remember("the train leaves at nine", pak_id="t1", thread="trip")
    people.ann.remember("good morning, all packed", pak_id="a0", thread="trip")
    people.ann.remember("here we are", pak_id="t2", thread="trip")
    assert positions(people.opener, "t0", "t1", "a0", "t2") == [0, 1, 2, 3]


def test_hidden_turns_move_no_turn_of_mine_that_moves(open_memory: Open) -> None:
    told = []
    for name, hidden in (("with.db", 3), ("without.db", 0)):
        people = people_of(open_memory(name))
        for number in range(hidden):
            people.dan.remember(f"hidden {number}", thread="standup")
        people.ann.remember("the kiln", pak_id="moved", thread="standup")
        for text in ("the trip begins", "the train is late", "a kiln of glass"):
            people.ann.remember(text, pak_id=text, thread="trip")
        people.ann.remember("the kiln", pak_id="moved", thread="trip")
        told.append([(one.fact.pak_id, one.signals) for one in people.ann.recall("kiln").results])
    assert told[0] == told[1]


def test_a_memory_that_joins_a_thread_gets_its_place_in_it(people: People) -> None:
    people.ann.remember("first", pak_id="t0", thread="trip")
    people.ann.remember("said apart", pak_id="late")
    people.ann.remember("said apart", pak_id="late", thread="trip")
    people.ann.remember("last", pak_id="t2", thread="trip")
    assert positions(people.opener, "t0", "late", "t2") == [0, 1, 2]
    people.ann.remember("said elsewhere", pak_id="late")
    assert positions(people.opener, "late") == [None]


def test_a_turn_of_another_project_is_of_another_thread(people: People) -> None:
    people.ann.remember("first", pak_id="t0", thread="trip", project="home")
    people.ann.remember("second", pak_id="t1", thread="trip", project="home")
    people.ann.remember("first", pak_id="t0", thread="trip", project="work")
    people.ann.remember("third", pak_id="t2", thread="trip", project="work")
    moved, after = positions(people.opener, "t0", "t2")
    assert moved is not None and after is not None and moved < after


@pytest.mark.parametrize("waiting", [0, 40])
def test_those_of_others_who_wait_for_vectors_are_no_queue_before_mine(
    people: People, embedder: FakeEmbedder, waiting: int
) -> None:
    embedder.fail = True
    for number in range(waiting):
        people.dan.remember(f"hidden {number}")
    people.bob.remember_many([f"of bob {number}" for number in range(waiting)])
    people.ann.remember("the kiln is lit", pak_id="mine")
    embedder.fail = False
    people.ann.remember("a note")
    told = people.ann.recall("the kiln is lit")
    assert told.degraded == ()
    assert (told.results[0].signals.semantic or 0) > 0


def test_retry_pending_fills_and_counts_what_is_of_the_callers_tenant(
    people: People, embedder: FakeEmbedder
) -> None:
    embedder.fail = True
    people.ann.remember("the kiln is lit")
    people.dan.remember_many(["hidden one", "hidden two"])
    embedder.fail = False
    assert people.ann.retry_pending() == 1
    assert people.dan.recall("hidden").degraded == ("vector",)
    assert people.opener.retry_pending() == 2


def seen(memory: Recollect) -> list[str]:
    """Return whatever of uses a principal can see."""
    return [
        answer(lambda: memory.get("shared")),
        answer(memory.list),
        answer(lambda: memory.inspect("shared")),
        answer(lambda: memory.recall("salary round", frame="attention")),
        answer(lambda: memory.recall(frame="task")),
        answer(lambda: memory.explain("shared", "salary round", frame="attention")),
        answer(lambda: list(memory.export())),
    ]


@pytest.mark.parametrize("who", ["bob", "dan", "opener"])
def test_frames_of_others_move_no_use_of_mine(people: People, clock: FakeClock, who: str) -> None:
    people.ann.remember("the salary round is in May", pak_id="shared", scope="public")
    people.ann.remember("a salary round takes a week", pak_id="other", scope="public")
    people.ann.link("shared", "other", weight=0.5)
    clock.advance(hours=5)
    people.ann.remember("unrelated")
    before = seen(people.ann)
    for _ in range(3):
        assert getattr(people, who).frame("attention", "salary round").blocks
    assert seen(people.ann) == before
    own = getattr(people, who).get("shared")
    # What is public in another tenant is not counted at all.
    assert (own.reinforced, own.last_reinforced) == ((3, 5.0) if who == "bob" else (0, 0.0))


def test_what_is_hidden_in_anothers_frame_changes_no_use_of_mine(open_memory: Open) -> None:
    told = []
    for name, hidden in (("with.db", 5), ("without.db", 0)):
        people = people_of(open_memory(name))
        people.ann.remember("the salary round is in May", pak_id="shared", scope="company")
        for number in range(hidden):
            people.bob.remember(f"salary round {number} salary round")
        people.bob.frame("attention", "salary round")
        told.append(seen(people.ann))
    assert told[0] == told[1]


def test_links_grow_stronger_for_those_who_use_them(people: People) -> None:
    for name in ("a", "b"):
        people.ann.remember(f"queue {name}", pak_id=name, scope="company")
    people.ann.link("a", "b", weight=0.65)
    for _ in range(2):
        people.bob.frame("attention", "queue")
    weights = {
        who: [link.weight for link in getattr(people, who).inspect("a").links]
        for who in ("ann", "bob", "root")
    }
    assert weights == {"ann": [0.65], "bob": [0.85], "root": [0.65]}


def test_a_link_that_is_made_anew_was_used_by_nobody(people: People) -> None:
    for name in ("a", "b"):
        people.ann.remember(f"queue {name}", pak_id=name, scope="company")
    people.ann.link("a", "b", weight=0.65)
    people.bob.frame("attention", "queue")
    people.ann.link("a", "b", weight=0.3)
    assert [link.weight for link in people.bob.inspect("a").links] == [0.3]
    people.bob.frame("attention", "queue")
    assert [link.weight for link in people.bob.inspect("a").links] == [0.4]


def test_a_window_goes_by_the_principals_own_uses(people: People, clock: FakeClock) -> None:
    people.root.frames.register("recent", extends="attention", filters={"search_window_hours": 3.0})
    people.ann.remember("the kiln is lit", pak_id="old", scope="company")
    clock.advance(hours=2)
    people.bob.frame("attention", "kiln")
    clock.advance(hours=2)
    people.ann.remember("another thing", pak_id="new", scope="company")
    assert ids(people.bob.frame("recent", "kiln").blocks) == ["old", "new"]
    assert ids(people.ann.frame("recent", "kiln").blocks) == ["new"]


def test_all_uses_of_a_memory_go_with_it(people: People) -> None:
    for name in ("a", "b"):
        people.ann.remember(f"queue {name}", pak_id=name, scope="company")
    people.ann.link("a", "b")
    people.bob.frame("attention", "queue")
    people.ann.forget("a")
    people.ann.remember("queue z", pak_id="z", scope="company")
    assert people.bob.get("z").reinforced == 0  # type: ignore[union-attr]
    with sqlite3.connect(people.opener.path) as conn:
        assert conn.execute("SELECT count(*) FROM memory_uses").fetchone() == (1,)
        assert conn.execute("SELECT count(*) FROM link_uses").fetchone() == (0,)


def test_uses_that_another_process_counts_are_seen(open_memory: Open) -> None:
    here, there = people_of(open_memory()), people_of(open_memory())
    here.ann.remember("queue", pak_id="a", scope="company")
    assert there.bob.get("a").reinforced == 0  # type: ignore[union-attr]
    here.bob.frame("attention", "queue")
    here.ann.frame("attention", "queue")
    here.ann.frame("attention", "queue")
    assert there.bob.get("a").reinforced == 1  # type: ignore[union-attr]
    assert there.ann.get("a").reinforced == 2  # type: ignore[union-attr]
    with sqlite3.connect(there.opener.path) as conn:
        conn.execute("UPDATE memory_uses SET reinforced = 7 WHERE principal = 'bob'")
    assert there.bob.get("a").reinforced == 7  # type: ignore[union-attr]
