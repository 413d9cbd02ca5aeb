"""Hooks are told whose request it is: who read what, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from recollect import Recollect
from recollect.errors import HookDenied
from recollect.hooks import HookEvent
from recollect.hooks.sdk import deny, modify
from recollect.model import Permission, Principal
from recollect.recall.select import SelectQuery

pytestmark = pytest.mark.usefixtures("patient_hooks")

RIGHTS: tuple[Permission, ...] = ("read", "write", "admin")
ANN = Principal("acme", "ann", permissions=RIGHTS)
BOB = Principal("acme", "bob", permissions=RIGHTS)


@pytest.fixture
def memory(open_memory: Callable[..., Recollect]) -> Recollect:
    return open_memory(links=False)


def every_verb(handle: Recollect, name: str) -> None:
    handle.remember_many([{"content": f"tea of {name}", "pak_id": f"{name}-1"}])
    handle.remember(f"cakes of {name}", pak_id=f"{name}-2")
    handle.link(f"{name}-1", f"{name}-2")
    handle.recall("tea")
    handle.frame("attention", "tea")
    handle.select(SelectQuery("tea"))
    handle.explain(f"{name}-1", "tea")
    handle.ingest([{"content": f"fact of {name}"}], source="peer")
    handle.forget(f"{name}-2")


def test_each_event_of_each_verb_says_who_asks(memory: Recollect) -> None:
    heard: dict[str, list[Any]] = {event: [] for event in HookEvent}
    for event, told in heard.items():
        memory.hooks.register(event, lambda payload, told=told: told.append(payload["principal"]))
    for who in (ANN, BOB):
        every_verb(memory.as_principal(who), who.id)
    memory.close()

    expected = [{"tenant": "acme", "id": who.id} for who in (ANN, BOB)]
    for event, told in heard.items():
        assert [one for one in expected if one in told] == expected, event
        assert all(one in expected for one in told), event


def test_whoever_opened_the_store_is_the_local_principal(memory: Recollect) -> None:
    told: list[Any] = []
    memory.hooks.register("pre_recall", lambda payload: told.append(payload["principal"]))
    memory.recall("tea")

    assert told == [{"tenant": "local", "id": "local"}]


def test_a_hook_can_tell_who_read_what(memory: Recollect) -> None:
    read: dict[str, set[str]] = {"ann": set(), "bob": set()}
    memory.hooks.register(
        "post_recall",
        lambda payload: read[payload["principal"]["id"]].update(payload["pak_ids"]),
    )
    for who in (ANN, BOB):
        handle = memory.as_principal(who)
        handle.remember("tea", pak_id=f"tea-{who.id}")
        handle.recall("tea")
    memory.close()

    assert read == {"ann": {"tea-ann"}, "bob": {"tea-bob"}}


def test_a_hook_can_hold_a_quota(memory: Recollect) -> None:
    asked: Counter[str] = Counter()

    def quota(payload: dict[str, Any]) -> object:
        asked[payload["principal"]["id"]] += 1
        return deny("two texts a day", 429) if asked[payload["principal"]["id"]] > 2 else None

    memory.hooks.register("pre_remember", quota)
    ann, bob = memory.as_principal(ANN), memory.as_principal(BOB)
    for text in ("one", "two"):
        ann.remember(text)
    with pytest.raises(HookDenied, match="two texts a day"):
        ann.remember("three")
    assert bob.remember("one").created


def test_no_hook_says_for_the_next_one_who_asks(memory: Recollect) -> None:
    told: list[Any] = []
    forged = {"tenant": "acme", "id": "root"}
    memory.hooks.register("pre_recall", lambda _: modify(principal=forged), name="forger")
    memory.hooks.register("pre_recall", lambda payload: told.append(payload["principal"]))
    answer = memory.as_principal(BOB).recall("tea")

    assert told == [{"tenant": "acme", "id": "bob"}]
    assert answer.degraded == ("forger",)
