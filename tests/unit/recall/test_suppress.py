from __future__ import annotations

from tests.unit.recall.builders import ranked

from recollect.model import Dropped
from recollect.recall.blocks import Settled
from recollect.recall.guarantee import guarantee
from recollect.recall.suppress import suppress


def ids(settled: Settled) -> list[str]:
    return [candidate.pak_id for candidate in settled.kept]


def test_r_007_the_less_confident_side_goes_and_the_next_best_moves_up() -> None:
    names = ["B1", "B2", "old", "B4", "new", "B6", "B7"]
    confidence = {"old": 0.60, "new": 0.85}
    candidates = [
        ranked(name, 0.9 - 0.05 * place, confidence=confidence.get(name, 0.7))
        for place, name in enumerate(names)
    ]

    chosen = guarantee(suppress(candidates, [("old", "new")]), [], top_k=5)

    assert [one.pak_id for one in chosen.ranked] == ["B1", "B2", "B4", "new", "B6"]
    assert [(one.pak_id, one.stage) for one in chosen.dropped] == [
        ("old", "suppress"),
        ("B7", "top_k"),
    ]


def test_of_equal_confidence_the_less_recently_reinforced_goes() -> None:
    candidates = [ranked("a", 0.9, last_reinforced=1.0), ranked("b", 0.1, last_reinforced=2.0)]

    assert ids(suppress(candidates, [("a", "b")])) == ["b"]


def test_of_equals_the_lower_id_goes() -> None:
    assert ids(suppress([ranked("a", 0.9), ranked("b", 0.1)], [("a", "b")])) == ["b"]


def test_who_was_suppressed_is_told_with_the_winner_and_why() -> None:
    settled = suppress(
        [ranked("a", 0.9, confidence=0.6), ranked("b", 0.1, confidence=0.85)], [("b", "a")]
    )

    reason = "contradicted by b, of higher confidence (0.85 against 0.60)"
    assert settled.dropped == (Dropped("a", "suppress", reason),)


def test_a_dispute_with_an_absent_rival_suppresses_nobody() -> None:
    settled = suppress([ranked("a", 0.9)], [("a", "hidden"), ("x", "y")])

    assert ids(settled) == ["a"]
    assert settled.dropped == ()


def test_a_pak_does_not_contradict_itself() -> None:
    assert ids(suppress([ranked("a", 0.9)], [("a", "a")])) == ["a"]


def test_a_chain_is_settled_from_the_best_score_down() -> None:
    chain = [("low", "mid"), ("mid", "top")]
    candidates = [
        ranked("top", 0.9, confidence=0.9),
        ranked("mid", 0.5, confidence=0.8),
        ranked("low", 0.1, confidence=0.7),
    ]

    settled = suppress(candidates, chain)

    assert ids(settled) == ["top", "low"]
    assert [one.pak_id for one in settled.dropped] == ["mid"]


def test_pairs_with_the_same_best_score_are_settled_by_the_other_ones_score() -> None:
    def kept(weaker: str, stronger: str) -> list[str]:
        candidates = [
            ranked("m", 0.9, confidence=0.5),
            ranked(weaker, 0.8, confidence=0.2),
            ranked(stronger, 0.1, confidence=0.8),
        ]
        return ids(suppress(candidates, [("m", weaker), ("m", stronger)]))

    # The pair with the better second score is settled first, whatever the ids are: m beats the
    # weaker one, then falls to the stronger.
    assert kept(weaker="z", stronger="a") == ["a"]
    assert kept(weaker="a", stronger="z") == ["z"]


def test_when_all_contradict_each_other_one_stays() -> None:
    candidates = [
        ranked(name, 0.5, confidence=c) for name, c in [("a", 0.2), ("b", 0.9), ("c", 0.4)]
    ]

    assert ids(suppress(candidates, [("a", "b"), ("b", "c"), ("c", "a")])) == ["b"]


def test_without_candidates_nothing_is_settled() -> None:
    assert suppress([], [("a", "b")]) == Settled(kept=(), dropped=())


def test_those_who_stay_keep_their_order() -> None:
    candidates = [ranked("c", 0.2), ranked("a", 0.9), ranked("b", 0.5)]

    assert ids(suppress(candidates, [])) == ["c", "a", "b"]
