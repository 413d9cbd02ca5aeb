"""chromadb with a persistent client, cosine space, and our embedder. In its own environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from bench.peers.measure import Text, Vectors, main, versions_of


class Embedding(chromadb.EmbeddingFunction[chromadb.Documents]):
    """chromadb's interface for embedders of one's own."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def __call__(self, input: chromadb.Documents) -> Any:  # noqa: A002 - chromadb's name
        """Return the vectors of some texts."""
        return [self._vectors.of(text) for text in input]

    @staticmethod
    def name() -> str:
        """Return the name that the collection is stored with."""
        return "recollect-static"

    def get_config(self) -> dict[str, Any]:
        """Return nothing: there is nothing to set."""
        return {}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> Embedding:
        """Refuse: it is never opened again."""
        raise NotImplementedError(config)


class Chroma:
    """One collection in one folder."""

    def __init__(self, vectors: Vectors) -> None:
        self.versions = versions_of("chromadb")
        self._embedding = Embedding(vectors)

    def open(self, folder: Path) -> None:
        """Make a client and a collection."""
        client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self._collection = client.create_collection(
            "texts",
            embedding_function=self._embedding,
            configuration={"hnsw": {"space": "cosine"}},
        )

    def add(self, texts: Sequence[Text]) -> None:
        """Add the texts in one call."""
        self._collection.add(
            ids=[text.name for text in texts], documents=[text.text for text in texts]
        )

    def search(self, question: str, k: int) -> list[str]:
        """Return the nearest."""
        return self._collection.query(query_texts=[question], n_results=k)["ids"][0]

    def close(self) -> None:
        """A client has nothing to close."""


if __name__ == "__main__":
    main(Chroma)
