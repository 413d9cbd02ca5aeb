"""Questions whose answers must be the same bytes, in this process and in any other.

Run as a program it opens the store named on the command line and prints the answers' digests.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from recollect import Recollect
from recollect.model import canonical_json
from recollect.testing import FakeClock, FakeEmbedder

QUERIES = (None, "queue", "redis queue worker", "what do I value most?", "nothing alike", "é")
FRAMES = ("evidence", "attention", "task", "self")


def opened(
    path: Path | str,
    *,
    links: bool = False,
    cache_file: bool = True,
    embedder: FakeEmbedder | None = None,
) -> Recollect:
    """Open a store with the clock and the embedder of these tests."""
    return Recollect.open(
        path,
        embedder=embedder or FakeEmbedder(16),
        clock=FakeClock(),
        hours="wall",
        links=links,
        cache_file=cache_file,
    )


def recalls(memory: Recollect) -> list[str]:
    """Return what recall answers, as canonical JSON; nothing is written."""
    return [
        *(canonical_json(memory.recall(q, frame=f, top_k=4)) for q in QUERIES for f in FRAMES),
        canonical_json(memory.recall("queue worker", top_k=20, project="shop")),
        canonical_json(memory.recall("queue worker", top_k=3, tags=["work/%"], token_budget=40)),
    ]


def frames(memory: Recollect) -> list[str]:
    """Return what frames answer, one after the other: each counts what it returned."""
    return [
        canonical_json(memory.frame(frame, query, top_k=3))
        for frame in FRAMES
        for query in (None, "redis queue")
    ]


if __name__ == "__main__":
    with opened(sys.argv[1]) as store:
        for answers in (recalls(store), frames(store), recalls(store)):
            print(hashlib.sha256("\n".join(answers).encode()).hexdigest())
