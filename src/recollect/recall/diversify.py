"""Line candidates up so that what is taken early is unlike what was taken before it.

In: candidates, best first, and how alike their meanings are. Out: the same candidates in the order
in which they should be taken: maximal marginal relevance. Only who asks for it gets it; that
near-duplicates wait is another rule, and holds without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.recall.blocks import Ranked

__all__ = ["spread"]


def spread(
    ranked: Sequence[Ranked], cosines: NDArray[np.float64], *, diversity: float
) -> tuple[Ranked, ...]:
    """Return candidates in the order to take them; `cosines` is a square matrix of them.

    `diversity` is the share of relevance: 1 leaves the order as it is, 0 looks at novelty alone.
    """
    scores = np.array([one.score for one in ranked])
    relevance = scores / scores.max(initial=0.0) if scores.max(initial=0.0) > 0 else scores
    nearest = np.zeros(len(ranked))
    left = np.ones(len(ranked), np.bool_)
    order = []
    for _ in ranked:
        worth = diversity * relevance - (1 - diversity) * nearest
        best = int(np.argmax(np.where(left, worth, -np.inf)))
        order.append(ranked[best])
        left[best] = False
        nearest = np.maximum(nearest, cosines[best])
    return tuple(order)
