"""Which memories a request may see: what is asked for, the mask of it, the slots it came to.

Conditions and a mask, or who can make one, come in; a selection goes out. Every statistic of the
index is computed inside a selection. A selection belongs to one generation of the index and is of
no use after the next change, but for making the next one of it (ADR-0106).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cached_property, lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np

from recollect.errors import InvalidInput
from recollect.index.arrays import distinct
from recollect.index.columns import Columns, ColumnsAt
from recollect.model.memory import is_within
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from recollect.index.contents import Contents
    from recollect.index.index import MemoryIndex
    from recollect.index.postings import Postings
    from recollect.model import Place

__all__ = [
    "Altered",
    "Carried",
    "MaskSource",
    "Moved",
    "Selection",
    "Selections",
    "TellsPlaces",
    "Where",
    "mask_of",
    "tag_mask",
]

# What narrows a selection beside its conditions: a mask over the slots, or who can make one. The
# latter must be hashable: selections are kept under it until the next change.
MaskSource: TypeAlias = "Callable[[MemoryIndex], NDArray[np.bool_]] | NDArray[np.bool_]"

_MOST_SELECTIONS = 16
# More slots than this are not looked at one by one, and what was not asked for in so many
# generations is made anew.
_MOST_ALTERED, _MOST_STEPS, _MOST_EARLIER = 1024, 16, 2 * _MOST_SELECTIONS


@dataclass(frozen=True, slots=True)
class Where:
    """What a memory must fulfil; everything given must hold.

    A `project` is a path of segments: what lies below it is in it. `statuses` replaces
    `active_only`. Tag patterns are alternatives: a trailing `%` stands for any ending, every other
    character for itself; `narrow_tags` are patterns that must hold besides. `reinforced_after` is
    exclusive; `valid_at` is in seconds since 1970: a memory that begins then is in, and one that
    ends then is out.
    """

    active_only: bool = True
    statuses: tuple[str, ...] = ()
    project: str | None = None
    tag_patterns: tuple[str, ...] = ()
    narrow_tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    without_category: str | None = None
    reinforced_after: float | None = None
    valid_at: float | None = None
    # What has a successor that the same principal may read is out; a view makes that mask.
    current_only: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """How a selection differs from the same one of an earlier `generation`, which had `size` slots.

    `slots` are those that came, by 1, and those that left, by -1, of the slots that both have.
    """

    generation: int
    size: int
    slots: NDArray[np.int32]
    by: NDArray[np.int8]

    @classmethod
    def between(cls, generation: int, before: NDArray[np.bool_], selection: Selection) -> Moved:
        """Compare the mask of an earlier generation with a selection, which may have more slots."""
        size, mask, begun = len(before), selection.mask, selection.begun
        if begun is None or begun[0] != generation:
            slots = (mask[:size] != before).nonzero()[0]
        else:
            known = begun[1][begun[1] < size]
            slots = known[mask[known] != before[known]]
        by = mask[slots].view(np.int8) * np.int8(2) - np.int8(1)
        return cls(generation, size, slots.astype(np.int32), by)

    def and_then(self, later: Iterable[Moved]) -> Moved:
        """Return how it has moved when it moved on; of later steps only the first slots count."""
        every = (self, *later)
        slots = np.concatenate([one.slots for one in every])
        by = np.concatenate([one.by for one in every])
        known = slots < self.size
        return Moved(self.generation, self.size, slots[known], by[known])


@dataclass(frozen=True, eq=False)
class Selection:
    """Some of the living slots: `mask` over all slots, how many, and whether that is everyone.

    `asked` is what it was asked for by, in whichever generation; None if nobody can ask so again.
    `begun` is of which generation's it was made, if of any, and which slots were looked at for it.
    """

    mask: NDArray[np.bool_]
    count: int
    is_all: bool
    generation: int
    asked: Hashable = None
    begun: tuple[int, NDArray[np.int64]] | None = None

    @cached_property
    def slots(self) -> NDArray[np.int64]:
        """The selected slots, ascending."""
        return np.flatnonzero(self.mask)

    @property
    def is_solid(self) -> bool:
        """Whether every slot is selected, so that nothing needs masking."""
        return self.count == len(self.mask)


@runtime_checkable
class TellsPlaces(Protocol):
    """Who makes a mask, and can tell whether what changed at a place may change that.

    Whether a slot is in it follows from the columns of that slot, or the index is asked for more
    than columns, codes and places.
    """

    def __call__(self, index: MemoryIndex) -> NDArray[np.bool_]:
        """Return the mask over all slots."""

    def concerns(self, place: Place) -> bool:
        """Return whether a memory at a place may be in the mask, or take another out of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Altered:
    """What became of slots from one generation to the next: those of rows that were written or
    erased, as they lay `before` and as they lie now, `living`, and all that are `new`.
    """

    before: NDArray[np.int64]
    living: NDArray[np.int64]
    new: NDArray[np.int64]

    @property
    def slots(self) -> NDArray[np.int64]:
        """All slots of which anything may be another than it was."""
        return np.concatenate([self.before, self.new])


class _AskedForMore(AttributeError):
    """A view needs more of an index than the columns of the slots that it decides about."""


class _SomeSlots:
    """An index as those see it who decide about each slot by itself: of no more than some slots."""

    def __init__(self, slots: NDArray[np.int64], columns: Columns) -> None:
        self.slots = slots
        self.columns = ColumnsAt(columns, slots)
        self._allowed: dict[MaskSource, NDArray[np.bool_] | None] = {}

    def allowed(self, view: MaskSource) -> NDArray[np.bool_] | None:
        """Return which of the slots a view allows; None if it does not decide by slot."""
        if view not in self._allowed:
            decide = cast("Callable[[_SomeSlots], NDArray[np.bool_]]", view)
            try:
                self._allowed[view] = decide(self)
            except _AskedForMore:
                self._allowed[view] = None
        return self._allowed[view]

    def at_places(self, name: Hashable, rule: Callable[[Place], bool]) -> NDArray[np.bool_]:
        """Return which of the slots are at places that fulfil a rule."""
        table = self.columns.places.fulfilling(name, rule)
        return table.take(self.columns["place"])

    def column(self, name: str) -> NDArray[Any]:
        """Return what a column holds of the slots, read-only."""
        return self.columns[name]

    def code(self, name: str, value: str | None) -> int:
        """Return the number that stands for a value in a column of codes; -1 if none has it."""
        return self.columns.vocabularies[name].get(value, -1)

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse whatever could depend on other slots."""
        raise _AskedForMore(name)


class _Asked:
    """What a selection is asked for by: it is looked for often, so what it hashes to is kept."""

    __slots__ = ("_hash", "view", "where")

    def __init__(self, where: Where, view: MaskSource | None) -> None:
        self.where, self.view = where, view
        self._hash = hash((where, view))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Asked):
            return NotImplemented
        return self.where == other.where and self.view == other.view

    @property
    def tells_places(self) -> bool:
        """Whether it can be told who changes what may be selected."""
        return _tells_places(cast("type", type(self.view)))

    @property
    def is_by_slot(self) -> bool:
        """Whether what changed may be looked at without the rest; tags are looked up in all."""
        is_told = self.view is None or self.tells_places
        return is_told and not self.where.tag_patterns and not self.where.narrow_tags


@lru_cache(maxsize=64)
def _tells_places(kind: type) -> bool:
    return issubclass(kind, TellsPlaces)


# From the selections of one generation to the same ones of the next.
Carried: TypeAlias = "Mapping[Selection, Selection]"
_Floors: TypeAlias = tuple[float, float, float]


class Selections:
    """The selections of one generation of an index, each made once."""

    def __init__(self, contents: Contents, generation: int) -> None:
        self.generation = generation
        self._contents = contents
        self._known: dict[_Asked, Selection] = {}
        # Those of earlier generations, and which slots were altered on the way from each of these.
        self._earlier: dict[_Asked, Selection] = {}
        self._altered: dict[int, NDArray[np.int64]] = {}
        self._looked_at: dict[int, _SomeSlots] = {}
        self._floors: _Floors | None = None

    def select(
        self, where: Where, *, view: MaskSource | None, at: float | None, index: MemoryIndex
    ) -> Selection:
        """Return the live memories that fulfil `where` and that `view` allows.

        `at` stands for a `valid_at` of that moment; `index` is what a view makes its mask from.
        """
        if at is not None and not self._all_hold(at):
            where = replace(where, valid_at=at)
        where = self._without_idle_conditions(where)
        if view is not None and not callable(view):
            return self._make(where, view)
        asked = _Asked(where, view)
        known = self._known.get(asked)
        if known is None:
            if len(self._known) >= _MOST_SELECTIONS:
                self._known = {}
            known = self._moved_on(asked) or self._make(where, view and view(index), asked)
            self._known[asked] = known
        return known

    def following(
        self, contents: Contents, places: Iterable[Place], altered: Altered
    ) -> tuple[Selections, Carried]:
        """Return the selections of the next generation, after changes of some slots at some places.

        Those that no place concerns are carried over: a write of one tenant costs its neighbours
        nothing. Of the others it is looked at the slots that changed, when they are asked for. All
        else must be as it was.
        """
        following, carried = Selections(contents, self.generation + 1), {}
        if self._floors is not None:
            # What is gone may count on: a condition that all fulfil is then asked all the same.
            following._floors = _lower(self._floors, following._floors_of(altered.living))
        turns = self.__dict__.get("_turns")
        if turns is not None and not len(_finite_bounds(self._contents.columns, altered.before)):
            new = _finite_bounds(contents.columns, altered.living)
            following.__dict__["_turns"] = np.union1d(turns, new)
        touched = tuple(places)
        for key, known in [*self._known.items()]:  # at once: another thread may be adding one
            if not key.tells_places:
                continue
            view = cast("TellsPlaces", key.view)
            if not any(map(view.concerns, touched)):
                carried[known] = following._known[key] = self._grown(known, following)
        following._begin_with(self, altered.slots)
        return following, carried

    def _begin_with(self, before: Selections, altered: NDArray[np.int64]) -> None:
        """Take note of the selections of the generation before, for who asks for them again."""
        oldest = before.generation - _MOST_STEPS
        kept = {
            asked: one
            for asked, one in [*before._earlier.items(), *before._known.items()]
            if asked not in self._known and one.generation > oldest and asked.is_by_slot
        }
        first = min((one.generation for one in kept.values()), default=self.generation)
        steps = {**before._altered, before.generation: altered}
        steps = {number: slots for number, slots in steps.items() if number >= first}
        if sum(map(len, steps.values())) <= _MOST_ALTERED and len(kept) <= _MOST_EARLIER:
            self._earlier, self._altered = kept, steps

    def _moved_on(self, asked: _Asked) -> Selection | None:
        """Return a selection by looking at what was altered since an earlier generation, if it can.

        A mask says of each slot whether it fulfils the conditions, whichever the others are.
        """
        known = self._earlier.get(asked)
        if known is None:
            return None
        some = self._altered_since(known.generation)
        allowed = None if asked.view is None else some.allowed(asked.view)
        if asked.view is not None and allowed is None:
            return None
        is_in = mask_of(asked.where, some.columns, self._contents.tags)
        if allowed is not None:
            is_in &= allowed
        mask = self._extended(known.mask)
        left = np.count_nonzero(mask.take(some.slots))
        mask[some.slots] = is_in
        count = known.count + int(np.count_nonzero(is_in) - left)
        # It has served: what it holds is as large as what is made of it.
        self._earlier.pop(asked, None)
        return self._selected(mask, count, asked, (known.generation, some.slots))

    def _altered_since(self, generation: int) -> _SomeSlots:
        """Return the slots of which anything may be another than in an earlier generation."""
        if generation not in self._looked_at:
            parts = [slots for number, slots in self._altered.items() if number >= generation]
            slots = parts[0] if len(parts) == 1 else distinct(np.concatenate(parts))
            self._looked_at[generation] = _SomeSlots(slots, self._contents.columns)
        return self._looked_at[generation]

    def _grown(self, known: Selection, following: Selections) -> Selection:
        mask = following._extended(known.mask)
        mask.flags.writeable = False
        is_all = known.count == following._contents.live
        grown = Selection(mask, known.count, is_all, following.generation, known.asked)
        if "slots" in known.__dict__:
            grown.__dict__["slots"] = known.slots
        return grown

    def _extended(self, before: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of fewer slots over all there are now."""
        mask = np.empty(self._contents.size, np.bool_)
        mask[: len(before)] = before
        mask[len(before) :] = False
        return mask

    def turning_point(self, moment: float) -> float | None:
        """Return when anything last began or ended; None if all that is here holds at a moment.

        Between the two nothing changes.
        """
        if self._all_hold(moment):
            return None
        past = int(np.searchsorted(self._turns, moment, side="right"))
        return float(self._turns[past - 1]) if past else -inf

    def _all_hold(self, moment: float) -> bool:
        _, latest, soonest = self._bounds()
        return latest <= moment < soonest

    def check(self, selection: Selection) -> None:
        """Refuse a selection of another generation: its slots may be others' by now."""
        if selection.generation != self.generation:
            raise InvalidInput(
                "the selection was made before the index last changed.",
                hint="select again after apply, and do not let the two overlap.",
            )

    def _make(
        self, where: Where, allowed: NDArray[np.bool_] | None, asked: _Asked | None = None
    ) -> Selection:
        mask = mask_of(where, self._contents.columns, self._contents.tags)
        if allowed is not None:
            mask &= self._checked_mask(allowed)
        return self._selected(mask, int(np.count_nonzero(mask)), asked)

    def _selected(
        self,
        mask: NDArray[np.bool_],
        count: int,
        asked: _Asked | None,
        begun: tuple[int, NDArray[np.int64]] | None = None,
    ) -> Selection:
        mask.flags.writeable = False
        is_all = count == self._contents.live
        return Selection(mask, count, is_all, self.generation, asked, begun)

    def _checked_mask(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        size = self._contents.size
        if mask.shape != (size,) or mask.dtype != np.bool_:
            raise InvalidInput(
                f"a view is {size} booleans, not {mask.dtype} of shape {mask.shape}.",
                hint="make the mask from this index's columns, after its last change.",
            )
        return mask

    def _without_idle_conditions(self, where: Where) -> Where:
        """Leave out conditions that every live memory fulfils, so that selections are shared."""
        if where.valid_at is None and where.reinforced_after is None:
            return where
        if where.valid_at is not None:
            where = replace(where, valid_at=self.turning_point(where.valid_at))
        if where.reinforced_after is not None and self._bounds()[0] > where.reinforced_after:
            where = replace(where, reinforced_after=None)
        return where

    def _bounds(self) -> _Floors:
        """Return the earliest last reinforcement, the latest beginning and the earliest end."""
        if self._floors is None:
            self._floors = self._floors_of(np.flatnonzero(self._contents.columns["alive"]))
        return self._floors

    def _floors_of(self, slots: NDArray[np.int64]) -> _Floors:
        columns = self._contents.columns
        reinforced = columns["last_reinforced"][slots].min(initial=inf)
        begins = columns["valid_from"][slots].max(initial=-inf)
        ends = columns["valid_until"][slots].min(initial=inf)
        return float(reinforced), float(begins), float(ends)

    @cached_property
    def _turns(self) -> NDArray[np.float64]:
        columns = self._contents.columns
        return np.unique(_finite_bounds(columns, columns["alive"]))


def _lower(one: _Floors, other: _Floors) -> _Floors:
    return min(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2])


def _finite_bounds(
    columns: Columns, slots: NDArray[np.int64] | NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return when what is in some slots begins or ends, as far as it does."""
    both = np.concatenate([columns[name][slots] for name in ("valid_from", "valid_until")])
    finite: NDArray[np.float64] = both[np.isfinite(both)]
    return finite


def mask_of(where: Where, columns: Columns | ColumnsAt, tags: Postings) -> NDArray[np.bool_]:
    """Return which slots are alive and fulfil every condition."""
    mask: NDArray[np.bool_] = columns["alive"].copy()
    statuses = where.statuses or (("active",) if where.active_only else ())
    if statuses:
        mask &= _any_of(statuses, columns, "status")
    if where.project is not None:
        known = columns.vocabularies["project"].in_order
        mask &= _any_of([one for one in known if is_within(one, where.project)], columns, "project")
    if where.categories:
        mask &= _any_of(where.categories, columns, "category")
    if where.tag_patterns:
        mask &= tag_mask(where.tag_patterns, tags, columns.size)
    if where.narrow_tags:
        mask &= tag_mask(where.narrow_tags, tags, columns.size)
    if where.without_category is not None:
        mask &= ~_any_of((where.without_category,), columns, "category")
    if where.reinforced_after is not None:
        mask &= columns["last_reinforced"] > where.reinforced_after
    if where.valid_at is not None:
        mask &= columns["valid_until"] > where.valid_at
        mask &= columns["valid_from"] <= where.valid_at
    return mask


def tag_mask(patterns: Iterable[str], tags: Postings, size: int) -> NDArray[np.bool_]:
    """Return which of all slots, dead ones included, have a tag that matches any pattern."""
    mask = np.zeros(size, dtype=np.bool_)
    for pattern in patterns:
        if pattern.endswith("%"):
            mask[tags.slots_starting_with(pattern[:-1])] = True
        else:
            mask[tags.get([pattern])[0].slots] = True
    return mask


def _any_of(
    values: Sequence[str | None], columns: Columns | ColumnsAt, name: str
) -> NDArray[np.bool_]:
    mask = np.zeros(columns.size, dtype=np.bool_)
    for value in values:
        mask |= columns[name] == columns.vocabularies[name].get(value, -1)
    return mask
