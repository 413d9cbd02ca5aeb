"""Likeness: which memories at one place mean nearly the same, and the links that follow from it.

In: memories that are new, or that must look around again, and an index of the others. Out: what
each is like, and the lists and edges that change. The rules know two memories at a time and an
order among the likenesses of one, so the links of a place are the same whatever came and went
there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.index.alike import Wanted, alike_each
from recollect.index.arrays import distinct, is_in
from recollect.index.index import MemoryIndex
from recollect.index.lookup import digests
from recollect.index.selection import Where
from recollect.index.vectors import Vectors
from recollect.model import Place
from recollect.ports.store import Commit, Store
from recollect.recall.sight import AtPlace
from recollect.values import dataclass
from recollect.write.link import MAX_AUTOMATIC
from recollect.write.lists import (
    Entries,
    LikenessLists,
    PairNumbers,
    closest_first,
    distinct_pairs,
    edges_to_write,
    place_in_group,
    weights_of,
)

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

Item = TypeVar("Item")

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

# So many of a batch look around before the others do.
_FEW = 16
# A selection of a smaller part than this is looked at slot by slot.
_FEW_OF_ALL = 4

# What is added to a cosine so that no two likenesses of a memory are equal, too little to be seen
# in nine digits. It is drawn from the two ids, and the same from both sides: were ties broken by
# age or by id alone, the same ten of a hundred texts that are all alike would fill every list, and
# ninety would hold nobody who holds them.
_TIE_BREAK, _TIE_BITS = 4e-10, 20
_MIX = np.uint64(0x9E3779B97F4A7C15)


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
class _Found:
    """Which arrival, by its number, is like which row, and how close they are.

    `slots` are where the index holds these rows; -1 and less are those who come, by their numbers.
    """

    who: NDArray[np.int64]
    rows: NDArray[np.int64]
    slots: NDArray[np.int64]
    closeness: NDArray[np.float64]

    def __getitem__(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> _Found:
        return _Found(self.who[which], self.rows[which], self.slots[which], self.closeness[which])

    @classmethod
    def joined(cls, parts: Sequence[_Found]) -> _Found:
        """Return all parts as one: who looks around in order, and what each found, closest first.

        Of two that are equally close the one that was there earlier comes first.
        """
        found = cls(
            np.concatenate([one.who for one in parts]),
            np.concatenate([one.rows for one in parts]),
            np.concatenate([one.slots for one in parts]),
            np.concatenate([one.closeness for one in parts]),
        )
        return found[closest_first(found.who, found.closeness, found.rows)]

    def entries(self, arrivals: NDArray[np.int64]) -> Entries:
        """Return it as entries of the lists of those who look around."""
        return Entries(arrivals[self.who], self.rows, self.closeness)


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
    parts = [_NOTHING]
    # Place by place: a link between two places would tell the readers of one about the other.
    for place in dict.fromkeys(one.place for one in arrivals):
        numbers = np.array([n for n, one in enumerate(arrivals) if one.place == place])
        here = [arrivals[n] for n in numbers.tolist()]
        search = _Search(here, numbers, AtPlace(place, gone), index, store, commit)
        parts += search.found()
    found = _Found.joined(parts)
    joined = _write_links(arrivals, found, index, store, commit)
    return _neighbourhoods(arrivals, found, joined, index)


class _Search:
    """Looks around at one place: among those whom the index knows, and among those who come.

    The index does not know these yet, and a batch must be linked as if each came alone.
    """

    def __init__(
        self,
        arrivals: Sequence[Arrival],
        numbers: NDArray[np.int64],
        old: AtPlace,
        index: MemoryIndex,
        store: Store,
        commit: Commit,
    ) -> None:
        self._arrivals = arrivals
        self._numbers = numbers
        self._index = index
        self._store = store
        self._commit = commit
        self._vectors = np.stack([one.vector for one in arrivals])
        self._rows = np.array([one.row_id for one in arrivals], dtype=np.int64)
        self._bits = _bits([one.pak_id for one in arrivals])
        # The first vectors of a new store have nothing to be like.
        fits = index.dimension == self._vectors.shape[1]
        self._old = index.select(Where(), view=old) if fits else None

    def found(self) -> Iterator[_Found]:
        """Yield for each arrival those that matter to it, and to whom it may matter."""
        if self._old is not None:
            yield from self._among_old(self._old)
        yield from self._among_new()

    def _among_old(self, old: Selection) -> Iterator[_Found]:
        # To the lists of others only those matter who come; who looks around again is known there.
        kinds = [_kind(one) for one in self._arrivals]
        coming = np.flatnonzero([kind is True for kind in kinds])
        bars = self._bars(old) if len(coming) else None
        if bars is not None and len(coming) > _FEW and np.isnan(bars).any():
            # The first few find out how close others want it, for all who come after them.
            found = self._looked(coming[:_FEW], old, _WANTED, bars)
            _known_bars(found.rows, self._index, self._store, self._commit)
            coming, bars = coming[_FEW:], self._bars(old)
            yield found
        if len(coming):
            yield self._looked(coming, old, _WANTED, bars)
        for kind, wanted in ((False, _WANTED), (None, _WANTED_AGAIN)):
            looking = np.flatnonzero([one is kind for one in kinds])
            if len(looking):
                yield self._looked(looking, old, wanted, None)

    def _looked(
        self,
        looking: NDArray[np.int64],
        old: Selection,
        wanted: Wanted,
        bars: NDArray[np.float64] | None,
    ) -> _Found:
        # Of who is not known yet anybody may get into the list.
        known = None if bars is None else np.fmax(bars, 0.0)
        near = self._index.alike_each(self._vectors[looking], old, wanted, known)
        who, slots, cosines = _flat(near)
        bits = _odd(self._index.id_digests(slots))
        rows = self._index.column("row_id")[slots]
        return self._as_found(looking[who], rows, slots, cosines, bits)

    def _bars(self, old: Selection) -> NDArray[np.float64]:
        """Return how close one must be to get into the list of each slot; NaN if not known."""
        rows, head = self._index.column("row_id"), self._commit.head
        if old.count * _FEW_OF_ALL < self._index.size:
            # A tenant among many: the bars of the others are not looked at.
            bars = np.zeros(self._index.size)
            bars[old.slots] = self._index.bars.of(rows[old.slots], head)
            return bars
        bars = self._index.bars.of(rows, head)
        if not old.is_solid:
            bars[~old.mask] = 0.0
        return bars

    def _among_new(self) -> Iterator[_Found]:
        """Yield for each arrival those who come that matter to it."""
        come = np.flatnonzero([not one.was_there for one in self._arrivals])
        # Who comes alone meets nobody but itself.
        if not len(come) or len(self._arrivals) == 1:
            return
        settled = np.array([self._arrivals[n].settled for n in come.tolist()])
        others = Vectors(self._vectors.shape[1])
        others.extend(list(self._vectors[come]))
        slots = np.flatnonzero(settled & others.has_vector(np.arange(len(come))))
        near = alike_each(others, self._vectors, slots, _WANTED_BESIDE_ITSELF, None)
        who, at, cosines = _flat(near)
        met = come[at]
        nowhere = -1 - self._numbers[met]
        yield self._as_found(who, self._rows[met], nowhere, cosines, self._bits[met])

    def _as_found(
        self,
        who: NDArray[np.int64],
        rows: NDArray[np.int64],
        slots: NDArray[np.int64],
        cosines: NDArray[np.float64],
        bits: NDArray[np.uint64],
    ) -> _Found:
        closeness = _closeness(cosines, self._bits[who], bits)
        found = _Found(self._numbers[who], rows, slots, closeness)
        # Whoever meets itself finds nobody.
        return found[rows != self._rows[who]]


def _flat(
    near: Sequence[Nearest],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return who found what as three columns."""
    who = np.repeat(np.arange(len(near)), [len(one.slots) for one in near])
    slots = np.concatenate([one.slots for one in near])
    return who, slots, np.concatenate([one.cosines for one in near])


def _kind(one: Arrival) -> bool | None:
    """Return whether one comes to the lists of others; None if it is there and looks again."""
    return None if one.was_there else one.comes


def _write_links(
    arrivals: Sequence[Arrival],
    found: _Found,
    index: MemoryIndex,
    store: Store,
    commit: Commit,
) -> list[tuple[int, int]]:
    """Write the lists and edges that follow; return the pairs that are joined now."""
    rows = np.array([one.row_id for one in arrivals], dtype=np.int64)
    settled = np.array([one.settled for one in arrivals], dtype=np.bool_)
    comes = np.array([one.comes for one in arrivals], dtype=np.bool_)
    looking = rows[settled]
    # A list ends at ten, so an arrival changes a bounded number of others' lists and edges,
    # however many are like it; that both must hold each other keeps one hub from joining all.
    first = settled[found.who] & (place_in_group(found.who) < MAX_AUTOMATIC)
    own = found[first].entries(rows)
    new = found[comes[found.who]].entries(rows)
    offered = _offered(new, looking, index, store, commit)
    concerned = distinct(np.concatenate((looking, offered.rows, own.others)))
    stored = Entries.of(store.edges.lists(concerned.tolist()))
    lists = LikenessLists(stored, looking, own, offered)
    joined, removed = lists.joined(), lists.removed
    known = store.edges.between(distinct_pairs(joined, removed))
    edges = edges_to_write(joined, removed, known)
    store.edges.change_lists(lists.added.each(), removed.each())
    store.edges.put(edges)
    index.bars.learn(lists.bars(), commit.head)
    return [one[:2] for one in edges if one.weight > 0]


def _offered(
    new: Entries,
    looking: NDArray[np.int64],
    index: MemoryIndex,
    store: Store,
    commit: Commit,
) -> Entries:
    """Return which rows that do not look around themselves may take a new one into their list.

    Whose list is full of closer ones is left out: few remain where a thousand texts are alike.
    """
    old = new[~is_in(new.others, looking)]
    bars = _known_bars(old.others, index, store, commit)
    taken = old[old.closeness >= bars]
    return Entries(taken.others, taken.rows, taken.closeness)


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
    found: _Found,
    joined: Sequence[tuple[int, int]],
    index: MemoryIndex,
) -> list[Neighbourhood]:
    """Return what each that comes found among those who were there and those before it."""
    place = place_in_group(found.who)
    looks = np.array([not one.was_there for one in arrivals], dtype=np.bool_)
    earlier = (place < _MOST_NAMED) & looks[found.who] & (-1 - found.slots < found.who)
    twins = found[earlier & (found.closeness >= NEAR_DUPLICATE)]
    # Two that hold each other are among the first of each.
    held = found[earlier & (place < MAX_AUTOMATIC)]
    held = held[_are_joined(held, arrivals, joined)]
    count = len(arrivals)
    copies = _each(count, twins, _names(twins, arrivals, index))
    strongest = (-weights_of(held.closeness)).tolist()
    links = _each(count, held, zip(strongest, _names(held, arrivals, index), strict=True))
    return [
        Neighbourhood(tuple(sorted(near)), tuple(name for _, name in sorted(linked)))
        for near, linked in zip(copies, links, strict=True)
    ]


def _are_joined(
    held: _Found, arrivals: Sequence[Arrival], joined: Sequence[tuple[int, int]]
) -> NDArray[np.bool_]:
    """Return which of those who look around and whom they hold are joined now."""
    pairs = np.array(joined, dtype=np.int64).reshape(-1, 2).T
    own = np.array([one.row_id for one in arrivals], dtype=np.int64)[held.who]
    ends = np.minimum(own, held.rows), np.maximum(own, held.rows)
    numbers = PairNumbers(*ends, *pairs)
    return is_in(numbers.of(*ends), numbers.of(*pairs))


def _each(count: int, found: _Found, said: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield what is said of whom each arrival found, one by one."""
    left = iter(said)
    for many in np.bincount(found.who, minlength=count).tolist():
        yield list(islice(left, many))


def _names(found: _Found, arrivals: Sequence[Arrival], index: MemoryIndex) -> list[str]:
    """Return the ids of those who were found."""
    known = distinct(found.slots)
    named = [arrivals[-1 - slot].pak_id for slot in known[known < 0].tolist()]
    named += index.pak_ids(known[known >= 0])
    return [named[place] for place in known.searchsorted(found.slots).tolist()]


def _bits(pak_ids: Iterable[str]) -> NDArray[np.uint64]:
    """Return a number for each id that stands for it."""
    return _odd(digests(pak_id.encode("utf-8", "surrogatepass") for pak_id in pak_ids))


def _odd(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return what stands for an id as an odd number."""
    return numbers.view(np.uint64) | np.uint64(1)


def _closeness(
    cosines: NDArray[np.float64], own: NDArray[np.uint64], theirs: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Return cosines as an order without ties: nine digits, and then the two ids."""
    mixed = (theirs ^ own) * _MIX
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIX
    tie_breaks = (mixed >> np.uint64(64 - _TIE_BITS)).astype(np.float64) / (1 << _TIE_BITS)
    closeness: NDArray[np.float64] = np.round(cosines, 9) + tie_breaks * _TIE_BREAK
    return closeness


_NO_NUMBERS: NDArray[np.int64] = np.empty(0, dtype=np.int64)
_NOTHING = _Found(_NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, np.empty(0, dtype=np.float64))
