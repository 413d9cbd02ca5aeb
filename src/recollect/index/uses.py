"""What each principal has used, beside the columns that all begin with: read once, then followed.

In: uses by row of the store, as they were read or have just been counted. Out: a principal's own
columns and links by slot; None for one who has used nothing, so that it costs nothing. An index
shares with the one before it what nobody changed.
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recollect.index.graph import Gains
from recollect.ports.uses import strength
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from recollect.index.columns import Columns
    from recollect.index.contents import Contents
    from recollect.ports.edges import Edge
    from recollect.ports.uses import Uses, Who

__all__ = ["OwnUses", "UseBook"]

_LARGEST = 2**31 - 1
# Whoever is let go of is read again, or put into columns again, when it asks.
_MOST_KNOWN, _MOST_AT_SLOTS = 1024, 16


class _Columns(NamedTuple):
    """Rows, how often each was used and when last; of a row that is there twice, the last holds."""

    rows: NDArray[np.int64]
    counts: NDArray[np.int64]
    hours: NDArray[np.float64]

    @classmethod
    def of(cls, memories: Mapping[int, tuple[int, float]]) -> _Columns:
        many = len(memories)
        counts = (min(count, _LARGEST) for count, _ in memories.values())
        return cls(
            np.fromiter(memories, np.int64, many),
            np.fromiter(counts, np.int64, many),
            np.fromiter((hour for _, hour in memories.values()), np.float64, many),
        )

    def then(self, later: _Columns) -> _Columns:
        """Return these rows and later ones."""
        return _Columns(
            np.concatenate([self.rows, later.rows]),
            np.concatenate([self.counts, later.counts]),
            np.concatenate([self.hours, later.hours]),
        )


class _ByRow:
    """What one principal has used, by row ids."""

    def __init__(
        self, memories: dict[int, tuple[int, float]], links: dict[tuple[int, int], int]
    ) -> None:
        self.memories = memories
        self.links = links
        self._columns: _Columns | None = None

    def after(self, uses: Uses) -> _ByRow:
        """Return the same with what was counted since."""
        memories = {one.row_id: (one.reinforced, one.last_reinforced) for one in uses.memories}
        links = {(one.low, one.high): one.uses for one in uses.links}
        after = _ByRow(self.memories | memories, self.links | links)
        before = self._columns
        # Rows that stand there twice are put up with until they are as many as the others.
        if before is not None and len(before.rows) < 2 * len(after.memories):
            after._columns = before.then(_Columns.of(memories))
        return after

    def holds(self, rows: Collection[int], pairs: Collection[tuple[int, int]]) -> bool:
        """Return whether any of these rows or links was used."""
        known = self.memories.keys().isdisjoint(rows) and self.links.keys().isdisjoint(pairs)
        return not known

    @property
    def columns(self) -> _Columns:
        """The same memories as arrays; made once, and from then on only added to."""
        if self._columns is None:
            self._columns = _Columns.of(self.memories)
        return self._columns


@dataclass(frozen=True, eq=False)
class OwnUses:
    """What one principal has used, by slot: whole columns in the place of those of the index."""

    columns: Mapping[str, NDArray[Any]]
    gains: Gains | None
    _by_row: _ByRow
    _alive: NDArray[np.bool_]

    def of_row(self, row_id: int) -> tuple[int, float] | None:
        """Return how often a memory was used and when last, if it was."""
        return self._by_row.memories.get(row_id)

    def weight(self, edge: Edge) -> float:
        """Return how strong a link is by these uses."""
        return strength(edge.weight, self._by_row.links.get((edge.low, edge.high), 0))

    @cached_property
    def oldest(self) -> float:
        """The earliest hour at which any living memory was last used."""
        return float(self.columns["last_reinforced"].min(where=self._alive, initial=inf))


class UseBook:
    """The uses of those principals who asked, as of one index."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._by_row: dict[Who, _ByRow] = {}
        self._by_slot: dict[Who, OwnUses] = {}

    def knows(self, who: Who) -> bool:
        """Return whether a principal's uses were read."""
        return who in self._by_row

    def learn(self, who: Who, uses: Uses) -> None:
        """Take over what a principal has used, as of the head of this index."""
        if len(self._by_row) >= _MOST_KNOWN:
            self._by_row, self._by_slot = {}, {}
        self._by_row[who] = _ByRow({}, {}).after(uses)

    def of(self, who: Who) -> OwnUses | None:
        """Return what a principal has used, by slot; None if that is nothing."""
        by_row = self._by_row.get(who)
        if by_row is None or not by_row.memories:
            return None
        own = self._by_slot.get(who)
        if own is None:
            if len(self._by_slot) >= _MOST_AT_SLOTS:
                self._by_slot = {}
            own = self._by_slot[who] = self._at_slots(by_row)
        return own

    def following(
        self,
        contents: Contents,
        used: Mapping[Who, Uses | None],
        *,
        gone: Collection[int] = (),
        edges: Collection[tuple[int, int]] = (),
    ) -> UseBook:
        """Return the book of the next index, given whose uses changed.

        Who is told of without the new numbers is read again. So is who used a row that is gone,
        whose number may be another's by now, or a link that was written anew.
        """
        after = UseBook(contents)
        for who, by_row in [*self._by_row.items()]:
            counted = used.get(who)
            if (who in used and counted is None) or by_row.holds(gone, edges):
                continue
            after._by_row[who] = by_row if counted is None else by_row.after(counted)
            own = self._by_slot.get(who)
            if contents is self._contents and own is not None:
                after._by_slot[who] = own if counted is None else after._with(own, who, counted)
        return after

    def _at_slots(self, by_row: _ByRow) -> OwnUses:
        columns = self._put_in(self._contents.columns, by_row.columns)
        return OwnUses(columns, self._gains(by_row), by_row, self._contents.columns["alive"])

    def _with(self, own: OwnUses, who: Who, counted: Uses) -> OwnUses:
        """Return what is known by slot with what was counted since, and nothing else looked up."""
        by_row = self._by_row[who]
        since = {one.row_id: by_row.memories[one.row_id] for one in counted.memories}
        columns = self._put_in(own.columns, _Columns.of(since))
        gains = self._gains(by_row) if counted.links else own.gains
        return OwnUses(columns, gains, by_row, self._contents.columns["alive"])

    def _put_in(
        self, columns: Mapping[str, NDArray[Any]] | Columns, used: _Columns
    ) -> dict[str, NDArray[Any]]:
        """Return the two columns that uses alter, with these in them."""
        slots = self._contents.slots_of_rows(used.rows)
        here = slots >= 0
        altered = {}
        for name, values in (("reinforced", used.counts), ("last_reinforced", used.hours)):
            altered[name] = columns[name].copy()
            altered[name][slots[here]] = values[here]
            altered[name].flags.writeable = False
        return altered

    def _gains(self, by_row: _ByRow) -> Gains | None:
        if not by_row.links:
            return None
        contents = self._contents
        ends = np.array([*by_row.links], dtype=np.int64)
        near, far = contents.slots_of_rows(ends[:, 0]), contents.slots_of_rows(ends[:, 1])
        here = np.flatnonzero((near >= 0) & (far >= 0))
        near, far = near[here], far[here]
        weights = contents.graph.weights_between(near, far)
        uses = np.fromiter(by_row.links.values(), np.int64, len(by_row.links))[here]
        stronger = [
            strength(weight, count) if weight > 0 else 0.0
            for weight, count in zip(weights.tolist(), uses.tolist(), strict=True)
        ]
        return Gains.between(near, far, weights, np.array(stronger, dtype=np.float64))
