"""What `frame` declares to write: one more use of what it returned, stronger edges among it.

Pak ids come in and are counted in one transaction; what changed goes out, so that the index of
this process need not read it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.ports.store import Changes, ClockState, MemoryStore
from recollect.write.link import strengthen

__all__ = ["reinforce"]


def reinforce(store: MemoryStore, pak_ids: Sequence[str], *, clock: ClockState) -> Changes:
    """Count the use of these Paks and of the edges that join them, in one transaction."""
    with store.transaction() as revision:
        store.set_clock(clock)
        if not pak_ids:
            return Changes(revision, (), (), ())
        used = store.reinforce(pak_ids, active_hours=clock.active_hours)
        rows = [one.row_id for one in used]
        if edges := strengthen(store.edges(rows), rows):
            store.put_edges(edges)
        weights = [(edge.low, edge.high, edge.weight) for edge in edges]
        return Changes(revision, (), (), weights, used)
