"""Which links and lists a repair cannot trust, and who has to look around again for it.

In: rows that differ from their second copies, and memories that are put aside. Out: rows whose
lists are computed again, by whoever knows how. What is drawn by hand cannot be computed.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from recollect.ports.edges import LostLinks

if TYPE_CHECKING:
    from recollect.ports.edges import LinkAgain
    from recollect.stores.sqlite.examine import Unlike

__all__ = ["PAIRS", "LinksInDoubt"]

# Tables of pairs, by their two ends.
PAIRS = {
    "memory_edges": ("low", "high"),
    "memory_likenesses": ("row_id", "other"),
    "memory_disputes": ("low", "high"),
}
_OF_USES = "low, high, tenant, principal, uses"


class LinksInDoubt:
    """What one repair has found out about links so far."""

    def __init__(self, conn: sqlite3.Connection, *, all_links: bool) -> None:
        self._conn = conn
        self._all = all_links
        self._rows: set[int] = set()
        self._weights: defaultdict[tuple[int, int], set[float]] = defaultdict(set)
        self._by_hand: set[tuple[int, int]] = set()
        self._uses: list[tuple[Any, ...]] = []

    def look_at(self, unlike: Iterable[Unlike]) -> None:
        """Take note of links and lists that differ, whichever of the two is right."""
        # What was used is known apart from the link, which takes it along when it goes.
        self._uses = self._conn.execute(f"SELECT {_OF_USES} FROM link_uses").fetchall()
        for one in unlike:
            said = dict(zip(one.columns, one.row, strict=True))
            if one.table == "memory_likenesses":
                self._look_again(said["row_id"], said["other"])
            elif one.table == "memory_edges":
                self._edge(said)

    def _edge(self, said: dict[str, Any]) -> None:
        low, high = said["low"], said["high"]
        self._look_again(low, high)
        if said["automatic"] != 1:
            self._by_hand.add((low, high))
        elif isinstance(said["weight"], float):
            self._weights[low, high].add(said["weight"])
        # A link is found again with the entries that bear it out.
        self._conn.executemany(
            "DELETE FROM memory_likenesses WHERE row_id = ? AND other = ?",
            [(low, high), (high, low)],
        )

    def is_derived(self, unlike: Unlike) -> bool:
        """Return whether a row follows from others; a link that may be drawn by hand does not."""
        if unlike.table == "memory_likenesses":
            return True
        said = dict(zip(unlike.columns, unlike.row, strict=True))
        return unlike.table == "memory_edges" and (said["low"], said["high"]) not in self._by_hand

    def without(self, row_id: int) -> None:
        """Let those look around again who hold a memory that will be put aside."""
        self.look_again("SELECT row_id FROM memory_likenesses WHERE other = ?", row_id)

    def look_again(self, query: str, *values: object) -> None:
        """Let the rows of a query look around again."""
        self._look_again(*(row[0] for row in self._conn.execute(query, values)))

    def compute(self, link_again: LinkAgain) -> int:
        """Let lists and links be computed again; return how many links nothing bears out."""
        if self._all or self._rows:
            rows = None if self._all else frozenset(self._rows)
            weights = {pair: tuple(sorted(said)) for pair, said in self._weights.items()}
            link_again(LostLinks(rows, weights))
        lost = self._conn.execute(
            "DELETE FROM memory_edges WHERE automatic = 1 AND NOT ("
            " EXISTS (SELECT 1 FROM memory_likenesses WHERE row_id = low AND other = high)"
            " AND EXISTS (SELECT 1 FROM memory_likenesses WHERE row_id = high AND other = low))"
        ).rowcount
        self._conn.executemany(
            f"INSERT OR IGNORE INTO link_uses ({_OF_USES}) SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS"
            " (SELECT 1 FROM memory_edges WHERE low = ?1 AND high = ?2)",
            self._uses,
        )
        return lost

    def _look_again(self, *row_ids: object) -> None:
        self._rows.update(row_id for row_id in row_ids if isinstance(row_id, int))
