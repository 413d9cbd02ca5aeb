"""Gardens, scopes, tenants: who reads and writes where, and what is refused in which words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.policy.conftest import People

from recollect import Recollect
from recollect.errors import InvalidInput, NotAllowed, RecollectError, UnknownGarden
from recollect.model import RecallRequest, Role
from recollect.policy import PERMISSIONS, Principal
from recollect.testing import FakeClock


def told(act: Callable[[], object]) -> tuple[str, str, str, str]:
    """Return what somebody is told who may not do something."""
    with pytest.raises(RecollectError) as error:
        act()
    assert error.value.hint, "an error says what to do next"
    return type(error.value).__name__, error.value.code, error.value.message, error.value.hint


def test_a_scope_is_seen_by_those_it_is_for(people: People) -> None:
    people.ann.remember("mine", pak_id="local")
    people.ann.remember("ours", pak_id="team", scope="team", team="red")
    people.ann.remember("everybody's here", pak_id="company", scope="company")
    people.ann.remember("everybody's", pak_id="public", scope="public")
    seen = {
        name: {one.pak_id for one in getattr(people, name).list().items}
        for name in ("ann", "root", "bob", "dan", "opener")
    }
    assert seen == {
        "ann": {"local", "team", "company", "public"},
        "root": {"team", "company", "public"},
        "bob": {"company", "public"},
        "dan": {"public"},
        "opener": {"public"},
    }


def test_a_pak_in_a_garden_needs_membership_and_scope(people: People) -> None:
    people.root.gardens.create("lab", scope="team", team="red")
    for who in ("ann", "bob"):
        people.root.gardens.add("lab", who, "writer")
    people.ann.remember("found in the lab", pak_id="p", garden="lab")
    place = people.ann.get("p").place  # type: ignore[union-attr]
    assert (place.scope, place.team, place.garden) == ("team", "red", "lab")
    # bob is a member but not in the team; mod is in the team but not a member.
    assert people.bob.get("p") is None
    assert people.mod.get("p") is None
    people.root.gardens.remove("lab", "ann")
    assert people.ann.get("p") is None
    assert people.root.get("p") is not None


def test_the_scope_of_a_garden_is_fixed(people: People) -> None:
    people.root.gardens.create("lab", scope="company")
    with pytest.raises(TypeError):
        people.root.gardens.update("lab", scope="public")  # type: ignore[call-arg]
    people.root.gardens.update("lab", name="Laboratory", tier=0.5)
    (garden,) = people.root.gardens.list()
    assert (garden.scope, garden.name, garden.tier) == ("company", "Laboratory", 0.5)
    with pytest.raises(InvalidInput, match="has the scope company"):
        people.root.remember("wider", garden="lab", scope="public")


@pytest.mark.parametrize("role", ["reader", "writer", "moderator", None])
def test_the_last_admin_cannot_be_removed(people: People, role: Role | None) -> None:
    people.root.gardens.create("lab")
    with pytest.raises(NotAllowed, match="last admin"):
        if role is None:
            people.root.gardens.remove("lab", "root")
        else:
            people.root.gardens.add("lab", "root", role)
    people.root.gardens.add("lab", "ann", "admin")
    assert people.ann.gardens.remove("lab", "root")
    assert [(one.principal, one.role) for one in people.ann.gardens.members("lab")] == [
        ("ann", "admin")
    ]


def test_deleting_a_garden_never_deletes_paks(people: People) -> None:
    people.root.gardens.create("lab")
    people.root.gardens.add("lab", "ann", "writer")
    people.ann.remember("found in the lab", pak_id="p", garden="lab")
    assert people.root.gardens.delete("lab") == 1
    assert people.ann.get("p") is not None
    # It does not come to be read by anybody who could not read it before.
    assert people.bob.get("p") is None
    assert people.root.get("p") is None
    people.root.gardens.create("lab")
    assert people.root.get("p") is None


@pytest.mark.parametrize(
    "slug", ["", "-a", "A", "a b", "a_b", "ä", "a" * 64, "a\n", None, 7, "a/b"]
)
def test_a_slug_has_a_shape(people: People, slug: Any) -> None:
    with pytest.raises(InvalidInput, match="slug"):
        people.root.gardens.create(slug)
    assert people.root.gardens.list() == ()


def test_slugs_of_the_right_shape_are_taken(people: People) -> None:
    for slug in ("a", "0", "a-b-", "a" * 63):
        people.root.gardens.create(slug)
    assert len(people.root.gardens.list()) == 4


def test_a_reader_of_a_garden_does_not_write_there(people: People) -> None:
    people.root.gardens.create("lab")
    people.root.gardens.add("lab", "ann", "reader")
    with pytest.raises(NotAllowed, match="reader of lab"):
        people.ann.remember("no", garden="lab")
    assert people.root.list().items == ()


def test_gardens_of_two_tenants_may_have_one_name(people: People) -> None:
    people.root.gardens.create("lab", scope="company")
    people.dan.gardens.create("lab", scope="public")
    people.dan.remember("of globex", pak_id="theirs", garden="lab")
    people.root.remember("of acme", pak_id="ours", garden="lab")
    assert [one.pak_id for one in people.root.list().items] == ["ours"]
    assert [one.pak_id for one in people.dan.list().items] == ["theirs"]


def test_a_garden_that_is_not_there_and_one_that_is_not_for_you_are_one_answer(
    people: People,
) -> None:
    people.root.gardens.create("lab", scope="company")
    people.dan.gardens.create("vault", scope="public")
    for ask in (
        lambda who, slug: who.recall("x", garden=slug),
        lambda who, slug: who.remember("x", garden=slug),
        lambda who, slug: who.ingest([{"content": "x"}], source="peer", garden=slug),
        lambda who, slug: who.gardens.members(slug),
        lambda who, slug: who.gardens.add(slug, "eve", "reader"),
        lambda who, slug: who.gardens.remove(slug, "eve"),
        lambda who, slug: who.gardens.update(slug, name="x"),
        lambda who, slug: who.gardens.delete(slug),
    ):
        answers = {
            str(told(lambda a=ask, s=slug: a(people.ann, s))).replace(slug, "?")  # type: ignore[misc]
            for slug in ("lab", "vault", "nowhere")
        }
        assert len(answers) == 1
        assert "UnknownGarden" in answers.pop()
    assert people.root.gardens.members("lab")[0].principal == "root"


def test_an_admin_of_the_tenant_does_not_read_a_garden_it_is_not_in(people: People) -> None:
    people.root.gardens.create("lab", scope="company")
    people.root.gardens.add("lab", "ann", "admin")
    people.ann.gardens.remove("lab", "root")
    people.ann.remember("of the lab", pak_id="p", garden="lab")
    assert people.root.get("p") is None
    with pytest.raises(UnknownGarden):
        people.root.recall("lab", garden="lab")


@pytest.mark.parametrize("scope", ["galaxy", "", "Local", 7, ["local"], {"scope": "local"}])
def test_an_unknown_scope_is_refused_everywhere(people: People, scope: Any) -> None:
    for ask in (
        lambda: people.ann.recall("x", scope=scope),
        lambda: people.ann.remember("x", scope=scope),
        lambda: people.ann.ingest([{"content": "x"}], source="peer", scope=scope),
        lambda: people.ann.forget(entity="x", scope=scope),
        lambda: people.root.gardens.create("lab", scope=scope),
    ):
        assert told(ask)[1] == "invalid_input"
    assert people.ann.list().items == ()


@pytest.mark.parametrize("role", ["owner", "", "Admin", None, 7])
def test_a_role_that_does_not_exist_is_refused(people: People, role: Any) -> None:
    people.root.gardens.create("lab")
    missing = told(lambda: people.root.gardens.add("nowhere", "ann", role))
    assert told(lambda: people.root.gardens.add("lab", "ann", role)) == missing
    assert len(people.root.gardens.members("lab")) == 1


def test_a_request_cannot_widen(people: People) -> None:
    people.bob.remember("redis of bob", pak_id="hidden")
    people.ann.remember("redis of ann", pak_id="mine")
    people.ann.remember("redis of all", pak_id="wide", scope="public")
    for scope in ("local", "team", "company", "public"):
        shown = {one.fact.pak_id for one in people.ann.recall("redis", scope=scope).results}
        assert "hidden" not in shown
        assert shown == {one.pak_id for one in map(people.ann.get, shown) if one}
    with pytest.raises(NotAllowed, match="quarantine"):
        people.ann.recall("redis", include_quarantined=True)


@pytest.mark.parametrize(
    "field", ["principal", "as_principal", "tenant", "owner", "teams", "permissions", "view"]
)
def test_a_forged_principal_in_a_request_is_refused(people: People, field: str) -> None:
    body = {"query": "redis", field: {"tenant": "globex", "id": "dan"}}
    kind, code, message, _ = told(lambda: RecallRequest.from_dict(body))
    assert (kind, code) == ("InvalidInput", "invalid_input")
    assert field in message


def test_as_of_an_earlier_time_what_has_expired_since_answers_again(
    people: People, clock: FakeClock
) -> None:
    people.ann.remember("redis queue", pak_id="brief", valid_until="2026-01-01T01:00:00Z")
    clock.advance(hours=5)
    assert people.ann.get("brief") is None
    assert people.ann.recall("redis").results == ()
    earlier = "2026-01-01T00:30:00Z"
    found = people.ann.recall("redis", now=earlier).results
    assert [one.fact.pak_id for one in found] == ["brief"]
    assert people.bob.recall("redis", now=earlier).results == ()


@pytest.mark.parametrize("body", [None, [], "redis", 7, {"query": ["redis"]}, {"top_k": "many"}])
def test_a_request_that_is_none_is_refused(people: People, body: Any) -> None:
    assert told(lambda: people.ann.respond(RecallRequest.from_dict(body)))[1] == "invalid_input"


def test_a_request_as_data_is_answered_like_a_call(people: People) -> None:
    people.ann.remember("redis queue")
    body = {"query": "redis", "top_k": 3}
    as_data = people.ann.respond(RecallRequest.from_dict(body))
    assert as_data == people.ann.recall("redis", top_k=3)


def test_a_handle_of_one_principal_gives_no_other(people: People) -> None:
    with pytest.raises(NotAllowed):
        people.ann.as_principal(Principal("globex", "dan", (), PERMISSIONS))
    with pytest.raises(NotAllowed):
        list(people.ann.export(Principal("globex", "dan", (), PERMISSIONS)))
    with pytest.raises(NotAllowed):
        people.root.paks  # noqa: B018


def test_a_file_opened_for_a_principal_belongs_to_it(
    open_memory: Callable[..., Recollect],
) -> None:
    with open_memory(principal=Principal("acme", "ann", (), ("read", "write"))) as memory:
        memory.remember("mine", pak_id="p")
        assert memory.principal.id == "ann"
        with pytest.raises(NotAllowed):
            memory.as_principal(Principal("acme", "bob"))
    with open_memory() as memory:
        assert memory.get("p") is None
        assert memory.as_principal(Principal("acme", "ann")).get("p") is not None


@pytest.mark.parametrize(
    "given",
    [
        {"tenant": ""},
        {"id": " ann"},
        {"id": "a\nb"},
        {"id": "a" * 201},
        {"teams": "red"},
        {"teams": [7]},
        {"permissions": ["fly"]},
        {"permissions": "read"},
    ],
)
def test_a_principal_is_checked(given: dict[str, Any]) -> None:
    assert told(lambda: Principal(**given))[1] == "invalid_input"


def test_writing_to_a_team_of_others_is_refused(people: People) -> None:
    with pytest.raises(NotAllowed, match="not in the team"):
        people.bob.remember("x", scope="team", team="red")
    with pytest.raises(InvalidInput, match="which team"):
        people.bob.remember("x", scope="team")


def test_nobody_writes_over_what_is_not_theirs(people: People) -> None:
    people.ann.remember("mine", pak_id="p", scope="company")
    people.bob.remember("bob's", pak_id="q")
    for who, name in ((people.bob, "p"), (people.root, "p"), (people.dan, "p"), (people.ann, "q")):
        assert told(lambda w=who, n=name: w.remember("x", pak_id=n))[1] == "pak_id_taken"  # type: ignore[misc]
    assert people.ann.get("p").content == "mine"  # type: ignore[union-attr]


def test_min_confidence_counts_what_a_word_is_worth_here(people: People) -> None:
    people.root.gardens.create("lab", tier=0.5)
    people.root.trust.set("paper", 0.4)
    people.root.remember("redis sure", pak_id="sure", confidence=0.9)
    people.root.remember("redis in the lab", pak_id="lab", confidence=0.9, garden="lab")
    people.root.remember("redis in the paper", pak_id="paper", confidence=0.9, source="paper")
    shown = {
        least: {
            one.fact.pak_id for one in people.root.recall("redis", min_confidence=least).results
        }
        for least in (0.0, 0.36, 0.4, 0.46, 0.91)
    }
    assert shown == {
        0.0: {"sure", "lab", "paper"},
        0.36: {"sure", "lab", "paper"},
        0.4: {"sure", "lab"},
        0.46: {"sure"},
        0.91: set(),
    }
    signals = {one.fact.pak_id: one.signals for one in people.root.recall("redis").results}
    assert signals["lab"].confidence == 0.45
    assert signals["paper"].confidence == 0.36
