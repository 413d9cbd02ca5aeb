"""The only way to memories: what one principal may read, at one moment, of one index and store.

In: a `View`, the index, the store, the time. Out: selections of slots, and memories by id. Whoever
reads holds a `Sight`; a house test sees to it that nobody selects or fetches beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from hashlib import blake2b
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.index.arrays import distinct
from recollect.index.columns import place_text
from recollect.index.facts import matching, paths_of
from recollect.index.selection import Where
from recollect.model.filters import WHEN
from recollect.policy.trust import as_trusted
from recollect.policy.view import HELD_BACK, QUARANTINED, view_of_own
from recollect.ports.edges import Dispute
from recollect.ports.memories import RowFilter
from recollect.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.index.facts import FactColumn, Path, WantedFacts
    from recollect.index.index import MemoryIndex
    from recollect.index.selection import Selection
    from recollect.index.uses import OwnUses
    from recollect.model import Memory, Place, Principal
    from recollect.model.filters import Filter
    from recollect.policy.view import View
    from recollect.ports.store import Edge, Facts, Head, KeptVersion, Standing, Store, StoreState

__all__ = ["AtPlace", "Sight", "StoreMoved", "own_memories", "rows_fulfilling"]

_ANY_STATUS = Where(active_only=False)
# From such a part of all memories on, looking at all is faster than gathering some.
_SHARE = 8


class StoreMoved(Exception):
    """Somebody committed in between, or switched the embedder; who was at it must start again."""


@dataclass(frozen=True, slots=True)
class AtPlace:
    """The settled memories at one place but for some rows: here a writer looks for likenesses.

    Who may read one of them may read them all, today and later.
    """

    place: Place
    without: frozenset[int] = frozenset()

    def __call__(self, index: MemoryIndex) -> NDArray[np.bool_]:
        """Return the mask over all slots."""
        code = index.code("place", place_text(self.place))
        mask: NDArray[np.bool_] = index.column("place") == code
        if np.count_nonzero(mask) * _SHARE < len(mask):
            # A place among many: the memories of the others are not looked at.
            here = np.flatnonzero(mask)
            mask[here] = index.is_lasting(here) & ~index.column("risky")[here]
        else:
            mask &= index.is_lasting(slice(None)) & ~index.column("risky")
        mask[index.slots_of_rows(sorted(self.without))] = False
        return mask


@dataclass(frozen=True, slots=True)
class _Readable:
    """The memories of a view, as the mask that an index keeps a selection under."""

    view: View

    def __call__(self, index: MemoryIndex) -> NDArray[np.bool_]:
        view = self.view
        mask = index.at_places((view, "allows"), view.allows)
        for status in HELD_BACK:
            mask &= index.column("status") != index.code("status", status)
        if view.with_quarantined:
            held = index.column("status") == index.code("status", QUARANTINED)
            mask |= held & index.at_places((view, "moderates"), view.moderates)
        if view.without_risky:
            mask &= ~index.column("risky")
        return mask

    def concerns(self, place: Place) -> bool:
        """Return whether a memory at a place may be in the mask."""
        return self.view.allows(place)


@dataclass(frozen=True, slots=True)
class _Current:
    """The same without what has a successor that the principal may read, as it is at a moment.

    How far a request narrows the view does not count: what was superseded stays so everywhere. A
    successor that is hidden, has ended or has not begun supersedes nothing.
    """

    view: View
    turned_at: float | None

    def __call__(self, index: MemoryIndex) -> NDArray[np.bool_]:
        whole = _Readable(self.view.whole())(index) & index.column("alive")
        if self.turned_at is not None:
            whole &= index.column("valid_until") > self.turned_at
            whole &= index.column("valid_from") <= self.turned_at
        successors = index.successors()
        superseded = successors >= 0
        superseded[superseded] = whole[successors[superseded]]
        return _Readable(self.view)(index) & ~superseded

    def concerns(self, place: Place) -> bool:
        """Return whether a memory at a place may be in the mask, or supersede one that is."""
        return self.view.whole().allows(place)


@dataclass(frozen=True, slots=True)
class _Matching:
    """Those of a view that fulfil a filter; `read` gets what the index does not know of them."""

    among: _Readable | _Current
    tree: Filter
    read: Callable[[WantedFacts], Facts] = field(compare=False)

    def __call__(self, index: MemoryIndex) -> NDArray[np.bool_]:
        columns = index.facts(paths_of(self.tree), self.read)
        binds = index.at_places((self.among.view, "binds"), self.among.view.binds)
        found = matching(self.tree, columns, index.size, foreign=~binds)
        return found & self.among(index)


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What may be read, as of one head of the store: whoever reads when it has moved on is told so.

    `state` is what the store said of itself at that head. `trusts` is how far each source is
    trusted, by its key; None shows what a source claims.
    """

    view: View
    index: MemoryIndex
    store: Store
    state: StoreState
    now: float
    trusts: Mapping[str, float] | None = None
    # Inside a commit texts are of what that becomes.
    head: Head | None = None
    # What the principal has used; None if nothing, and then all is as it began for everybody.
    uses: OwnUses | None = None

    def select(
        self,
        where: Where = _ANY_STATUS,
        *,
        among: NDArray[np.bool_] | None = None,
        tree: Filter | None = None,
    ) -> Selection:
        """Return the readable memories that fulfil `where`; `among` and `tree` narrow them."""
        if where.reinforced_after is not None and self.uses is not None:
            where, among = _used_lately(where, among, self.uses)
        readable = self._readable(where, tree)
        if among is None:
            return readable
        where = replace(where, current_only=False)
        return self.index.select(where, view=among & readable.mask)

    def _readable(self, where: Where, tree: Filter | None) -> Selection:
        """Return what fulfils `where`; selections are kept, so equal ones are asked alike."""
        source: _Readable | _Current = _Readable(self.view)
        if where.current_only:
            where = _whether_current_or_not(where)
            if self.index.has_successors():
                source = _Current(self.view, self.index.turning_point(self.now))
        if tree is None:
            return self.index.select(where, view=source, at=self.now)
        matching = _Matching(source, tree, self._read_facts)
        return self.index.select(where, view=matching, at=self.now)

    def successor_of(self, pak_id: str) -> str | None:
        """Return what superseded a memory, as far as the principal may read that."""
        slot = self.index.slot_of(pak_id)
        if slot is None:
            return None
        (successor,) = self.index.values("superseded_by", np.array([slot]))
        return successor if successor is not None and self._shows(successor) else None

    def _shows(self, successor: str) -> bool:
        whole = self.view.whole()
        return (self if whole is self.view else replace(self, view=whole)).may_read(successor)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of the index, of uses the principal's own."""
        own = None if self.uses is None else self.uses.columns.get(name)
        return self.index.column(name) if own is None else own

    def moments(self, slots: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return a number for each of some slots, the higher the later it is from.

        A memory is from when it happened, or else from when it was written. The numbers are good
        for comparing and for nothing else; below 0, nobody knows.
        """
        moments: NDArray[np.int32] = self.facts([(WHEN,)])[WHEN,].codes[slots]
        return moments

    def weight(self, edge: Edge) -> float:
        """Return how strong a link is for the principal."""
        return edge.weight if self.uses is None else self.uses.weight(edge)

    def memories(self, pak_ids: Iterable[str]) -> dict[str, Memory]:
        """Return those memories that may be read, in the order asked for."""
        mask = self.select().mask
        known = [
            pak_id
            for pak_id in dict.fromkeys(pak_ids)
            if (slot := self.index.slot_of(pak_id)) is not None and mask[slot]
        ]
        return self._read(RowFilter(pak_ids=tuple(known)))

    def memories_in(self, slots: NDArray[np.int64]) -> dict[str, Memory]:
        """Return those memories in some slots that may be read, in the order of the slots."""
        readable = slots[self.select().mask[slots]]
        wanted = RowFilter(row_ids=tuple(self.index.column("row_id")[readable].tolist()))
        return self._read(wanted)

    def may_read(self, pak_id: str) -> bool:
        """Return whether there is such a memory for this principal."""
        slot = self.index.slot_of(pak_id)
        return slot is not None and bool(self.select().mask[slot])

    def bound(self) -> Sight:
        """Return the sight of no more than what binds here."""
        return replace(self, view=self.view.bound())

    def binds(self, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each of some slots whether its memory binds here."""
        places, codes = self.index.places(), self.index.column("place")[slots]
        table = np.zeros(len(places), np.bool_)
        for code in distinct(codes).tolist():
            table[code] = self.view.binds(places[code])
        mask: NDArray[np.bool_] = table[codes]
        return mask

    def settles(self, first: str, second: str) -> bool:
        """Return whether a dispute between two memories counts here."""
        slots = self.index.slots_of([first, second])
        if len(slots) < 2:
            return False
        places = self.index.places()
        return self.view.settles(*(places[code] for code in self.index.column("place")[slots]))

    def disputes(self) -> list[Dispute]:
        """Return the open disputes both of whose sides may be read, in the order of their ids."""
        known = [d for d in self._disputes() if self.may_read(d.first)]
        known = [d for d in known if self.may_read(d.second) and self.settles(d.first, d.second)]
        pairs = (Dispute(min(d.first, d.second), max(d.first, d.second), d.note) for d in known)
        return sorted(pairs, key=lambda d: (d.first, d.second))

    def self_blocks(self) -> bytes:
        """Return a digest of what there is to be read of oneself; uses do not change it."""
        index = self.index
        current = self.bound().select(Where(active_only=False, current_only=True))
        slots = index.slots_tagged(("self/%",), current)
        names = index.pak_ids(slots)
        rows = zip(
            names,
            index.column("digest")[slots].tolist(),
            index.column("updated_at")[slots].tolist(),
            index.values("status", slots),
            index.values("place", slots),
            strict=True,
        )
        known = set(names)
        pairs = [(d.first, d.second) for d in self._disputes() if d.first in known]
        pairs = sorted((min(p), max(p)) for p in pairs if p[1] in known)
        return blake2b(repr((sorted(rows), pairs)).encode(), digest_size=16).digest()

    def predecessors(self, pak_id: str) -> list[str]:
        """Return what a memory superseded, as far as it may be read, in the order of ids."""
        code = self.index.code("superseded_by", pak_id)
        mask = self.select().mask & (self.index.column("superseded_by") == code)
        return sorted(self.index.pak_ids(np.flatnonzero(mask))) if code >= 0 else []

    def versions(self, pak_ids: Iterable[str]) -> dict[str, list[KeptVersion]]:
        """Return what memories that may be read were, as far as that may be read where it was."""
        known = [pak_id for pak_id in pak_ids if self.may_read(pak_id)]
        found = self.store.versions.read(known, self.view)
        self._check_head(self.store.head())
        return found

    def as_stored(self, tree: Filter | None = None) -> list[str]:
        """Return the ids of all that may be read, in the order in which they were stored."""
        slots = self.select(tree=tree).slots
        return self.index.pak_ids(slots[np.argsort(self.index.column("row_id")[slots])])

    def ids(self, beginning: str, *, limit: int) -> tuple[str, ...]:
        """Return the first ids, in their order, of what may be read and begins so."""
        found = self.index.pak_ids(self.select().slots)
        return tuple(nsmallest(limit, (name for name in found if name.startswith(beginning))))

    def _read(self, where: RowFilter) -> dict[str, Memory]:
        """Return memories as of the index's head, or say that the store has moved on.

        Everything else that an answer rests on was read between the index and its texts: if these
        two are of one head, so is all of it.
        """
        texts = self.store.memories.read(where, self.view)
        self._check_head(texts.head)
        shown = self._as_used(texts.memories)
        return {pak_id: self.shown(memory) for pak_id, memory in shown.items()}

    def facts(self, paths: Iterable[Path]) -> Mapping[Path, FactColumn]:
        """Return what filters ask for, of all slots: whoever looks keeps to those it selected."""
        return self.index.facts(paths, self._read_facts)

    def _read_facts(self, wanted: WantedFacts) -> Facts:
        facts = self.store.memories.facts(wanted.names, wanted.rows)
        self._check_head(facts.head)
        return facts

    def _as_used(self, memories: dict[str, Memory]) -> dict[str, Memory]:
        """Return memories with the principal's own uses."""
        if self.uses is None:
            return memories
        return {
            pak_id: _with_uses(memory, self._own_uses(pak_id))
            for pak_id, memory in memories.items()
        }

    def _own_uses(self, pak_id: str) -> tuple[int, float] | None:
        slot = self.index.slot_of(pak_id)
        if slot is None or self.uses is None:
            return None
        return self.uses.of_row(int(self.index.column("row_id")[slot]))

    def _disputes(self) -> Sequence[Dispute]:
        disputes = self.store.edges.disputes()
        self._check_head(self.store.head())
        return disputes

    def _check_head(self, head: Head) -> None:
        if head != (self.head or self.index.head):
            raise StoreMoved

    def shown(self, memory: Memory) -> Memory:
        """Return a memory that was read as the principal gets it."""
        known = self.view.as_known(memory)
        if known.superseded_by is not None and not self._shows(known.superseded_by):
            known = replace(known, superseded_by=None)
        return known if self.trusts is None else as_trusted(known, self.trusts)


@lru_cache
def _whether_current_or_not(where: Where) -> Where:
    return replace(where, current_only=False)


def rows_fulfilling(tree: Filter, index: MemoryIndex, store: Store, head: Head) -> list[int]:
    """Return the rows that fulfil a filter, whoever may read them: for those who erase.

    Which of these they may erase is decided by where the rows stand.
    """

    def read(wanted: WantedFacts) -> Facts:
        facts = store.memories.facts(wanted.names, wanted.rows)
        if facts.head != head:
            raise StoreMoved
        return facts

    columns = index.facts(paths_of(tree), read)
    found = matching(tree, columns, index.size) & index.column("alive")
    return sorted(index.column("row_id")[np.flatnonzero(found)].tolist())


def _with_uses(memory: Memory, own: tuple[int, float] | None) -> Memory:
    if own is None:
        return memory
    reinforced, last_reinforced = own
    return replace(memory, reinforced=reinforced, last_reinforced=last_reinforced)


def _used_lately(
    where: Where, among: NDArray[np.bool_] | None, uses: OwnUses
) -> tuple[Where, NDArray[np.bool_] | None]:
    """Return conditions without that of the last use, and which of all slots fulfil it too."""
    after = where.reinforced_after
    where = replace(where, reinforced_after=None)
    if after is None or uses.oldest > after:
        return where, among
    lately: NDArray[np.bool_] = uses.columns["last_reinforced"] > after
    return where, lately if among is None else among & lately


def own_memories(
    store: Store, principal: Principal, standing: Mapping[str, Standing]
) -> dict[str, Memory]:
    """Return those of some memories that a principal wrote, for it to write them again."""
    own = (principal.tenant, principal.id)
    places = {
        name: one.place
        for name, one in standing.items()
        if (one.place.tenant, one.place.owner) == own
    }
    if not places:
        return {}
    view = view_of_own(principal, places.values())
    return store.memories.read(RowFilter(pak_ids=tuple(places)), view).memories
