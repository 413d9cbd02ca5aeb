"""Edges: which memories belong together, and how strongly.

In: two memories, that a caller names or that hold each other for their most alike (`lists`). Out:
the edge between them. Automatic edges depend on which memories there are and not on what was there
before. What use adds to them is in `ports.uses`.
"""

from __future__ import annotations

from recollect.ports.edges import Edge

__all__ = [
    "MAX_AUTOMATIC",
    "edge_between",
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
