"""Likeness: which memories at one place mean nearly the same, and the links that follow from it.

In: memories that are new, or that must look around again, and an index of the others. Out: what
each is like, and the lists and edges that change. The rules know two memories at a time and an
order among the likenesses of one, so the links of a place are the same whatever came and went
there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.index.alike import Wanted, alike_each
from recollect.index.arrays import distinct, is_in, kth_largest
from recollect.index.index import MemoryIndex
from recollect.index.lookup import digest
from recollect.index.selection import Where
from recollect.index.vectors import Vectors
from recollect.model import Place
from recollect.ports.store import Commit, Likeness, Store
from recollect.recall.sight import AtPlace
from recollect.values import dataclass
from recollect.write.link import MAX_AUTOMATIC, LikenessLists, edges_to_write, pair, weight_of

if TYPE_CHECKING:
    from recollect.index.selection import Selection
    from recollect.index.vectors import Nearest
    from recollect.model import Place
    from recollect.ports.store import Store

__all__ = [
    "NEAR_DUPLICATE",
    "SIMILAR",
    "Arrival",
    "IndexBefore",
    "Neighbourhood",
    "arrivals_of",
    "relink",
]

# Gives the index as of when this commit began.
IndexBefore: TypeAlias = Callable[[Commit], MemoryIndex]

# Two thresholds, because two things are said: "belongs with", which only adds a neighbour to look
# at, may err on the side of more; "is a copy of", which callers are told, may not.
SIMILAR = 0.60
NEAR_DUPLICATE = 0.95
# More twins than this are not named.
_MOST_NAMED = 64
# Who matters to one that looks around: whom it may hold, and the twins that are named.
_WANTED = Wanted(SIMILAR, first=MAX_AUTOMATIC, most=_MOST_NAMED, close=NEAR_DUPLICATE)
# Among those that come together with it, it meets itself as well.
_WANTED_BESIDE_ITSELF = replace(_WANTED, first=MAX_AUTOMATIC + 1, most=_MOST_NAMED + 1)
# Who looks around again meets itself among those who are there, and names nobody.
_WANTED_AGAIN = Wanted(SIMILAR, first=MAX_AUTOMATIC + 1, most=MAX_AUTOMATIC + 1, close=2.0)

# What is added to a cosine so that no two likenesses of a memory are equal, too little to be seen
# in nine digits. It is drawn from the two ids, and the same from both sides: were ties broken by
# age or by id alone, the same ten of a hundred texts that are all alike would fill every list, and
# ninety would hold nobody who holds them.
_TIE_BREAK, _TIE_BITS = 4e-10, 20
_MIX = np.uint64(0x9E3779B97F4A7C15)
_ALL_BITS = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """A memory that looks for others like it. Only a settled one is linked to what it finds.

    `was_there`: it looks around again, and the others know of it already.
    """

    row_id: int
    pak_id: str
    place: Place
    vector: NDArray[np.int8]
    settled: bool = True
    was_there: bool = False

    @property
    def comes(self) -> bool:
        """Whether others may take it into their lists: they have not met it yet."""
        return self.settled and not self.was_there


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What an arrival found of those before it: twins, by id; new links, the strongest first."""

    near_duplicates: tuple[str, ...]
    linked: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Likenesses:
    """The rows that one arrival is like, and how close they are."""

    row_ids: NDArray[np.int64]
    closeness: NDArray[np.float64]

    def closest(self, count: int) -> list[tuple[int, float]]:
        """Return the most alike with their closeness, the closest first."""
        rows, closeness = self.row_ids, self.closeness
        if len(rows) > count:
            best = closeness >= kth_largest(closeness, count)
            rows, closeness = rows[best], closeness[best]
        order = np.lexsort((rows, -closeness))[:count]
        return list(zip(rows[order].tolist(), closeness[order].tolist(), strict=True))


def arrivals_of(row_ids: Sequence[int], index: MemoryIndex) -> list[Arrival]:
    """Return memories that the index holds, to let them look around again."""
    slots = index.slots_of_rows(row_ids)
    places = index.places()
    settled = index.column("status")[slots] == index.code("status", "active")
    settled &= index.is_lasting(slots) & ~index.column("risky")[slots]
    return [
        Arrival(row_id, pak_id, places[code], vector, is_settled, was_there=True)
        for row_id, pak_id, code, vector, is_settled in zip(
            index.column("row_id")[slots].tolist(),
            index.pak_ids(slots),
            index.column("place")[slots].tolist(),
            index.vectors(slots),
            settled.tolist(),
            strict=True,
        )
    ]


def relink(
    arrivals: Sequence[Arrival],
    *,
    without: Collection[int],
    index: MemoryIndex,
    store: Store,
    commit: Commit,
) -> list[Neighbourhood]:
    """Find what the arrivals are like, write the links that follow, and say what each found.

    `without` are rows of the index that are no longer, or no longer as the index knows them; who
    looks around again is as it knows it. Of these nothing is said.
    """
    gone = frozenset(without) | {one.row_id for one in arrivals if not one.was_there}
    found: list[_Likenesses] = [_NOTHING] * len(arrivals)
    # Place by place: a link between two places would tell the readers of one about the other.
    for place in dict.fromkeys(one.place for one in arrivals):
        numbers = [n for n, one in enumerate(arrivals) if one.place == place]
        search = _Search([arrivals[n] for n in numbers], AtPlace(place, gone), index, commit)
        for n, alike in zip(numbers, search.found(), strict=True):
            found[n] = alike
    joined = _write_links(arrivals, found, index, store, commit)
    return _neighbourhoods(arrivals, found, joined, index)


class _Search:
    """Looks around at one place: among those whom the index knows, and among those who come.

    The index does not know these yet, and a batch must be linked as if each came alone.
    """

    def __init__(
        self, arrivals: Sequence[Arrival], old: AtPlace, index: MemoryIndex, commit: Commit
    ) -> None:
        self._arrivals = arrivals
        self._index = index
        self._commit = commit
        self._vectors = np.stack([one.vector for one in arrivals])
        self._bits = np.array([_bits_of(one.pak_id) for one in arrivals], dtype=np.uint64)
        # The first vectors of a new store have nothing to be like.
        fits = index.dimension == self._vectors.shape[1]
        self._old = index.select(Where(), view=old) if fits else None
        self._old_bits = np.zeros(index.size, dtype=np.uint64)

    def found(self) -> list[_Likenesses]:
        """Return for each arrival those that matter to it, and to whom it may matter."""
        pairs = zip(self._among_old(), self._among_new(), strict=True)
        return [
            _Likenesses(
                np.concatenate((old.row_ids, new.row_ids)),
                np.concatenate((old.closeness, new.closeness)),
            )
            for old, new in pairs
        ]

    def _among_old(self) -> list[_Likenesses]:
        found = [_NOTHING] * len(self._arrivals)
        if self._old is None:
            return found
        # To the lists of others only those matter who come; who looks around again is known there.
        kinds = ((True, _WANTED), (False, _WANTED), (None, _WANTED_AGAIN))
        for comes, wanted in kinds:
            numbers = [n for n, one in enumerate(self._arrivals) if _kind(one) is comes]
            if numbers:
                bars = self._bars(self._old) if comes else None
                near = self._index.alike_each(self._vectors[numbers], self._old, wanted, bars)
                for n, one in zip(numbers, near, strict=True):
                    found[n] = self._as_rows(one, n)
        return found

    def _bars(self, old: Selection) -> NDArray[np.float64]:
        """Return how close one must be to get into the list of each slot, as far as is known."""
        bars = np.zeros(self._index.size)
        rows = self._index.column("row_id")[old.slots]
        bars[old.slots] = np.nan_to_num(self._index.bars.of(rows, self._commit.head))
        return bars

    def _as_rows(self, near: Nearest, number: int) -> _Likenesses:
        unread = near.slots[self._old_bits[near.slots] == 0]
        self._old_bits[unread] = [_bits_of(pak_id) for pak_id in self._index.pak_ids(unread)]
        closeness = _closeness(near.cosines, self._bits[number], self._old_bits[near.slots])
        rows = self._index.column("row_id")[near.slots]
        if self._arrivals[number].was_there:
            others = rows != self._arrivals[number].row_id
            rows, closeness = rows[others], closeness[others]
        return _Likenesses(rows, closeness)

    def _among_new(self) -> list[_Likenesses]:
        """Return for each arrival those who come that matter to it."""
        come = np.flatnonzero([not one.was_there for one in self._arrivals])
        if not len(come):
            return [_NOTHING] * len(self._arrivals)
        settled = np.array([self._arrivals[n].settled for n in come.tolist()])
        rows = np.array([self._arrivals[n].row_id for n in come.tolist()], dtype=np.int64)
        others = Vectors(self._vectors.shape[1])
        others.extend(list(self._vectors[come]))
        slots = np.flatnonzero(settled & others.has_vector(np.arange(len(rows))))
        found = []
        for number, near in enumerate(
            alike_each(others, self._vectors, slots, _WANTED_BESIDE_ITSELF, None)
        ):
            other = rows[near.slots] != self._arrivals[number].row_id
            at, cosines = near.slots[other], near.cosines[other]
            closeness = _closeness(cosines, self._bits[number], self._bits[come[at]])
            found.append(_Likenesses(rows[at], closeness))
        return found


def _kind(one: Arrival) -> bool | None:
    """Return whether one comes to the lists of others; None if it is there and looks again."""
    return None if one.was_there else one.comes


def _write_links(
    arrivals: Sequence[Arrival],
    found: Sequence[_Likenesses],
    index: MemoryIndex,
    store: Store,
    commit: Commit,
) -> set[tuple[int, int]]:
    """Write the lists and edges that follow; return the pairs that are joined now."""
    settled = [(one, likes) for one, likes in zip(arrivals, found, strict=True) if one.settled]
    # A list ends at ten, so an arrival changes a bounded number of others' lists and edges,
    # however many are like it; that both must hold each other keeps one hub from joining all.
    own = {one.row_id: dict(likes.closest(MAX_AUTOMATIC)) for one, likes in settled}
    new = {one.row_id: likes for one, likes in settled if one.comes}
    offers = _offers(new, own, index, store, commit)
    concerned = {
        *own,
        *(offer.row_id for offer in offers),
        *(row for held in own.values() for row in held),
    }
    lists = LikenessLists(store.edges.lists(concerned))
    for row, held in own.items():
        lists.set(row, held)
    for offer in offers:
        lists.offer(offer)
    added, removed = lists.added(), lists.removed()
    pairs = {pair(one.row_id, one.other) for one in (*added, *removed)}
    edges = edges_to_write(lists, store.edges.between(sorted(pairs)))
    store.edges.change_lists(added, removed)
    store.edges.put(edges)
    index.bars.learn(lists.bars(), commit.head)
    return {(one.low, one.high) for one in edges if one.weight > 0}


def _offers(
    new: Mapping[int, _Likenesses],
    looking: Collection[int],
    index: MemoryIndex,
    store: Store,
    commit: Commit,
) -> list[Likeness]:
    """Return which rows that do not look around themselves may take a new one into their list.

    Whose list is full of closer ones is left out: few remain where a thousand texts are alike.
    """
    if not new:
        return []
    rows = np.repeat(list(new), [len(likes.row_ids) for likes in new.values()])
    holders = np.concatenate([likes.row_ids for likes in new.values()])
    closeness = np.concatenate([likes.closeness for likes in new.values()])
    old = np.flatnonzero(~is_in(holders, np.fromiter(looking, np.int64, count=len(looking))))
    rows, holders, closeness = rows[old], holders[old], closeness[old]
    accepted = np.flatnonzero(closeness >= _known_bars(holders, index, store, commit))
    return [
        Likeness(row_id=holder, other=row, closeness=close)
        for holder, row, close in zip(
            holders[accepted].tolist(),
            rows[accepted].tolist(),
            closeness[accepted].tolist(),
            strict=True,
        )
    ]


def _known_bars(
    holders: NDArray[np.int64], index: MemoryIndex, store: Store, commit: Commit
) -> NDArray[np.float64]:
    """Return how close one must be to get into each list; what is not known yet is asked for."""
    bars = index.bars.of(holders, commit.head)
    unknown = distinct(holders[np.isnan(bars)]).tolist()
    if unknown:
        full = store.edges.last_of_full(unknown, MAX_AUTOMATIC)
        index.bars.learn({row: full.get(row, 0.0) for row in unknown}, commit.head)
        bars = index.bars.of(holders, commit.head)
    return bars


def _neighbourhoods(
    arrivals: Sequence[Arrival],
    found: Sequence[_Likenesses],
    joined: set[tuple[int, int]],
    index: MemoryIndex,
) -> list[Neighbourhood]:
    """Return what each that comes found among those who were there and those before it."""
    later = {one.row_id for one in arrivals if not one.was_there}
    met: list[tuple[list[int], dict[int, float]]] = []
    for one, likes in zip(arrivals, found, strict=True):
        later.discard(one.row_id)
        near = () if one.was_there else likes.closest(_MOST_NAMED)
        earlier = [like for like in near if like[0] not in later]
        twins = [row for row, closeness in earlier if closeness >= NEAR_DUPLICATE]
        linked = {row: near for row, near in earlier if pair(row, one.row_id) in joined}
        met.append((twins, linked))
    pak_ids = {one.row_id: one.pak_id for one in arrivals}
    unknown = {row for twins, linked in met for row in (*twins, *linked)} - pak_ids.keys()
    named = sorted(unknown)
    pak_ids |= dict(zip(named, index.pak_ids(index.slots_of_rows(named)), strict=True))
    return [
        Neighbourhood(
            near_duplicates=tuple(sorted(pak_ids[row] for row in twins)),
            linked=tuple(
                pak_id
                for _, pak_id in sorted(
                    (-weight_of(near), pak_ids[row]) for row, near in linked.items()
                )
            ),
        )
        for twins, linked in met
    ]


@lru_cache(maxsize=1 << 16)
def _bits_of(pak_id: str) -> int:
    """Return a number that stands for an id; never 0."""
    return digest(pak_id) & _ALL_BITS | 1


def _closeness(
    cosines: NDArray[np.float64], own: int | np.uint64, theirs: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Return cosines as an order without ties: nine digits, and then the two ids."""
    mixed = (theirs ^ np.uint64(own)) * _MIX
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIX
    tie_breaks = (mixed >> np.uint64(64 - _TIE_BITS)).astype(np.float64) / (1 << _TIE_BITS)
    closeness: NDArray[np.float64] = np.round(cosines, 9) + tie_breaks * _TIE_BREAK
    return closeness


_NOTHING = _Likenesses(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))
