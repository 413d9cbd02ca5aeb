"""A turn is never taken for another, and a text that is stored again loses nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Recollect
from recollect.errors import NotAllowed
from recollect.policy import Principal

YES = "Yes, let's do that."
LATER = "2999-01-01T00:00:00Z"


def before_turns_were_told_apart(content: str) -> str:
    """Return the id that earlier releases gave a text of the local principal."""
    parts = ("local", "local", "local", "", "", "", content)
    return f"pak_{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"


def test_the_same_words_in_two_threads_are_two_memories(memory: Recollect) -> None:
    first = memory.remember(YES, thread="a", speaker="Ann", tags=["plan"])
    second = memory.remember(YES, thread="b", speaker="Bob")
    assert first.pak_id != second.pak_id
    kept = memory.get(first.pak_id)
    assert kept is not None
    assert (kept.thread, kept.speaker, kept.tags) == ("a", "Ann", ("plan",))


@pytest.mark.parametrize(
    "other",
    [
        {"speaker": "Bob"},
        {"occurred_at": "2024-05-02T10:00:01Z"},
        {"thread": "b"},
        {"occurred_at": None},
    ],
)
def test_another_speaker_time_or_thread_is_another_turn(
    memory: Recollect, other: Mapping[str, Any]
) -> None:
    turn: dict[str, Any] = {"thread": "a", "speaker": "Ann", "occurred_at": "2024-05-02T10:00:00Z"}
    first = memory.remember(YES, **turn)
    assert memory.remember(YES, **turn).pak_id == first.pak_id
    assert memory.remember(YES, **{**turn, **other}).pak_id != first.pak_id


def test_one_moment_in_two_spellings_is_one_turn(memory: Recollect) -> None:
    first = memory.remember(YES, thread="a", occurred_at="2024-05-02T10:00:00Z")
    for spelling in ("2024-05-02T12:00:00+02:00", "2 May 2024, 10:00 am"):
        assert memory.remember(YES, thread="a", occurred_at=spelling).pak_id == first.pak_id


def test_equal_turns_of_a_batch_stay_several_and_a_repeated_batch_is_one(
    memory: Recollect,
) -> None:
    said = ["ok", "and then?", "ok", "ok"]
    batch = [{"content": text, "thread": "a", "speaker": "Ann"} for text in said]
    first = memory.remember_many(batch)
    again = memory.remember_many(batch)
    assert len({one.pak_id for one in first}) == 4
    assert [one.pak_id for one in again] == [one.pak_id for one in first]
    assert [one.created for one in again] == [False] * 4
    assert memory.stats()["memories"] == 4


def test_whoever_stores_turn_by_turn_can_count_them(memory: Recollect) -> None:
    batch = memory.remember_many([{"content": "ok", "thread": "a"}] * 2)
    singly = [memory.remember("ok", thread="a", turn=number) for number in (0, 1)]
    assert [one.pak_id for one in singly] == [one.pak_id for one in batch]


def test_the_id_of_a_turn_from_before_is_recognised(memory: Recollect) -> None:
    old = before_turns_were_told_apart(YES)
    turn: dict[str, Any] = {"thread": "a", "speaker": "Ann"}
    memory.remember(YES, pak_id=old, **turn)
    again = memory.remember(YES, **turn)
    assert (again.pak_id, again.created) == (old, False)
    assert memory.remember(YES, thread="a", speaker="Bob").pak_id != old
    assert memory.stats()["memories"] == 2


def test_a_repeated_request_that_found_an_old_id_is_answered_alike(memory: Recollect) -> None:
    old = before_turns_were_told_apart(YES)
    memory.remember(YES, pak_id=old, thread="a")
    first = memory.remember(YES, thread="a", request_id="one")
    assert memory.remember(YES, thread="a", request_id="one") == first
    assert first.pak_id == old


def test_the_answer_says_what_was_kept_and_what_changed(memory: Recollect) -> None:
    memory.remember("The kiln is booked", tags=["kiln"], entity="kiln", confidence=0.4)
    again = memory.remember("The kiln is booked", tags=["may"], confidence=0.9, topic="pots")
    assert again.kept == ("tags", "entity")
    assert again.changed == ("tags", "topic", "confidence")
    found = memory.get(again.pak_id)
    assert found is not None
    assert (found.tags, found.entity, found.confidence) == (("kiln", "may"), "kiln", 0.9)


def test_equal_texts_of_one_batch_lose_nothing_either(memory: Recollect) -> None:
    first, _ = memory.remember_many([{"content": "tea", "tags": ["drink"]}, {"content": "tea"}])
    found = memory.get(first.pak_id)
    assert found is not None
    assert found.tags == ("drink",)


def test_what_has_ended_and_is_stored_again_is_read_again(memory: Recollect) -> None:
    memory.remember("The kiln is booked", valid_until="2020-01-01T00:00:00Z")
    again = memory.remember("The kiln is booked")
    assert again.changed == ("valid_until",)
    assert [one.fact.pak_id for one in memory.recall("kiln").results] == [again.pak_id]


def test_a_place_that_nobody_names_is_kept(memory: Recollect) -> None:
    memory.remember("The kiln is booked", pak_id="kiln", scope="company")
    assert memory.remember("The kiln is booked", pak_id="kiln").kept == ("place",)
    found = memory.get("kiln")
    assert found is not None
    assert found.place.scope == "company"


def test_a_tag_that_is_kept_does_not_become_a_guarantee_for_others(memory: Recollect) -> None:
    ann = memory.as_principal(Principal("acme", "ann"))
    ann.remember("Ann likes tea", pak_id="tea", tags=["self/taste"])
    with pytest.raises(NotAllowed):
        ann.remember("Ann likes tea", pak_id="tea", scope="company")
    found = ann.get("tea")
    assert found is not None
    assert found.place.scope == "local"


def test_another_text_under_an_id_replaces_the_whole(memory: Recollect) -> None:
    memory.remember("The kiln is booked", pak_id="kiln", entity="kiln")
    again = memory.remember("The kiln is free", pak_id="kiln")
    assert (again.kept, again.changed) == ((), ("content", "title", "entity"))
    found = memory.get("kiln")
    assert found is not None
    assert found.entity is None


def test_an_import_keeps_equal_turns_apart_and_joins_what_was_there(memory: Recollect) -> None:
    ann = memory.as_principal(Principal("acme", "ann"))
    first, second = ann.remember_many([{"content": "ok", "thread": "a"}] * 2)
    other = ann.remember("The kiln is booked")
    ann.link(second.pak_id, other.pak_id)
    lines = list(ann.export())
    bob = memory.as_principal(Principal("acme", "bob"))
    for created in (True, False):
        reports = bob.import_(lines)
        assert [one.created for one in reports] == [created] * 3
        assert len({one.pak_id for one in reports}) == 3
    assert first.pak_id not in {one.pak_id for one in reports}


FIELDS: dict[str, Any] = {
    "title": "kiln",
    "summary": "booked",
    "category": "observation",
    "topic": "pots",
    "pak_type": "note",
    "source": "calendar",
    "authority": "derived",
    "entity": "kiln",
    "relation": "is",
    "value": "booked",
    "confidence": 0.5,
    "thread": "a",
    "speaker": "Ann",
    "occurred_at": "2024-05-02",
    "valid_until": LATER,
}


@settings(max_examples=60)
@given(said=st.lists(st.frozensets(st.sampled_from(sorted(FIELDS))), min_size=2, max_size=4))
def test_whatever_was_said_of_a_text_stays_said(said: list[frozenset[str]]) -> None:
    with Recollect.open("memory://", embedder="none") as memory:
        known: dict[str, Any] = {}
        for number, names in enumerate(said):
            values = {name: FIELDS[name] for name in names}
            report = memory.remember("The kiln is booked", pak_id="kiln", **values)
            if number:
                assert set(report.changed) == {one for one in values if one not in known}
                assert set(report.kept) == {one for one in known if one not in values}
            known |= values
        found = memory.get("kiln")
        assert found is not None
        assert {name: getattr(found, name) for name in known} == known
