from __future__ import annotations

from collections import Counter
from math import isclose, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index import lexical as module
from recollect.index.lexical import length_weight, part_of, rarity, score
from recollect.index.postings import Postings
from recollect.index.selection import Selection

texts = st.lists(st.lists(st.sampled_from("abcde"), max_size=40), min_size=1, max_size=12)
queries = st.sets(st.sampled_from("abcdz"), max_size=4)


def plain_bm25(
    texts: list[list[str]], chosen: list[int], query: list[str]
) -> tuple[dict[int, float], float]:
    """Return BM25 as the books have it, and the most a text could score."""
    inside = {slot: Counter(texts[slot]) for slot in chosen}
    average = sum(len(texts[slot]) for slot in chosen) / len(chosen) if chosen else 0.0
    b, most = length_weight(average), 0.0
    scores = dict.fromkeys(chosen, 0.0)
    for term in query:
        frequency = sum(term in counts for counts in inside.values())
        idf = log(1 + (len(chosen) - frequency + 0.5) / (frequency + 0.5))
        most += idf * 2.2
        for slot, counts in inside.items():
            length = len(texts[slot]) / average if average else 0.0
            if counts[term]:
                divisor = counts[term] + 1.2 * (1 - b + b * length)
                scores[slot] += idf * counts[term] * 2.2 / divisor
    return scores, most


def scored(texts: list[list[str]], chosen: list[int], query: list[str]) -> Any:
    postings = Postings()
    postings.extend(texts, 0)
    mask = np.zeros(len(texts), dtype=np.bool_)
    mask[chosen] = True
    lengths = np.array([len(text) for text in texts], dtype=np.int32)
    average = float(lengths[mask].mean()) if chosen else 0.0
    selection = Selection(mask, len(chosen), is_all=bool(mask.all()), generation=0)
    terms = sorted(query)
    parts = [part_of(posting, selection) for posting in postings.get(terms)]
    return score(terms, parts, lengths, selection=selection, average=average)


@pytest.mark.parametrize("sparse", [0, 32, 10**9])
@pytest.mark.parametrize("shorter", [0, 16])
@settings(deadline=None)
@given(texts=texts, query=queries, data=st.data())
def test_scores_are_those_of_the_plain_formula(
    texts: list[list[str]], query: set[str], data: Any, sparse: int, shorter: int
) -> None:
    chosen = sorted(data.draw(st.sets(st.sampled_from(range(len(texts))))))
    expected, most = plain_bm25(texts, chosen, sorted(query))
    with pytest.MonkeyPatch.context() as patch:
        # The second is a ratio of how much shorter, the first of how much fewer; 0 is never.
        patch.setattr(module, "_SPARSE", 1 / sparse if sparse > 32 else sparse or 10**9)
        patch.setattr(module, "_SHORTER", shorter)
        found = scored(texts, chosen, sorted(query))

    values = found.scores_at(np.arange(len(texts))).tolist()
    for slot, value in enumerate(values):
        assert isclose(value, expected.get(slot, 0.0) / (most or 1.0), abs_tol=1e-12)
        assert 0.0 <= value < 1.0
    assert found.hits.tolist() == [slot for slot, value in enumerate(values) if value > 0]
    for slot in chosen:
        assert found.matched_terms(slot) == sorted(query & set(texts[slot]))


@settings(deadline=None)
@given(texts, queries, st.integers(0, 14))
def test_the_top_are_the_best_with_all_who_tie(
    texts: list[list[str]], query: set[str], keep: int
) -> None:
    found = scored(texts, list(range(len(texts))), sorted(query))
    ranked = sorted(found.scores_at(found.hits).tolist(), reverse=True)
    least = ranked[min(keep, len(ranked)) - 1] if keep and ranked else 2.0
    expected = [slot for slot in found.hits if found.scores_at(np.array([slot]))[0] >= least]

    assert found.top(keep).tolist() == expected


@pytest.mark.parametrize(
    ("average", "expected"),
    [(0.0, 0.0), (20.0, 0.0), (30.0, 0.0), (45.0, 0.375), (60.0, 0.75), (900.0, 0.75)],
)
def test_length_counts_for_pages_and_not_for_chat(average: float, expected: float) -> None:
    assert length_weight(average) == expected


def test_a_rarer_term_weighs_more_and_a_common_one_still_something() -> None:
    assert rarity(100, 0) > rarity(100, 1) > rarity(100, 50) > rarity(100, 100) > 0.0
