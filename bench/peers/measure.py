"""A peer's side of the comparison: texts in, every question answered for every k, times beside.

Standard library only, because it runs inside the environments of the peers. A peer is a class with
four methods; `main` reads the corpus file that the driver wrote and writes the result file that it
waits for.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple, Protocol

__all__ = ["Peer", "Text", "Vectors", "main", "peak_mb", "versions_of"]


class Text(NamedTuple):
    """A text to remember."""

    name: str
    text: str


class Peer(Protocol):
    """What is measured: one store at a time, filled once, asked often."""

    @property
    def versions(self) -> Mapping[str, str]:
        """What was measured, in which version."""

    def open(self, folder: Path) -> None:
        """Start a new store in an empty folder."""

    def add(self, texts: Sequence[Text]) -> None:
        """Store all texts."""

    def search(self, question: str, k: int) -> list[str]:
        """Return the names of the k best, best first."""

    def close(self) -> None:
        """Let go of the store."""


class Vectors:
    """Recollect's own vectors of all texts and questions, so that peers have the same embedder.

    They cost a peer nothing, whereas Recollect embeds each question while its time is taken.
    """

    def __init__(self, path: Path, texts: Sequence[str]) -> None:
        held = array("f")
        held.frombytes(path.read_bytes())
        self.dimension = len(held) // len(texts)
        self._held = held
        self._row = {_spaced(text): row for row, text in enumerate(texts)}

    def of(self, text: str) -> list[float]:
        """Return the vector of a text or a question of the corpus; peers may strip spaces."""
        start = self._row[_spaced(text)] * self.dimension
        return list(self._held[start : start + self.dimension])


def main(make: Callable[[Vectors], Peer]) -> None:
    """Measure the peer on the corpus that the arguments name, and write what came out."""
    corpus_path, result_path = map(Path, sys.argv[1:])
    corpus = json.loads(corpus_path.read_text())
    peer = make(Vectors(corpus_path.with_suffix(".f32"), corpus["vectors_of"]))
    collections = [_measured(peer, one, corpus["k"]) for one in corpus["collections"]]
    result = {
        "versions": dict(peer.versions),
        "collections": collections,
        "peak_mb": peak_mb(),
    }
    result_path.write_text(json.dumps(result))


def peak_mb() -> float:
    """Return the most memory that this process ever had resident."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    raise RuntimeError("This system does not tell the peak of resident memory.")


def versions_of(*packages: str) -> dict[str, str]:
    """Return the installed versions."""
    return {package: version(package) for package in packages}


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _measured(peer: Peer, collection: dict[str, Any], cutoffs: Sequence[int]) -> dict[str, Any]:
    texts = [Text(**item) for item in collection["items"]]
    questions = [question["text"] for question in collection["questions"]]
    with TemporaryDirectory(prefix="peer-", ignore_cleanup_errors=True) as folder:
        peer.open(Path(folder))
        start = perf_counter()
        peer.add(texts)
        add_s = perf_counter() - start
        peer.search(questions[0], 5)  # whatever the first question has to load
        answers = {str(k): [_timed(peer, question, k) for question in questions] for k in cutoffs}
        peer.close()
    return {"add_s": add_s, "answers": answers}


def _timed(peer: Peer, question: str, k: int) -> dict[str, Any]:
    wall, cpu = perf_counter(), process_time()
    found = peer.search(question, k)
    return {"s": perf_counter() - wall, "cpu_s": process_time() - cpu, "found": found[:k]}
