"""Uses in memory: a row for each memory, and each link, that a principal has used.

In: values of `recollect.ports.uses`. Out: the same. Nobody's numbers are another's.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.ports.uses import MOST_LINK_USES, MOST_USES, Used, UsedLink, Uses, Who
from recollect.stores.memory.session import Session
from recollect.stores.touched import use_event

__all__ = ["MemoryUses"]


class MemoryUses:
    """The uses of one store in memory."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, who: Who) -> Uses:
        """Return all that a principal has used."""
        uses, links = self._session.uses, self._session.link_uses
        with self._session.snapshot():
            return Uses(
                [uses[row_id][who] for row_id in sorted(uses) if who in uses[row_id]],
                [links[pair][who] for pair in sorted(links) if who in links[pair]],
            )

    def count(self, who: Who, pak_ids: Sequence[str], *, at: float) -> Uses:
        """Count one more use of memories, and of the links among them."""
        tables = self._session
        known = {name: row for name in pak_ids if (row := tables.memories.get(name)) is not None}
        rows = {row.row_id: row.memory for row in known.values()}
        pairs = [pair for pair in tables.edges.at(rows) if rows.keys() >= set(pair)]
        counted = Uses(
            [self._used(who, row_id, rows[row_id].reinforced, at) for row_id in sorted(rows)],
            [self._used_link(who, *pair) for pair in pairs],
        )
        self.put(who, counted)
        return counted

    def put(self, who: Who, uses: Uses) -> None:
        """Keep uses as given."""
        tables = self._session
        tables.touched.events.add(use_event(who))
        for one in uses.memories:
            tables.uses.put(one.row_id, {**(tables.uses.get(one.row_id) or {}), who: one})
        for link in uses.links:
            pair = (link.low, link.high)
            tables.link_uses.put(pair, {**(tables.link_uses.get(pair) or {}), who: link})

    def _used(self, who: Who, row_id: int, begun: int, at: float) -> Used:
        before = (self._session.uses.get(row_id) or {}).get(who)
        uses = (begun if before is None else before.reinforced) + 1
        return Used(row_id, min(uses, MOST_USES), float(at))

    def _used_link(self, who: Who, low: int, high: int) -> UsedLink:
        before = (self._session.link_uses.get((low, high)) or {}).get(who)
        return UsedLink(low, high, min(before.uses + 1 if before else 1, MOST_LINK_USES))
