"""Which slots take part in an answer: what is asked for, the mask of it, the slots it came to.

Every statistic of the index is computed inside a selection. A selection belongs to the state of
the index that it was made from and is of no use after the next change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from recollect.index.columns import Columns
    from recollect.index.postings import Postings

__all__ = ["Selection", "Where", "mask_of", "tag_mask"]


@dataclass(frozen=True, slots=True)
class Where:
    """What a Pak must fulfil; everything given must hold.

    `statuses` replaces `active_only`. Tag patterns are alternatives: a trailing `%` stands for any
    ending, every other character for itself; `narrow_tags` are patterns that must hold besides.
    `reinforced_after` is exclusive; `valid_at` is in
    seconds since 1970, and a Pak that ends then is out.
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


def mask_of(where: Where, columns: Columns, tags: Postings) -> NDArray[np.bool_]:
    """Return which slots are alive and fulfil every condition."""
    mask: NDArray[np.bool_] = columns["alive"].copy()
    statuses = where.statuses or (("active",) if where.active_only else ())
    if statuses:
        mask &= _any_of(statuses, columns, "status")
    if where.project is not None:
        mask &= _any_of((where.project,), columns, "project")
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
    return mask


def tag_mask(patterns: Iterable[str], tags: Postings, size: int) -> NDArray[np.bool_]:
    """Return which of all slots, dead ones included, have a tag that matches any pattern."""
    mask = np.zeros(size, dtype=np.bool_)
    for pattern in patterns:
        names = tags.starting_with(pattern[:-1]) if pattern.endswith("%") else [pattern]
        for posting in tags.get(names):
            mask[posting.slots] = True
    return mask


def _any_of(values: Sequence[str], columns: Columns, name: str) -> NDArray[np.bool_]:
    mask = np.zeros(columns.size, dtype=np.bool_)
    for value in values:
        mask |= columns[name] == columns.vocabularies[name].get(value, -1)
    return mask
