"""How the tests of bad days open a store, and the rows that they write: the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recollect import Recollect
from recollect.model import canonical_json
from recollect.testing import FakeClock, FakeEmbedder

WRITTEN = "2025-12-31T00:00:00Z"
WORDS = ("queue", "redis", "worker", "release", "walrus", "zebra", "kiwi", "tea", "plan", "note")


def opened(path: Path | str, *, links: bool = False, model: str = "fake") -> Recollect:
    """Open a store whose clock stands still."""
    embedder = FakeEmbedder(64, model_id=model)
    return Recollect.open(path, embedder=embedder, clock=FakeClock(), hours="wall", links=links)


def row(writer: str, number: int) -> dict[str, Any]:
    """Return the arguments of one memory; its first word is its own."""
    words = " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 3, 7))
    return {"content": f"{writer}x{number} {words}", "pak_id": f"{writer}-{number:05d}"}


def word(writer: str, number: int) -> str:
    """Return the word that only this memory holds."""
    return f"{writer}x{number}"


def answers(memory: Recollect) -> list[str]:
    """Return what a store answers to a few questions, as canonical JSON."""
    return [
        canonical_json(memory.recall(query, frame=frame, top_k=8))
        for query in (None, "walrus plan", "redis queue worker", "ax7")
        for frame in ("evidence", "attention")
    ]
