from __future__ import annotations

import pytest
from tests.unit.recall.builders import Five, ranked, scores

from recollect.frames import SELF_FRAME, TASK_FRAME
from recollect.model import Dropped, Memory
from recollect.recall.blocks import Chosen, Settled
from recollect.recall.guarantee import guarantee
from recollect.recall.suppress import suppress


def ids(chosen: Chosen) -> list[str]:
    return [one.pak_id for one in chosen.ranked]


@pytest.mark.parametrize(
    ("top_k", "expected"), [(1, ["constitutional"]), (2, ["constitutional", "value"])]
)
def test_f_001_what_is_constitutional_comes_before_any_score(
    top_k: int, expected: list[str]
) -> None:
    weights = SELF_FRAME.weights.renormalized_without_similarity()
    value_row: Five = (0.0, 0.90, 0.90, 0.80, 0.95)
    law_row: Five = (0.0, 0.50, 0.99, 0.355, 0.08)
    value_score, law_score = scores(weights, value_row, law_row)
    value, law = ranked("value", value_score), ranked("constitutional", law_score)

    chosen = guarantee(Settled((value, law)), [law], top_k=top_k)

    assert (value_score, law_score) == pytest.approx((0.889, 0.347), abs=0.001)
    assert ids(chosen) == expected


@pytest.mark.parametrize("asked", [True, False])
def test_f_005_a_goal_far_below_the_rest_is_present(asked: bool) -> None:
    weights = TASK_FRAME.weights
    weights = weights if asked else weights.renormalized_without_similarity()
    rows: list[Five] = [(0.38,) * 5, *[(0.78,) * 5] * 30]
    goal, *others = (ranked(f"p{n:02}", score) for n, score in enumerate(scores(weights, *rows)))

    chosen = guarantee(Settled(tuple(others)), [goal], top_k=3)

    assert goal.score == pytest.approx(0.38)
    assert ids(chosen) == ["p00", "p30", "p29"]
    assert chosen.guaranteed == (goal,)


def test_all_guaranteed_blocks_are_in_even_beyond_top_k() -> None:
    laws = [ranked(f"law{n}", n / 10) for n in range(4)]

    chosen = guarantee(Settled((ranked("best", 0.99),)), laws, top_k=2)

    assert ids(chosen) == ["law3", "law2", "law1", "law0"]
    assert chosen.dropped == (Dropped("best", "top_k", "not among the top 2"),)


def test_several_guaranteed_blocks_leave_the_other_slots_to_the_best() -> None:
    laws = [ranked("law1", 0.1), ranked("law2", 0.2)]
    others = (ranked("good", 0.5), ranked("better", 0.8), ranked("bad", 0.05))

    assert ids(guarantee(Settled(others), laws, top_k=3)) == ["law2", "law1", "better"]


def test_a_guaranteed_block_takes_one_slot_only() -> None:
    law = ranked("law", 0.9)

    assert ids(guarantee(Settled((law, ranked("a", 0.5))), [law, law], top_k=5)) == ["law", "a"]


def test_a_guarantee_outlives_a_lost_dispute_and_says_so() -> None:
    law, rival = ranked("law", 0.4, confidence=0.2), ranked("rival", 0.6, confidence=0.9)

    chosen = guarantee(suppress([rival, law], [("law", "rival")]), [law], top_k=5)

    assert (chosen.guaranteed, chosen.others) == ((law,), (rival,))
    assert chosen.disputed == {"law"}
    assert chosen.dropped == ()


def test_whoever_else_is_disputed_can_be_marked() -> None:
    chosen = guarantee(
        Settled((ranked("a", 0.9), ranked("b", 0.8))),
        [ranked("law", 0.1)],
        top_k=5,
        disputed={"law", "b"},
    )

    assert ids(chosen) == ["law", "a", "b"]
    assert chosen.disputed == {"law", "b"}


def test_ties_go_to_the_more_recently_updated_then_to_the_higher_id() -> None:
    same = (
        ranked("a", 0.5, updated_at=2024),
        ranked("b", 0.5, updated_at=2023),
        ranked("c", 0.5, updated_at=2023),
    )

    assert ids(guarantee(Settled(same), [], top_k=3)) == ["a", "c", "b"]


def test_fewer_candidates_than_top_k_are_all_in() -> None:
    assert ids(guarantee(Settled((ranked("a", 0.5),)), [], top_k=5)) == ["a"]


def test_no_candidates_give_an_empty_choice() -> None:
    assert guarantee(Settled(()), [], top_k=5) == Chosen()


def test_what_is_cut_is_told_after_what_was_suppressed() -> None:
    suppressed = Dropped("x", "suppress", "contradicted")
    settled = Settled((ranked("a", 0.9), ranked("b", 0.5)), (suppressed,))

    chosen = guarantee(settled, [], top_k=1)

    assert chosen.dropped == (suppressed, Dropped("b", "top_k", "not among the top 1"))


def texts(**contents: str | None) -> dict[str, Memory | None]:
    return {
        name: None if content is None else Memory(pak_id=name, content=content, title=name)
        for name, content in contents.items()
    }


FOUR = Settled((ranked("a", 0.9), ranked("b", 0.8), ranked("c", 0.7), ranked("d", 0.6)))


def test_who_says_the_same_waits_and_keeps_its_place_in_the_order() -> None:
    known = texts(a="The kiln is hot.", b="the kiln is hot!", c="The shop is shut.", d="Tea")

    assert ids(guarantee(FOUR, [], top_k=2, texts=known)) == ["a", "c"]
    assert ids(guarantee(FOUR, [], top_k=4, texts=known)) == ["a", "b", "c", "d"]
    chosen = guarantee(FOUR, [], top_k=3, texts=known)
    assert ids(chosen) == ["a", "c", "d"]
    assert chosen.repeats == {"b": "a"}
    assert chosen.dropped == (Dropped("b", "diversity", "says the same as a"),)


def test_a_missing_text_is_asked_for_and_no_more_than_decide() -> None:
    first = guarantee(FOUR, [], top_k=2, texts={})
    assert (ids(first), [one.pak_id for one in first.unread]) == ([], ["a", "b"])
    known = texts(a="The kiln is hot.", b="the kiln is hot!")
    second = guarantee(FOUR, [], top_k=2, texts=known)
    assert [one.pak_id for one in second.unread] == ["c", "d"]
    known = texts(a="The kiln is hot.", b="The shop is shut.")
    assert ids(guarantee(FOUR, [], top_k=2, texts=known)) == ["a", "b"]


def test_what_is_guaranteed_is_never_said_twice_but_never_waits_either() -> None:
    laws = [ranked("law", 0.1), ranked("again", 0.05)]
    known = texts(law="The kiln is hot.", again="kiln is hot", a="the kiln is hot!", b="Tea")
    settled = Settled((ranked("a", 0.9), ranked("b", 0.8)))

    assert ids(guarantee(settled, laws, top_k=3, texts=known)) == ["law", "again", "b"]


def test_a_memory_that_is_gone_says_nothing_and_holds_nobody_up() -> None:
    known = texts(a=None, b="Tea", c="tea!", d="Coffee")
    assert ids(guarantee(FOUR, [], top_k=3, texts=known)) == ["a", "b", "d"]
