"""Edges: which Paks belong together, and how strongly.

In: vectors of new Paks and an index of the old, or two Paks that a caller names. Out: edges to
write. Automatic edges join what means nearly the same, ten a Pak at most; co-retrieval strengthens
edges that exist and never makes one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from recollect.ports.store import Edge

__all__ = [
    "MAX_AUTOMATIC",
    "NEAR_DUPLICATE",
    "SIMILAR",
    "AutomaticEdges",
    "Likeness",
    "edge",
    "near_duplicates",
    "strengthened",
]

SIMILAR = 0.60
NEAR_DUPLICATE = 0.95
MAX_AUTOMATIC = 10
CO_RETRIEVAL_STEP = 0.10
MAX_WEIGHT = 1.0


@dataclass(frozen=True, slots=True)
class Likeness:
    """Another Pak, and the cosine between the two."""

    row_id: int
    pak_id: str
    cosine: float


def edge(one: int, other: int, weight: float, *, automatic: bool) -> Edge:
    """Return the edge between two rows in its canonical order."""
    return Edge(min(one, other), max(one, other), weight, automatic)


def strengthened(edges: Iterable[Edge], returned: Iterable[int]) -> list[Edge]:
    """Return the edges whose two ends were returned together, one step stronger."""
    together = set(returned)
    return [
        replace(old, weight=min(MAX_WEIGHT, round(old.weight + CO_RETRIEVAL_STEP, 9)))
        for old in edges
        if old.low in together and old.high in together and old.weight < MAX_WEIGHT
    ]


@dataclass
class AutomaticEdges:
    """Decides which automatic edges to make while a batch of Paks is written.

    Knows the edges that the touched rows have; a full row gives up its weakest for a stronger.
    """

    known: Iterable[Edge]
    changed: dict[tuple[int, int], Edge] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._of: defaultdict[int, dict[int, Edge]] = defaultdict(dict)
        for old in self.known:
            self._keep(old)

    def join(self, row_id: int, likenesses: Sequence[Likeness]) -> list[Likeness]:
        """Link a new row to the most alike; return those it was linked to."""
        best = sorted(likenesses, key=lambda like: (-like.cosine, like.pak_id))
        return [like for like in best[:MAX_AUTOMATIC] if self._link(row_id, like)]

    def drop_all(self, row_id: int) -> None:
        """Undo the automatic edges of a row whose text is no longer what it was."""
        for old in [old for old in self._of[row_id].values() if old.automatic]:
            self._remove(old)

    def _link(self, row_id: int, like: Likeness) -> bool:
        if like.row_id in self._of[row_id]:
            return False
        for row in (row_id, like.row_id):
            if not self._make_room(row, like.cosine):
                return False
        new = edge(row_id, like.row_id, like.cosine, automatic=True)
        self._keep(new)
        self.changed[new.low, new.high] = new
        return True

    def _make_room(self, row: int, weight: float) -> bool:
        automatic = [old for old in self._of[row].values() if old.automatic]
        if len(automatic) < MAX_AUTOMATIC:
            return True
        weakest = min(automatic, key=lambda old: (old.weight, old.low, old.high))
        if weakest.weight >= weight:
            return False
        self._remove(weakest)
        return True

    def _keep(self, kept: Edge) -> None:
        self._of[kept.low][kept.high] = kept
        self._of[kept.high][kept.low] = kept

    def _remove(self, old: Edge) -> None:
        del self._of[old.low][old.high]
        del self._of[old.high][old.low]
        self.changed[old.low, old.high] = replace(old, weight=0.0)


def near_duplicates(likenesses: Iterable[Likeness]) -> tuple[str, ...]:
    """Return the ids of those so alike that they may say the same, ascending."""
    return tuple(sorted(like.pak_id for like in likenesses if like.cosine >= NEAR_DUPLICATE))
