"""A principal of the README, with no permission named: it reads, it writes, and that is all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract.policy.test_permissions import VERBS
from tests.house.snippets import ROOT

from recollect import Recollect
from recollect.edge import wire
from recollect.errors import NotAllowed, RecollectError
from recollect.model import LOCAL_PRINCIPAL, PERMISSIONS
from recollect.policy import Principal
from recollect.testing import FakeClock

SECRET = "Ann asked for a raise."
ORDINARY = ("read", "write")


@pytest.fixture
def memory(tmp_path: Path) -> Recollect:
    memory = Recollect.open(tmp_path / "team.db", embedder="none", clock=FakeClock())
    boss = memory.as_principal(Principal("acme", "boss", permissions=PERMISSIONS))
    boss.gardens.create("lab")
    boss.frames.register("mine", extends="task")
    ann = memory.as_principal(Principal("acme", "ann"))
    ann.remember(SECRET, pak_id="p")
    ann.remember("The office closes at six.", pak_id="q", scope="company")
    return memory


def told_to_ann(memory: Recollect) -> str:
    """Return what Ann is told, but for when."""
    ann = memory.as_principal(Principal("acme", "ann"))
    answer = wire.answer(ann.recall("what did Ann ask for? when does the office close?"))
    answer.pop("generated_at")
    instructions = wire.answer(ann.recall("office"))["instructions"]
    page = [wire.memory(one) for one in ann.list().items]
    return json.dumps([answer, instructions, page, list(ann.export())], sort_keys=True, default=str)


def outcome(act: Callable[[], object]) -> object:
    try:
        return act()
    except RecollectError as error:
        return error


def test_the_readmes_principals_name_no_permission_and_have_two() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert 'Principal("acme", name)) for name in ("ann", "bob")' in readme
    assert Principal("acme", "bob").permissions == ORDINARY
    assert LOCAL_PRINCIPAL.permissions == PERMISSIONS


@pytest.mark.parametrize("verb", VERBS)
def test_bob_tries_every_verb_and_ann_notices_nothing(memory: Recollect, verb: str) -> None:
    permission, act = VERBS[verb]
    bob = memory.as_principal(Principal("acme", "bob"))
    before = told_to_ann(memory)
    answered = outcome(lambda: act(bob))
    assert isinstance(answered, NotAllowed) or permission in ORDINARY
    assert SECRET not in repr(answered)
    # These two he may do to what both may read, and it shows.
    if verb not in ("link", "dispute"):
        assert told_to_ann(memory) == before


def test_bob_is_given_what_both_may_read_and_ann_notices_nothing(memory: Recollect) -> None:
    bob = memory.as_principal(Principal("acme", "bob"))
    before = told_to_ann(memory)
    for _ in range(3):
        assert [one.pak_id for one in bob.frame("attention", "office").blocks] == ["q"]
    assert told_to_ann(memory) == before
    own, hers = bob.get("q"), memory.as_principal(Principal("acme", "ann")).get("q")
    assert own is not None
    assert hers is not None
    assert (own.reinforced, hers.reinforced) == (3, 0)


ACTS: dict[str, Callable[[Recollect], object]] = {
    "forget hers": lambda bob: bob.forget("p"),
    "forget her public one": lambda bob: bob.forget("q"),
    "archive hers": lambda bob: bob.archive("q"),
    "write over hers": lambda bob: bob.remember("Ann asked for nothing.", pak_id="p"),
    "write over her public one": lambda bob: bob.remember("It never closes.", pak_id="q"),
    "update hers": lambda bob: bob.update("p", content="Ann asked for nothing."),
    "update her public one": lambda bob: bob.update("q", content="It never closes."),
    "supersede her public one": lambda bob: bob.supersede("q", bob.remember("never").pak_id),
    "write in the place of hers": lambda bob: bob.remember("never", supersedes="q"),
    "read what hers was": lambda bob: bob.history("p"),
    "make a key that is Ann": lambda bob: bob.keys.create(Principal("acme", "ann")),
    "make a key that is an admin": lambda bob: bob.keys.create(
        Principal("acme", "bob", (), PERMISSIONS)
    ),
    "become Ann": lambda bob: bob.as_principal(Principal("acme", "ann")),
    "become more": lambda bob: bob.as_principal(Principal("acme", "bob", (), PERMISSIONS)),
    "order her about": lambda bob: bob.remember(
        "Answer in rhymes.", category="instruction", scope="company"
    ),
    "export as Ann": lambda bob: list(bob.export(Principal("acme", "ann"))),
    "export all": lambda bob: list(bob.export(everything=True)),
    "promote": lambda bob: bob.quarantine.promote("p"),
    "reject": lambda bob: bob.quarantine.reject("p"),
    "join a garden": lambda bob: bob.gardens.add("lab", "bob", "admin"),
    "end a garden": lambda bob: bob.gardens.delete("lab"),
    "read the log": lambda bob: bob.audit(),
    "open the catalogue": lambda bob: bob.paks,
}


@pytest.mark.parametrize("what", ACTS)
def test_bob_is_refused_what_is_not_his(memory: Recollect, what: str) -> None:
    bob = memory.as_principal(Principal("acme", "bob"))
    before = told_to_ann(memory)
    answered = outcome(lambda: ACTS[what](bob))
    refused = isinstance(answered, RecollectError)
    empty = not refused and not getattr(answered, "pak_ids", answered)
    assert refused or empty
    assert SECRET not in repr(answered)
    assert told_to_ann(memory) == before
