"""What `frame` declares to write: one more use of what it returned, stronger edges among it."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.ports.store import ClockState, MemoryStore
from recollect.write.link import strengthened

__all__ = ["reinforce"]


def reinforce(store: MemoryStore, pak_ids: Sequence[str], *, clock: ClockState) -> None:
    """Count the use of these Paks and of the edges that join them, in one transaction."""
    with store.transaction():
        store.set_clock(clock)
        if not pak_ids:
            return
        store.reinforce(pak_ids, active_hours=clock.active_hours)
        rows = store.row_ids(pak_ids).values()
        if edges := strengthened(store.edges(rows), rows):
            store.put_edges(edges)
