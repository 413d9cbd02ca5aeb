from __future__ import annotations

from collections import Counter

import pytest
from bench import select_data
from bench.report import Block, Comparison
from bench.select import growth
from bench.select_worker import LIMIT, Store, queries
from bench.straight import WEIGHTS, Straight

from recollect.paks import PakListFilters, RecallStore
from recollect.paks.registry import REASON_WEIGHTS
from recollect.recall.select import SelectQuery, select

SIZE = 2000


@pytest.fixture(scope="module")
def store() -> RecallStore:
    loaded = Store("recollect", ":memory:")  # type: ignore[arg-type]
    loaded.load(SIZE)
    return loaded.store


def test_the_words_hit_what_they_say() -> None:
    words = Counter(
        word
        for number in range(SIZE)
        for word in set(" ".join(map(str, select_data.pak_row(number)[6:8])).split())
    )
    assert {words[word] for word in select_data.RARE} == {SIZE // 100}
    assert {words[word] for word in select_data.COMMON} == {SIZE // 10}


def test_the_straight_selector_weighs_as_ours_does() -> None:
    assert dict(REASON_WEIGHTS) == WEIGHTS


@pytest.mark.parametrize("kind", ["rare", "common", "project", "both"])
def test_both_select_alike(store: RecallStore, kind: str) -> None:
    straight = Straight(store, PakListFilters)
    for text, project in queries(kind, 0, 3):
        expected = straight.select(text, project, limit=LIMIT, days=30, now=select_data.NOW)
        query = SelectQuery(text, project=project, limit=LIMIT, now=select_data.NOW)
        found = select(store, query).scores
        assert [score.pak_id for score in found] == [pak_id for pak_id, _, _ in expected]
        assert [score.score for score in found] == pytest.approx([each[1] for each in expected])


def test_growth_compares_the_cost_of_one_hit() -> None:
    few = Comparison("few", 100_000, (Block(1.0, 1),), (Block(9.0, 1),))
    many = Comparison("many", 100_000, (Block(5.0, 1),), (Block(90.0, 1),))
    assert growth(few, many).ratio == 2.0
    assert growth(few, many).bar == 1.0
