"""elfmem: `learn` every text, `dream` until none waits, then `recall`. In its own environment."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from elfmem.adapters.mock import MockLLMService
from elfmem.api import MemorySystem
from elfmem.db import queries
from elfmem.db.engine import create_engine
from elfmem.db.models import metadata

from bench.peers.measure import Text, Vectors, main, versions_of

_AT_ONCE = 10_000


class Embeddings:
    """elfmem's embedding port."""

    model_name = "recollect-static"

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    async def embed(self, text: str) -> np.ndarray:
        return np.asarray(self._vectors.of(text), dtype=np.float32)

    async def embed_batch(self, texts: list[str]) -> list[np.ndarray]:
        return [await self.embed(text) for text in texts]


class Elfmem:
    """One store in one file."""

    def __init__(self, vectors: Vectors) -> None:
        logging.disable(logging.CRITICAL)
        self.versions = versions_of("elfmem", "numpy")
        self._vectors = vectors

    def open(self, folder: Path) -> None:
        """Make a new store."""
        self._runner = asyncio.Runner()
        self._names: dict[str, str] = {}
        self._runner.run(self._open(folder / "elfmem.db"))

    def add(self, texts: Sequence[Text]) -> None:
        """Learn the texts one by one and consolidate them without an LLM."""
        self._runner.run(self._add(texts))

    def search(self, question: str, k: int) -> list[str]:
        """Return the best."""
        blocks = self._runner.run(self._system.recall(question, top_k=k))
        return [self._names[block.content] for block in blocks]

    def close(self) -> None:
        """Close the store."""
        self._runner.run(self._system.end_session())
        self._runner.run(self._engine.dispose())
        self._runner.close()

    async def _open(self, path: Path) -> None:
        self._engine = await create_engine(str(path))
        async with self._engine.begin() as connection:
            await connection.run_sync(metadata.create_all)
            await queries.seed_builtin_data(connection)
        self._system = MemorySystem(
            engine=self._engine,
            llm_service=MockLLMService(),
            embedding_service=Embeddings(self._vectors),
        )
        await self._system.begin_session()

    async def _add(self, texts: Sequence[Text]) -> None:
        for one in texts:
            self._names[one.text] = one.name
            await self._system.learn(one.text)
        await self._system.dream(skip_llm=True, inbox_max=_AT_ONCE)


if __name__ == "__main__":
    main(Elfmem)
