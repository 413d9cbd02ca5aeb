"""Metrics by hand: every number here was worked out on paper."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.evaluation import judge
from recollect.evaluation.metrics import percentile

ANSWER = ("x", "a", "y", "z", "b", "u", "v", "w", "s", "c")


def test_recall_is_the_share_of_gold_and_all_wants_everything() -> None:
    scores = judge({"a": 1, "b": 1, "c": 1, "d": 1}, {3: ANSWER[:3], 10: ANSWER})
    assert scores["recall@3"] == 0.25
    assert scores["recall@10"] == 0.75
    assert scores["hit@3"] == 1.0
    assert scores["all@10"] == 0.0
    assert judge({"a": 1, "b": 1}, {10: ANSWER})["all@10"] == 1.0


def test_mrr_is_one_over_the_rank_of_the_first_that_counts() -> None:
    assert judge({"b": 1, "a": 1}, {10: ANSWER})["mrr"] == 0.5
    assert judge({"nowhere": 1}, {10: ANSWER})["mrr"] == 0.0


def test_mrr_looks_at_the_longest_answer() -> None:
    assert judge({"b": 1}, {2: ANSWER[:2], 10: ANSWER})["mrr"] == pytest.approx(1 / 5)


def test_ndcg_discounts_by_rank_and_counts_grades() -> None:
    scores = judge({"a": 2, "b": 1}, {10: ANSWER})
    ideal = 2 / log2(2) + 1 / log2(3)
    assert scores["ndcg@10"] == pytest.approx((2 / log2(3) + 1 / log2(6)) / ideal)


def test_ndcg_sees_ten_results_and_no_more() -> None:
    deep = (*ANSWER, "late")
    assert judge({"late": 1}, {10: ANSWER, 11: deep})["ndcg@10"] == 0.0
    assert judge({"late": 1}, {11: deep})["ndcg@10"] == 0.0


def test_an_empty_answer_is_worth_nothing() -> None:
    assert set(judge({"a": 1}, {5: (), 10: ()}).values()) == {0.0}


@given(
    st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=16),
    st.dictionaries(st.sampled_from("abcdefghijklmnop"), st.integers(1, 3), min_size=1),
)
def test_metrics_stay_in_bounds_and_agree_with_each_other(
    answer: list[str], gold: dict[str, int]
) -> None:
    scores = judge(gold, {k: tuple(answer[:k]) for k in (5, 10, 20)})
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in scores.values())
    for k in (5, 10, 20):
        assert scores[f"all@{k}"] <= scores[f"recall@{k}"] <= scores[f"hit@{k}"]
    assert scores["recall@5"] <= scores["recall@10"] <= scores["recall@20"]
    assert (scores["mrr"] > 0) == (scores["hit@20"] > 0)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 5.0), (0.95, 10.0), (0.0, 1.0), (1.0, 10.0)])
def test_a_percentile_is_one_of_the_values(share: float, expected: float) -> None:
    assert percentile([float(one) for one in range(10, 0, -1)], share) == expected
