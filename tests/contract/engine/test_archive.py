"""Archived memories are out of every recall, not out of the store; and they come back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput, NotAllowed
from recollect.policy import PERMISSIONS, Principal
from recollect.testing import FakeClock, FakeEmbedder

ANN = Principal("acme", "ann", (), ("read", "write"))
BOB = Principal("acme", "bob", (), ("read", "write"))
ROOT = Principal("acme", "root", (), PERMISSIONS)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with Recollect.open(
        tmp_path / "agent.db", embedder=FakeEmbedder(16), clock=FakeClock()
    ) as opened:
        yield opened


def ids(memory: Recollect, query: str | None = None) -> list[str]:
    return [one.fact.pak_id for one in memory.recall(query, top_k=100).results]


def links(memory: Recollect, pak_id: str) -> set[str]:
    found = memory.inspect(pak_id)
    assert found is not None
    return {link.pak_id for link in found.links}


def test_what_is_archived_is_in_no_answer_and_still_there(memory: Recollect) -> None:
    memory.remember("the plan for May", pak_id="plan", tags=["self/value"])
    memory.remember("the plan for June", pak_id="next", tags=["self/value"])
    assert memory.archive("plan")
    assert ids(memory, "plan") == ids(memory) == ["next"]
    for frame in ("self", "attention", "task", "evidence"):
        assert [block.pak_id for block in memory.frame(frame, "plan").blocks] == ["next"]
    stored = memory.get("plan")
    assert stored is not None
    assert (stored.status, stored.content) == ("archived", "the plan for May")
    assert {one.pak_id for one in memory.list().items} == {"plan", "next"}
    assert memory.explain("plan", "plan").reason == "Filtered out: its status is archived."


def test_what_is_unarchived_is_as_it_was(memory: Recollect) -> None:
    for number in range(15):
        memory.remember(f"the plan number {number}", pak_id=f"p{number}")
    before = memory.recall("plan", top_k=100).results
    joined = {pak_id: links(memory, pak_id) for pak_id in ids(memory)}
    assert memory.archive("p3")
    assert memory.unarchive("p3")
    assert memory.recall("plan", top_k=100).results == before
    assert {pak_id: links(memory, pak_id) for pak_id in ids(memory)} == joined


def test_the_links_among_the_others_are_as_if_it_had_never_been(
    memory: Recollect, tmp_path: Path
) -> None:
    notes = [f"the plan number {number}" for number in range(15)]
    for number, note in enumerate(notes):
        memory.remember(note, pak_id=f"p{number}")
    memory.archive("p3")
    with Recollect.open(
        tmp_path / "other.db", embedder=FakeEmbedder(16), clock=FakeClock()
    ) as other:
        for number, note in enumerate(notes):
            if number != 3:
                other.remember(note, pak_id=f"p{number}")
        for number in range(15):
            if number != 3:
                assert links(memory, f"p{number}") == links(other, f"p{number}")
    assert links(memory, "p3") == set()


def test_a_link_made_by_hand_outlives_the_archive(memory: Recollect) -> None:
    memory.remember("apples", pak_id="a")
    memory.remember("bicycles", pak_id="b")
    memory.link("a", "b", weight=0.7)
    memory.archive("a")
    memory.unarchive("a")
    assert links(memory, "a") == {"b"}


def test_only_what_stands_the_other_way_is_turned(memory: Recollect) -> None:
    memory.remember("the plan", pak_id="plan")
    assert not memory.unarchive("plan")
    assert memory.archive("plan")
    assert not memory.archive("plan")
    assert memory.unarchive("plan")
    assert not memory.archive("never")
    for wrong in ("", None, 7):
        with pytest.raises(InvalidInput):
            memory.archive(wrong)  # type: ignore[arg-type]


def test_who_may_erase_may_archive_and_nobody_else(memory: Recollect) -> None:
    ann, bob, root = (memory.as_principal(one) for one in (ANN, BOB, ROOT))
    ann.remember("for all", pak_id="shared", scope="company")
    assert not bob.archive("shared")
    assert ids(bob) == ["shared"]
    assert root.archive("shared")
    assert ids(ann) == ids(bob) == []
    assert ann.unarchive("shared")
    assert ids(bob) == ["shared"]
    reader = memory.as_principal(Principal("acme", "ann", (), ("read",)))
    for verb in (reader.archive, reader.unarchive):
        with pytest.raises(NotAllowed):
            verb("shared")
    outside = memory.as_principal(Principal("globex", "root", (), PERMISSIONS))
    assert not outside.archive("shared")


def test_what_waits_in_quarantine_cannot_be_archived_out_of_it(memory: Recollect) -> None:
    memory.trust.set("stranger", 0.1)
    (item,) = memory.ingest([{"content": "a rumour"}], source="stranger").items
    rumour = str(item.pak_id)
    assert not memory.archive(rumour)
    assert not memory.unarchive(rumour)
    assert [held.pak_id for held in memory.quarantine.list()] == [rumour]


def test_it_is_noted_without_the_id(memory: Recollect) -> None:
    memory.remember("the plan", pak_id="plan")
    memory.archive("plan")
    memory.unarchive("plan")
    memory.unarchive("plan")
    acts = memory.audit()
    assert [act.act for act in acts] == ["unarchive", "archive"]
    assert all(act.target.startswith("sha256:") for act in acts)


def test_an_archived_memory_leaves_a_cached_frame_in_every_process(
    memory: Recollect, tmp_path: Path
) -> None:
    memory.frames.register("mine", extends="attention", cache={"ttl_seconds": 1000})
    memory.remember("the plan", pak_id="plan")
    with Recollect.open(
        tmp_path / "agent.db", embedder=FakeEmbedder(16), clock=FakeClock()
    ) as other:
        assert [block.pak_id for block in other.frame("mine").blocks] == ["plan"]
        assert other.frame("mine").cached
        memory.archive("plan")
        assert other.frame("mine").blocks == ()
