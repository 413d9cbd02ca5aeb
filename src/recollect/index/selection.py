"""Which slots take part in an answer: what is asked for, and the slots it came to.

Every statistic of the index is computed inside a selection. A selection belongs to the state of
the index that it was made from and is of no use after the next change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Selection", "Where"]


@dataclass(frozen=True, slots=True)
class Where:
    """What a Pak must fulfil; everything given must hold.

    `statuses` replaces `active_only`. Tag patterns are alternatives: a trailing `%` stands for any
    ending, every other character for itself. `reinforced_after` is exclusive; `valid_at` is in
    seconds since 1970, and a Pak that ends then is out.
    """

    active_only: bool = True
    statuses: tuple[str, ...] = ()
    project: str | None = None
    tag_patterns: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
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
