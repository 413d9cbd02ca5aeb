"""From arguments to a Memory: identity, title, decay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from recollect.errors import InvalidInput
from recollect.model import LOCAL, Memory, Place
from recollect.write.draft import ARGUMENTS, content_hash, draft


def drafted(place: Place = LOCAL, **arguments: Any) -> Memory:
    given = {"content": "Use Celery.", **arguments}
    return draft(given, place=place, now="2026-01-01T00:00:00Z")


def test_an_id_is_a_promise_and_stays_what_it_was() -> None:
    assert drafted().pak_id == "pak_976a04752dad81ee454174a992a0ef7e"
    assert drafted(project="shop").pak_id == "pak_7cdcacd77d1dda05f3b748c908200b19"
    turn: dict[str, Any] = {"thread": "t", "speaker": "Ann"}
    assert drafted(**turn).pak_id == "pak_be8b58b6724cea1244980565e2c1fd7b"
    assert (
        drafted(**turn, occurred_at="2024-05-02").pak_id == "pak_4b16089720bc7196095c85120ed50a5e"
    )


def test_place_project_and_content_make_the_id_and_nothing_else_does() -> None:
    same = drafted(tags=["x"], title="t", confidence=0.1, speaker="s", occurred_at="2024-05-02")
    assert same.pak_id == drafted().pak_id
    others = [
        drafted(content="Use Celery"),
        drafted(project="shop"),
        drafted(Place(tenant="t")),
        drafted(Place(owner="t")),
        drafted(Place(scope="team")),
        drafted(Place(team="t")),
        drafted(Place(garden="t")),
    ]
    assert len({one.pak_id for one in (drafted(), *others)}) == 8
    assert drafted(pak_id="mine").pak_id == "mine"


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("short", "short"),
        ("  two\n lines\t here ", "two lines here"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 80 + "…"),
        ("word " * 30, " ".join(["word"] * 16) + "…"),
        ("a" * 70 + ", and then more of it", "a" * 70 + ", and…"),
        ("," * 100, "…"),
    ],
)
def test_a_title_is_the_beginning_in_one_line_cut_between_words(content: str, title: str) -> None:
    assert drafted(content=content).title == title


def test_what_is_not_said_has_its_default() -> None:
    memory = drafted()
    assert (memory.category, memory.pak_type, memory.authority) == (
        "knowledge",
        "memory",
        "user_approved",
    )
    assert (memory.confidence, memory.tags) == (1.0, ())
    assert memory == replace(memory, place=LOCAL, status="active", reinforced=0, position=None)


def test_tags_are_sorted_and_held_once() -> None:
    assert drafted(tags=("b", "a", "b")).tags == ("a", "b")
    assert drafted(tags={"b", "a"}).tags == ("a", "b")
    assert drafted(tags=iter(["b", "a"])).tags == ("a", "b")
    assert drafted(tags=["same"] * 10_000).tags == ("same",)
    assert len(drafted(tags=[f"t{n}" for n in range(256)]).tags) == 256


@pytest.mark.parametrize("moment", ["2026-01-01", "2026-01-01T10:00", "2026-01-01T10:00:00+02:00"])
def test_moments_are_any_iso_8601_time_as_it_was_written(moment: str) -> None:
    assert drafted(occurred_at=moment).occurred_at == moment


def test_the_engine_s_own_fields_are_nobody_else_s() -> None:
    for name in set(Memory.__dataclass_fields__) - set(ARGUMENTS):
        with pytest.raises(InvalidInput, match=name):
            draft({"content": "x", name: 1}, place=LOCAL, now="")


def test_a_confidence_may_be_a_whole_number() -> None:
    assert drafted(confidence=0).confidence == 0.0
    assert isinstance(drafted(confidence=1).confidence, float)


def test_a_hash_tells_two_bodies_apart() -> None:
    assert content_hash("a") != content_hash("a ")
    assert len(content_hash("é")) == 64
