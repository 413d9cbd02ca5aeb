"""Who asks, of which open store: what it may read, and what time it is.

In: an open store and a principal. Out: its `Sight`, the clock, the ids that it may know. Every verb
starts from one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from recollect.hours import iso, moved
from recollect.index.selection import Where
from recollect.model import INSTRUCTION
from recollect.recall.authorise import Moment
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import Principal
    from recollect.open_store import OpenStore
    from recollect.paks.catalogue import PakCatalogue
    from recollect.ports.store import ClockState, Commit, Store, Uses, Who
    from recollect.recall.sight import Sight

__all__ = ["Caller"]

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, eq=False)
class Caller:
    """One principal on one open store. `is_opener`: it was opened for nobody in particular."""

    open_store: OpenStore
    catalogue: PakCatalogue
    principal: Principal
    is_opener: bool
    # Told of each sight that is taken, where somebody wants to know what an answer was made from.
    looked: Callable[[Sight], None] | None = None
    # Refuses once whoever lent the store has it back; None for who opened it for itself.
    check_lent: Callable[[], None] | None = None
    # What the store is called among others; None for a file that stands alone.
    store_name: str | None = None

    @property
    def store(self) -> Store:
        """Where the memories are."""
        return self.open_store.store

    def need_living_key(self) -> None:
        """Refuse a caller whose key has ended since it was presented, or whose loan of a store."""
        if self.check_lent is not None:
            self.check_lent()
        self.open_store.need_living_key(self.principal)

    def sight(self) -> Sight:
        """Return what may be read, as of now."""
        sight = self._without_blocked(self.open_store.sight(self.principal))
        if self.looked is not None:
            self.looked(sight)
        return sight

    @property
    def who(self) -> Who:
        """Whose uses are counted."""
        return self.principal.tenant, self.principal.id

    def own_uses(self) -> Uses:
        """Return all that this principal has used."""
        return self.store.uses.of(self.who)

    def answer(self, answer: Callable[[Sight], Answer]) -> Answer:
        """Return an answer that is of one revision, whoever writes meanwhile."""
        return self.open_store.of_one_revision(lambda: answer(self.sight()))

    @contextmanager
    def standing_still(self) -> Iterator[Sight]:
        """Let the body read one state of the store, the catalogue included; give its sight."""
        self.open_store.check_open()
        with self.open_store.follower.standing_still(), self.catalogue.snapshot():
            yield self.sight()

    def sight_before(self, commit: Commit) -> Sight:
        """Return what may be read as a commit begins; it stays so until the commit."""
        return self._without_blocked(self.open_store.sight_before(self.principal, commit))

    def _without_blocked(self, sight: Sight) -> Sight:
        if self.open_store.sanitizer != "block":
            return sight
        return replace(sight, view=replace(sight.view, without_risky=True))

    def clock(self, sight: Sight) -> ClockState:
        """Return the counter of active hours at the moment of a sight."""
        return moved(sight.state.clock, sight.now, mode=self.open_store.hours)

    def moment(self, sight: Sight) -> Moment:
        """Return the moment of a sight by both clocks."""
        return Moment(sight.now, self.clock(sight).active_hours)

    def now(self) -> str:
        """Return the time as it is written down."""
        return iso(self.open_store.clock.now())

    def readable(self, sight: Sight) -> frozenset[str] | None:
        """Return the ids of the memories that may be read, None for all there are.

        What the catalogue holds beside the memories has no place; it is for whoever opened it.
        """
        return self._names(sight, Where(active_only=False))

    def selectable(self, sight: Sight) -> frozenset[str] | None:
        """Return the same but for instructions: these come apart from all else."""
        return self._names(sight, Where(active_only=False, without_category=INSTRUCTION))

    def _names(self, sight: Sight, where: Where) -> frozenset[str] | None:
        selection = sight.select(where)
        if not self.is_opener:
            return self.open_store.names(sight.index, selection)
        if selection.is_all:
            return None
        return self.open_store.names(sight.index, selection) | self.store.memories.unplaced()
