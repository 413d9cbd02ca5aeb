"""The arithmetic of a score: columns of numbers in, columns of numbers from 0 to 1 out.

Nothing is looked up here. The largest count and the largest degree are those among the rows
given, so rows that the caller may not read must not be among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from recollect.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from recollect.model import Weights

__all__ = [
    "DURABLE",
    "EPHEMERAL",
    "PERMANENT",
    "STANDARD",
    "SignalColumns",
    "centrality",
    "composite",
    "decay_for",
    "recency",
    "reinforcement",
]

PERMANENT = 0.00001
DURABLE = 0.001
STANDARD = 0.010
EPHEMERAL = 0.050

_DECAY_BY_TAG = {
    "self/constitutional": PERMANENT,
    "self/value": DURABLE,
    "self/constraint": DURABLE,
    "self/goal": DURABLE,
}
_DECAY_BY_CATEGORY = {"observation": EPHEMERAL}

_SCORE_DECIMALS = 9
_ORDER = ("similarity", "confidence", "recency", "centrality", "reinforcement")


@dataclass(frozen=True, slots=True, eq=False)
class SignalColumns:
    """The five signals of many candidates, one array each, all of one length."""

    similarity: NDArray[np.float64]
    confidence: NDArray[np.float64]
    recency: NDArray[np.float64]
    centrality: NDArray[np.float64]
    reinforcement: NDArray[np.float64]


def decay_for(tags: Iterable[str], category: str) -> float:
    """Return how fast a memory fades per active hour; where several tiers apply, the slowest."""
    rates = [_DECAY_BY_TAG[tag] for tag in tags if tag in _DECAY_BY_TAG]
    if category in _DECAY_BY_CATEGORY:
        rates.append(_DECAY_BY_CATEGORY[category])
    return min(rates, default=STANDARD)


def recency(decay: ArrayLike, hours_since: ArrayLike) -> NDArray[np.float64]:
    """Return exp(-decay · hours); a time still to come counts as now."""
    hours = np.maximum(np.asarray(hours_since, dtype=np.float64), 0.0)
    faded: NDArray[np.float64] = np.exp(-np.asarray(decay, dtype=np.float64) * hours)
    return faded


def reinforcement(counts: ArrayLike) -> NDArray[np.float64]:
    """Return ln(1 + n) as a share of the largest among these rows; 0 when none was ever used."""
    return _share_of_largest(np.log1p(np.asarray(counts, dtype=np.float64)))


def centrality(degrees: ArrayLike) -> NDArray[np.float64]:
    """Return the weighted degree as a share of the largest among these rows; 0 without edges."""
    return _share_of_largest(np.asarray(degrees, dtype=np.float64))


def composite(signals: SignalColumns, weights: Weights) -> NDArray[np.float64]:
    """Return the weighted sum of the signals, added in one fixed order, to nine decimals."""
    total = np.zeros(len(signals.similarity), dtype=np.float64)
    for name in _ORDER:
        weight = getattr(weights, name)
        if weight:
            total += weight * getattr(signals, name)
    return np.round(total, _SCORE_DECIMALS, out=total)


def _share_of_largest(values: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = values.max(initial=0.0)
    return values / largest if largest > 0.0 else np.zeros(len(values))
