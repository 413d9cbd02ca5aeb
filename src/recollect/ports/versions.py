"""What the engine asks of a store about versions: each memory as it was before it was changed.

Whatever replaces a memory, or moves it, leaves the version before, whole, with who wrote that and
when. A memory that never changed has none. All of them go when it is erased.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import Memory
    from recollect.policy import View

__all__ = ["KeptVersion", "VersionRoom"]


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """One version of a memory. `memory` is None for the one that stands.

    `revision` is the one of the store at which it came to be, None if nobody kept that.
    """

    number: int
    at: str
    by: str
    memory: Memory | None
    revision: int | None = None


class VersionRoom(Protocol):
    """Versions by memory. Writes happen inside a commit."""

    def read(self, pak_ids: Sequence[str], view: View) -> dict[str, list[KeptVersion]]:
        """Return the versions of some memories that `view.shows`, the oldest first.

        The one that stands is the last, and says who wrote it; whether it may be read is not asked
        here. A memory that never changed is not among them.
        """

    def put(self, versions: Mapping[str, Sequence[KeptVersion]]) -> None:
        """Keep versions of memories as given, in the place of those that there are."""

    def where(self, tenant: str, fits: Callable[[Memory], bool]) -> dict[str, list[int]]:
        """Return the numbers of earlier versions of a tenant that fit, by memory."""

    def erase(self, versions: Mapping[str, Sequence[int]]) -> None:
        """Delete earlier versions, by memory and number; their memory stays."""

    def prune(self, before: str) -> int:
        """Let go of versions that were replaced before a time; return how many that were."""
