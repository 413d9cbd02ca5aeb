"""LanceDB's hybrid search: vectors of our embedder and its own full text, its reranker by ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import lancedb
from lancedb.index import FTS

from bench.peers.measure import Text, Vectors, main, versions_of


class Lance:
    """One table in one folder."""

    def __init__(self, vectors: Vectors) -> None:
        self.versions = versions_of("lancedb", "pyarrow")
        self._vectors = vectors

    def open(self, folder: Path) -> None:
        """Connect."""
        self._database = lancedb.connect(str(folder))

    def add(self, texts: Sequence[Text]) -> None:
        """Make the table and its full-text index."""
        self._table = self._database.create_table(
            "texts",
            data=[
                {"name": one.name, "text": one.text, "vector": self._vectors.of(one.text)}
                for one in texts
            ],
        )
        self._table.create_index("text", config=FTS())

    def search(self, question: str, k: int) -> list[str]:
        """Return the best by both."""
        found = (
            self._table.search(query_type="hybrid")
            .vector(self._vectors.of(question))
            .text(question)
            .distance_type("cosine")
            .limit(k)
            .to_list()
        )
        return [row["name"] for row in found]

    def close(self) -> None:
        """A connection has nothing to close."""


if __name__ == "__main__":
    main(Lance)
