"""What `frame` declares to write: one more use of what it returned, stronger edges among it.

Ids come in and are counted as part of a commit; what changed goes out, so that the index of
this process need not read it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.ports.store import Changes, Commit, RowFilter, Store, Used
from recollect.write.link import strengthen

__all__ = ["reinforce"]


def reinforce(
    store: Store, pak_ids: Sequence[str], *, active_hours: float, commit: Commit
) -> Changes:
    """Count the use of these memories and of the edges that join them, as part of a commit."""
    if not pak_ids:
        return Changes(commit.head, (), (), ())
    known = store.memories.standing(RowFilter(pak_ids=tuple(pak_ids))).values()
    used = [
        replace(one, reinforced=one.reinforced + 1, last_reinforced=active_hours) for one in known
    ]
    store.memories.set_standing(used)
    rows = [one.row_id for one in used]
    if edges := strengthen(store.edges.touching(rows), rows):
        store.edges.put(edges)
    weights = [(edge.low, edge.high, edge.weight) for edge in edges]
    counted = [Used(one.row_id, one.reinforced, one.last_reinforced) for one in used]
    return Changes(commit.head, (), (), weights, counted)
