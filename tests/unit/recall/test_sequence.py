from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.ranges import Order
from recollect.recall.sequence import in_sequence

ROWS = st.lists(
    st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(-1, 5)), max_size=12
)


def ordered(scores: list[float], moments: list[int], order: Order) -> list[int]:
    found = in_sequence(np.array(scores), np.array(scores), np.array(moments), order).scores
    return np.argsort(-found, kind="stable").tolist()


def test_among_those_about_the_subject_the_newest_stands_first() -> None:
    assert ordered([0.5, 0.45, 0.4, 0.1], [1, 3, 2, 9], "latest") == [1, 2, 0, 3]
    assert ordered([0.5, 0.45, 0.4, 0.1], [1, 3, 2, 0], "earliest") == [0, 2, 1, 3]


def test_of_one_moment_the_better_one_stays_the_better() -> None:
    assert ordered([0.4, 0.5, 0.45], [2, 2, 2], "latest") == [1, 2, 0]


def test_what_nobody_can_date_takes_no_part() -> None:
    found = in_sequence(np.array([0.5, 0.4]), np.array([0.5, 0.4]), np.array([-1, 3]), "latest")

    assert found.members.tolist() == [False, True]
    assert found.scores.tolist() == [0.5, 0.4]


@given(ROWS)
@pytest.mark.parametrize("order", ["latest", "earliest"])
def test_no_score_falls_or_leaves_its_scale_and_the_order_holds(
    order: Order, rows: list[tuple[float, float, int]]
) -> None:
    given_scores = np.round(np.array([score for score, _, _ in rows]), 9)
    similarity = np.array([alike for _, alike, _ in rows])
    moments = np.array([moment for *_, moment in rows], dtype=np.int64)

    found = in_sequence(given_scores, similarity, moments, order)

    assert (found.scores <= 1.0).all()
    assert (found.scores >= given_scores - 2e-5).all()
    assert found.scores[~found.members].tolist() == given_scores[~found.members].tolist()
    members = np.flatnonzero(found.members).tolist()
    for one in members:
        for other in members:
            later = moments[one] > moments[other]
            if moments[one] != moments[other]:
                ahead = later if order == "latest" else not later
                assert (found.scores[one] > found.scores[other]) == ahead
