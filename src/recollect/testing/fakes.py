"""A clock and an embedder that do as they are told.

In: the times and vectors that a test chooses. Out: the same, always; no real clock is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.embed import EmbedderUnavailable

__all__ = ["FakeClock", "FakeEmbedder"]

# 2026-01-01T00:00:00Z
_NEW_YEAR = 1_767_225_600.0


class FakeClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = _NEW_YEAR) -> None:
        self.seconds = now

    def now(self) -> float:
        """Return the time in Unix seconds."""
        return self.seconds

    def advance(self, *, hours: float = 0.0, seconds: float = 0.0) -> None:
        """Move the clock, forwards or backwards."""
        self.seconds += hours * 3600 + seconds


class FakeEmbedder:
    """Vectors that depend on the words of a text alone, or are given for it.

    Texts that share words are alike. `fail` makes every call fail, as a server that is down;
    `calls` counts the texts that were embedded.
    """

    def __init__(
        self,
        dimension: int = 32,
        *,
        vectors: Mapping[str, Sequence[float]] | None = None,
        model_id: str = "fake",
    ) -> None:
        self.model_id = model_id
        self.dimension = dimension
        self.vectors = dict(vectors or {})
        self.fail = False
        self.calls = 0

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text."""
        if self.fail:
            raise EmbedderUnavailable("The fake embedder was told to fail.", hint="fail = False")
        self.calls += len(texts)
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of one question."""
        vector: NDArray[np.float32] = self.embed_documents([text])[0]
        return vector

    def _vector(self, text: str) -> NDArray[np.float32]:
        if text in self.vectors:
            return np.asarray(self.vectors[text], np.float32)
        total = np.zeros(self.dimension, np.float64)
        for word in sorted(text.lower().split()):
            total += _direction(word, self.dimension)
        return total.astype(np.float32)


def _direction(word: str, dimension: int) -> NDArray[np.float64]:
    """Return numbers from -1 to 1 that only this word has."""
    data = hashlib.shake_128(word.encode(errors="replace")).digest(2 * dimension)
    return np.frombuffer(data, "<u2").astype(np.float64) / 32767.5 - 1.0
