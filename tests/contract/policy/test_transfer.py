"""Out of one store and into another: what is exported comes back, as far as one may."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.policy.conftest import People, people_of

from recollect import Recollect
from recollect.errors import InvalidInput, NotAllowed, RecollectError
from recollect.model import Memory
from recollect.testing import FakeClock


def fill(people: People, clock: FakeClock) -> None:
    for number in range(12):
        clock.advance(seconds=1)
        who = (people.ann, people.bob, people.root)[number % 3]
        who.remember(
            f"redis queue number {number}",
            pak_id=f"p{number:02d}" if number % 2 else None,
            title=f"Title {number}",
            summary="a summary",
            tags=["kind/value", f"t{number}"],
            project="shop",
            topic="queues",
            entity="Redis",
            relation="holds",
            value=f"order {number}",
            confidence=0.25 + number / 20,
            thread="standup",
            speaker="Ann",
            occurred_at="2025-05-08",
            valid_until="2030-01-01T00:00:00Z",
            scope=("local", "company")[number % 2],
        )
    for who in (people.ann, people.bob, people.root):
        mine = [one.pak_id for one in who.list().items]
        who.link(mine[0], mine[1], weight=0.7)
        who.dispute(mine[1], mine[2], note="which one?")
        who.frame("attention", "redis", top_k=2)


def kept(memory: Memory | None) -> dict[str, Any]:
    """Return what of a memory a transfer keeps."""
    assert memory is not None
    passing = ("created_at", "updated_at", "last_reinforced", "position")
    return {name: getattr(memory, name) for name in memory.__slots__ if name not in passing}


def test_an_admin_brings_everything_back(
    people: People, open_memory: Callable[..., Recollect], clock: FakeClock
) -> None:
    fill(people, clock)
    other = people_of(open_memory("other.db"))
    other.root.import_(people.opener.export(people.ann.principal))
    for one in people.ann.list().items:
        assert kept(other.ann.get(one.pak_id)) == kept(one)
    assert list(other.ann.disputes()) == list(people.ann.disputes())
    assert _joins(other.ann) == _joins(people.ann)


def _joins(memory: Recollect) -> list[str]:
    return [line for line in memory.export() if json.loads(line)["kind"] != "memory"]


def test_links_come_back_as_what_they_were(open_memory: Callable[..., Recollect]) -> None:
    here, there = (open_memory(name, links=True) for name in ("here.db", "there.db"))
    for number in range(4):
        here.remember(f"the red lorry number {number} is late", pak_id=f"p{number}")
    here.remember("something else altogether", pak_id="q")
    here.link("p0", "q", weight=0.4)
    here.frame("attention", "red lorry")
    there.import_(list(here.export()))
    links = [_links(memory) for memory in (here, there)]
    assert links[0] == links[1]
    assert {automatic for _, _, _, automatic in links[0]} == {True, False}
    unlinked = open_memory("unlinked.db", links=False)
    unlinked.import_(list(here.export()))
    assert {link[:3] for link in _links(unlinked)} == {link[:3] for link in links[0]}
    assert not any(automatic for _, _, _, automatic in _links(unlinked))


def _links(memory: Recollect) -> set[tuple[str, str, float, bool]]:
    lines = [json.loads(line) for line in memory.export()]
    return {
        (line["pak_id"], line["other"], line["weight"], line["automatic"])
        for line in lines
        if line["kind"] == "link"
    }


def test_anyone_else_makes_them_their_own(
    people: People, open_memory: Callable[..., Recollect], clock: FakeClock
) -> None:
    fill(people, clock)
    other = people_of(open_memory("other.db"))
    other.bob.import_(list(people.ann.export()))
    brought = other.bob.list().items
    assert len(brought) == len(people.ann.list().items)
    assert {one.place.owner for one in brought} == {"bob"}
    assert {one.place.tenant for one in brought} == {"acme"}
    assert {one.reinforced for one in brought} == {0}
    texts = {one.content: one for one in people.ann.list().items}
    for one in brought:
        was = texts[one.content]
        assert (one.title, one.tags, one.value, one.place.scope, one.confidence) == (
            (was.title, was.tags, was.value, was.place.scope, was.confidence)
        )
    assert len(other.bob.disputes()) == len(people.ann.disputes())
    assert len(_joins(other.bob)) == len(_joins(people.ann))


def test_an_import_goes_to_the_importers_tenant(people: People, clock: FakeClock) -> None:
    fill(people, clock)
    lines = [line for line in people.ann.export() if '"company"' in line]
    renamed = [line.replace('"p0', '"q0').replace('"p1', '"q1') for line in lines]
    before = len(people.ann.list().items)
    people.dan.import_([line for line in renamed if json.loads(line)["kind"] == "memory"])
    assert {one.place.tenant for one in people.dan.list().items} == {"globex"}
    assert len(people.ann.list().items) == before


def test_an_export_holds_what_may_be_read_and_nothing_else(people: People) -> None:
    people.bob.remember("a secret of bob", pak_id="hidden")
    people.root.remember("for all", pak_id="shared", scope="company")
    people.root.remember("of root", pak_id="root")
    people.root.link("shared", "root")
    people.root.dispute("shared", "root", note="secret")
    (line,) = people.ann.export()
    assert json.loads(line)["pak_id"] == "shared"
    assert "secret" not in line


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        "{}",
        '{"kind": "key"}',
        '{"kind": "memory"}',
        '{"kind": "memory", "content": ""}',
        '{"kind": "memory", "content": "x", "place": "here"}',
        '{"kind": "memory", "content": "x", "place": {"scope": "galaxy"}}',
        '{"kind": "memory", "content": "x", "place": {"garden": "nowhere"}}',
        '{"kind": "memory", "content": "x", "tags": "red"}',
        '{"kind": "link", "pak_id": "good", "other": "never"}',
        '{"kind": "link", "pak_id": "good", "other": "good"}',
        '{"kind": "link", "pak_id": "good", "other": "more", "weight": 7}',
        '{"kind": "link", "pak_id": ["good"], "other": {"a": 1}}',
        '{"kind": "dispute", "pak_id": "good", "other": "never"}',
        '{"kind": "dispute", "pak_id": "good", "other": "more", "note": 7}',
        "[" * 100_000,
    ],
)
def test_a_bad_line_is_named_and_nothing_is_written(people: People, line: str) -> None:
    good = ['{"kind": "memory", "content": "redis", "pak_id": "good"}']
    good += ['{"kind": "memory", "content": "queue", "pak_id": "more"}']
    for who in (people.ann, people.root):
        with pytest.raises(InvalidInput, match="line 3") as error:
            who.import_([*good, line])
        assert error.value.hint
        assert who.list().items == ()


def test_an_import_cannot_take_what_belongs_to_others(people: People) -> None:
    people.bob.remember("a secret of bob", pak_id="p")
    line = '{"kind": "memory", "content": "mine now", "pak_id": "p"}'
    with pytest.raises(RecollectError):
        people.ann.import_([line])
    assert people.bob.get("p").content == "a secret of bob"  # type: ignore[union-attr]


def test_an_import_cannot_pretend_to_be_somebody_else(people: People) -> None:
    line = json.dumps(
        {
            "kind": "memory",
            "content": "from the boss",
            "pak_id": "p",
            "place": {"tenant": "globex", "owner": "root", "scope": "company"},
            "reinforced": 99,
            "status": "archived",
        }
    )
    people.ann.import_([line])
    stored = people.ann.get("p")
    assert stored is not None
    assert (stored.place.tenant, stored.place.owner) == ("acme", "ann")
    assert (stored.reinforced, stored.status) == (0, "active")


def test_it_takes_permissions_to_export_and_import(people: People) -> None:
    silent = people.opener.as_principal(type(people.ann.principal)("acme", "x", (), ("write",)))
    with pytest.raises(NotAllowed):
        list(silent.export())
    with pytest.raises(NotAllowed):
        people.mod.import_(['{"kind": "memory", "content": "x"}'])
