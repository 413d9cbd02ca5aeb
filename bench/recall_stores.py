"""The stores of the recall benchmark, built once through the public API and kept for the next run.

In: a size and a folder. Out: the path of a closed store with its cache file. It is built again when
the data or the tables have changed. A measurement that writes takes a copy.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import recall_data
from recollect import Recollect
from recollect.embed.static import StaticEmbedder
from recollect.ports.embedder import QueryTokens

__all__ = [
    "STORES",
    "SyntheticEmbedder",
    "built",
    "copied",
    "items",
    "name_of",
    "opened",
    "path_of",
    "tables",
    "whole",
]

STORES = Path(__file__).parent / ".stores"
_AT_ONCE = 10_000

Progress = Callable[[int, int], None]


class SyntheticEmbedder:
    """Synthetic vectors for documents; questions go through the real static embedder.

    So a recall pays for tokenising and weighing its question, and a store of a million is built in
    minutes. What a write would pay for its text with the static embedder is a row of its own.
    """

    dimension = recall_data.DIMENSION

    def __init__(self) -> None:
        self._vectors = recall_data.Vectors()
        self._static = StaticEmbedder()

    @property
    def model_id(self) -> str:
        """The static embedder's identity, so that its table is read as it would be, and ours."""
        return f"{self._static.model_id}:seeded-normal"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the synthetic vectors of some texts."""
        return self._vectors.of(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the static embedder's vector of a question."""
        return self._static.embed_query(text)

    def tokenise_query(self, text: str) -> QueryTokens:
        """Return the question's words as the static embedder sees them."""
        return self._static.tokenise_query(text)

    def combine(
        self, tokens: QueryTokens, weights: Sequence[float] | NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Return the question's vector with its words weighted."""
        return self._static.combine(tokens, weights)


def opened(path: Path, *, links: bool = False, cache_file: bool = True) -> Recollect:
    """Open a store of the benchmark."""
    return Recollect.open(path, embedder=SyntheticEmbedder(), links=links, cache_file=cache_file)


def items(first: int, count: int) -> list[dict[str, Any]]:
    """Return what to remember for some neighbouring numbers."""
    return [
        {"content": content, "project": recall_data.project(number)}
        for number, content in enumerate(recall_data.texts(first, count), first)
    ]


def path_of(size: int, folder: Path = STORES) -> Path:
    """Return where the store of this size is, or will be."""
    return folder / name_of(size, [SyntheticEmbedder().model_id, *tables()])


def built(size: int, folder: Path = STORES, progress: Progress | None = None) -> Path:
    """Return the store of this size, building it first if it is not there."""
    path = path_of(size, folder)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"{size}-*"):
            old.unlink()
        draft = folder / f"draft-{size}-{os.getpid()}.db"  # others may build the same
        _remove(draft)
        _fill(draft, size, progress)
        draft.replace(path)
        _remove(draft)  # the cache file that closing left beside it
    _warm(path, size)
    return path


def copied(path: Path, folder: Path, name: str) -> Path:
    """Return a copy of a closed store, with its cache file, that may be written to."""
    copy = folder / name
    shutil.copyfile(path, copy)
    cache_file = Path(f"{path}.index")
    if cache_file.exists():  # a small store has none
        shutil.copyfile(cache_file, f"{copy}.index")
    return copy


def name_of(size: int, made_by: Sequence[str]) -> str:
    """Return the file name of a store: another one for other data, model or tables."""
    made_of = json.dumps([recall_data.PARAMETERS, *made_by], sort_keys=True)
    return f"{size}-{hashlib.sha256(made_of.encode()).hexdigest()[:12]}.db"


def tables() -> list[str]:
    """Return the statements that make a new store's tables."""
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = Path(folder) / "new.db"
        opened(path).close()
        connection = sqlite3.connect(path)
        try:
            found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            return sorted(sql for (sql,) in found)
        finally:
            connection.close()


def _fill(path: Path, size: int, progress: Progress | None) -> None:
    with opened(path) as memory:
        for first in range(0, size, _AT_ONCE):
            count = min(_AT_ONCE, size - first)
            memory.remember_many(items(first, count))
            if progress is not None:
                progress(first + count, size)


def _warm(path: Path, size: int) -> None:
    """Leave a cache file of this release beside the store: closing writes what opening missed."""
    with opened(path) as memory:
        whole(memory, size)
        memory.recall(recall_data.question(0, size))


def whole(memory: Recollect, size: int) -> None:
    """Refuse a store that does not hold what it should: its times would mean nothing."""
    held = memory.stats()["memories"]
    if held != size:
        raise RuntimeError(f"A store holds {held:,} memories instead of {size:,}; remove it.")


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", ".index"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
