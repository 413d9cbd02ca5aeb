"""Which words a text has, and how well a Pak answers each: BM25 over title and summary.

In: any text, and which Paks hold a word. Out: words, and a score for each Pak that holds one. The
formula is FTS5's own, but document count, document frequency and average length are taken among
the rows that count and no others, which FTS5's `bm25()` cannot do (ADR-0007).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.paks.words import MAX_CHARACTERS, MAX_WORDS
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.ports.catalogue import CatalogueRecords, Statistics

__all__ = ["Hit", "bm25", "distinct_words"]

# FTS5's constants; a word that more than half of the rows hold still counts, by next to nothing.
_K1 = 1.2
_B = 0.75
_LEAST_RARITY = 1e-6

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """One word among the Paks that count: which hold it, how often, and how long each is."""

    word: str
    slots: Ints
    counts: Ints
    lengths: Ints

    def among(self, chosen: Bools) -> Hit:
        """Return the same of some of those Paks."""
        return Hit(self.word, self.slots[chosen], self.counts[chosen], self.lengths[chosen])


def distinct_words(text: str, records: CatalogueRecords) -> list[str]:
    """Return the distinct words of `text` as the catalogue reads them, ascending."""
    words = records.words_of(text[:MAX_CHARACTERS])
    return sorted(list(dict.fromkeys(words))[:MAX_WORDS])


def bm25(hit: Hit, statistics: Statistics) -> Floats:
    """Return what one word adds to the score of each Pak that holds it."""
    holding = len(hit.slots)
    # Where full text is damaged, more documents may hold a word than there are.
    others = max(statistics.documents - holding, 0)
    rarity = math.log((others + 0.5) / (holding + 0.5))
    rarity = rarity if rarity > 0.0 else _LEAST_RARITY
    average = statistics.words / max(statistics.documents, 1)
    counts = hit.counts.astype(np.float64)
    added: Floats = (
        rarity * (counts * (_K1 + 1.0)) / (counts + _K1 * (1.0 - _B + _B * hit.lengths / average))
    )
    return added
