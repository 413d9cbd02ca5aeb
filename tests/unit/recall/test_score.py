from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from tests.unit.recall.builders import Five, scores

from recollect.errors import InvalidInput
from recollect.frames import ATTENTION_FRAME, EVIDENCE_FRAME, SELF_FRAME, TASK_FRAME
from recollect.model import FrameDefinition, Weights
from recollect.recall.score import centrality, decay_for, recency, reinforcement


@pytest.mark.parametrize(
    ("tags", "category", "decay"),
    [
        ([], "knowledge", 0.010),
        (["django"], "knowledge", 0.010),
        (["self/constitutional"], "knowledge", 0.00001),
        (["self/value"], "knowledge", 0.001),
        (["self/constraint"], "knowledge", 0.001),
        (["self/goal"], "knowledge", 0.001),
        ([], "observation", 0.050),
        (["self/style"], "observation", 0.050),
        (["Self/Goal", "self/goals"], "knowledge", 0.010),
    ],
)
def test_a_pak_fades_at_the_rate_of_its_tier(tags: list[str], category: str, decay: float) -> None:
    assert decay_for(tags, category) == decay


def test_of_several_tiers_the_slowest_counts() -> None:
    assert decay_for(["self/goal", "self/constitutional"], "observation") == 0.00001
    assert decay_for(["self/goal"], "observation") == 0.001


def test_recency_fades_exponentially_with_active_hours() -> None:
    faded = recency(np.array([0.010, 0.050, 0.00001]), np.array([100.0, 10.0, 200.0]))

    assert faded == pytest.approx([exp(-1.0), exp(-0.5), exp(-0.002)])


def test_a_reinforcement_in_the_future_counts_as_now() -> None:
    assert recency(np.array([0.05]), np.array([-1_000_000.0])).tolist() == [1.0]


def test_reinforcement_is_a_share_of_the_most_used() -> None:
    assert reinforcement([0, 1, 7]) == pytest.approx([0.0, log(2) / log(8), 1.0])


@pytest.mark.parametrize("function", [reinforcement, centrality])
@pytest.mark.parametrize("values", [[], [0], [0, 0, 0]])
def test_where_none_stands_out_all_are_zero(function: object, values: list[int]) -> None:
    assert callable(function)
    assert function(values).tolist() == [0.0] * len(values)


def test_g_007_centrality_is_a_share_of_the_largest_degree() -> None:
    assert centrality([3.25, 1.15, 0.62]) == pytest.approx([1.000, 0.354, 0.191], abs=0.0005)


def test_r_005_a_well_connected_neighbour_beats_a_seed() -> None:
    seed, expanded = scores(
        ATTENTION_FRAME, (0.88, 0.45, 0.40, 0.20, 0.15), (0, 0.85, 0.80, 0.90, 0.75)
    )

    assert (seed, expanded) == (0.5205, 0.5375)


def test_f_004_attention_puts_what_was_asked_about_first() -> None:
    asked, salient = scores(
        ATTENTION_FRAME, (0.88, 0.65, 0.70, 0.35, 0.30), (0.12, 0.95, 0.90, 0.75, 0.80)
    )

    assert (asked, salient) == pytest.approx((0.663, 0.602), abs=0.0005)


def test_f_009_attention_without_a_query_ranks_by_the_other_signals() -> None:
    weights = ATTENTION_FRAME.weights.renormalized_without_similarity()

    fresh, stale = scores(weights, (0.0, 0.80, 0.90, 0.60, 0.70), (0.0, 0.75, 0.20, 0.55, 0.65))

    assert (fresh, stale) == pytest.approx((0.777, 0.477), abs=0.0005)


@pytest.mark.parametrize(
    ("frame", "expected"), [(SELF_FRAME, 0.420), (TASK_FRAME, 0.520), (ATTENTION_FRAME, 0.610)]
)
def test_s_012_frames_score_one_block_differently(frame: FrameDefinition, expected: float) -> None:
    assert scores(frame, (0.85, 0.35, 0.70, 0.30, 0.40)) == pytest.approx([expected], abs=0.0005)


def test_custom_weights_decide_the_order() -> None:
    weights = Weights(0.40, 0.40, 0.10, 0.05, 0.05)

    matching, salient = scores(weights, (0.8, 0.8, 0.2, 0.2, 0.2), (0.4, 0.4, 0.9, 0.85, 0.8))

    assert (matching, salient) == (0.680, 0.4925)


def test_evidence_drifts_neither_with_the_clock_nor_with_use() -> None:
    now, later = scores(EVIDENCE_FRAME, (0.7, 0.9, 1.0, 0.1, 0.0), (0.7, 0.9, 0.0, 0.9, 1.0))

    assert now == later == 0.72


def test_a_score_has_nine_decimals() -> None:
    assert scores(TASK_FRAME, (1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3)) == [0.333333333]


def test_no_candidates_give_no_scores() -> None:
    assert scores(ATTENTION_FRAME) == []


def test_the_inputs_of_a_score_are_left_as_they_were() -> None:
    counts = np.array([1.0, 3.0])
    hours = np.array([-1.0, 5.0])

    reinforcement(counts)
    centrality(counts)
    recency(counts, hours)

    assert counts.tolist() == [1.0, 3.0]
    assert hours.tolist() == [-1.0, 5.0]


@pytest.mark.parametrize(
    "five",
    [
        (0.5, 0.5, 0.1, 0.0, 0.0),
        (0.2, 0.2, 0.2, 0.2, 0.1998),
        (1.2, -0.2, 0.0, 0.0, 0.0),
        (float("nan"), 0.0, 0.0, 0.0, 1.0),
        (float("inf"), 0.0, 0.0, 0.0, 0.0),
        (10**400, 0.0, 0.0, 0.0, 0.0),
        (True, 0.0, 0.0, 0.0, 0.0),
        ("1", 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_weights_are_shares_that_add_up_to_one(five: Five) -> None:
    with pytest.raises(ValueError) as caught:
        Weights(*five)

    assert isinstance(caught.value, InvalidInput)


@pytest.mark.parametrize("last", [0.1999, 0.2001])
def test_weights_may_miss_one_by_a_ten_thousandth(last: float) -> None:
    assert Weights(0.2, 0.2, 0.2, 0.2, last).reinforcement == last


@pytest.mark.parametrize("frame", [SELF_FRAME, ATTENTION_FRAME, TASK_FRAME, EVIDENCE_FRAME])
def test_renormalised_weights_add_up_to_one_without_similarity(frame: FrameDefinition) -> None:
    weights = frame.weights.renormalized_without_similarity()
    rest = (weights.confidence, weights.recency, weights.centrality, weights.reinforcement)

    assert weights.similarity == 0.0
    assert sum(rest) == pytest.approx(1.0)


def test_weights_of_similarity_alone_cannot_rank_without_a_query() -> None:
    with pytest.raises(ValueError, match="query"):
        Weights(1.0, 0.0, 0.0, 0.0, 0.0).renormalized_without_similarity()
