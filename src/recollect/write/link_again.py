"""Compute links again after a repair let go of those that were not as they were written.

In: rows that must look around, inside of the commit that repairs. Out: their lists and links as
they would be had nothing ever happened to them (ADR-0011): they follow from texts and vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recollect.index.index import MemoryIndex
from recollect.ports.store import START, RowFilter
from recollect.ports.uses import MOST_LINK_USES, strength
from recollect.write.likeness import arrivals_of, relink

if TYPE_CHECKING:
    from recollect.ports.store import Commit, Edge, LostLinks, Store

__all__ = ["link_again"]


def link_again(lost: LostLinks, *, store: Store, commit: Commit) -> None:
    """Let rows look around again, and give links back what they had won by use."""
    wanted = None if lost.rows is None else tuple(lost.rows)
    standing = store.memories.standing(RowFilter(row_ids=wanted)).values()
    looking = sorted(one.row_id for one in standing if one.settled and one.has_vector)
    if not looking:
        return
    # Of the rows as the repair leaves them: what the follower has may hold what was damaged.
    index = MemoryIndex.empty(commit.before.dimension or 0).after_all(
        store.memories.changes(START), head=commit.head
    )
    relink(arrivals_of(looking, index), without=(), index=index, store=store, commit=commit)
    store.edges.put(_as_strong_as_before(lost, store.edges.touching(looking)))


def _as_strong_as_before(lost: LostLinks, edges: list[Edge]) -> Iterator[Edge]:
    """Yield the links of which one of two copies says what use can have made of them."""
    for edge in edges:
        said = set(lost.weights.get((edge.low, edge.high), ()))
        possible = said.intersection(_weights_of(edge))
        if edge.automatic and len(possible) == 1:
            yield edge._replace(weight=possible.pop())


def _weights_of(edge: Edge) -> Iterator[float]:
    """Yield what a link may weigh, from never used to used often, as uses once were kept in it."""
    for uses in range(MOST_LINK_USES + 1):
        yield strength(edge.weight, uses)
