"""How much of what is nearest by meaning sign bits let through, on each kind of text.

`python -m bench.pool [SIZE]` embeds so many templated notes, pieces of prose and pages with the
static table, asks each kind some questions, and prints which share of the true fifty nearest is
among those that a recall compares, and by how much the fiftieth found is less alike than the true
one. Made-up texts of `bench.writes`; nothing is kept, and no number here is a time.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.writes import KINDS, PAGES
from recollect.embed.quantise import quantise
from recollect.embed.static import StaticEmbedder
from recollect.index.selection import Selection
from recollect.index.vectors import Vectors

__all__ = ["Share", "measured", "shares"]

SIZE = 100_000
QUESTIONS = 24
TRUE = 50
# As many as a recall asks for: recall.candidates.
KEEP = 400
_BATCH = 5_000
_RANDOM = "random vectors"


@dataclass(frozen=True)
class Share:
    """Of one question: the share of the true nearest that was found, and what the last lacks."""

    found: float
    less: float


def shares(vectors: Vectors, size: int, questions: Sequence[NDArray[np.int8]]) -> list[Share]:
    """Return for each question how much of the true fifty the nearest hold."""
    every = Selection(np.ones(size, np.bool_), size, is_all=True, generation=0)
    return [_share(vectors, every, question) for question in questions]


def _share(vectors: Vectors, every: Selection, question: NDArray[np.int8]) -> Share:
    cosines = vectors.cosines(question, every.slots)
    least = float(np.partition(cosines, -TRUE)[-TRUE])
    near = vectors.nearest(question, every, KEEP)
    found = np.sort(near.cosines)[::-1][:TRUE]
    # Of those that tie with the fiftieth any will do.
    return Share(float(np.count_nonzero(found >= least)) / TRUE, least - float(found[-1]))


def measured(size: int) -> Iterator[tuple[str, list[Share]]]:
    """Yield each kind of text with the shares of its questions, and random vectors last."""
    embedder = StaticEmbedder()
    for kind, write in KINDS.items():
        chance = random.Random(7)
        vectors = Vectors(embedder.dimension)
        for start in track(range(0, size, _BATCH), kind, console=Console(stderr=True)):
            texts = [write(chance) for _ in range(min(_BATCH, size - start))]
            vectors.extend(list(quantise(embedder.embed_documents(texts))))
        asked = [_ASKED[kind](chance) for _ in range(QUESTIONS)]
        yield kind, shares(vectors, size, [quantise(embedder.embed_query(one)) for one in asked])
    yield _RANDOM, _of_random(size, embedder.dimension)


def _of_random(size: int, dimension: int) -> list[Share]:
    chance = np.random.default_rng(7)
    vectors = Vectors(dimension)
    for start in range(0, size, _BATCH):
        rows = chance.standard_normal((min(_BATCH, size - start), dimension))
        vectors.extend(list(quantise(rows)))
    return shares(vectors, size, list(quantise(chance.standard_normal((QUESTIONS, dimension)))))


def _about_a_deploy(chance: random.Random) -> str:
    return (
        f"which deploy of service-{chance.randrange(40)} on web-{chance.randrange(20)}"
        f" {chance.choice(('failed', 'succeeded'))} after {chance.randrange(5, 300)} s?"
    )


def _about_a_page(chance: random.Random) -> str:
    lines = PAGES.with_name("queries.jsonl").read_text(encoding="utf-8").splitlines()
    text: str = json.loads(chance.choice(lines))["text"]
    return text


_ASKED: Mapping[str, Callable[[random.Random], str]] = {
    "machine": _about_a_deploy,
    "prose": _about_a_page,
    "pages": _about_a_page,
}


def main() -> None:
    """Measure and print."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else SIZE
    table = Table(title=f"The true {TRUE} nearest of {size:,}, and what a recall compares")
    for column in ("kind", "share found", "least of a question", "the fiftieth is less alike by"):
        table.add_column(column, justify="left" if column == "kind" else "right")
    for kind, found in measured(size):
        share, least = np.mean([one.found for one in found]), min(one.found for one in found)
        less = np.mean([one.less for one in found])
        table.add_row(kind, f"{share:.3f}", f"{least:.2f}", f"{less:.4f}")
    Console().print(table)


if __name__ == "__main__":
    main()
