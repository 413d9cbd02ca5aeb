"""Keep near-duplicates from eating the window: maximal marginal relevance.

In: candidates, best first, and how alike they are. Out: the same candidates in the order in which
they should be taken. What has nothing nearly like it before it keeps its rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.recall.blocks import Ranked

__all__ = ["ALIKE", "DIVERSITY", "any_alike", "diversified", "sameness", "word_sameness"]

# The weight of relevance against novelty.
DIVERSITY = 0.7
# Below this two texts are different enough to stand side by side without a discount.
ALIKE = 0.8
# From here on the second says nothing new: it waits until all others are taken.
_SAME = 0.9
# Texts of up to this many terms are compared by their cosine as it is.
_SHORT = 10


def diversified(
    ranked: Sequence[Ranked], likeness: NDArray[np.float64], *, balance: float = DIVERSITY
) -> tuple[Ranked, ...]:
    """Return candidates in the order to take them; `likeness` is a square matrix of them."""
    if balance >= 1 or not any_alike(likeness):
        return tuple(ranked)
    scores = np.array([one.score for one in ranked])
    relevance = scores / scores.max() if scores.max() > 0 else scores
    nearest = np.zeros(len(ranked))
    left = np.ones(len(ranked), np.bool_)
    order = []
    for _ in ranked:
        repeats = np.where(nearest >= ALIKE, nearest, 0.0)
        worth = balance * relevance - (1 - balance) * repeats - 2.0 * (nearest >= _SAME)
        taken = int(np.argmax(np.where(left, worth, -np.inf)))
        order.append(ranked[taken])
        left[taken] = False
        nearest = np.maximum(nearest, likeness[taken])
    return tuple(order)


def sameness(
    cosines: NDArray[np.float64], lengths: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """Return how nearly texts say the same, from their cosines and lengths in terms.

    The longer texts are, the nearer do their vectors lie, whatever they say: what a cosine lacks
    to 1 counts once for every ten terms of the longer one.
    """
    longer = np.maximum(lengths[:, np.newaxis], lengths)
    same: NDArray[np.float64] = 1.0 - (1.0 - cosines) * np.maximum(longer / _SHORT, 1.0)
    return same


def word_sameness(texts: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Return the same from the words of texts: for stores without vectors.

    A word that only one of two has counts as a tenth, and more where there are fewer than ten.
    """
    sets = [frozenset(words) for words in texts]
    shared = [[_shared(one, other) for other in sets] for one in sets]
    return np.array(shared, dtype=np.float64).reshape(len(sets), len(sets))


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    most = max(len(one), len(other))
    return 1.0 - (most - len(one & other)) / min(most, _SHORT) if most else 0.0


def any_alike(likeness: NDArray[np.float64]) -> bool:
    """Return whether any two are so alike that the second is worth less."""
    alike = likeness >= ALIKE
    # Each is alike to itself; a text without a vector is not even that.
    return bool(np.count_nonzero(alike) > np.count_nonzero(alike.diagonal()))
