"""`select` and `inspect` through the engine: the same answers, inside what a principal may read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.model import Principal
from recollect.paks import PakRelationEntry, ReasonCodeEntry, RiskFlagEntry
from recollect.recall.select import SelectQuery, select
from recollect.testing import FakeClock, FakeEmbedder

ANN = Principal(tenant="acme", id="ann")
BOB = Principal(tenant="acme", id="bob")
NOW = "2026-01-01T00:00:00Z"
WORDS = ("redis", "queue", "worker")


def test_it_selects_what_the_bare_catalogue_does(memory: Recollect) -> None:
    memory.remember("Use redis.", pak_id="a", title="redis queue", project="shop")
    memory.remember("Use celery.", pak_id="b", title="celery", project="shop")
    memory.paks.set_pak_reason_codes("b", [ReasonCodeEntry("user_pinned")])
    query = SelectQuery("redis", project="shop", now=NOW)

    result = memory.select(query)

    assert result == select(memory.paks, query)
    assert [score.pak_id for score in result.scores] == ["b", "a"]


def test_without_a_time_it_takes_the_engines_clock(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("Use redis.", pak_id="a")
    clock.advance(hours=24)
    assert memory.select(SelectQuery("redis")).generated_at == "2026-01-02T00:00:00Z"


def test_a_pak_that_only_the_catalogue_knows_is_for_whoever_opened_it(memory: Recollect) -> None:
    memory.paks.upsert_pak(
        pak_id="loose",
        pak_type="note",
        source_type="doc",
        authority="human",
        title="redis",
        content_hash="x",
    )
    query = SelectQuery("redis", now=NOW)
    assert [score.pak_id for score in memory.select(query).scores] == ["loose"]
    assert memory.as_principal(ANN).select(query).scores == ()
    # One Pak of somebody else's in the store, and still all of the opener's own.
    memory.as_principal(ANN).remember("redis of ann", pak_id="ann's")
    assert [score.pak_id for score in memory.select(query).scores] == ["loose"]
    mine = memory.as_principal(ANN).select(query)
    assert [score.pak_id for score in mine.scores] == ["ann's"]
    assert mine.scores[0].parts["fts"] == 1.0
    found = memory.inspect("loose")
    assert found is not None
    assert found.memory is None
    assert memory.as_principal(ANN).inspect("loose") is None


def test_only_a_select_query_is_one(memory: Recollect) -> None:
    with pytest.raises(InvalidInput, match="SelectQuery"):
        memory.select("redis")  # type: ignore[arg-type]


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
owned = st.lists(st.tuples(texts, st.booleans(), st.sampled_from(["shop", "farm"])), max_size=8)
queries = st.builds(
    SelectQuery,
    text=texts | st.just(""),
    project=st.sampled_from([None, "shop"]),
    limit=st.sampled_from([1, 3, 25]),
    now=st.just("2026-01-05T00:00:00Z"),
)


def filled(items: Sequence[tuple[str, bool, str]], *, with_hidden: bool) -> Recollect:
    """Return a store with Ann's Paks, and Bob's unless they are left out."""
    memory = Recollect.open(":memory:", embedder=FakeEmbedder(), clock=FakeClock(), links=False)
    before: dict[bool, str | None] = {True: None, False: None}
    for number, (title, is_hidden, project) in enumerate(items):
        if is_hidden and not with_hidden:
            continue
        pak_id = f"p{number}"
        handle = memory.as_principal(BOB if is_hidden else ANN)
        handle.remember(f"text {number}", pak_id=pak_id, title=title, project=project, now=NOW)
        memory.paks.set_pak_reason_codes(pak_id, [ReasonCodeEntry("mandatory", 0.5)])
        # Everyone points at the one before, whoever's it is: hidden ends must not show.
        for known in before.values():
            if known is not None:
                memory.paks.add_pak_relation(pak_id, PakRelationEntry(known, "after"))
        before[is_hidden] = pak_id
    hidden = [f"p{n}" for n, item in enumerate(items) if item[1]]
    if with_hidden and hidden:
        for number, item in enumerate(items):
            row = memory.paks.get_pak(f"p{number}")
            if row is not None and not item[1] and number % 2:
                fields = replace_successor(row._asdict(), hidden[-1])
                memory.paks.upsert_pak(**fields, now=row.updated_at)
    return memory


def replace_successor(fields: dict[str, Any], successor: str) -> dict[str, Any]:
    del fields["created_at"], fields["updated_at"]
    return fields | {"superseded_by": successor}


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(items=owned, query=queries)
def test_what_a_principal_may_not_read_changes_not_one_byte(
    items: list[tuple[str, bool, str]], query: SelectQuery
) -> None:
    names = [f"p{number}" for number in range(len(items))] + ["nobody"]
    told = []
    for with_hidden in (True, False):
        with filled(items, with_hidden=with_hidden) as memory:
            ann = memory.as_principal(ANN)
            told.append(
                [
                    ann.select(query).to_dict(),
                    *(ann.explain(name, query).to_dict() for name in names),
                    *(ann.explain(name, query.text).to_dict() for name in names),
                    *(ann.explain(name, query.text, frame="attention") for name in names),
                    *(ann.inspect(name) for name in names),
                ]
            )
    assert told[0] == told[1]


def test_inspect_shows_everything_about_one_pak(
    open_memory: Callable[..., Recollect], clock: FakeClock
) -> None:
    memory = open_memory()
    memory.remember("Redis holds the queue.", pak_id="a", title="redis", tags=["infra"])
    memory.remember("Celery runs the workers.", pak_id="b", title="celery")
    memory.paks.set_pak_reason_codes("a", [ReasonCodeEntry("current_task", 0.5)])
    memory.paks.set_pak_risk_flags("a", [RiskFlagEntry("governance_applies", "warn")])
    memory.paks.set_pak_relations("a", [PakRelationEntry("b", "feeds")])
    memory.link("a", "b", weight=0.4)
    clock.advance(hours=2)
    memory.frame("attention", "redis", top_k=1)
    memory.dispute("a", "b", note="which one?")

    found = memory.inspect("a")

    assert found is not None
    assert found.memory == memory.get("a")
    assert found.memory is not None
    assert (found.memory.reinforced, found.memory.last_reinforced) == (1, 2.0)
    assert found.active_hours == 2.0
    assert found.reason_codes == (ReasonCodeEntry("current_task", 0.5),)
    assert found.risk_flags == (RiskFlagEntry("governance_applies", "warn"),)
    assert found.relations == (PakRelationEntry("b", "feeds"),)
    assert [(link.pak_id, link.weight, link.automatic) for link in found.links] == [
        ("b", 0.4, False)
    ]
    assert [(one.first, one.second, one.note) for one in found.disputes] == [
        ("a", "b", "which one?")
    ]
    assert memory.inspect("nobody") is None
    assert memory.inspect("") is None


def test_the_query_that_ran_can_be_run_again(memory: Recollect) -> None:
    memory.remember("Use redis.", pak_id="a")
    result = memory.select(SelectQuery("redis"))
    assert memory.select(result.query) == result
    assert memory.select(replace(result.query, limit=1)).scores == result.scores
