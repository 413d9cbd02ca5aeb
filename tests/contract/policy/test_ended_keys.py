"""A handle that was made from a key ends with it, whatever was begun before."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from tests.contract.policy.conftest import People

from recollect import Recollect
from recollect.errors import NotAllowed
from recollect.model import RecallRequest
from recollect.policy import PERMISSIONS, Principal
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock

ANN = Principal("acme", "ann", ("red",), PERMISSIONS)

VERBS: dict[str, Callable[[Recollect], Any]] = {
    "remember": lambda m: m.remember("new"),
    "remember_many": lambda m: m.remember_many(["new"]),
    "recall": lambda m: m.recall("kiln"),
    "respond": lambda m: m.respond(RecallRequest(query="kiln")),
    "frame": lambda m: m.frame("attention", "kiln"),
    "preview": lambda m: m.preview("attention", "kiln"),
    "select": lambda m: m.select(SelectQuery(text="kiln")),
    "explain": lambda m: m.explain("p", "kiln"),
    "get": lambda m: m.get("p"),
    "ids": lambda m: m.ids("p"),
    "inspect": lambda m: m.inspect("p"),
    "list": lambda m: m.list(),
    "link": lambda m: m.link("p", "q"),
    "dispute": lambda m: m.dispute("p", "q"),
    "resolve": lambda m: m.resolve("p", "q"),
    "disputes": lambda m: m.disputes(),
    "forget": lambda m: m.forget("q"),
    "archive": lambda m: m.archive("q"),
    "unarchive": lambda m: m.unarchive("q"),
    "ingest": lambda m: m.ingest([{"content": "x"}], source="peer"),
    "export": lambda m: list(m.export()),
    "import": lambda m: m.import_(['{"kind": "memory", "content": "x"}']),
    "audit": lambda m: m.audit(),
    "stats": lambda m: m.stats(),
    "gardens.list": lambda m: m.gardens.list(),
    "gardens.create": lambda m: m.gardens.create("oven"),
    "keys.list": lambda m: m.keys.list(),
    "keys.create": lambda m: m.keys.create(ANN),
    "trust.set": lambda m: m.trust.set("peer", 0.5),
    "trust.list": lambda m: m.trust.list(),
    "quarantine.list": lambda m: m.quarantine.list(),
    "frames.list": lambda m: m.frames.list(),
    "frames.register": lambda m: m.frames.register("mine", extends="attention"),
}
AREAS = ("gardens", "keys", "trust", "quarantine", "frames")


@pytest.fixture
def held(people: People) -> tuple[People, Recollect, str]:
    people.opener.as_principal(ANN).remember("the kiln is free", pak_id="p")
    people.opener.as_principal(ANN).remember("the kiln is busy", pak_id="q")
    issued = people.root.keys.create(ANN)
    who = people.opener.keys.principal_for(issued.secret)
    return people, people.opener.as_principal(who), issued.row.prefix


@pytest.mark.parametrize("verb", VERBS)
def test_a_revoked_key_ends_the_handles_that_were_made_from_it(
    held: tuple[People, Recollect, str], verb: str
) -> None:
    people, handle, prefix = held
    assert handle.get("p") is not None
    parts = {name: getattr(handle, name) for name in AREAS}
    assert people.root.keys.revoke(prefix)
    with pytest.raises(NotAllowed, match="this key is not valid"):
        VERBS[verb](handle)
    area, _, rest = verb.partition(".")
    if rest:
        # What was taken in hand before is over too.
        kept: Any = SimpleNamespace(**{area: parts[area]})
        with pytest.raises(NotAllowed, match="this key is not valid"):
            VERBS[verb](kept)
    assert people.opener.as_principal(ANN).get("q") is not None


def test_a_key_that_expires_ends_them_as_well(people: People, clock: FakeClock) -> None:
    issued = people.root.keys.create(ANN, expires_at="2026-01-02T00:00:00Z")
    handle = people.opener.as_principal(people.opener.keys.principal_for(issued.secret))
    handle.remember("the kiln is free")
    clock.advance(seconds=400 * 86_400)
    with pytest.raises(NotAllowed, match="this key is not valid"):
        handle.recall("kiln")


def test_a_handle_that_ended_can_be_closed_and_says_whose_it_was(
    held: tuple[People, Recollect, str],
) -> None:
    people, handle, prefix = held
    people.root.keys.revoke(prefix)
    assert handle.principal == ANN
    assert handle.path
    handle.close()


def test_a_principal_of_a_key_is_the_principal(people: People) -> None:
    found = people.opener.keys.principal_for(people.root.keys.create(ANN).secret)
    assert found == ANN
    assert hash(found) == hash(ANN)
    assert "key" not in repr(found)
