"""Lists of the most alike, in SQLite: a row for each entry, found from both of its ends.

In: row ids and entries. Out: the same. Part of `SqliteStore`, in its connection and transactions.
"""

from __future__ import annotations

from collections.abc import Iterable

from recollect.ports.likenesses import Likeness
from recollect.stores.sqlite.session import Session, chunks, marks

__all__ = ["SqliteLikenesses"]


class SqliteLikenesses:
    """Whom each Pak holds for its most alike."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def lists(self, row_ids: Iterable[int]) -> list[Likeness]:
        """Return the whole lists of these rows."""
        return [
            Likeness(*row)
            for chunk in chunks(list(row_ids))
            for row in self._db.all(
                "SELECT row_id, other, closeness FROM memory_likenesses"
                f" WHERE row_id IN ({marks(chunk)})",
                *chunk,
            )
        ]

    def full_lists_with(self, row_ids: Iterable[int], full: int) -> list[int]:
        """Return the other rows whose list has `full` entries, any of these rows among them."""
        asked = list(row_ids)
        found: set[int] = set()
        for chunk in chunks(asked):
            found.update(
                self._db.column(
                    "SELECT row_id FROM memory_likenesses WHERE row_id IN"
                    f" (SELECT row_id FROM memory_likenesses WHERE other IN ({marks(chunk)}))"
                    " GROUP BY row_id HAVING count(*) >= ?",
                    *chunk,
                    full,
                )
            )
        return sorted(found.difference(asked))

    def last_of_full(self, row_ids: Iterable[int], full: int) -> dict[int, float]:
        """Return the least closeness in those of these rows' lists that have `full` entries."""
        return {
            row_id: closeness
            for chunk in chunks(list(row_ids))
            for row_id, closeness in self._db.all(
                "SELECT row_id, min(closeness) FROM memory_likenesses"
                f" WHERE row_id IN ({marks(chunk)}) GROUP BY row_id HAVING count(*) >= ?",
                *chunk,
                full,
            )
        }

    def put(self, near: Iterable[Likeness]) -> None:
        """Add entries to lists."""
        self._db.conn.executemany(
            "INSERT OR REPLACE INTO memory_likenesses (row_id, other, closeness) VALUES (?, ?, ?)",
            [(one.row_id, one.other, one.closeness) for one in near],
        )

    def drop(self, near: Iterable[Likeness]) -> None:
        """Take entries out of lists."""
        self._db.conn.executemany(
            "DELETE FROM memory_likenesses WHERE row_id = ? AND other = ?",
            [(one.row_id, one.other) for one in near],
        )

    def take_out(self, row_ids: Iterable[int]) -> None:
        """Undo all lists and automatic edges of these rows; others hold them no longer."""
        for chunk in chunks(list(row_ids)):
            for end in ("row_id", "other"):
                self._db.run(
                    f"DELETE FROM memory_likenesses WHERE {end} IN ({marks(chunk)})", *chunk
                )
            for end in ("low", "high"):
                self._db.run(
                    "UPDATE memory_edges SET weight = 0, changed = ? WHERE automatic = 1"
                    f" AND weight > 0 AND {end} IN ({marks(chunk)})",
                    self._db.revision(),
                    *chunk,
                )

    def problems(self) -> list[str]:
        """Return in words where links and lists contradict each other."""
        odd = self._db.one(
            "SELECT count(*) FROM memory_edges WHERE automatic = 1 AND weight > 0 AND NOT ("
            " EXISTS (SELECT 1 FROM memory_likenesses WHERE row_id = low AND other = high)"
            " AND EXISTS (SELECT 1 FROM memory_likenesses WHERE row_id = high AND other = low))"
        )[0]
        return [f"{odd} automatic links join Paks that do not hold each other"] if odd else []
