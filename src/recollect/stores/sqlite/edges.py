"""Links, likenesses and disputes in SQLite: a row for each pair, found from both of its ends.

In: row ids and values of `recollect.ports.edges`. Out: the same. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from recollect.ports.edges import Dispute, Edge
from recollect.stores.sqlite.session import chunks, marks

if TYPE_CHECKING:
    from recollect.stores.sqlite.session import Session

__all__ = ["SqliteEdges"]


# Lists that are read to be changed, and lie all over a large table.
_MANY = 256
# Lists that are read at once: their entries are gone again before Python's collector looks at them.
_LISTS = 60
_ENDS = itemgetter(0, 1)


class SqliteEdges:
    """The pairs of one SQLite file."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def touching(self, row_ids: Iterable[int]) -> list[Edge]:
        """Return all links that touch any of these rows, each once."""
        found = {
            (low, high): Edge(low, high, weight, bool(automatic))
            for chunk in chunks(list(row_ids))
            for low, high, weight, automatic in self._db.all(
                "SELECT low, high, weight, automatic FROM memory_edges"
                f" WHERE low IN ({marks(chunk)}) AND weight <= 1"
                " UNION SELECT low, high, weight, automatic FROM memory_edges"
                f" WHERE high IN ({marks(chunk)}) AND weight <= 1",
                *chunk,
                *chunk,
            )
            if type(low) is type(high) is int
        }
        return list(found.values())

    def between(self, pairs: Iterable[tuple[int, int]]) -> list[Edge]:
        """Return those links that join two rows of a pair."""
        return [
            Edge(low, high, weight, bool(automatic))
            for chunk in chunks(list(pairs))
            for low, high, weight, automatic in self._db.all(
                "WITH wanted (low, high) AS (VALUES "
                + ", ".join(["(?, ?)"] * len(chunk))
                + ") SELECT low, high, weight, automatic FROM wanted"
                " CROSS JOIN memory_edges USING (low, high) WHERE weight <= 1",
                *chain.from_iterable(chunk),
            )
        ]

    def put(self, edges: Iterable[Edge]) -> None:
        """Write links as given; a weight of 0 removes one."""
        put = list(edges)
        self._db.touched.edges.update((edge.low, edge.high) for edge in put)
        # What is replaced takes its uses along.
        self._db.run_each(
            "INSERT OR REPLACE INTO memory_edges (low, high, weight, automatic)"
            " VALUES (?, ?, ?, ?)",
            [edge for edge in put if edge.weight],
        )
        self._db.run_each(
            "DELETE FROM memory_edges WHERE low = ? AND high = ?",
            [(edge.low, edge.high) for edge in put if not edge.weight],
        )

    def lists(self, row_ids: Iterable[int]) -> Iterator[tuple[int, int, float]]:
        """Yield the whole lists of these rows."""
        asked = list(row_ids)
        if len(asked) > _MANY and self._db.is_committing:
            self._db.make_room()
        for chunk in chunks(asked, _LISTS):
            found: list[Any] = self._db.all(
                "SELECT row_id, other, closeness FROM memory_likenesses"
                f" WHERE row_id IN ({marks(chunk)}) AND closeness <= 2",
                *chunk,
            )
            yield from found

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

    def change_lists(
        self,
        come: Iterable[tuple[int, int, float]],
        gone: Iterable[tuple[int, int, float]],
    ) -> None:
        """Take entries out of lists, then add others."""
        self._db.run_each(
            "DELETE FROM memory_likenesses WHERE row_id = ? AND other = ?",
            map(_ENDS, gone),
        )
        self._db.run_each(
            "INSERT OR REPLACE INTO memory_likenesses (row_id, other, closeness) VALUES (?, ?, ?)",
            come,
        )

    def take_out(self, row_ids: Iterable[int]) -> None:
        """Undo all lists and automatic links of these rows; others hold them no longer."""
        for chunk in chunks(list(row_ids)):
            for end in ("row_id", "other"):
                self._db.run(
                    f"DELETE FROM memory_likenesses WHERE {end} IN ({marks(chunk)})", *chunk
                )
            for end in ("low", "high"):
                gone = self._db.all(
                    f"DELETE FROM memory_edges WHERE automatic = 1 AND {end} IN ({marks(chunk)})"
                    " RETURNING low, high",
                    *chunk,
                )
                self._db.touched.edges.update(gone)

    def dispute(self, pair: Sequence[str], *, note: str, now: str) -> None:
        """Open a dispute between two memories that exist."""
        self._db.run(
            "INSERT INTO memory_disputes (low, high, note, is_open, created_at)"
            " VALUES (?, ?, ?, 1, ?) ON CONFLICT (low, high) DO UPDATE SET note = excluded.note,"
            " is_open = 1, created_at = excluded.created_at",
            *self._rows_of(pair),
            note,
            now,
        )

    def resolve(self, pair: Sequence[str]) -> bool:
        """Close a dispute; return whether there was an open one."""
        closed = self._db.run(
            "UPDATE memory_disputes SET is_open = 0 WHERE low = ? AND high = ? AND is_open = 1",
            *self._rows_of(pair),
        )
        return closed.rowcount > 0

    def disputes(self) -> list[Dispute]:
        """Return all open disputes; who may know of one is for the caller to see to."""
        return [
            Dispute(first, second, note)
            for first, second, note in self._db.all(
                "SELECT one.pak_id, other.pak_id, note FROM memory_disputes"
                " JOIN memories AS one ON one.row_id = low"
                " JOIN memories AS other ON other.row_id = high"
                " WHERE is_open = 1 ORDER BY low, high"
            )
            if type(first) is type(second) is type(note) is str
        ]

    def _rows_of(self, pair: Sequence[str]) -> list[int]:
        """Return the row ids of two memories, lower first."""
        first, second = pair
        return self._db.column(
            "SELECT row_id FROM memories WHERE pak_id IN (?, ?) ORDER BY row_id", first, second
        )
