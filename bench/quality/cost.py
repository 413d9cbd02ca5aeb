"""What a question to a transformer costs more, in static embeddings of the same question.

In: the repository's notes, in a store of each embedder. Out: one number. Both answer the same
questions by turns, in CPU time; of the rounds of each question the quickest counts, since noise
only adds.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING

from bench.quality.sets import found_sets
from recollect import Recollect
from recollect.embed import load_embedder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ROW", "extra_cost"]

ROW = "a question to minilm, in static embeddings of it more"
_ROUNDS = 7


def extra_cost(spec: str = "minilm") -> float:
    """Return the median over the questions of what one costs more, in static embeddings of it."""
    (task,) = found_sets(only=["notes"]).tasks
    (collection,) = task.collections
    items = [one.arguments for one in collection.items]
    static = load_embedder("static")
    with (
        TemporaryDirectory(prefix="recollect-cost-") as folder,
        Recollect.open(Path(folder) / "static.db", embedder=static) as plain,
        Recollect.open(Path(folder) / "other.db", embedder=spec) as other,
    ):
        for memory in (plain, other):
            memory.remember_many(items)
            memory.recall(collection.questions[0].text)
        return median(
            _extra(
                lambda text=one.text: plain.recall(text),
                lambda text=one.text: other.recall(text),
                lambda text=one.text: static.embed_documents([text]),
            )
            for one in collection.questions
        )


def _extra(
    plain: Callable[[], object], other: Callable[[], object], embed: Callable[[], object]
) -> float:
    one, more, unit = _quickest((plain, other, embed))
    return (more - one) / unit


def _quickest(works: Sequence[Callable[[], object]]) -> list[float]:
    """Return the least CPU time that each of some works took, by turns."""
    least = [float("inf")] * len(works)
    for _ in range(_ROUNDS):
        for at, work in enumerate(works):
            start = process_time()
            work()
            least[at] = min(least[at], process_time() - start)
    return least
