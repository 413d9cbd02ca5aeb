"""The latest or the first of what is about a question's subject, before all that is only about it.

In: numbers that say how good rows are and how alike to the question, and when each is from. Out:
the same numbers, raised where order asks for it. The subject counts before the time: whoever is
much less alike than the best takes no part. Nothing is looked up here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.recall.ranges import Order

__all__ = ["Sequence", "in_sequence"]

# What comes up to this share of the best one's similarity is about the same.
_ABOUT = 0.6
# So much one stands above the next.
_STEP = 1e-6
_DECIMALS = 9


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """Scores in order, what was added to each for that, and who took part."""

    scores: NDArray[np.float64]
    added: NDArray[np.float64]
    members: NDArray[np.bool_]


def in_sequence(
    scores: NDArray[np.float64],
    similarity: NDArray[np.float64],
    moments: NDArray[np.integer],
    order: Order,
) -> Sequence:
    """Raise scores so that of what is about the same the latest, or the first, has the highest.

    No score falls. Of one moment the better one stays the better; what is of no moment is left.
    """
    best = similarity.max(initial=0.0)
    members = (similarity > 0.0) & (similarity >= _ABOUT * best) & (moments >= 0)
    places = np.flatnonzero(members)
    moved = moments[places] if order == "latest" else -moments[places]
    # The last comes first, so that each can be raised above all that were before it.
    places = places[np.lexsort((scores[places], moved))]
    steps = np.arange(len(places)) * _STEP
    raised = np.maximum.accumulate(scores[places] - steps) + steps
    found = scores.copy()
    found[places] = np.round(np.minimum(raised, 1.0 - steps[::-1]), _DECIMALS)
    return Sequence(found, found - scores, members)
