from __future__ import annotations

from recollect.model import Signals
from recollect.recall.why import reasons

PLAIN = Signals(0.0, 0.80, 0.90, 0.0, 0.0)


def test_all_reasons_in_their_order() -> None:
    signals = Signals(0.7, 0.8, 0.9, 0.75, 0.5, lexical=0.4, semantic=0.62)

    found = reasons(
        signals,
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
    assert reasons(PLAIN, reinforced=1) == ("reinforced once",)


def test_a_far_meaning_is_no_reason() -> None:
    signals = Signals(0.1, 0.8, 0.9, 0.0, 0.0, semantic=0.05)

    assert reasons(signals, matched_terms=["redis"]) == ("matches 'redis'",)


def test_a_neighbour_with_nobody_to_name_is_linked_to_a_match() -> None:
    assert reasons(PLAIN, was_expanded=True) == ("linked to a match",)


def test_long_lists_are_cut_short() -> None:
    assert reasons(PLAIN, matched_terms=list("abcdefg")) == (
        "matches 'a', 'b', 'c', 'd', 'e' and 2 more",
    )


def test_there_is_always_a_reason() -> None:
    assert reasons(PLAIN) == ("confidence 0.80, recency 0.90",)
