"""bm25s as its documentation has it: English stop words and stemmer. In its own environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import bm25s
import Stemmer  # type: ignore[import-not-found]

from bench.peers.measure import Text, Vectors, main, versions_of


class Bm25s:
    """An index in memory."""

    def __init__(self, _vectors: Vectors | None = None) -> None:
        self.versions = versions_of("bm25s", "numpy", "PyStemmer")
        self._stemmer = Stemmer.Stemmer("english")

    def open(self, folder: Path) -> None:
        """Nothing is kept in a folder."""

    def add(self, texts: Sequence[Text]) -> None:
        """Index the texts."""
        self._names = [text.name for text in texts]
        self._index = bm25s.BM25()
        self._index.index(self._tokens([text.text for text in texts]), show_progress=False)

    def search(self, question: str, k: int) -> list[str]:
        """Return the best."""
        rows, _ = self._index.retrieve(
            self._tokens([question]), k=min(k, len(self._names)), show_progress=False
        )
        return [self._names[row] for row in rows[0]]

    def close(self) -> None:
        """Nothing is open."""

    def _tokens(self, texts: list[str]) -> object:
        return bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)


if __name__ == "__main__":
    main(Bm25s)
