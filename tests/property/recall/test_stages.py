"""What holds of the pure stages whatever comes in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.recall.builders import Five, block, columns, ranked

from recollect.model import ScoredBlock, Weights
from recollect.recall.blocks import Ranked, best_first
from recollect.recall.guarantee import guarantee
from recollect.recall.pack import GUARANTEED_BUDGETS, count_tokens, pack
from recollect.recall.render import TEMPLATES, render
from recollect.recall.score import centrality, composite, recency, reinforcement
from recollect.recall.suppress import suppress

# Few values on purpose: ties are where orders go wrong.
FEW = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
NAMES = st.sampled_from("abcdefgh")
SHARE = st.floats(0.0, 1.0)
WORDS = st.text(st.sampled_from("ab #-[]1\n\r\u2028"), max_size=60)


@st.composite
def candidates(draw: st.DrawFn) -> list[Ranked]:
    names = draw(st.lists(NAMES, unique=True))
    return [
        ranked(name, draw(FEW), confidence=draw(FEW), last_reinforced=draw(FEW)) for name in names
    ]


@st.composite
def weights(draw: st.DrawFn) -> Weights:
    parts = draw(st.lists(st.integers(0, 100), min_size=5, max_size=5).filter(any))
    return Weights(*(part / sum(parts) for part in parts))


@st.composite
def blocks(draw: st.DrawFn) -> list[ScoredBlock]:
    return [
        block(
            f"p{n}",
            draw(WORDS),
            guaranteed=draw(st.booleans()),
            tags=draw(st.sampled_from([(), ("self/goal",)])),
            speaker=draw(st.sampled_from([None, "Ann"])),
        )
        for n in range(draw(st.integers(0, 12)))
    ]


PAIRS = st.lists(st.tuples(NAMES, NAMES), max_size=12)
FIVES = st.lists(st.tuples(SHARE, SHARE, SHARE, SHARE, SHARE), max_size=8)
TEMPLATE = st.sampled_from(list(TEMPLATES))
BUDGET = st.integers(0, 120)
COUNTERS = st.sampled_from([count_tokens, len, lambda text: len(text.split())])


@given(FIVES, weights())
def test_a_score_of_shares_is_a_share(rows: list[Five], given_weights: Weights) -> None:
    found = composite(columns(*rows), given_weights)

    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert found.tolist() == np.round(found, 9).tolist()


@given(FIVES, weights())
def test_a_score_depends_on_its_own_row_only(rows: list[Five], given_weights: Weights) -> None:
    together = composite(columns(*rows), given_weights).tolist()

    assert together == [composite(columns(row), given_weights).item() for row in rows]


@given(st.lists(st.integers(0, 10**9), max_size=9), st.lists(st.floats(0, 1e6), max_size=9))
def test_shares_of_the_largest_lie_between_zero_and_one(
    counts: list[int], degrees: list[float]
) -> None:
    for values, shares in ((counts, reinforcement(counts)), (degrees, centrality(degrees))):
        assert ((shares >= 0.0) & (shares <= 1.0)).all()
        assert shares.max(initial=0.0) == (1.0 if any(values) else 0.0)


@given(st.floats(0, 1), st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_recency_never_grows_with_time(decay: float, hours: float, more: float) -> None:
    sooner, later = recency(decay, [hours, hours + more])

    assert 0.0 <= later <= sooner <= 1.0


@given(candidates(), PAIRS)
def test_suppression_only_removes_and_leaves_no_open_pair(
    given_candidates: list[Ranked], pairs: list[tuple[str, str]]
) -> None:
    settled = suppress(given_candidates, pairs)
    kept = {one.pak_id for one in settled.kept}

    assert list(settled.kept) == [one for one in given_candidates if one.pak_id in kept]
    assert not any(a in kept and b in kept for a, b in pairs if a != b)
    assert {one.pak_id for one in given_candidates} == kept | {d.pak_id for d in settled.dropped}
    assert len(given_candidates) == len(settled.kept) + len(settled.dropped)
    assert bool(kept) == bool(given_candidates)


@given(candidates(), PAIRS)
def test_suppression_is_idempotent(
    given_candidates: list[Ranked], pairs: list[tuple[str, str]]
) -> None:
    once = suppress(given_candidates, pairs)
    twice = suppress(once.kept, pairs)

    assert twice.kept == once.kept
    assert twice.dropped == ()


@given(candidates(), PAIRS, st.data())
def test_suppression_does_not_depend_on_how_pairs_or_candidates_are_listed(
    given_candidates: list[Ranked], pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    shuffled = [
        pair[::-1] if data.draw(st.booleans()) else pair
        for pair in data.draw(st.permutations(pairs))
    ]
    moved = data.draw(st.permutations(given_candidates))

    first, second = suppress(given_candidates, pairs), suppress(moved, shuffled)

    assert first.dropped == second.dropped
    assert best_first(first.kept) == best_first(second.kept)


@given(candidates(), PAIRS, st.sets(NAMES), st.integers(0, 6))
def test_a_choice_holds_all_guarantees_and_accounts_for_everyone(
    given_candidates: list[Ranked], pairs: list[tuple[str, str]], tagged: set[str], top_k: int
) -> None:
    promised = [one for one in given_candidates if one.pak_id in tagged]
    settled = suppress(given_candidates, pairs)

    chosen = guarantee(settled, promised, top_k=top_k)

    names = [one.pak_id for one in chosen.ranked]
    firm, others = list(chosen.guaranteed), list(chosen.others)
    assert firm == list(best_first(promised))
    assert others == list(best_first(others))
    assert len(names) <= max(top_k, len(promised))
    assert sorted(names + [d.pak_id for d in chosen.dropped]) == sorted(
        one.pak_id for one in given_candidates
    )


@given(blocks(), TEMPLATE, BUDGET, COUNTERS)
def test_a_budget_is_exceeded_by_guarantees_alone_and_then_declared(
    given_blocks: list[ScoredBlock], template: str, budget: int, count: object
) -> None:
    assert callable(count)
    firm = [one for one in given_blocks if one.guaranteed]

    packed = pack(given_blocks, template=template, token_budget=budget, token_counter=count)

    assert packed.tokens_used == count(packed.text)
    assert packed.over_budget == (count(render(firm, template)) > budget)
    assert packed.tokens_used <= budget * (GUARANTEED_BUDGETS if packed.over_budget else 1)
    if packed.tokens_used > budget:
        assert all(one.guaranteed for one in packed.blocks)
    if count(render(firm, template)) <= budget * GUARANTEED_BUDGETS:
        assert {one.pak_id for one in firm} <= {one.pak_id for one in packed.blocks}


@given(blocks(), TEMPLATE, BUDGET)
def test_packing_loses_nobody_and_the_text_is_that_of_its_blocks(
    given_blocks: list[ScoredBlock], template: str, budget: int
) -> None:
    packed = pack(given_blocks, template=template, token_budget=budget)

    assert packed.text == render(packed.blocks, template)
    names = [one.pak_id for one in packed.blocks] + [one.pak_id for one in packed.dropped]
    assert sorted(names) == sorted(one.pak_id for one in given_blocks)
    assert {one.stage for one in packed.dropped} <= {"budget"}


@given(blocks(), TEMPLATE, BUDGET)
def test_packing_never_reorders(
    given_blocks: list[ScoredBlock], template: str, budget: int
) -> None:
    def claim(one: ScoredBlock) -> tuple[bool, bool]:
        is_context = template == "task" and "self/goal" not in one.memory.tags
        return is_context, not one.guaranteed

    packed = pack(given_blocks, template=template, token_budget=budget)

    kept = {one.pak_id for one in packed.blocks}
    in_order = sorted(given_blocks, key=claim)
    assert list(packed.blocks) == [one for one in in_order if one.pak_id in kept]


@given(blocks(), TEMPLATE, BUDGET)
def test_what_was_dropped_first_would_not_have_fitted_at_its_turn(
    given_blocks: list[ScoredBlock], template: str, budget: int
) -> None:
    packed = pack(given_blocks, template=template, token_budget=budget)
    if not packed.dropped:
        return
    first = packed.dropped[0].pak_id
    ordered = sorted(given_blocks, key=lambda one: not one.guaranteed)
    turn = [one.pak_id for one in ordered].index(first)

    assert count_tokens(render(ordered[: turn + 1], template)) > budget


@given(blocks(), TEMPLATE)
def test_a_page_has_one_item_for_each_block_whatever_the_texts_hold(
    given_blocks: list[ScoredBlock], template: str
) -> None:
    lines = render(given_blocks, template).splitlines()

    items = [line for line in lines if line.startswith(("- ", "["))]
    assert len(items) == len(given_blocks)
