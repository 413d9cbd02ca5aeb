"""How well a memory fits a question, in one word: strong, fair or weak.

In: how alike it is, and how alike the eleventh of all that was compared is. Out: a `Match`. What
is alike and stands out from what any question finds fits well; where fewer than eleven were
compared, likeness alone decides. This is the one place that says what is enough; what is weak is
shown all the same, and says so. Nothing is looked up here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.model import Match

__all__ = ["BESIDE", "strength"]

# So many stand before the one that is compared with.
BESIDE = 10
# Half of how alike a memory is, and by how much it stands out: from where on it is strong, and
# below what it is weak. Chosen on twelve sets (ADR-0043), `python -m bench.quality --match`.
_STRONG, _WEAK = 0.40, 0.28
# So alike as this nothing is weak, however many others are as well.
_NEVER_WEAK = 0.50
# Where nothing can stand out: how alike it is.
_STRONG_ALONE, _WEAK_ALONE = 0.45, 0.22


def strength(similarity: float, background: float | None) -> Match:
    """Return how well a memory that is so alike fits what was asked."""
    if background is None:
        if similarity >= _STRONG_ALONE:
            return "strong"
        return "fair" if similarity >= _WEAK_ALONE else "weak"
    speaks = similarity / 2 + (similarity - background)
    if speaks >= _STRONG:
        return "strong"
    return "fair" if speaks >= _WEAK or similarity >= _NEVER_WEAK else "weak"
