"""What takes a permission is refused without it, and then nothing has changed; acts are noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.contract.policy.conftest import People

from recollect import Recollect
from recollect.errors import NotAllowed
from recollect.model import PERMISSIONS, RecallRequest
from recollect.paks import UnknownPak
from recollect.policy import Principal
from recollect.recall.select import SelectQuery
from recollect.testing import FakeEmbedder

LINE = '{"kind": "memory", "content": "x"}'
FACT = {"content": "x"}

# Each verb, and the permission without which it is refused.
VERBS: dict[str, tuple[str, Callable[[Recollect], object]]] = {
    "recall": ("read", lambda m: m.recall("x")),
    "respond": ("read", lambda m: m.respond(RecallRequest("x"))),
    "frame": ("read", lambda m: m.frame("attention", "x")),
    "preview": ("read", lambda m: m.preview("attention", "x", recipe={"token_budget": 9})),
    "select": ("read", lambda m: m.select(SelectQuery("x"))),
    "explain": ("read", lambda m: m.explain("p", "x")),
    "explain a frame": ("read", lambda m: m.explain("p", "x", frame="attention")),
    "explain a selection": ("read", lambda m: m.explain("p", SelectQuery("x"))),
    "get": ("read", lambda m: m.get("p")),
    "inspect": ("read", lambda m: m.inspect("p")),
    "history": ("read", lambda m: m.history("p")),
    "list": ("read", lambda m: m.list()),
    "ids": ("read", lambda m: m.ids("pak_")),
    "why": ("read", lambda m: m.why("recall_0")),
    "receipts": ("read", lambda m: m.receipts()),
    "disputes": ("read", lambda m: m.disputes()),
    "export": ("read", lambda m: list(m.export())),
    "stats": ("read", lambda m: m.stats()),
    "gardens.list": ("read", lambda m: m.gardens.list()),
    "gardens.members": ("read", lambda m: m.gardens.members("lab")),
    "quarantine.list": ("read", lambda m: m.quarantine.list()),
    "trust.list": ("read", lambda m: m.trust.list()),
    "trust.of": ("read", lambda m: m.trust.of("peer")),
    "remember": ("write", lambda m: m.remember("x")),
    "remember_many": ("write", lambda m: m.remember_many(["x"])),
    "ingest": ("write", lambda m: m.ingest([FACT], source="peer")),
    "import_": ("write", lambda m: m.import_([LINE])),
    "update": ("write", lambda m: m.update("p", content="x")),
    "touch": ("write", lambda m: m.touch("p")),
    "link": ("write", lambda m: m.link("p", "q")),
    "dispute": ("write", lambda m: m.dispute("p", "q")),
    "resolve": ("write", lambda m: m.resolve("p", "q")),
    "retry_pending": ("write", lambda m: m.retry_pending()),
    "audit": ("admin", lambda m: m.audit()),
    "tidy": ("admin", lambda m: m.tidy()),
    "gardens.create": ("admin", lambda m: m.gardens.create("new")),
    "trust.set": ("admin", lambda m: m.trust.set("peer", 0.1)),
    "keys.create": ("admin", lambda m: m.keys.create(Principal("acme", "x", (), ()))),
    "keys.list": ("admin", lambda m: m.keys.list()),
    "keys.revoke": ("admin", lambda m: m.keys.revoke("0" * 12)),
    "frames.register": ("admin", lambda m: m.frames.register("new", extends="task")),
    "frames.update": ("admin", lambda m: m.frames.update("mine", token_budget=9)),
    "frames.delete": ("admin", lambda m: m.frames.delete("mine")),
    "instruct": ("instruct", lambda m: m.remember("x", category="instruction")),
}

# What acts on all tenants at once: whoever opened the store does it, and no principal.
OF_THE_STORE: dict[str, Callable[[Recollect], object]] = {
    "reembed": lambda m: m.reembed(FakeEmbedder(8, model_id="new")),
    "reembed by name": lambda m: m.reembed("none"),
    "reindex": lambda m: m.reindex(),
    "check": lambda m: m.check(),
    "examine": lambda m: m.examine(),
    "repair": lambda m: m.repair(),
    "backup": lambda m: m.backup(m.path.with_name("copy.db")),
    "prune_versions": lambda m: m.prune_versions(days=1),
    "head": lambda m: m.head(),
    "figures": lambda m: m.figures(),
    "holdings": lambda m: m.holdings("acme"),
}


def everything(memory: Recollect) -> list[Any]:
    """Return every row of every table."""
    conn = memory.paks.conn
    tables = conn.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'paks_fts%'"
    ).fetchall()
    return [conn.execute(f"SELECT * FROM {name}").fetchall() for (name,) in sorted(tables)]


@pytest.fixture
def filled(people: People) -> People:
    people.root.gardens.create("lab")
    people.root.gardens.add("lab", "eve", "writer")
    people.root.frames.register("mine", extends="task")
    people.root.remember("redis", pak_id="p", scope="company")
    people.root.remember("queue", pak_id="q", scope="company")
    return people


@pytest.mark.parametrize("verb", VERBS)
def test_without_its_permission_a_verb_is_refused_and_changes_nothing(
    filled: People, verb: str
) -> None:
    permission, act = VERBS[verb]
    others = tuple(one for one in PERMISSIONS if one != permission)
    eve = filled.opener.as_principal(Principal("acme", "eve", (), others))
    before = everything(filled.opener)
    with pytest.raises(NotAllowed) as error:
        act(eve)
    assert error.value.code == "not_allowed"
    assert error.value.hint
    assert everything(filled.opener) == before


@pytest.mark.parametrize("verb", VERBS)
def test_with_its_permission_it_is_done(filled: People, verb: str) -> None:
    act = VERBS[verb][1]
    eve = filled.opener.as_principal(Principal("acme", "eve", (), PERMISSIONS))
    act(eve)


@pytest.mark.parametrize("verb", OF_THE_STORE)
def test_h5_what_acts_on_the_whole_store_is_for_whoever_opened_it(
    filled: People, verb: str
) -> None:
    before = everything(filled.opener)
    for who in (filled.root, filled.dan):
        with pytest.raises(NotAllowed) as error:
            OF_THE_STORE[verb](who)
        assert "Recollect.open" in str(error.value.hint)
    assert everything(filled.opener) == before
    OF_THE_STORE[verb](filled.opener)


def test_h5_an_embedder_of_a_tenant_is_given_no_text(filled: People) -> None:
    embedder = FakeEmbedder(8, model_id="curious")
    with pytest.raises(NotAllowed):
        filled.dan.reembed(embedder)
    assert embedder.calls == 0


MANAGING: dict[str, Callable[[Recollect], object]] = {
    "add": lambda m: m.gardens.add("lab", "eve", "writer"),
    "remove": lambda m: m.gardens.remove("lab", "bob"),
    "update": lambda m: m.gardens.update("lab", tier=0.1),
    "delete": lambda m: m.gardens.delete("lab"),
}


@pytest.mark.parametrize("act", MANAGING)
@pytest.mark.parametrize("permissions", [(), ("read",), ("read", "moderate", "instruct")])
def test_m7_a_role_in_a_garden_counts_for_no_more_than_the_key_allows(
    people: People, act: str, permissions: tuple[Any, ...]
) -> None:
    people.root.gardens.create("lab")
    people.root.gardens.add("lab", "ann", "admin")
    people.root.gardens.add("lab", "bob", "reader")
    key = people.opener.as_principal(Principal("acme", "ann", (), permissions))
    before = everything(people.opener)
    with pytest.raises(NotAllowed):
        MANAGING[act](key)
    assert everything(people.opener) == before
    MANAGING[act](people.ann)


def test_m7_who_may_only_read_judges_nothing_as_a_moderator_of_a_garden(people: People) -> None:
    people.root.gardens.create("lab")
    people.root.gardens.add("lab", "bob", "moderator")
    people.root.trust.set("rumour", 0.1)
    (item,) = people.root.ingest([{"content": "x"}], source="rumour", garden="lab").items
    key = people.opener.as_principal(Principal("acme", "bob", (), ("read",)))
    assert key.quarantine.list() == ()
    with pytest.raises(NotAllowed):
        key.recall("x", include_quarantined=True)
    with pytest.raises(UnknownPak):
        key.quarantine.promote(str(item.pak_id))
    assert [one.slug for one in key.gardens.list()] == ["lab"]
    people.bob.quarantine.promote(str(item.pak_id))
    assert len(key.recall("x").results) == 1


def test_every_verb_is_in_the_list() -> None:
    named = {verb.split(".")[0].split(" ")[0] for verb in VERBS} | {"forget", "principal_for"}
    named |= {"archive", "unarchive", "supersede", *OF_THE_STORE}
    free = {"open", "as_principal", "close", "path", "principal", "paks", "hooks", "frames", "keys"}
    free |= {"catalogue", "gardens", "quarantine", "trust"}
    public = {name for name in dir(Recollect) if not name.startswith("_")}
    assert public - free - named == set()


def test_forgetting_and_archiving_take_the_right_to_write_or_to_administrate(
    filled: People,
) -> None:
    for permissions in (("read",), ("read", "moderate", "instruct"), ()):
        eve = filled.opener.as_principal(Principal("acme", "root", (), permissions))
        before = everything(filled.opener)
        for what in ({"pak_id": "p"}, {"pak_id": "never"}, {"entity": "Redis"}):
            with pytest.raises(NotAllowed):
                eve.forget(**what)  # type: ignore[arg-type]
        for act in (eve.archive, eve.unarchive):
            for pak_id in ("p", "never"):
                with pytest.raises(NotAllowed):
                    act(pak_id)
        assert everything(filled.opener) == before


def test_only_the_owner_and_admins_erase_or_archive(filled: People) -> None:
    filled.root.remember("in the lab", pak_id="g", garden="lab", entity="Redis")
    filled.ann.remember("redis of ann", pak_id="a", entity="redis")
    for who in (filled.bob, filled.dan):
        assert not any(who.archive(pak_id) for pak_id in ("p", "g", "a"))
        assert who.forget(["p", "g", "a"]).pak_ids == ()
        assert who.forget(entity="Redis").pak_ids == ()
    assert filled.ann.forget(entity="Redis").pak_ids == ("a",)
    filled.root.gardens.add("lab", "bob", "admin")
    assert filled.bob.forget(["p", "g"]).pak_ids == ("g",)
    assert filled.root.forget(["p", "q"]).pak_ids == ("p", "q")


def test_acts_are_noted_with_who_what_and_when(people: People) -> None:
    people.root.gardens.create("lab")
    people.root.gardens.add("lab", "ann", "writer")
    people.root.gardens.update("lab", tier=0.5)
    people.root.trust.set("stranger", 0.1)
    people.ann.remember("a text of ann's", garden="lab", entity="Carla")
    (item,) = people.ann.ingest(
        [{"content": "words of a stranger"}], source="stranger", garden="lab"
    ).items
    people.root.gardens.add("lab", "root", "admin")
    people.root.quarantine.reject(str(item.pak_id))
    key = people.root.keys.create(Principal("acme", "ann", (), ("read",)))
    people.root.keys.revoke(key.row.prefix)
    people.root.recall("a question that nobody should see")
    people.root.forget(entity="Carla")
    people.root.gardens.remove("lab", "ann")
    people.root.gardens.delete("lab")
    acts = people.root.audit()[::-1]
    assert [(act.principal, act.act) for act in acts] == [
        ("root", "garden.create"),
        ("root", "garden.add"),
        ("root", "garden.update"),
        ("root", "trust.set"),
        ("ann", "ingest"),
        ("root", "garden.add"),
        ("root", "quarantine.reject"),
        ("root", "key.create"),
        ("root", "key.revoke"),
        ("root", "forget"),
        ("root", "garden.remove"),
        ("root", "garden.delete"),
    ]
    assert {(act.at, act.tenant) for act in acts} == {("2026-01-01T00:00:00Z", "acme")}
    said = repr(acts)
    for word in ("text of ann", "words of", "question", "Carla", key.secret.split("_", 2)[2]):
        assert word not in said
    assert people.dan.audit() == []


def test_names_that_people_chose_are_noted(people: People) -> None:
    people.root.gardens.create("lab")
    people.root.gardens.add("lab", "ann", "writer")
    people.root.trust.set("stranger", 0.1)
    people.root.frames.register("mine", extends="task")
    said = [f"{act.target} {act.detail}" for act in people.root.audit()[::-1]]
    for name, noted in zip(("lab", "ann", "stranger", "mine"), said, strict=True):
        assert name in noted


def test_an_act_that_failed_is_not_noted(people: People) -> None:
    people.root.gardens.create("lab")
    with pytest.raises(NotAllowed):
        people.root.gardens.remove("lab", "root")
    with pytest.raises(ValueError, match="already"):
        people.root.gardens.create("lab")
    assert [act.act for act in people.root.audit()] == ["garden.create"]


def test_the_log_is_read_in_pages(people: People) -> None:
    for number in range(5):
        people.root.trust.set(f"source {number}", 0.5)
    first = people.root.audit(limit=2)
    rest = people.root.audit(limit=10, before=first[-1].number)
    assert [act.target for act in (*first, *rest)] == [f"source {n}" for n in range(4, -1, -1)]


def test_the_act_and_its_note_are_one_transaction(people: People) -> None:
    conn = people.opener.paks.conn
    conn.execute(
        "CREATE TRIGGER no_notes BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    with pytest.raises(Exception, match="no"):
        people.root.trust.set("peer", 0.1)
    conn.execute("DROP TRIGGER no_notes")
    assert people.root.trust.list() == {}
