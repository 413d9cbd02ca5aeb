from __future__ import annotations

import pytest
from tests.unit.recall.builders import block

from recollect.frames import ATTENTION_FRAME, SELF_FRAME
from recollect.model import Dropped
from recollect.recall.blocks import Packed
from recollect.recall.pack import count_tokens, pack
from recollect.recall.render import UnknownTemplate, render


def ids(packed: Packed) -> list[str]:
    return [one.pak_id for one in packed.blocks]


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abc", 1), ("a" * 8, 2), ("a" * 11, 2)]
)
def test_tokens_are_a_quarter_of_the_characters_and_at_least_one(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_f_006_of_five_long_blocks_the_three_best_fit() -> None:
    blocks = [block(f"B{n}", str(n) * 320, score=0.9 - n / 10) for n in range(1, 6)]

    packed = pack(blocks, template=ATTENTION_FRAME.template, token_budget=300)

    assert ids(packed) == ["B1", "B2", "B3"]
    assert packed.text == render(blocks[:3], "attention")
    assert packed.tokens_used == count_tokens(packed.text) == 249
    assert not packed.over_budget
    assert packed.dropped == (
        Dropped("B4", "budget", "does not fit into 300 tokens"),
        Dropped("B5", "budget", "does not fit into 300 tokens"),
    )


def test_f_007_a_guaranteed_block_has_its_place_before_the_cut() -> None:
    blocks = [
        block("law", "l" * 320, score=0.1, guaranteed=True),
        block("best", "b" * 320, score=0.9),
        block("third", "t" * 320, score=0.8),
    ]

    packed = pack(blocks, template=SELF_FRAME.template, token_budget=200)

    assert ids(packed) == ["law", "best"]
    assert [one.pak_id for one in packed.dropped] == ["third"]
    assert not packed.over_budget


def test_guaranteed_blocks_go_first_wherever_they_stand() -> None:
    blocks = [block("best"), block("law", guaranteed=True), block("next")]

    packed = pack(blocks, template="self", token_budget=100)

    assert ids(packed) == ["law", "best", "next"]
    assert packed.text == "## Identity\n- law\n- best\n- next"


def test_what_does_not_fit_is_skipped_for_what_does() -> None:
    blocks = [block("big", "x" * 400), block("small")]

    packed = pack(blocks, template="attention", token_budget=20)

    assert ids(packed) == ["small"]
    assert packed.text == "## Relevant Knowledge\n[1] small"


def test_guarantees_beyond_the_budget_stay_and_are_declared() -> None:
    blocks = [
        block("law1", "l" * 320, guaranteed=True),
        block("law2", "m" * 320, guaranteed=True),
        block("tiny", "t"),
    ]

    packed = pack(blocks, template="self", token_budget=100)

    assert ids(packed) == ["law1", "law2"]
    assert packed.over_budget
    assert packed.tokens_used == 164
    reason = "guaranteed blocks leave no room in 100 tokens"
    assert packed.dropped == (Dropped("tiny", "budget", reason),)


def test_headings_count() -> None:
    item = block("a", "four")
    exact = count_tokens("## Relevant Knowledge\n[1] four")

    assert ids(pack([item], template="attention", token_budget=exact)) == ["a"]
    assert ids(pack([item], template="attention", token_budget=exact - 1)) == []


def test_the_heading_of_a_second_section_counts() -> None:
    goal = block("goal", "Ship", tags=("self/goal",), guaranteed=True)
    context = block("a", "ok")
    exact = count_tokens("## Active Goals\n- Ship\n## Context\n[1] ok")

    assert ids(pack([goal, context], template="task", token_budget=exact)) == ["goal", "a"]
    assert ids(pack([goal, context], template="task", token_budget=exact - 1)) == ["goal"]


def test_blocks_stand_in_the_order_of_the_text() -> None:
    blocks = [block("a"), block("goal", tags=("self/goal",)), block("b")]

    assert ids(pack(blocks, template="task", token_budget=100)) == ["goal", "a", "b"]


def test_nothing_fits_and_that_is_no_error() -> None:
    packed = pack([block("a", "x" * 100)], template="self", token_budget=1)

    assert (packed.text, packed.tokens_used, packed.over_budget) == ("", 0, False)
    assert [one.pak_id for one in packed.dropped] == ["a"]


def test_no_blocks_give_no_text() -> None:
    assert pack([], template="self", token_budget=600) == Packed((), "", 0, False, ())


def test_no_budget_is_no_limit() -> None:
    blocks = [block(f"p{n}", "x" * 1000) for n in range(50)]

    packed = pack(blocks, template="attention", token_budget=None)

    assert len(packed.blocks) == 50
    assert packed.tokens_used == count_tokens(packed.text)
    assert not packed.over_budget


def test_another_counter_decides_by_its_own_count() -> None:
    blocks = [block("a", "one two three"), block("b", "four five six"), block("c", "seven")]

    packed = pack(
        blocks, template="self", token_budget=9, token_counter=lambda text: len(text.split())
    )

    assert packed.text == "## Identity\n- one two three\n- seven"
    assert packed.tokens_used == 8


def test_a_thousand_big_blocks_are_counted_but_not_rewritten_each_time() -> None:
    blocks = [block(f"p{n:03}", "x" * 20_000) for n in range(999)] + [block("tiny")]
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return count_tokens(text)

    packed = pack(blocks, template="attention", token_budget=20_000, token_counter=count)

    assert ids(packed) == ["p000", "p001", "p002", "tiny"]
    assert counted < 1000 * 5 * 20_100 + 1000 * 20_100


def test_an_unknown_template_is_refused() -> None:
    with pytest.raises(UnknownTemplate):
        pack([], template="haiku", token_budget=10)


def test_who_repeats_what_was_said_comes_last() -> None:
    blocks = [block("a"), block("b"), block("c")]
    packed = pack(blocks, template="self", token_budget=None, repeats={"b": "a"})
    assert [one.pak_id for one in packed.blocks] == ["a", "c", "b"]
    firm = [block("a", guaranteed=True), block("b"), block("c")]
    packed = pack(firm, template="self", token_budget=None, repeats={"b": "a"})
    assert [one.pak_id for one in packed.blocks] == ["a", "c", "b"]


def test_a_shorter_spelling_need_not_wait_for_one_that_has_no_room() -> None:
    blocks = [block("a", "x" * 400), block("b", "x" * 40), block("c", "y" * 40)]
    packed = pack(blocks, template="self", token_budget=16, repeats={"b": "a"})
    assert [one.pak_id for one in packed.blocks] == ["b"]
    assert [one.pak_id for one in packed.dropped] == ["a", "c"]
