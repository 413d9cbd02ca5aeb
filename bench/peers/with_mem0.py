"""mem0 without inference: its local vector store, our embedder. In its own environment.

Its keyword half needs files from a model hub, so offline it searches by meaning alone, as it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase

from bench.peers.measure import Text, Vectors, main, versions_of

USER = {"user_id": "somebody"}


class Embedding(EmbeddingBase):
    """mem0's interface for embedders."""

    def __init__(self, vectors: Vectors) -> None:
        super().__init__()
        self._vectors = vectors

    def embed(self, text: str, memory_action: Any = None) -> list[float]:  # noqa: ARG002
        """Return the vector of a text."""
        return self._vectors.of(text)


class Mem0:
    """One collection in one folder."""

    def __init__(self, vectors: Vectors) -> None:
        self.versions = versions_of("mem0ai", "qdrant-client")
        self._vectors = vectors

    def open(self, folder: Path) -> None:
        """Open a memory; nothing is ever asked of the LLM that it insists on."""
        nobody = {"provider": "openai", "config": {"api_key": "none"}}
        store = {
            "collection_name": "texts",
            "path": str(folder / "qdrant"),
            "embedding_model_dims": self._vectors.dimension,
            "on_disk": True,
        }
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": nobody,
                "llm": nobody,
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = Embedding(self._vectors)

    def add(self, texts: Sequence[Text]) -> None:
        """Add one text after the other: there is no call for many."""
        for one in texts:
            self._memory.add(one.text, infer=False, metadata={"name": one.name}, **USER)

    def search(self, question: str, k: int) -> list[str]:
        """Return the best."""
        found = self._memory.search(question, top_k=k, filters=USER)
        return [one["metadata"]["name"] for one in found["results"]]

    def close(self) -> None:
        """Close the vector store."""
        self._memory.vector_store.client.close()


if __name__ == "__main__":
    main(Mem0)
