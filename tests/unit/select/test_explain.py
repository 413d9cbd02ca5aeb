"""Why a selection picked a Pak, and for the others the first stage that left them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.select.test_select import NOW, put

from recollect.model import Contribution, Explanation
from recollect.paks import RecallStore
from recollect.recall.select import SelectQuery, explain, select


@pytest.fixture
def store() -> Iterator[RecallStore]:
    with RecallStore.open(":memory:") as opened:
        put(opened, "best", ("user_pinned", 0.5), title="redis queue", project="shop")
        put(opened, "second", ("stale_context", 0.1), title="redis", project="shop")
        put(opened, "third", title="nothing", project="shop", now="2019-01-01T00:00:00Z")
        put(opened, "fourth", title="nothing more", project="shop", now="2018-01-01T00:00:00Z")
        put(opened, "stranger", title="elephants", project="zoo")
        put(opened, "old", title="redis then", superseded_by="best")
        put(opened, "copy", title="x", content_hash="hash of best", now="2017-01-01T00:00:00Z")
        yield opened


def why(store: RecallStore, pak_id: str, **query: Any) -> Explanation:
    asked = {"text": "redis", "project": "shop", "now": NOW} | query
    return explain(store, pak_id, SelectQuery(**asked))


def test_a_pak_that_was_picked_has_contributions_that_add_up(store: RecallStore) -> None:
    told = why(store, "best")
    (first, *_) = select(store, SelectQuery("redis", project="shop", now=NOW)).scores

    assert (told.stage, told.returned, told.rank) == ("returned", True, 1)
    assert told.why == first.why
    assert {one.name: one.contribution for one in told.contributions} == first.parts
    assert Contribution("project", 1.0, 0.5, 0.5) in told.contributions
    assert Contribution("user_pinned", 0.5, 1.0, 0.5) in told.contributions
    total = 0.0
    for one in told.contributions:
        assert one.contribution == pytest.approx(one.value * one.weight)
        total += one.contribution
    assert total == told.score == first.score


@pytest.mark.parametrize(
    ("pak_id", "query", "stage", "reason", "rival"),
    [
        ("nobody", {}, "unknown", "There is no such Pak that you may read.", None),
        (
            "stranger",
            {},
            "candidates",
            "Not a candidate: its title and summary hold no word of the text, and its project is"
            " zoo, not shop.",
            None,
        ),
        (
            "stranger",
            {"text": ""},
            "candidates",
            "Not a candidate: its project is zoo, not shop.",
            None,
        ),
        (
            "fourth",
            {"text": "", "project": None, "limit": 1},
            "candidates",
            "Not a candidate: there are newer Paks, and nothing was asked for.",
            None,
        ),
        ("old", {}, "superseded", "Left out: superseded by best.", "best"),
        ("second", {"exclude": "skip"}, "exclude", "Left out: excluded by stale_context.", None),
        ("copy", {"text": "redis x"}, "collapse", "Left out: same content as best.", "best"),
        (
            "fourth",
            {"text": "", "limit": 2},
            "limit",
            "Of equal score, but older or of a lower id: third is the last of the 2 picked.",
            "third",
        ),
        (
            "third",
            {"text": "", "limit": 1},
            "limit",
            "Outscored by 0.5: best is the last of the 1 picked.",
            "best",
        ),
        (
            "best",
            {"token_budget": 1},
            "budget",
            "Left out: does not fit into 1 tokens.",
            None,
        ),
    ],
)
def test_a_pak_that_was_not_picked_is_told_the_first_stage_that_left_it_out(
    store: RecallStore,
    pak_id: str,
    query: dict[str, Any],
    stage: str,
    reason: str,
    rival: str | None,
) -> None:
    told = why(store, pak_id, **query)
    assert (told.stage, told.reason, told.rival) == (stage, reason, rival)
    assert not told.returned
    assert told.to_dict()["returned"] is False


def test_what_may_not_be_read_is_told_like_what_is_not_there(store: RecallStore) -> None:
    query = SelectQuery("redis", now=NOW)
    hidden = explain(store, "best", query, readable={"second", "old"})
    store.delete_pak("best")
    assert explain(store, "best", query, readable={"second", "old"}) == hidden
    assert hidden.stage == "unknown"
