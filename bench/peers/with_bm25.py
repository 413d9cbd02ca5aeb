"""The textbook's BM25 over Recollect's own stems; nothing is stored."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

from bench.peers.bm25 import BM25
from bench.peers.measure import Text, Vectors, main


class Textbook:
    """An index in memory."""

    def __init__(self, _vectors: Vectors) -> None:
        self.versions = {"python": platform.python_version()}

    def open(self, folder: Path) -> None:
        """Nothing is kept in a folder."""

    def add(self, texts: Sequence[Text]) -> None:
        """Index the texts."""
        self._index = BM25({text.name: text.text for text in texts})

    def search(self, question: str, k: int) -> list[str]:
        """Return the best."""
        return self._index.search(question, k)

    def close(self) -> None:
        """Nothing is open."""


if __name__ == "__main__":
    main(Textbook)
