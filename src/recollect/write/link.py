"""Edges: which memories belong together, and how strongly.

In: lists of whom each memory holds for its most alike, or two memories that a caller names. Out:
edges to write. Automatic edges join two that hold each other, so they depend on which memories
there are and not on what was there before. What use adds to them is in `ports.uses`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recollect.ports.edges import Edge, Likeness

__all__ = [
    "MAX_AUTOMATIC",
    "LikenessLists",
    "edge_between",
    "edges_to_write",
    "pair",
    "weight_of",
]

# Entries of a list, and so automatic edges of a memory: what one write can change stays bounded.
MAX_AUTOMATIC = 10
MAX_WEIGHT = 1.0


def pair(one: int, other: int) -> tuple[int, int]:
    """Return two rows in the canonical order of an edge."""
    return (one, other) if one < other else (other, one)


def edge_between(one: int, other: int, weight: float, *, automatic: bool) -> Edge:
    """Return the edge between two rows in its canonical order."""
    low, high = pair(one, other)
    return Edge(low, high, weight, automatic)


def weight_of(closeness: float) -> float:
    """Return the cosine that a closeness was made from: the weight of an automatic edge."""
    return min(round(closeness, 9), MAX_WEIGHT)


class LikenessLists:
    """Whom some rows hold for their most alike, ten at most, as a batch of writes changes it.

    A row that is not among them counts as holding nobody.
    """

    def __init__(self, stored: Iterable[Likeness]) -> None:
        self._before: dict[int, dict[int, float]] = {}
        for entry in stored:
            self._before.setdefault(entry.row_id, {})[entry.other] = entry.closeness
        self._now = {row: dict(held) for row, held in self._before.items()}
        # What was added and removed, once somebody asked.
        self._added: list[Likeness] | None = None
        self._removed: list[Likeness] | None = None

    def set(self, row: int, most_alike: Mapping[int, float]) -> None:
        """Give a row its whole list."""
        self._added = self._removed = None
        self._now[row] = dict(most_alike)

    def offer(self, offered: Likeness) -> None:
        """Let a row hold another; a full list gives up its weakest, which may be the offered."""
        self._added = self._removed = None
        held = self._now.setdefault(offered.row_id, {})
        held[offered.other] = offered.closeness
        if len(held) > MAX_AUTOMATIC:
            del held[min(held, key=lambda one: (held[one], -one))]

    def added(self) -> list[Likeness]:
        """Return the entries that were not there before."""
        if self._added is None:
            self._added = _missing(self._now, self._before)
        return self._added

    def removed(self) -> list[Likeness]:
        """Return the entries that are there no longer."""
        if self._removed is None:
            self._removed = _missing(self._before, self._now)
        return self._removed

    def bars(self) -> dict[int, float]:
        """Return how close another must be to get into each list: 0 while there is room."""
        return {
            row: min(held.values()) if len(held) >= MAX_AUTOMATIC else 0.0
            for row, held in self._now.items()
        }

    def hold_each_other(self, one: int, other: int) -> bool:
        """Return whether two rows hold each other."""
        return other in self._now.get(one, ()) and one in self._now.get(other, ())


def edges_to_write(lists: LikenessLists, known: Iterable[Edge]) -> list[Edge]:
    """Return the edges to write after lists have changed; weight 0 where one is no more.

    `known` are the edges of the rows concerned: one made by hand stays.
    """
    there = {(old.low, old.high): old for old in known}
    written = {}
    for entry in lists.removed():
        ends = pair(entry.row_id, entry.other)
        if ends in there and there[ends].automatic:
            written[ends] = there[ends]._replace(weight=0.0)
    for entry in lists.added():
        ends = pair(entry.row_id, entry.other)
        if ends not in there and lists.hold_each_other(*ends):
            written[ends] = edge_between(*ends, weight_of(entry.closeness), automatic=True)
    return [written[ends] for ends in sorted(written)]


def _missing(
    whole: Mapping[int, Mapping[int, float]], part: Mapping[int, Mapping[int, float]]
) -> list[Likeness]:
    return [
        Likeness(row, other, closeness)
        for row, held in whole.items()
        if held.keys() != (before := part.get(row, {})).keys()
        for other, closeness in held.items()
        if other not in before
    ]
