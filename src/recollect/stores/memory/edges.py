"""Links, likenesses and disputes in dictionaries by two row ids, found from both of their ends.

In: row ids and values of `recollect.ports.edges`. Out: the same. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.ports.edges import Dispute, Edge, Likeness
from recollect.stores.memory.session import DisputeRow, Session
from recollect.stores.memory.tables import Pair

__all__ = ["MemoryEdges"]


class MemoryEdges:
    """The pairs of one store in memory."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def touching(self, row_ids: Iterable[int]) -> list[Edge]:
        """Return all links that touch any of these rows, each once."""
        edges = self._session.edges
        with self._session.snapshot():
            return [edges[key] for key in edges.at(row_ids)]

    def between(self, pairs: Iterable[Pair]) -> list[Edge]:
        """Return those links that join two rows of a pair."""
        edges = self._session.edges
        with self._session.snapshot():
            return [edges[key] for key in pairs if key in edges]

    def put(self, edges: Iterable[Edge]) -> None:
        """Write links as given; a weight of 0 removes one."""
        touched = self._session.touched
        for edge in edges:
            key = (edge.low, edge.high)
            touched.edges.add(key)
            self._session.link_uses.drop(key)
            if edge.weight:
                self._session.edges.put(key, edge)
            else:
                self._session.edges.drop(key)

    def lists(self, row_ids: Iterable[int]) -> Iterable[tuple[int, int, float]]:
        """Yield the whole lists of these rows."""
        return [near for row_id in row_ids for near in self._list(row_id)]

    def full_lists_with(self, row_ids: Iterable[int], full: int) -> list[int]:
        """Return the other rows whose list has `full` entries, any of these rows among them."""
        asked = set(row_ids)
        holders = {row_id for row_id, other in self._session.likenesses.at(asked) if other in asked}
        return sorted(row for row in holders - asked if len(self._list(row)) >= full)

    def last_of_full(self, row_ids: Iterable[int], full: int) -> dict[int, float]:
        """Return the least closeness in those of these rows' lists that have `full` entries."""
        lists = {row_id: self._list(row_id) for row_id in row_ids}
        return {
            row_id: min(near.closeness for near in held)
            for row_id, held in lists.items()
            if len(held) >= full
        }

    def change_lists(
        self,
        come: Iterable[tuple[int, int, float]],
        gone: Iterable[tuple[int, int, float]],
    ) -> None:
        """Take entries out of lists, then add others."""
        _ = self._session.revision  # refuses outside of a commit
        for row_id, other, _ in gone:
            self._session.likenesses.drop((row_id, other))
        for row_id, other, closeness in come:
            self._session.likenesses.put((row_id, other), closeness)

    def take_out(self, row_ids: Iterable[int]) -> None:
        """Undo all lists and automatic links of these rows; others hold them no longer."""
        rows = list(row_ids)
        self._session.likenesses.drop_at(rows)
        self.put(edge._replace(weight=0.0) for edge in self.touching(rows) if edge.automatic)

    def dispute(self, pair: Sequence[str], *, note: str, now: str) -> None:
        """Open a dispute between two memories that exist."""
        _ = self._session.revision  # refuses outside of a commit
        self._session.disputes.put(self._rows_of(pair), DisputeRow(note, True, now))

    def resolve(self, pair: Sequence[str]) -> bool:
        """Close a dispute; return whether there was an open one."""
        _ = self._session.revision  # refuses outside of a commit
        key = self._rows_of(pair)
        row = self._session.disputes.get(key)
        if row is None or not row.is_open:
            return False
        self._session.disputes.put(key, replace(row, is_open=False))
        return True

    def disputes(self) -> list[Dispute]:
        """Return all open disputes; who may know of one is for the caller to see to."""
        disputes, names = self._session.disputes, self._session.names
        with self._session.snapshot():
            return [
                Dispute(names[key[0]], names[key[1]], disputes[key].note)
                for key in sorted(disputes)
                if disputes[key].is_open
            ]

    def problems(self) -> list[str]:
        """Return in words where links and lists contradict each other."""
        held = self._session.likenesses
        odd = sum(
            edge.automatic and not {(edge.low, edge.high), (edge.high, edge.low)} <= set(held)
            for edge in self._session.edges.rows()
        )
        return [f"{odd} automatic links join memories that do not hold each other"] if odd else []

    def _list(self, row_id: int) -> list[Likeness]:
        likenesses = self._session.likenesses
        keys = likenesses.at([row_id])
        return [Likeness(*key, likenesses[key]) for key in keys if key[0] == row_id]

    def _rows_of(self, pair: Sequence[str]) -> Pair:
        """Return the row ids of two memories, lower first."""
        first, second = sorted(self._session.memories[pak_id].row_id for pak_id in pair)
        return first, second
