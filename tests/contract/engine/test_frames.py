"""Frames through the engine: what the cache keys on, and frames of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.contract.engine.looking import ids

from recollect import Recollect
from recollect.errors import NotAllowed
from recollect.frames import FrameExists
from recollect.model import RecallRequest, Weights, canonical_json
from recollect.policy import PERMISSIONS, Principal
from recollect.testing import FakeClock

Open = Callable[..., Recollect]


@pytest.fixture
def identity(memory: Recollect) -> Recollect:
    for number in range(6):
        memory.remember(f"I value {number}", pak_id=f"p{number}", tags=["self/value"])
    return memory


@pytest.mark.parametrize("other", [{"top_k": 2}, {"token_budget": 20}, {"query": "value"}], ids=str)
def test_another_top_k_budget_or_query_is_another_answer(
    identity: Recollect, other: dict[str, object]
) -> None:
    identity.frame("self")
    assert not identity.frame("self", **other).cached  # type: ignore[arg-type]
    assert identity.frame("self", **other).cached  # type: ignore[arg-type]
    assert identity.frame("self").cached


def test_the_default_budget_and_the_same_budget_given_are_one_key(identity: Recollect) -> None:
    identity.frame("self")
    assert identity.frame("self", token_budget=600).cached


def test_a_hit_equals_the_miss_apart_from_saying_so(identity: Recollect) -> None:
    miss, hit = identity.frame("self"), identity.frame("self")
    assert canonical_json(replace(hit, cached=False)) == canonical_json(miss)


def test_a_hit_counts_no_use(identity: Recollect) -> None:
    for _ in range(3):
        identity.frame("self")
    assert {one.reinforced for one in identity.list().items} == {0, 1}


@pytest.mark.parametrize("frame", ["attention", "task", "evidence"])
def test_frames_without_a_cache_are_made_anew(identity: Recollect, frame: str) -> None:
    assert not identity.frame(frame).cached
    assert not identity.frame(frame).cached


def test_a_frame_of_ones_own_is_there_for_every_handle_until_deleted(open_memory: Open) -> None:
    here, there = open_memory(), open_memory()
    here.remember("queue", pak_id="q", tags=["work/queue"])
    here.remember("tea", pak_id="t")
    made = here.frames.register(
        "work", extends="attention", filters={"tag_patterns": ["work/%"]}, token_budget=100
    )
    assert there.frames.get("work") == made
    assert [frame.name for frame in there.frames.list()][-1] == "work"
    assert there.frames.extends("work") == "attention"
    assert ids(there.frame("work", "queue").blocks) == ["q"]
    there.frames.update("work", filters={"tag_patterns": []})
    assert set(ids(here.frame("work", "queue").blocks)) == {"q", "t"}
    here.close()
    again = open_memory()
    assert again.frames.get("work").token_budget == 100
    again.frames.delete("work")
    with pytest.raises(LookupError, match="known frames: self, attention, task, evidence"):
        there.frame("work")


def test_a_change_to_what_it_extends_does_not_reach_a_frame(memory: Recollect) -> None:
    memory.frames.register("base", weights=Weights(0.5, 0.5, 0, 0, 0), token_budget=50)
    memory.frames.register("child", extends="base")
    memory.frames.update("base", token_budget=70)
    memory.frames.delete("base")
    assert memory.frames.get("child").token_budget == 50


@pytest.mark.parametrize("name", ["self", "attention", "task", "evidence"])
def test_built_in_frames_stay_as_they_are(memory: Recollect, name: str) -> None:
    with pytest.raises(ValueError, match="built in"):
        memory.frames.update(name, token_budget=1)
    with pytest.raises(ValueError, match="built in"):
        memory.frames.delete(name)
    with pytest.raises(ValueError, match="built in"):
        memory.frames.register(name, extends="task")
    assert memory.stats()["frames"] == 0


def test_a_frame_of_ones_own_may_be_cached_and_a_change_to_it_counts_at_once(
    open_memory: Open, clock: FakeClock
) -> None:
    here, there = open_memory(), open_memory()
    here.remember("Be kind.", tags=["self/value"])
    here.frames.register("brief", extends="self", cache={"ttl_seconds": 10})
    here.frame("brief")
    assert here.frame("brief").cached
    there.frames.update("brief", template="attention")
    changed = here.frame("brief")
    assert not changed.cached
    assert changed.text.startswith("## Relevant Knowledge")
    clock.advance(seconds=10)
    assert not here.frame("brief").cached


def test_the_contract_s_custom_weights_order_as_given(memory: Recollect) -> None:
    weights = Weights(0.40, 0.40, 0.10, 0.05, 0.05)
    memory.frames.register("mine", weights=weights)
    memory.remember("queue", pak_id="likely", confidence=0.8)
    memory.remember("zebra", pak_id="central", confidence=0.4)
    blocks = memory.frame("mine", "queue").blocks
    assert ids(blocks) == ["likely", "central"]
    for block in blocks:
        parts = (getattr(weights, name) for name in Weights.__dataclass_fields__)
        values = (getattr(block.signals, name) for name in Weights.__dataclass_fields__)
        total = sum(weight * value for weight, value in zip(parts, values, strict=True))
        assert block.score == pytest.approx(total, abs=1e-8)


def test_cached_answers_of_a_frame_are_let_go_by_its_name_in_every_process(
    open_memory: Open,
) -> None:
    here, there = open_memory(), open_memory()
    here.remember("I am calm.", tags=["self/value"])
    here.frames.register("brief", extends="self", cache={"ttl_seconds": 100, "invalidate_on": []})
    for memory in (here, there):
        for name in ("brief", "self"):
            memory.frame(name)
    there.frames.invalidate("brief")
    for memory in (here, there):
        assert not memory.frame("brief").cached
        assert memory.frame("self").cached
        assert memory.frame("brief").cached
    there.frames.invalidate("self")
    assert not here.frame("self").cached
    assert [act.act for act in here.audit(limit=2)] == ["frame.invalidate"] * 2
    with pytest.raises(LookupError, match="known frames"):
        here.frames.invalidate("nope")


def test_only_an_admin_lets_cached_answers_go_and_only_those_of_its_tenant(
    open_memory: Open,
) -> None:
    memory = open_memory()
    reader = memory.as_principal(Principal("acme", "ann", (), ("read", "write")))
    other = memory.as_principal(Principal("globex", "root", (), PERMISSIONS))
    reader.remember("I am calm.", tags=["self/value"])
    reader.frame("self")
    with pytest.raises(NotAllowed):
        reader.frames.invalidate("self")
    other.frames.invalidate("self")
    assert reader.frame("self").cached


def test_who_may_not_read_learns_no_names_of_frames(open_memory: Open) -> None:
    memory = open_memory()
    root = memory.as_principal(Principal("acme", "root", (), PERMISSIONS))
    root.frames.register("secret-plan", extends="task")
    writer = memory.as_principal(Principal("acme", "bot", (), ("write",)))
    asks: list[Callable[[str], object]] = [
        lambda name: writer.recall("x", frame=name),
        lambda name: writer.respond(RecallRequest(frame=name)),
        lambda name: writer.frame(name),
        lambda name: writer.explain("p", "x", frame=name),
        lambda name: writer.explain("p", RecallRequest(frame=name)),
        lambda name: writer.frames.get(name),
        lambda name: writer.frames.extends(name),
        lambda _: writer.frames.list(),
    ]
    for ask in asks:
        for name in ("nope", "secret-plan"):
            with pytest.raises(NotAllowed) as refused:
                ask(name)
            assert "secret-plan" not in f"{refused.value} {refused.value.hint}"
    for name in ("evidence", "self"):
        with pytest.raises(NotAllowed):
            writer.recall("x", frame=name)
    reader = memory.as_principal(Principal("acme", "ann", (), ("read",)))
    with pytest.raises(LookupError) as unknown:
        reader.recall("x", frame="nope")
    assert "secret-plan" in str(unknown.value.hint)  # type: ignore[attr-defined]


def test_two_who_register_one_name_at_once_make_one_frame(open_memory: Open) -> None:
    here, there = open_memory(), open_memory()
    conn = here.paks.conn
    happened: list[object] = []

    def heard(statement: str) -> None:
        if statement.startswith("BEGIN IMMEDIATE") and not happened:
            happened.append(there.frames.register("mine", extends="task"))

    conn.set_trace_callback(heard)
    with pytest.raises(FrameExists):
        here.frames.register("mine", extends="attention")
    conn.set_trace_callback(None)
    assert here.frames.extends("mine") == "task"
