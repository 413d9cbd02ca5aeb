from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.model import Signals, Weights
from recollect.recall.why import reasons

PLAIN = Signals(0.5, 0.80, 0.90, 0.0, 0.0)
EVENLY = Weights(0.2, 0.2, 0.2, 0.2, 0.2)
EVIDENCE = Weights(0.9, 0.1, 0.0, 0.0, 0.0)


def test_all_reasons_in_their_order() -> None:
    signals = Signals(0.7, 0.8, 0.9, 0.75, 0.5, lexical=0.4, semantic=0.62)

    found = reasons(
        signals,
        EVENLY,
        matched_terms=["redis", "queue"],
        linked_to=["celery"],
        reinforced=7,
        was_expanded=True,
        guaranteed=True,
        disputed=True,
    )

    assert found == (
        "guaranteed by its tag",
        "disputed",
        "matches 'redis', 'queue'",
        "close in meaning (0.62)",
        "linked to celery",
        "reinforced 7 times",
        "well connected (0.75)",
    )


def test_one_use_is_once() -> None:
    assert reasons(PLAIN, EVENLY, reinforced=1) == ("reinforced once",)


def test_a_far_meaning_is_no_reason() -> None:
    signals = Signals(0.4, 0.8, 0.9, 0.0, 0.0, semantic=0.05)

    assert reasons(signals, EVENLY, matched_terms=["redis"]) == ("matches 'redis'",)


def test_a_neighbour_with_nobody_to_name_is_linked_to_a_match() -> None:
    assert reasons(PLAIN, EVENLY, was_expanded=True) == ("linked to a match",)


def test_long_lists_are_cut_short() -> None:
    assert reasons(PLAIN, EVENLY, matched_terms=list("abcdefg")) == (
        "matches 'a', 'b', 'c', 'd', 'e' and 2 more",
    )


def test_there_is_always_a_reason() -> None:
    assert reasons(PLAIN, EVENLY) == ("confidence 0.80, recency 0.90",)


def test_what_has_nothing_to_do_with_the_question_says_so_first() -> None:
    far = replace(PLAIN, similarity=0.06, semantic=0.08, lexical=0.0)

    assert reasons(far, EVIDENCE, match="weak") == (
        "hardly matches the question (0.06)",
        "confidence 0.80",
    )


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        (Weights(0.0, 0.0, 1.0, 0.0, 0.0), "recency 0.90"),
        (Weights(0.0, 0.0, 0.0, 0.5, 0.5), "centrality 0.00, reinforcement 0.00"),
        (Weights(1.0, 0.0, 0.0, 0.0, 0.0), "hardly matches the question (0.00)"),
    ],
)
def test_what_is_said_where_nothing_stands_out_is_what_counted(
    weights: Weights, reason: str
) -> None:
    assert reasons(replace(PLAIN, similarity=0.0), weights, match="weak") == (reason,)


def test_a_signal_without_weight_is_no_reason() -> None:
    signals = Signals(0.7, 0.8, 0.9, 0.75, 0.5, lexical=0.4, semantic=0.62, time_words=1.0)

    found = reasons(signals, EVIDENCE, matched_terms=["redis"], reinforced=7)
    unasked = reasons(
        signals,
        Weights(0.0, 0.0, 0.0, 0.5, 0.5),
        matched_terms=["redis"],
        said_by="Ann",
        from_time="in May",
        thread_of="t1",
        reinforced=7,
    )

    assert found == ("matches 'redis'", "close in meaning (0.62)", "tells a time")
    assert unasked == ("reinforced 7 times", "well connected (0.75)")


def test_a_word_that_hardly_counts_is_said_to_be_little() -> None:
    far = replace(PLAIN, similarity=0.09, lexical=0.1)

    assert reasons(far, EVIDENCE, match="weak", matched_terms=["purple"]) == (
        "hardly matches the question (0.09)",
        "matches 'purple'",
    )


def test_a_thread_in_which_nothing_matches_is_no_reason() -> None:
    signals = replace(PLAIN, nearby=0.0, thread=0.0)

    assert "same thread as t1" not in reasons(signals, EVENLY, thread_of="t1")


def test_a_turn_without_a_word_of_its_own_is_found_by_those_around_it() -> None:
    signals = replace(PLAIN, similarity=0.4, nearby=0.5, thread=0.5)

    assert reasons(signals, EVIDENCE) == ("matches together with the turns around it (0.50)",)
