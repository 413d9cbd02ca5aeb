"""How well a memory fits a question, in one word: strong, fair or weak.

In: the signals of a memory. Out: a `Match`. This is the one place that says what is enough; what is
weak is shown all the same, and says so. Nothing is looked up here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.model import Match, Signals

__all__ = ["match_of"]

# Similarity from which on a memory fits. Nonsense stays below 0.10; of what answers a question of
# locomo-dev and is found, 98 in 100 have 0.25 or more, and three quarters 0.35 (ADR-0037).
_STRONG = 0.35
_FAIR = 0.15


def match_of(signals: Signals) -> Match:
    """Return how well a memory with these signals fits what was asked."""
    if signals.similarity >= _STRONG:
        return "strong"
    return "fair" if signals.similarity >= _FAIR else "weak"
