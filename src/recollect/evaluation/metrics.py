"""What an answer is worth: pure functions of a ranking and the ids that should be in it.

In: gold ids with grades, and what came back for each k, best first. Out: named numbers from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log2

__all__ = ["NDCG_AT", "judge", "percentile"]

NDCG_AT = 10


def judge(gold: Mapping[str, int], ranked: Mapping[int, Sequence[str]]) -> dict[str, float]:
    """Return every metric of one question; `ranked` holds an answer for each k.

    recall@k is the share of the gold that is there, all@k whether all of it is, hit@k whether any
    is. mrr looks at the longest answer, ndcg@10 at the shortest that has ten.
    """
    scores: dict[str, float] = {}
    for k, answer in ranked.items():
        found = len(gold.keys() & set(answer[:k]))
        scores[f"recall@{k}"] = found / len(gold)
        scores[f"all@{k}"] = float(found == len(gold))
        scores[f"hit@{k}"] = float(found > 0)
    scores["mrr"] = _reciprocal_rank(gold, ranked[max(ranked)])
    scores[f"ndcg@{NDCG_AT}"] = _ndcg(gold, ranked[min(k for k in ranked if k >= NDCG_AT)])
    return scores


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that so large a share of all does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def _reciprocal_rank(gold: Mapping[str, int], answer: Sequence[str]) -> float:
    ranks = (rank for rank, found in enumerate(answer, start=1) if found in gold)
    return 1.0 / next(ranks, float("inf"))


def _ndcg(gold: Mapping[str, int], answer: Sequence[str]) -> float:
    ideal = _gain(sorted(gold.values(), reverse=True)[:NDCG_AT])
    return _gain(gold.get(found, 0) for found in answer[:NDCG_AT]) / ideal


def _gain(grades: Iterable[int]) -> float:
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(grades, start=1))
