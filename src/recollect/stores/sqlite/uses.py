"""Uses in SQLite: a row for each memory, and each link, that a principal has used.

In: values of `recollect.ports.uses`. Out: the same. Nobody's numbers are another's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from recollect.ports.uses import MOST_LINK_USES, MOST_USES, Used, UsedLink, Uses
from recollect.stores.sqlite.session import marks
from recollect.stores.touched import use_event

if TYPE_CHECKING:
    from recollect.ports.uses import Who
    from recollect.stores.sqlite.session import Session

__all__ = ["SqliteUses"]

_COUNT = (
    "INSERT INTO memory_uses (row_id, tenant, principal, reinforced, last_reinforced)"
    " SELECT row_id, ?, ?, min(reinforced, {most}) + 1, ? FROM memories WHERE pak_id IN ({names})"
    " ON CONFLICT (row_id, tenant, principal) DO UPDATE SET"
    " reinforced = min(memory_uses.reinforced, {most}) + 1,"
    " last_reinforced = excluded.last_reinforced"
    " RETURNING row_id, reinforced, last_reinforced"
)
_COUNT_LINKS = (
    "INSERT INTO link_uses (low, high, tenant, principal, uses)"
    " SELECT low, high, ?, ?, 1 FROM memory_edges WHERE low IN ({rows}) AND high IN ({rows})"
    " ON CONFLICT (low, high, tenant, principal) DO UPDATE SET"
    f" uses = min(link_uses.uses + 1, {MOST_LINK_USES})"
    " RETURNING low, high, uses"
)


class SqliteUses:
    """The uses of one SQLite file."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def of(self, who: Who) -> Uses:
        """Return all that a principal has used; what was damaged was not used."""
        memories = self._db.all(
            "SELECT row_id, reinforced, last_reinforced FROM memory_uses"
            " WHERE tenant = ? AND principal = ? AND typeof(reinforced) = 'integer'"
            " AND reinforced >= 0 AND typeof(last_reinforced) = 'real'"
            " AND abs(last_reinforced) < 1e300 ORDER BY row_id",
            *who,
        )
        links = self._db.all(
            "SELECT low, high, uses FROM link_uses WHERE tenant = ? AND principal = ?"
            " AND typeof(uses) = 'integer' ORDER BY low, high",
            *who,
        )
        return Uses(_used(memories), [UsedLink(*row) for row in links])

    def count(self, who: Who, pak_ids: Sequence[str], *, at: float) -> Uses:
        """Count one more use of memories, and of the links among them."""
        self._db.touched.events.add(use_event(who))
        names = _COUNT.format(names=marks(pak_ids), most=MOST_USES - 1)
        memories = sorted(self._db.all(names, *who, float(at), *pak_ids))
        rows = [row[0] for row in memories]
        links = []
        if len(rows) > 1:
            links = sorted(self._db.all(_COUNT_LINKS.format(rows=marks(rows)), *who, *rows, *rows))
        return Uses(_used(memories), [UsedLink(*row) for row in links])

    def put(self, who: Who, uses: Uses) -> None:
        """Keep uses as given."""
        self._db.touched.events.add(use_event(who))
        self._db.run_each(
            "INSERT OR REPLACE INTO memory_uses"
            " (row_id, tenant, principal, reinforced, last_reinforced) VALUES (?, ?, ?, ?, ?)",
            [(one.row_id, *who, one.reinforced, one.last_reinforced) for one in uses.memories],
        )
        self._db.run_each(
            "INSERT OR REPLACE INTO link_uses (low, high, tenant, principal, uses)"
            " VALUES (?, ?, ?, ?, ?)",
            [(one.low, one.high, *who, one.uses) for one in uses.links],
        )


def _used(rows: Iterable[tuple[int, int, float]]) -> list[Used]:
    # What an upsert returns is not put into the column's type: 5 hours would be no real.
    return [Used(row_id, reinforced, float(last)) for row_id, reinforced, last in rows]
