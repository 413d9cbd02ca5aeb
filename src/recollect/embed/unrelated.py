"""Where unrelated texts lie for a model: the mean cosine of sentences about different things.

An embedder comes in, a number goes out. The sentences are ours and always the same, so that no
store has a part in it: nobody's memories, hidden or not, move what an answer is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recollect.ports.embedder import Embedder

__all__ = ["SENTENCES", "unrelated_cosine"]

# No two are about the same thing; of several lengths, as memories are, and some ask.
SENTENCES = (
    "The kettle needs descaling every other month.",
    "She plays the second violin in the town's orchestra.",
    "When does the ferry to the island leave on Sundays?",
    "Invoices above four thousand are signed by two people.",
    "The glacier has lost a third of its thickness since the survey began.",
    "Our deploy script restarts the workers one after the other.",
    "He is allergic to walnuts.",
    "Which of the paints dries fastest in cold weather?",
    "The treaty was signed after eleven years of talks, in a school gymnasium.",
    "A hash table answers in constant time unless its keys collide.",
    "The puppy chewed through the left slipper again.",
    "Turn right at the chapel and follow the wall to the orchard.",
    "My passport expires in March.",
    "The striker missed both penalties and apologised to the fans afterwards.",
    "Basil should be pinched back before it flowers.",
    "Who had the keys to the archive last winter?",
    "The vaccine is kept between two and eight degrees.",
    "Interest on the loan is paid in arrears, at the end of each quarter.",
    "They met at a dance class for beginners.",
    "The telescope's mirror was ground by hand over two winters.",
    "Bread rises poorly at this altitude.",
    "The choir asks new members to read from the sheet.",
    "Rust on the hinge is what makes the gate squeal.",
    "A sonnet has fourteen lines.",
)
_DECIMALS = 2
# A model for which unrelated texts are nearly the same could tell nothing apart.
_MOST = 0.9


def unrelated_cosine(embedder: Embedder) -> float:
    """Return the mean cosine of two of the sentences, to two decimals, and never below 0."""
    vectors = embedder.embed_documents(SENTENCES).astype(np.float64)
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    units = vectors / np.where(lengths > 0, lengths, 1.0)
    count = len(units)
    # The square of the sum holds every pair twice, and each sentence with itself.
    total = float(np.square(units.sum(axis=0)).sum()) - count
    return min(max(round(total / (count * (count - 1)), _DECIMALS), 0.0), _MOST)
