"""What is asked for word for word comes first.

In: candidates in the order of their claim, the question, and texts. Out: the same candidates, first
those whose text is the question itself. Nothing is read here: `nearest` says whose text to look at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollect.limits import VERBATIM_COMPARED
from recollect.model import Memory
from recollect.recall.blocks import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["is_verbatim", "nearest", "verbatim_first"]


def is_verbatim(memory: Memory | None, query: str | None) -> bool:
    """Return whether a question is the text of a memory."""
    if memory is None or query is None:
        return False
    return memory.content.strip() == query.strip()


def nearest(ranked: Sequence[Ranked], similarity: NDArray[np.float64]) -> list[Ranked]:
    """Return who is most like the question: a text that is the question itself, and its twins."""
    alike = similarity.tolist()
    found = [alike[one.row] for one in ranked]
    most = max(found, default=0.0)
    return [one for one, own in zip(ranked, found, strict=True) if own == most][:VERBATIM_COMPARED]


def verbatim_first(
    ranked: Sequence[Ranked], query: str | None, texts: Mapping[str, Memory | None]
) -> tuple[Ranked, ...]:
    """Return candidates in their order, but for those whose text is the question: they lead."""
    named = {pak_id for pak_id, memory in texts.items() if is_verbatim(memory, query)}
    if not named:
        return tuple(ranked)
    return tuple(sorted(ranked, key=lambda one: one.pak_id not in named))
