"""The static table as it is: a text is the mean of its tokens' vectors, a question too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.peers.measure import Text, Vectors, main, versions_of
from recollect.embed import load_embedder


class Cosine:
    """A matrix in memory."""

    def __init__(self, _vectors: Vectors) -> None:
        self.versions = versions_of("wordllama", "numpy")
        self._embedder = load_embedder("static")

    def open(self, folder: Path) -> None:
        """Nothing is kept in a folder."""

    def add(self, texts: Sequence[Text]) -> None:
        """Embed the texts."""
        self._names = [text.name for text in texts]
        self._matrix = self._embedder.embed_documents([text.text for text in texts])

    def search(self, question: str, k: int) -> list[str]:
        """Return the nearest."""
        (vector,) = self._embedder.embed_documents([question])
        nearest = np.argsort(-(self._matrix @ vector), kind="stable")[:k]
        return [self._names[row] for row in nearest]

    def close(self) -> None:
        """Nothing is open."""


if __name__ == "__main__":
    main(Cosine)
