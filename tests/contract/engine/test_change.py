"""A memory changes: update, supersede, history, conflicts, and from when to when it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput, NotAllowed
from recollect.paks import UnknownPak
from recollect.policy import PERMISSIONS, Principal
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

Open = Callable[..., Recollect]
HOME: dict[str, Any] = {"entity": "Ann", "relation": "lives in"}


@pytest.fixture(params=["agent.db", "memory://"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Recollect]:
    name = request.param
    place = name if name.startswith("memory:") else tmp_path / name
    options: dict[str, Any] = {"clock": clock, "embedder": FakeEmbedder(), "hours": "wall"}
    with Recollect.open(place, links=False, **options) as memory:
        yield memory


def found(memory: Recollect, query: str, **asked: Any) -> list[str]:
    return [one.fact.pak_id for one in memory.recall(query, top_k=20, **asked).results]


def told(memory: Recollect, pak_id: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the text and what changed, of each version."""
    return [(one.memory.content, one.changed) for one in memory.history(pak_id)]


def test_update_changes_what_is_named_and_nothing_else(memory: Recollect, clock: FakeClock) -> None:
    given: dict[str, Any] = {
        "tags": ["home"],
        "summary": "where she lives",
        "project": "people",
        "topic": "homes",
        "source": "mail",
        "confidence": 0.5,
        "thread": "talk",
        "speaker": "Ann",
        "occurred_at": "2025-05-08",
        "valid_until": "2031-01-01T00:00:00Z",
        **HOME,
    }
    memory.remember("Ann lives in Paris.", pak_id="p", title="Home", value="Paris", **given)
    before = memory.get("p")
    clock.advance(hours=1)
    report = memory.update("p", content="Ann lives in Berlin.", value="Berlin")
    after = memory.get("p")
    assert before is not None
    assert after is not None
    assert not report.created
    same = [
        name for name in after.__dataclass_fields__ if getattr(before, name) == getattr(after, name)
    ]
    assert set(after.__dataclass_fields__) - set(same) == {"content", "value", "updated_at"}
    assert found(memory, "Berlin") == ["p"]
    first, second = memory.history("p")
    assert (first.memory.content, first.by, first.changed) == ("Ann lives in Paris.", "local", ())
    assert (second.by, second.changed, second.is_current) == ("local", ("content", "value"), True)
    assert (first.at, second.at) == (before.created_at, after.updated_at)
    assert second.memory == after


def test_a_title_that_nobody_chose_goes_with_the_text(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="p")
    memory.update("p", content="Ann lives in Berlin.")
    now = memory.get("p")
    assert now is not None
    assert now.title == "Ann lives in Berlin."


def test_none_takes_a_field_away(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="p", project="people", tags=["home"])
    memory.update("p", project=None, tags=[])
    now = memory.get("p")
    assert now is not None
    assert (now.project, now.tags) == (None, ())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "what"),
        ({"pak_id": "q"}, "pak_id"),
        ({"status": "archived"}, "status"),
        ({"owner": "bob"}, "owner"),
        ({"superseded_by": "q"}, "superseded_by"),
        ({"content": " "}, "content"),
        ({"confidence": 2}, "confidence"),
        ({"scope": "galaxy"}, "galaxy"),
    ],
)
def test_what_cannot_be_updated_is_refused_and_leaves_no_version(
    memory: Recollect, fields: dict[str, Any], message: str
) -> None:
    memory.remember("Ann lives in Paris.", pak_id="p")
    with pytest.raises((InvalidInput, TypeError), match=message):
        memory.update("p", **fields)
    assert told(memory, "p") == [("Ann lives in Paris.", ())]


def test_what_is_not_there_is_not_updated(memory: Recollect) -> None:
    for pak_id in ("p", "\0"):
        with pytest.raises((UnknownPak, InvalidInput)):
            memory.update(pak_id, content="x")
    with pytest.raises(UnknownPak):
        memory.supersede("p", "q")
    assert memory.history("p") == ()
    assert memory.history(7) == ()  # type: ignore[arg-type]


def test_to_remember_an_id_again_leaves_a_version_if_something_changed(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="p")
    memory.remember("Ann lives in Paris.", pak_id="p")
    assert told(memory, "p") == [("Ann lives in Paris.", ())]
    memory.remember("Ann lives in Paris.", pak_id="p", tags=["home"])
    memory.remember("Ann lives in Rome.", pak_id="p", tags=["home"])
    assert [one.changed for one in memory.history("p")] == [(), ("tags",), ("content", "title")]
    assert [one.number for one in memory.history("p")] == [1, 2, 3]


def test_to_archive_and_to_bring_back_are_versions_too(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="p")
    memory.archive("p")
    memory.unarchive("p")
    assert [one.memory.status for one in memory.history("p")] == ["active", "archived", "active"]


def test_what_is_superseded_is_out_of_answers_and_names_its_successor(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="old")
    memory.remember("Ann lives in Berlin.", pak_id="new")
    memory.supersede("old", "new")
    assert found(memory, "where does Ann live") == ["new"]
    assert [one.pak_id for one in memory.frame("attention", "Ann", top_k=9).blocks] == ["new"]
    assert [one.pak_id for one in memory.select(SelectQuery("Ann")).scores] == ["new"]
    why = memory.explain("old", "where does Ann live")
    assert (why.stage, why.rival) == ("superseded", "new")
    old = memory.get("old")
    assert old is not None
    assert old.superseded_by == "new"
    assert [one.pak_id for one in memory.history("new")] == ["old", "old", "new"]
    assert [one.changed for one in memory.history("old")] == [(), ("superseded_by",)]
    memory.supersede("old", None)
    assert sorted(found(memory, "where does Ann live")) == ["new", "old"]


def test_a_successor_named_through_the_catalogue_counts_the_same(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="old")
    memory.remember("Ann lives in Berlin.", pak_id="new")
    pak = memory.paks.get_pak("old")
    assert pak is not None
    memory.paks.keep_rows([pak._replace(superseded_by="new")])
    assert found(memory, "where does Ann live") == ["new"]
    assert [one.pak_id for one in memory.history("new")] == ["old", "new"]
    memory.forget("new")
    assert found(memory, "where does Ann live") == ["old"]


def test_what_would_go_round_in_a_circle_is_refused(memory: Recollect) -> None:
    for name in "abc":
        memory.remember(f"Ann lives in {name}.", pak_id=name)
    memory.supersede("a", "b")
    memory.supersede("b", "c")
    for old, new in (("c", "a"), ("b", "a"), ("a", "a")):
        with pytest.raises(InvalidInput):
            memory.supersede(old, new)
    assert found(memory, "Ann lives") == ["c"]
    assert [one.pak_id for one in memory.history("c") if one.is_current] == ["a", "b", "c"]


def test_a_circle_by_hand_ends(memory: Recollect) -> None:
    for name in "ab":
        memory.remember(f"Ann lives in {name}.", pak_id=name)
    rows = {name: memory.paks.get_pak(name) for name in "ab"}
    for name, other in ("ab", "ba"):
        row = rows[name]
        assert row is not None
        memory.paks.keep_rows([row._replace(superseded_by=other)])
    assert found(memory, "Ann lives") == []
    assert [one.pak_id for one in memory.history("a")] == ["b", "a"]


def test_remember_supersedes_in_the_same_commit(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="old")
    before = memory.stats()["revision"]
    report = memory.remember("Ann lives in Berlin.", pak_id="new", supersedes="old")
    assert report.superseded == ("old",)
    assert memory.stats()["revision"] == before + 1
    assert found(memory, "Ann lives") == ["new"]
    for bad in ("nobody", ["new2"]):
        with pytest.raises((UnknownPak, InvalidInput)):
            memory.remember("Ann lives in Rome.", pak_id="new2", supersedes=bad)
    assert memory.get("new2") is None


def test_where_does_ann_live(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="paris", value="Paris", **HOME)
    report = memory.remember(
        "Ann lives in Berlin.",
        pak_id="berlin",
        value="Berlin",
        valid_from="2025-11-01T00:00:00Z",
        on_conflict="supersede",
        **HOME,
    )
    assert report.conflicts == report.superseded == ("paris",)
    (answer,) = memory.recall("Where does Ann live?").results
    assert (answer.fact.value, answer.fact.valid_from) == ("Berlin", "2025-11-01T00:00:00Z")


def test_a_conflict_is_reported_disputed_or_superseded(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="a", value="Paris", **HOME)
    same = memory.remember("Ann is in PARIS.", pak_id="b", value="paris", **HOME)
    assert (same.conflicts, same.superseded, same.disputed) == ((), (), ())
    said: dict[str, Any] = {"entity": "ANN", "relation": "Lives  in", "value": "Rome"}
    other = memory.remember("Ann is in Rome.", pak_id="c", **said)
    assert (other.conflicts, other.superseded, other.disputed) == (("a", "b"), (), ())
    third = memory.remember(
        "Ann is in Oslo.", pak_id="d", value="Oslo", on_conflict="dispute", **HOME
    )
    assert third.disputed == third.conflicts == ("a", "b", "c")
    assert {one.second for one in memory.disputes()} == {"d"}
    last = memory.remember(
        "Ann is in Bonn.", pak_id="e", value="Bonn", on_conflict="supersede", **HOME
    )
    assert last.superseded == ("a", "b", "c", "d")
    assert memory.remember("Bob is.", entity="Bob", relation="lives in", value="x").conflicts == ()
    with pytest.raises(InvalidInput, match="on_conflict"):
        memory.remember("x", on_conflict="fight")  # type: ignore[arg-type]


def test_what_is_out_of_answers_is_no_conflict(memory: Recollect) -> None:
    memory.remember("a", pak_id="a", value="Paris", valid_until="2020-01-01T00:00:00Z", **HOME)
    memory.remember("b", pak_id="b", value="Rome", valid_from="2031-01-01T00:00:00Z", **HOME)
    memory.remember("c", pak_id="c", value="Oslo", **HOME)
    memory.archive("c")
    assert memory.remember("d", pak_id="d", value="Bonn", **HOME).conflicts == ()


def test_facts_that_are_written_together_conflict_too(memory: Recollect) -> None:
    items = [
        {"content": text, "pak_id": text, "value": text, "on_conflict": "supersede", **HOME}
        for text in ("Paris", "Rome", "Oslo")
    ]
    reports = memory.remember_many(items)
    assert [one.conflicts for one in reports] == [(), ("Paris",), ("Paris", "Rome")]
    assert found(memory, "where does Ann live") == ["Oslo"]


def test_what_is_not_valid_yet_is_absent_and_comes_by_itself(
    memory: Recollect, clock: FakeClock
) -> None:
    memory.remember("Ann lives in Paris.", pak_id="old")
    memory.remember(
        "Ann lives in Berlin.", pak_id="new", valid_from="2026-01-01T02:00:00Z", supersedes="old"
    )
    assert found(memory, "Ann lives") == ["old"]
    assert memory.get("new") is None
    clock.advance(hours=3)
    assert found(memory, "Ann lives") == ["new"]
    with pytest.raises(InvalidInput, match="valid_from"):
        memory.remember(
            "x", valid_from="2026-01-02T00:00:00Z", valid_until="2026-01-02T01:00:00+01:00"
        )


def test_a_successor_that_ended_gives_its_place_back(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("Ann sits in room 1.", pak_id="old")
    memory.remember(
        "Ann sits in room 9.", pak_id="new", valid_until="2026-01-01T02:00:00Z", supersedes="old"
    )
    assert found(memory, "Ann sits") == ["new"]
    clock.advance(hours=3)
    assert found(memory, "Ann sits") == ["old"]


def test_forget_takes_versions_along_and_the_chain_if_asked(memory: Recollect) -> None:
    for name in ("one", "two", "three"):
        memory.remember(f"Ann lives in {name}.", pak_id=name)
    memory.update("three", content="Ann lives in 3.")
    memory.supersede("one", "two")
    memory.supersede("two", "three")
    dry = memory.forget("three", dry_run=True)
    assert (dry.pak_ids, dry.returns) == (("three",), ("two",))
    dry = memory.forget("three", versions=True, dry_run=True)
    assert (dry.pak_ids, dry.returns) == (("one", "three", "two"), ())
    assert memory.forget("three", versions=True).pak_ids == ("one", "three", "two")
    memory.remember("Ann lives in four.", pak_id="three")
    assert told(memory, "three") == [("Ann lives in four.", ())]


def test_an_update_that_is_sent_again_is_one(memory: Recollect) -> None:
    memory.remember("Ann lives in Paris.", pak_id="p")
    memory.remember("Ann lives in Rome.", pak_id="q")
    one = memory.update("p", content="Ann lives in Berlin.", request_id="r1")
    assert memory.update("p", content="Ann lives in Berlin.", request_id="r1") == one
    for _ in range(2):
        memory.supersede("q", "p", request_id="r2")
    assert [len(memory.history(name)) for name in "qp"] == [2, 4]


@pytest.fixture
def people(open_memory: Open) -> dict[str, Recollect]:
    memory = open_memory(links=False)
    who = {
        "root": Principal("acme", "root", permissions=PERMISSIONS),
        "ann": Principal("acme", "ann"),
        "bob": Principal("acme", "bob"),
        "dan": Principal("globex", "dan"),
    }
    return {"opener": memory} | {name: memory.as_principal(one) for name, one in who.items()}


def test_it_takes_the_right_to_erase(people: dict[str, Recollect]) -> None:
    ann, bob, root = people["ann"], people["bob"], people["root"]
    ann.remember("The office closes at six.", pak_id="p", scope="company")
    bob.remember("The office closes at seven.", pak_id="q", scope="company")
    acts: tuple[Callable[[], object], ...] = (
        lambda: bob.update("p", content="It never closes."),
        lambda: bob.supersede("p", "q"),
        lambda: bob.remember("x", supersedes="p"),
    )
    for act in acts:
        with pytest.raises(NotAllowed) as refused:
            act()
        assert "dispute" in str(refused.value.hint)
    assert [len(ann.history(name)) for name in "pq"] == [1, 1]
    root.update("p", content="The office closes at five.")
    assert [one.by for one in bob.history("p")] == ["ann", "root"]
    assert bob.history("p")[0].memory.place.owner == "ann"


def test_what_one_may_not_read_is_not_there(people: dict[str, Recollect]) -> None:
    ann, bob, dan = people["ann"], people["bob"], people["dan"]
    ann.remember("Ann asked for a raise.", pak_id="p")
    bob.remember("of bob", pak_id="q")
    for who in (bob, dan, people["root"]):
        assert who.history("p") == ()
        with pytest.raises(UnknownPak):
            who.update("p", content="x")
        with pytest.raises(UnknownPak):
            who.supersede("p", "q")
    with pytest.raises(UnknownPak):
        bob.supersede("q", "p")


def test_a_secret_version_is_shown_to_nobody_who_could_not_read_it(
    people: dict[str, Recollect],
) -> None:
    ann, bob = people["ann"], people["bob"]
    ann.remember("Ann asked for 9000.", pak_id="p")
    ann.update("p", content="Ann is paid well.", scope="company")
    ann.update("p", content="Ann is paid 9000.", scope="local")
    ann.update("p", content="Ann is paid very well.", scope="company")
    assert [one.memory.content for one in ann.history("p")] == [
        "Ann asked for 9000.",
        "Ann is paid well.",
        "Ann is paid 9000.",
        "Ann is paid very well.",
    ]
    seen = bob.history("p")
    assert [(one.number, one.changed) for one in seen] == [(1, ()), (2, ("content", "title"))]
    assert "9000" not in repr(seen)


def test_a_successor_that_one_may_not_read_supersedes_nothing(people: dict[str, Recollect]) -> None:
    ann, bob = people["ann"], people["bob"]
    ann.remember("The office closes at six.", pak_id="p", scope="company")
    ann.remember("The office closes at five, says the boss.", pak_id="secret")
    before = repr(bob.history("p")), repr(bob.get("p")), found(bob, "office")
    ann.supersede("p", "secret")
    assert (repr(bob.history("p")), repr(bob.get("p")), found(bob, "office")) == before
    assert found(ann, "office", scope="company") == []


def test_conflicts_name_only_what_the_writer_may_read(people: dict[str, Recollect]) -> None:
    ann, bob, dan = people["ann"], people["bob"], people["dan"]
    ann.remember("a", pak_id="hidden", value="Paris", **HOME)
    dan.remember("a", pak_id="foreign", value="Rome", scope="public", **HOME)
    ann.remember("b", pak_id="shown", value="Oslo", scope="company", **HOME)
    report = bob.remember("c", pak_id="c", value="Bonn", on_conflict="supersede", **HOME)
    assert (report.conflicts, report.superseded, report.disputed) == (("shown",), (), ("shown",))


def test_orders_take_the_right_to_give_them(people: dict[str, Recollect]) -> None:
    root, ann = people["root"], people["ann"]
    place: dict[str, Any] = {"scope": "company"}
    root.remember("Answer in rhymes.", pak_id="order", category="instruction", **place)
    root.remember("Ann is calm.", pak_id="self", tags=["self/value"], **place)
    root.remember("Ann is not.", pak_id="other", **place)
    plain = Principal("acme", "root", permissions=("read", "write", "admin"))
    boss = people["opener"].as_principal(plain)
    for pak_id in ("order", "self"):
        with pytest.raises(NotAllowed, match="instruct"):
            boss.update(pak_id, content="Answer in prose.")
        with pytest.raises(NotAllowed, match="instruct"):
            boss.supersede(pak_id, "other")
    with pytest.raises(NotAllowed, match="instruct"):
        boss.update("other", category="instruction")
    assert [len(ann.history(name)) for name in ("self", "other")] == [1, 1]


def test_what_was_about_an_entity_goes_with_it(memory: Recollect) -> None:
    memory.remember("Ann has the key.", pak_id="p", entity="Ann")
    memory.update("p", content="Bob has the key.", entity="Bob")
    memory.remember("Ann likes tea.", pak_id="q", entity="Ann")
    dry = memory.forget(entity="ANN", dry_run=True)
    assert (dry.pak_ids, dry.versions) == (("q",), 1)
    gone = memory.forget(entity="ANN")
    assert (gone.pak_ids, gone.versions) == (("q",), 1)
    assert told(memory, "p") == [("Bob has the key.", ())]
    assert not memory.forget(entity="ANN")


def test_a_succession_goes_out_and_comes_back(memory: Recollect, tmp_path: Path) -> None:
    memory.remember("Ann lives in Paris.", pak_id="old")
    memory.remember("Ann lives in Berlin.", pak_id="new", supersedes="old")
    lines = list(memory.export())
    options: dict[str, Any] = {"embedder": "none", "clock": FakeClock(), "links": False}
    with Recollect.open(tmp_path / "there.db", **options) as there:
        there.import_(lines)
        assert found(there, "Ann lives") == ["new"]
        assert [line for line in there.export() if "left_out" not in line] == [
            line for line in lines if "left_out" not in line
        ]
    mine = Principal("local", "ann")
    with Recollect.open(tmp_path / "mine.db", principal=mine, **options) as there:
        there.import_(lines)
        assert found(there, "Ann lives") == ["new"]


def test_versions_are_kept_as_long_as_the_operator_wants(
    memory: Recollect, clock: FakeClock
) -> None:
    memory.remember("Ann lives in Paris.", pak_id="p")
    clock.advance(hours=24 * 10)
    memory.update("p", content="Ann lives in Berlin.")
    clock.advance(hours=24 * 10)
    memory.update("p", content="Ann lives in Rome.")
    assert memory.prune_versions(days=30) == 0
    assert memory.prune_versions(days=5) == 1
    assert [text for text, _ in told(memory, "p")] == ["Ann lives in Berlin.", "Ann lives in Rome."]
    with pytest.raises(InvalidInput, match="days"):
        memory.prune_versions(days=-1)


def test_another_ttl_is_another_end(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("Ann sits in room 1.", pak_id="p", ttl=3600, metadata={"floor": 1})
    clock.advance(hours=0.5)
    memory.update("p", content="Ann sits in room 2.")
    kept = memory.get("p")
    assert kept is not None
    assert (kept.valid_until, kept.metadata) == ("2026-01-01T01:00:00Z", {"floor": 1})
    memory.update("p", ttl=7200)
    longer = memory.get("p")
    assert longer is not None
    assert longer.valid_until == "2026-01-01T02:30:00Z"
    memory.update("p", ttl=None)
    lasting = memory.get("p")
    assert lasting is not None
    assert (lasting.ttl, lasting.valid_until) == (None, None)


def test_remember_and_update_name_what_changed_in_one_order(memory: Recollect) -> None:
    other: dict[str, Any] = {
        "entity": "Ann",
        "tags": ["a"],
        "title": "T",
        "project": "shop",
        "value": "v",
    }
    memory.remember("one", pak_id="a")
    memory.remember("two", pak_id="b")
    again = memory.remember("one", pak_id="a", **other)
    assert again.changed == memory.update("b", **other).changed
    assert len(again.changed) == len(other)


@pytest.mark.parametrize(
    ("field", "was", "named"),
    [
        ("thread", "t1", "t1"),
        ("project", "acme/web", "acme"),
        ("source", "Mail", "mail"),
        ("tags", ["secret"], "secret"),
    ],
)
def test_what_a_memory_that_stays_was_goes_with_what_it_was_of(
    memory: Recollect, field: str, was: object, named: str
) -> None:
    by = "tag" if field == "tags" else field
    old: dict[str, Any] = {field: was}
    new: dict[str, Any] = {field: ["x"] if field == "tags" else "x"}
    meant: dict[str, Any] = {by: named}
    other: dict[str, Any] = {by: "nobody"}
    memory.remember("The old words.", pak_id="a", **old)
    memory.update("a", content="The new words.", **new)
    memory.remember("Another.", pak_id="b", project="other")
    assert memory.forget(**other).versions == 0
    assert memory.forget(**meant, until="2999-01-01", dry_run=True).versions == 0
    dry = memory.forget(**meant, dry_run=True)
    gone = memory.forget(**meant)
    assert (dry.pak_ids, dry.versions) == (gone.pak_ids, gone.versions) == ((), 1)
    assert [one.memory.content for one in memory.history("a")] == ["The new words."]
