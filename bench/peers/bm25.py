"""Plain BM25, as a textbook has it, over the engine's own stems: the bar for prose without threads.

In: texts, then questions. Out: ids, best first. k1 and b are Lucene's, 1.2 and 0.75.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import log

from recollect.index.analyse import terms

__all__ = ["BM25"]

K1, B = 1.2, 0.75


class BM25:
    """An index of texts by their ids; what shares no word with a question is no answer."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._counts = {name: Counter(terms(text)) for name, text in texts.items()}
        self._holding = Counter(term for counts in self._counts.values() for term in counts)
        self._mean = sum(map(Counter.total, self._counts.values())) / len(texts)

    def search(self, question: str, k: int) -> list[str]:
        """Return the ids of the k best; of equals, the first by name."""
        asked = terms(question)
        scores = {name: self._score(asked, counts) for name, counts in self._counts.items()}
        found = [name for name, score in scores.items() if score > 0]
        return sorted(found, key=lambda name: (-scores[name], name))[:k]

    def _score(self, asked: list[str], counts: Counter[str]) -> float:
        length = K1 * (1 - B + B * counts.total() / self._mean)
        return sum(
            self._rarity(term) * counts[term] * (K1 + 1) / (counts[term] + length)
            for term in asked
            if term in counts
        )

    def _rarity(self, term: str) -> float:
        holding = self._holding[term]
        return log(1 + (len(self._counts) - holding + 0.5) / (holding + 0.5))
