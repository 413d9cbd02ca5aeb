"""What the engine asks of a store about uses: how often each principal was given what, and when.

A memory begins for everybody with the uses that it was written with; from its first use on a
principal has numbers of its own. So it is with the strength that use gives a link. Nobody's uses
are read for another. All of a memory's uses go when it is erased, those of a link with the link.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

__all__ = [
    "MOST_LINK_USES",
    "MOST_USES",
    "UseRoom",
    "Used",
    "UsedLink",
    "Uses",
    "Who",
    "strength",
]

# A tenant and a principal of it.
Who: TypeAlias = tuple[str, str]

_STEP = 0.10
_FULL = 1.0
# The largest whole number that every store can keep.
MOST_USES = 2**63 - 1
# So many uses make any link as strong as links get; more are not counted.
MOST_LINK_USES = 10


class Used(NamedTuple):
    """A memory that one principal has used: how often by now, and the active hour of the last."""

    row_id: int
    reinforced: int
    last_reinforced: float


class UsedLink(NamedTuple):
    """A link whose two ends one principal was given together, and how often."""

    low: int
    high: int
    uses: int


class Uses(NamedTuple):
    """What one principal has used."""

    memories: Sequence[Used] = ()
    links: Sequence[UsedLink] = ()


def strength(weight: float, uses: int) -> float:
    """Return how strong a link is for one who was given its ends together so often."""
    return min(_FULL, round(weight + _STEP * uses, 9)) if uses else weight


class UseRoom(Protocol):
    """Uses by principal. Writes happen inside a commit, which `changes` tells as uses of theirs."""

    def of(self, who: Who) -> Uses:
        """Return all that a principal has used, in the order of row ids."""

    def count(self, who: Who, pak_ids: Sequence[str], *, at: float) -> Uses:
        """Count one more use of memories, and of the links among them; return those as they are.

        The first use of a memory adds to what it was written with. What is not there is left out.
        """

    def put(self, who: Who, uses: Uses) -> None:
        """Keep uses as given, in the place of those that there are."""
