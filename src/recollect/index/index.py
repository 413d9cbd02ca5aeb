"""The index: what recall needs of every live memory, as columns in memory.

It is filled by `apply` with what a store says has changed, makes selections, and answers questions
inside of them. Here the rooms are only put together: `contents` holds, `changes` fills,
`selection` chooses, `questions` answers. The caller sees to it that `apply` and questions do not
overlap.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recollect.index.changes import apply_changes, compact, is_worth_compacting
from recollect.index.contents import Contents
from recollect.index.questions import Questions
from recollect.index.selection import Selections, Where
from recollect.index.statistics import Statistics
from recollect.ports.state import START, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.index.selection import MaskSource, Selection
    from recollect.ports.store import Changes

__all__ = ["MemoryIndex"]

_EVERY_ACTIVE = Where()


class MemoryIndex(Questions):
    """Live memories of one store as columns; each lies in a slot, which only a change moves."""

    def __init__(self, dimension: int) -> None:
        super().__init__(Contents.empty(dimension), 0)
        self.head = START

    @property
    def revision(self) -> int:
        """The revision of the store that it is of."""
        return self.head.revision

    def __len__(self) -> int:
        return self._contents.live

    def apply(self, changes: Changes) -> None:
        """Take over what changed; a vector of the wrong shape is refused before anything is."""
        apply_changes(changes, self._contents)
        if changes.gone or changes.rows:
            if is_worth_compacting(self._contents):
                compact(self._contents)
            self._begin_generation()
        elif changes.used:
            self._selections.note_uses(changes.used)
        self.head = changes.head

    def compact(self) -> None:
        """Let go of everything that belonged to memories which are gone, down to their words."""
        if self.size > len(self):
            compact(self._contents)
            self._begin_generation()

    def select(
        self,
        where: Where = _EVERY_ACTIVE,
        *,
        view: MaskSource | None = None,
        at: float | None = None,
    ) -> Selection:
        """Return the live memories that fulfil `where` and that `view` allows (a mask over slots).

        `at` stands for a `valid_at` of that moment.
        """
        return self._selections.select(where, view=view, at=at, index=self)

    def export(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return everything as plain data and arrays, for `restore`."""
        vocabularies, arrays = self._contents.export()
        return {"head": asdict(self.head), "vocabularies": vocabularies}, arrays

    @classmethod
    def restore(cls, plain: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> MemoryIndex:
        """Return the index that was exported; it takes the arrays as its own."""
        index = cls(0)
        index.head = Head(**plain["head"])
        index._contents = Contents.restore(plain["vocabularies"], arrays)
        index._begin_generation()
        return index

    def _begin_generation(self) -> None:
        """Let go of all that was found out about which memories there were."""
        self._selections = Selections(self._contents, self._selections.generation + 1)
        self._statistics = Statistics(self._contents)
