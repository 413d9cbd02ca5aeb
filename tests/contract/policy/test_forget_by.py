"""Forget by thread, project, tag, owner, source, time and filter: what is meant, and no more."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contract.policy.conftest import People

from recollect.errors import InvalidInput, NotAllowed
from recollect.model import PERMISSIONS, Principal


@pytest.fixture
def filled(people: People) -> People:
    for pak_id, who, given in (
        ("a1", people.ann, {"thread": "t1", "project": "acme/web", "tags": ["x"]}),
        ("a2", people.ann, {"thread": "t1", "project": "acmeX", "occurred_at": "2023-05-01"}),
        ("a3", people.ann, {"thread": "t2", "project": "acme", "source": "Mail"}),
        ("a4", people.ann, {"scope": "company", "thread": "t1", "metadata": {"n": 4}}),
        ("b1", people.bob, {"thread": "t1", "entity": "Ann", "metadata": {"n": 1}}),
        ("b2", people.bob, {"scope": "company", "thread": "t1", "metadata": {"n": 2}}),
        ("d1", people.dan, {"thread": "t1", "metadata": {"n": 1}}),
    ):
        who.remember(f"the text of {pak_id}", pak_id=pak_id, **given)
    return people


@pytest.mark.parametrize(
    ("who", "asked", "gone"),
    [
        ("ann", {"thread": "t1"}, {"a1", "a2", "a4"}),
        ("ann", {"thread": "t1", "scope": "local"}, {"a1", "a2"}),
        ("ann", {"project": "acme"}, {"a1", "a3"}),
        ("ann", {"project": "acme/web", "thread": "t2"}, set()),
        ("ann", {"tag": "x"}, {"a1"}),
        ("ann", {"source": "mail"}, {"a3"}),
        ("ann", {"owner": "ann", "until": "2023-12-31"}, {"a2"}),
        ("ann", {"owner": "ann", "since": "2023-05-02"}, {"a1", "a3", "a4"}),
        ("ann", {"owner": "bob"}, set()),
        ("ann", {"filter": {"metadata.n": {"gte": 1}}}, {"a4"}),
        ("bob", {"thread": "t1", "entity": "ann"}, {"b1"}),
        ("root", {"owner": "bob"}, {"b1", "b2"}),
        ("root", {"thread": "t1"}, {"a1", "a2", "a4", "b1", "b2"}),
        # What a filter asks for, an admin must be allowed to read.
        ("root", {"filter": {"metadata.n": {"gte": 1}}}, {"a4", "b2"}),
        ("root", {"filter": {"metadata.n": {"gte": 1}}, "owner": "bob"}, {"b2"}),
        ("dan", {"filter": {"not": {"metadata.n": 7}}}, {"d1"}),
    ],
)
def test_the_dry_run_says_exactly_what_goes(
    filled: People, who: str, asked: dict[str, Any], gone: set[str]
) -> None:
    memory = getattr(filled, who)
    told = memory.forget(dry_run=True, **asked)
    assert (set(told.pak_ids), told.dry_run) == (gone, True)
    done = memory.forget(**asked)
    assert done.pak_ids == told.pak_ids
    left = set(filled.opener.paks.conn.execute("SELECT pak_id FROM memories").fetchall())
    assert left == {(one,) for one in {"a1", "a2", "a3", "a4", "b1", "b2", "d1"} - gone}
    assert memory.forget(**asked).pak_ids == ()


def test_what_has_ended_is_erased_with_the_rest(filled: People) -> None:
    filled.ann.remember("over", pak_id="a5", thread="t9", valid_until="2020-01-01T00:00:00Z")
    assert filled.ann.forget(thread="t9").pak_ids == ("a5",)
    filled.ann.remember("over", pak_id="a6", valid_until="2020-01-01T00:00:00Z")
    asked = {"valid_until": {"lt": "2021-01-01"}}
    assert filled.ann.forget(filter=asked).pak_ids == ("a6",)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"since": "2020-01-01"},
        {"scope": "local"},
        {"pak_id": "a1", "thread": "t1"},
        {"pak_id": "a1", "since": "2020-01-01"},
        {"pak_id": ["a1"], "filter": {"thread": "t1"}},
    ],
)
def test_nobody_erases_more_by_leaving_a_word_out(filled: People, asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="forget takes a pak_id, or some of entity, thread"):
        filled.ann.forget(**asked)
    assert len(filled.ann.list().items) == 5


@pytest.mark.parametrize("field", ["entity", "thread", "project", "tag", "owner", "source"])
def test_a_blank_or_long_word_is_refused(filled: People, field: str) -> None:
    for bad in ("", " ", 7, "x" * 1_001):
        asked: dict[str, Any] = {field: bad}
        with pytest.raises(InvalidInput) as caught:
            filled.ann.forget(**asked)
        assert field in caught.value.message


def test_a_filter_takes_the_right_to_read(filled: People) -> None:
    blind = filled.opener.as_principal(Principal("acme", "ann", permissions=("write",)))
    with pytest.raises(NotAllowed):
        blind.forget(filter={"thread": "t1"})
    assert set(blind.forget(thread="t1").pak_ids) == {"a1", "a2", "a4"}


def test_a_repeated_request_erases_nothing_more(filled: People) -> None:
    first = filled.ann.forget(thread="t1", request_id="r")
    filled.ann.remember("new", pak_id="a9", thread="t1")
    again = filled.ann.forget(thread="t1", request_id="r")
    assert again.pak_ids == first.pak_ids
    assert filled.ann.get("a9") is not None


def test_hooks_are_told_what_was_asked(filled: People) -> None:
    seen: list[dict[str, Any]] = []
    filled.opener.hooks.register("pre_forget", seen.append)
    filled.ann.forget(project="acme", filter={"thread": "t1"}, until="2030-01-01")
    (told,) = seen
    assert (told["namespace"], told["filter"]) == ("acme", {"thread": "t1"})
    assert told["until"] == "2030-01-01T23:59:59.999999Z"


def test_a_filter_sees_the_tags_that_a_reader_is_shown(people: People) -> None:
    people.opener.as_principal(Principal("globex", "dan", permissions=PERMISSIONS)).remember(
        "serve globex", pak_id="theirs", scope="public", tags=["self/goal", "tea"]
    )
    for asked, found in (
        ({"tags": {"contains": "tea"}}, ["theirs"]),
        ({"tags": {"contains": "self/goal"}}, []),
        ({"tags": ["tea"]}, ["theirs"]),
    ):
        answer = people.ann.recall(filter=asked)
        assert [one.fact.pak_id for one in answer.results] == found
        page = people.ann.list(filter=asked, counts=True)
        assert [one.pak_id for one in page.items] == found
        assert page.counts is not None
        assert set(page.counts.tag) == ({"tea"} if found else set())
