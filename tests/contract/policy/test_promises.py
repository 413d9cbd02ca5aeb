"""Sentences of docs/security.md and ARCHITECTURE.md that speak of all or of never, held to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.engine.looking import everything_stored
from tests.contract.policy.conftest import People

from recollect import Recollect
from recollect.errors import NotAllowed, PakIdTaken, RecollectError
from recollect.model import Place, RecallRequest
from recollect.policy import Principal
from recollect.policy.view import View
from recollect.recall.select import SelectQuery

UNSEEN = "redis\u200bqueue \u202eorder"
READS: dict[str, Callable[[Recollect], Any]] = {
    "recall": lambda memory: memory.recall("redis queue"),
    "recall without a question": lambda memory: memory.recall(),
    "recall of an entity": lambda memory: memory.recall(entity="Redis"),
    "respond": lambda memory: memory.respond(RecallRequest("redis")),
    "select": lambda memory: memory.select(SelectQuery("redis")),
    "explain": lambda memory: memory.explain("p", "redis"),
    "explain a frame": lambda memory: memory.explain("p", "redis", frame="task"),
    "inspect": lambda memory: memory.inspect("p"),
    "get": lambda memory: memory.get("p"),
    "ids": lambda memory: memory.ids("p"),
    "list": lambda memory: memory.list(),
    "export": lambda memory: list(memory.export()),
    "disputes": lambda memory: memory.disputes(),
    "stats": lambda memory: memory.stats(),
    "check": lambda memory: memory.check(),
    "examine": lambda memory: memory.examine(),
    "gardens": lambda memory: memory.gardens.list(),
    "quarantine": lambda memory: memory.quarantine.list(),
    "trust": lambda memory: memory.trust.list(),
    "keys": lambda memory: memory.keys.list(),
    "audit": lambda memory: memory.audit(),
    "frames": lambda memory: memory.frames.list(),
}


@pytest.fixture
def filled(people: People) -> People:
    people.opener.remember("redis holds the queue", pak_id="p", entity="Redis")
    people.opener.remember("redis does not hold the queue", pak_id="q")
    people.opener.dispute("p", "q")
    people.opener.trust.set("peer", 0.2)
    people.opener.ingest([{"content": "redis of a peer"}], source="peer")
    people.opener.gardens.create("lab")
    people.opener.keys.create(Principal("local", "ann", (), ("read",)))
    return people


@pytest.mark.parametrize("verb", READS)
def test_what_only_reads_writes_not_one_row(filled: People, verb: str) -> None:
    before = everything_stored(filled.opener)
    READS[verb](filled.opener)
    assert everything_stored(filled.opener) == before


def test_a_frame_is_the_one_read_that_counts_a_use(filled: People) -> None:
    before = everything_stored(filled.opener)
    filled.opener.frame("attention", "redis")
    assert everything_stored(filled.opener) != before


def test_get_list_and_export_give_a_text_as_it_was_stored(people: People) -> None:
    people.opener.remember(UNSEEN, pak_id="p")
    assert people.opener.get("p").content == UNSEEN  # type: ignore[union-attr]
    assert [one.content for one in people.opener.list().items] == [UNSEEN]
    (line,) = [line for line in people.opener.export() if '"memory"' in line]
    assert "\u200b" in line
    assert "\u200b" not in people.opener.recall("redis").results[0].fact.content


def answer(act: Callable[[], Any]) -> object:
    try:
        return act()
    except RecollectError as error:
        return type(error), error.message, error.hint


def test_an_id_that_is_derived_from_a_text_cannot_be_probed(people: People) -> None:
    """Whether somebody else remembered a text is not to be learnt from the id it would have."""
    made = people.ann.remember("the password is zebra")
    assert people.bob.remember("the password is zebra").pak_id != made.pak_id
    unused = f"pak_{'0' * 32}"
    taken, free = (
        answer(lambda one=one: people.bob.remember("something", pak_id=one))  # type: ignore[misc]
        for one in (made.pak_id, unused)
    )
    assert type(taken) is type(free) is tuple
    assert str(taken).replace(made.pak_id, "ID") == str(free).replace(unused, "ID")


def test_an_id_that_was_chosen_is_known_to_be_taken_by_who_guesses_it(people: People) -> None:
    people.ann.remember("a text", pak_id="plans")
    with pytest.raises(PakIdTaken):
        people.dan.remember("another", pak_id="plans")


def test_an_admin_erases_what_it_cannot_read_and_nobody_else_does(people: People) -> None:
    people.ann.remember("only for ann", pak_id="p")
    assert people.root.get("p") is None
    assert people.dan.forget("p").pak_ids == ()
    assert people.bob.forget("p").pak_ids == ()
    assert people.root.forget("p").pak_ids == ("p",)


def test_the_view_is_asked_for_each_place_and_not_for_each_memory(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ({}, {"scope": "company"}, {"scope": "public"}):
        people.ann.remember_many({"content": f"note {n}", **place} for n in range(100))
    asked: list[Place] = []
    allows = View.allows

    def watched(view: View, place: Place) -> bool:
        asked.append(place)
        return allows(view, place)

    monkeypatch.setattr(View, "allows", watched)
    assert len(people.bob.recall("note", top_k=1).results) == 1
    assert {place.scope for place in asked} == {"local", "company", "public"}
    assert len(asked) < 30


def test_only_a_moderator_who_asks_for_it_sees_what_waits(people: People) -> None:
    people.root.trust.set("peer", 0.1)
    (item,) = people.root.ingest([{"content": "zebra"}], source="peer", scope="company").items
    assert item.state == "quarantined"
    with pytest.raises(NotAllowed):
        people.ann.recall("zebra", include_quarantined=True)
    assert people.root.recall("zebra").results == ()
    shown = people.root.recall("zebra", include_quarantined=True).results
    assert [one.fact.pak_id for one in shown] == [item.pak_id]


def test_a_handle_of_a_principal_reaches_no_catalogue(people: People) -> None:
    for handle in (people.root, people.ann, people.dan):
        with pytest.raises(NotAllowed):
            _ = handle.paks


def test_the_place_of_a_memory_is_the_principal_s_own_whatever_is_passed(people: People) -> None:
    made = people.bob.remember("a text", pak_id="p")
    found = people.bob.get(made.pak_id)
    assert found is not None
    assert found.place == Place("acme", "bob")
    for name in ("tenant", "owner", "place"):
        with pytest.raises(TypeError):
            people.bob.remember("a text", **{name: "ann"})  # type: ignore[arg-type]
