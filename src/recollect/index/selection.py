"""Which memories a request may see: what is asked for, the mask of it, the slots it came to.

Conditions and a mask, or who can make one, come in; a selection goes out. Every statistic of the
index is computed inside a selection. A selection belongs to one generation of the index and is of
no use after the next change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np

from recollect.errors import InvalidInput
from recollect.model.memory import is_within
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from recollect.index.columns import Columns
    from recollect.index.contents import Contents
    from recollect.index.index import MemoryIndex
    from recollect.index.postings import Postings
    from recollect.model import Place

__all__ = [
    "Carried",
    "MaskSource",
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


@dataclass(frozen=True, eq=False)
class Selection:
    """Some of the living slots: `mask` over all slots, how many, and whether that is everyone."""

    mask: NDArray[np.bool_]
    count: int
    is_all: bool
    generation: int

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
    """Who makes a mask, and can tell whether what changed at a place may change that."""

    def __call__(self, index: MemoryIndex) -> NDArray[np.bool_]:
        """Return the mask over all slots."""

    def concerns(self, place: Place) -> bool:
        """Return whether a memory at a place may be in the mask, or take another out of it."""


# From the selections of one generation to the same ones of the next.
Carried: TypeAlias = "Mapping[Selection, Selection]"
_Floors: TypeAlias = tuple[float, float, float]


class Selections:
    """The selections of one generation of an index, each made once."""

    def __init__(self, contents: Contents, generation: int) -> None:
        self.generation = generation
        self._contents = contents
        self._known: dict[tuple[Where, MaskSource | None], Selection] = {}
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
        known = self._known.get((where, view))
        if known is None:
            if len(self._known) >= _MOST_SELECTIONS:
                self._known = {}
            known = self._known[where, view] = self._make(where, view and view(index))
        return known

    def following(
        self, contents: Contents, places: Iterable[Place], changed: NDArray[np.int64]
    ) -> tuple[Selections, Carried]:
        """Return the selections of the next generation, after changes of some slots at some places.

        Those that no place concerns are carried over: a write of one tenant costs its neighbours
        nothing. Slots must be as they were, but for new ones.
        """
        following, carried = Selections(contents, self.generation + 1), {}
        if self._floors is not None:
            # What is gone may count on: a condition that all fulfil is then asked all the same.
            following._floors = _lower(self._floors, following._floors_of(changed))
        touched = tuple(places)
        for key, known in [*self._known.items()]:  # at once: another thread may be adding one
            view = key[1]
            if isinstance(view, TellsPlaces) and not any(map(view.concerns, touched)):
                carried[known] = following._known[key] = self._grown(known, following)
        return following, carried

    def _grown(self, known: Selection, following: Selections) -> Selection:
        mask = np.zeros(following._contents.size, np.bool_)
        mask[: len(known.mask)] = known.mask
        mask.flags.writeable = False
        is_all = known.count == following._contents.live
        grown = Selection(mask, known.count, is_all=is_all, generation=following.generation)
        grown.__dict__["slots"] = known.slots
        return grown

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

    def _make(self, where: Where, allowed: NDArray[np.bool_] | None) -> Selection:
        mask = mask_of(where, self._contents.columns, self._contents.tags)
        if allowed is not None:
            mask &= self._checked_mask(allowed)
        mask.flags.writeable = False
        count = int(np.count_nonzero(mask))
        is_all = count == self._contents.live
        return Selection(mask, count, is_all=is_all, generation=self.generation)

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
        both = [columns[name][columns["alive"]] for name in ("valid_from", "valid_until")]
        turns: NDArray[np.float64] = np.unique(np.concatenate(both))
        return turns[np.isfinite(turns)]


def _lower(one: _Floors, other: _Floors) -> _Floors:
    return min(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2])


def mask_of(where: Where, columns: Columns, tags: Postings) -> NDArray[np.bool_]:
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


def _any_of(values: Sequence[str | None], columns: Columns, name: str) -> NDArray[np.bool_]:
    mask = np.zeros(columns.size, dtype=np.bool_)
    for value in values:
        mask |= columns[name] == columns.vocabularies[name].get(value, -1)
    return mask
