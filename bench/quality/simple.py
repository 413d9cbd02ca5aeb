"""The simple ways to search: stemmed BM25, the static table's cosine, and both added up.

In: a collection's texts, then its questions. Out: ids, best first. Nothing is tuned: k1 and b are
Lucene's, a sum adds how many deviations each score lies above its mean.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from bench.peers.bm25 import K1, B
from recollect.embed.static import StaticEmbedder
from recollect.index.analyse import terms

__all__ = ["ROWS", "Postings", "searched", "standardised"]

Scores = NDArray[np.float64]


class Postings:
    """The textbook's BM25 as columns: the scores of all texts at once."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(terms(text)) for text in texts]
        self._count = len(texts)
        lengths = np.array([each.total() for each in counts], dtype=np.float64)
        self._lengths = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
        held: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, each in enumerate(counts):
            for term, times in each.items():
                held[term].append((row, times))
        self._held = {term: np.array(pairs).T for term, pairs in held.items()}

    def scores(self, question: str) -> Scores:
        """Return the score of every text; 0 is a text that shares no word."""
        scores = np.zeros(self._count)
        for term in terms(question):
            if term in self._held:
                rows, times = self._held[term]
                rarity = log(1 + (self._count - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += rarity * times * (K1 + 1) / (times + self._lengths[rows])
        return scores


class _Cosines:
    """The mean of the static table's tokens, for texts and questions alike."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._embedder = StaticEmbedder(every_time=True)
        self._vectors = self._embedder.embed_documents(texts)

    def scores(self, question: str) -> Scores:
        (vector,) = self._embedder.embed_documents([question])
        return (self._vectors @ vector).astype(np.float64)


def standardised(scores: Scores) -> Scores:
    """Return how many deviations each score lies above the mean of all."""
    spread = float(scores.std())
    return (scores - scores.mean()) / spread if spread > 0 else np.zeros_like(scores)


def _added(words: Scores, cosines: Scores) -> Scores:
    return standardised(words) + standardised(cosines)


# What each row makes of the two scores; without a word in common, words alone know no answer.
ROWS: Mapping[str, Callable[[Scores, Scores], Scores]] = {
    "stemmed BM25": lambda words, _: np.where(words > 0, words, -np.inf),
    "static cosine": lambda _, cosines: cosines,
    "BM25 + cosine (z-sum)": _added,
}


def searched(
    texts: Mapping[str, str], questions: Sequence[str], k: int
) -> dict[str, list[list[str]]]:
    """Return what each row finds for each question; of equals, the first by name."""
    names = sorted(texts)
    words, cosines = Postings([texts[name] for name in names]), _Cosines([*map(texts.get, names)])
    answers: dict[str, list[list[str]]] = {row: [] for row in ROWS}
    for question in questions:
        both = words.scores(question), cosines.scores(question)
        for row, rule in ROWS.items():
            scores = rule(*both)
            best = np.argsort(-scores, kind="stable")[:k]
            answers[row].append([names[one] for one in best if np.isfinite(scores[one])])
    return answers
