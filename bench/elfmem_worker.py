"""elfmem in one process, with the benchmark's texts and vectors and its own mock LLM.

In: a path and a size as arguments, then a request a line. Out: wall seconds, a number a call. It
runs in elfmem's environment: no Recollect here.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import sqlite3
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from elfmem.adapters.mock import MockLLMService
from elfmem.api import MemorySystem
from elfmem.db import queries
from elfmem.db.engine import create_engine
from elfmem.db.models import metadata
from elfmem.memory.blocks import compute_content_hash

from bench import recall_data
from bench.clock import seconds as clock
from bench.recall_serving import serve

MODEL = "bench:seeded-normal"
_AT_ONCE = 1000


class Embeddings:
    """elfmem's embedding port over the synthetic vectors."""

    model_name = MODEL

    def __init__(self) -> None:
        self._vectors = recall_data.Vectors()

    async def embed(self, text: str) -> np.ndarray:
        return self._vectors.of([text])[0]

    async def embed_batch(self, texts: list[str]) -> list[np.ndarray]:
        return list(self._vectors.of(texts))


class Elfmem:
    """One elfmem store, filled if it is new."""

    def __init__(self, path: Path, size: int) -> None:
        self.versions = {
            "elfmem": version("elfmem"),
            "elfmem's numpy": np.__version__,
            "elfmem's python": platform.python_version(),
            "elfmem's sqlite": sqlite3.sqlite_version,
        }
        self._runner = asyncio.Runner()
        self._embeddings = Embeddings()
        new = not path.exists()
        self._engine = self._runner.run(create_engine(str(path)))
        if new:
            self._runner.run(self._fill(size))
        self._system = MemorySystem(
            engine=self._engine, llm_service=MockLLMService(), embedding_service=self._embeddings
        )
        self._runner.run(self._system.begin_session())

    def close(self) -> None:
        """Close the store."""
        self._runner.run(self._system.end_session())
        self._runner.run(self._engine.dispose())
        self._runner.close()

    def digest(self, size: int) -> str:
        """Return a digest of the texts and vectors stored, to be compared with ours."""
        return self._runner.run(self._digest(size))

    def answer(self, questions: list[str], frame: str | None) -> list[float]:
        """Recall, or render a frame; one time a question."""
        return [self._runner.run(self._timed(question, frame)) for question in questions]

    async def _timed(self, question: str, frame: str | None) -> float:
        start = clock()
        if frame is None:
            blocks = await self._system.recall(question, top_k=5)
        else:
            blocks = (await self._system.frame(frame, question, top_k=5)).blocks
        spent = clock() - start
        if not blocks:
            raise RuntimeError("elfmem found nothing; its time would mean nothing.")
        return spent

    async def _fill(self, size: int) -> None:
        """Write what learn() and then dream(skip_llm=True) would, by their own statements.

        dream() itself compares every pair of blocks in Python, twice: some ten minutes at 10,000.
        With these vectors it would neither join nor reject any (no cosine reaches 0.5).
        """
        async with self._engine.begin() as connection:
            await connection.run_sync(metadata.create_all)
            await queries.seed_builtin_data(connection)
        for first in range(0, size, _AT_ONCE):
            texts = list(recall_data.texts(first, min(_AT_ONCE, size - first)))
            await self._promote(texts, await self._embeddings.embed_batch(texts))

    async def _promote(self, texts: list[str], vectors: list[np.ndarray]) -> None:
        async with self._engine.begin() as connection:
            ids = [compute_content_hash(text) for text in texts]
            for block_id, text, vector in zip(ids, texts, vectors, strict=True):
                await queries.insert_block(
                    connection, block_id=block_id, content=text, category="knowledge", source="api"
                )
                await queries.update_block_scoring(
                    connection,
                    block_id,
                    self_alignment=0.5,
                    decay_lambda=0.01,
                    embedding=vector,
                    embedding_model=MODEL,
                    token_count=max(1, len(text) // 4),
                    clear_last_scored_at=True,
                    success_count=0.5,
                    failure_count=0.5,
                )
                await queries.update_block_status(connection, block_id, "active")
            await queries.reinforce_blocks(connection, ids, 0.0)

    async def _digest(self, size: int) -> str:
        async with self._engine.connect() as connection:
            found = await queries.get_active_blocks_with_embeddings(connection)
        kept = {block["content"]: queries.bytes_to_embedding(block["embedding"]) for block in found}
        texts = list(recall_data.texts(0, size))
        return recall_data.digest(texts, np.stack([kept[text] for text in texts]))


def main() -> None:
    logging.disable(logging.CRITICAL)
    path, size = sys.argv[1:]
    serve(lambda: Elfmem(Path(path), int(size)))


if __name__ == "__main__":
    main()
