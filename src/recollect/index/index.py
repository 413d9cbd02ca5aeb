"""The index: what recall needs of every live memory, as columns in memory.

It makes selections, and answers questions inside of them, to any number of threads; it is never
altered. `after` makes the next one of what a store says has changed. Here the rooms are only put
together: `contents` holds, `changes` fills, `selection` chooses, `questions` answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.index.arrays import narrow, side_by_side
from recollect.index.bars import Bars
from recollect.index.changes import apply_changes, compact, is_worth_compacting
from recollect.index.contents import Contents
from recollect.index.courtesy import go_on
from recollect.index.facts import FactBook
from recollect.index.questions import Questions
from recollect.index.selection import Altered, Selections, Where
from recollect.index.statistics import Statistics
from recollect.index.uses import UseBook
from recollect.ports.state import START, Head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from recollect.index.courtesy import Pause
    from recollect.index.facts import FactColumn, Path, WantedFacts
    from recollect.index.selection import MaskSource, Selection
    from recollect.index.uses import OwnUses
    from recollect.model import Place
    from recollect.ports.store import Changes, Facts
    from recollect.ports.uses import Uses, Who

__all__ = ["MemoryIndex"]

_EVERY_ACTIVE = Where()
# After so many changes it is not asked any more who is not concerned.
_FEW_ROWS = 256
# At rest arrays that ascend from 0 are held in half the room, and what is soon had again is not.
_BOUNDS = (
    "pak_ids/bounds",
    *(f"{part}/{name}" for part in ("terms", "tags") for name in ("starts", "name_bounds")),
)
_HAD_AGAIN = ("terms/name_heads", "tags/name_heads")


class MemoryIndex(Questions):
    """Live memories of one store as columns; each lies in a slot, as of one head of the store."""

    def __init__(
        self,
        contents: Contents,
        head: Head = START,
        *,
        selections: Selections | None = None,
        statistics: Statistics | None = None,
        uses: UseBook | None = None,
        facts: FactBook | None = None,
        bars: Bars | None = None,
    ) -> None:
        super().__init__(
            contents, selections or Selections(contents, 0), statistics or Statistics(contents)
        )
        self.head = head
        self._uses = uses or UseBook(contents)
        self._facts = facts or FactBook(contents)
        self.bars = bars or Bars()

    @classmethod
    def empty(cls, dimension: int) -> MemoryIndex:
        """Return the index of a new store, for vectors of this dimension."""
        return cls(Contents.empty(dimension))

    def __len__(self) -> int:
        return self._contents.live

    @property
    def revision(self) -> int:
        """How far the store had come."""
        return self.head.revision

    def after(self, *batches: Changes) -> MemoryIndex:
        """Return the index that also knows what changed; this one stays as it is."""
        return self.after_all(batches, head=batches[-1].head if batches else self.head)

    def after_all(
        self,
        batches: Iterable[Changes],
        *,
        head: Head,
        pause: Pause = go_on,
    ) -> MemoryIndex:
        """Return the index of a later head, told in batches what changed.

        Others may come first in each `pause` between two pieces of that work.
        A vector of the wrong shape is refused. Of all the indexes that were made from this one
        the last is the one to go on from; before another attempt after an exception, `mend`.
        """
        contents = self._contents
        moves, only_came, came = False, True, False
        touched: set[Place] | None = set()
        rows: set[int] = set()
        changed: set[int] = set()
        used: dict[Who, Uses | None] = {}
        gone: set[int] = set()
        edges: set[tuple[int, int]] = set()
        for changes in batches:
            only_came, came = only_came and self._came(changes), came or bool(changes.rows)
            if (changes.rows or changes.gone) and not moves:
                contents, moves = contents.successor(), True
            elif contents is self._contents and changes.edges:
                contents = contents.rewritten()
            touched = self._touched(touched, changes)
            if touched is not None:
                rows = (rows | {*changes.row_ids}).difference(changes.gone)
            apply_changes(changes, contents, pause)
            if self._facts.is_asked:
                changed.update(changes.row_ids)
            used.update(changes.used)
            gone.update(changes.gone)
            edges.update((low, high) for low, high, _ in changes.edges)
        contents.settle(pause)
        facts = self._facts.following(contents, changed)
        if moves and is_worth_compacting(contents):
            compact(contents)
            facts, touched = FactBook(contents), None
        uses = self._uses.following(contents, used, gone=gone, edges=edges)
        selections, statistics = self._selections, self._statistics
        if moves and touched is None:
            selections, statistics = self._next_generation(contents), Statistics(contents)
        elif moves:
            before = self._contents.slots_of_rows(sorted(rows | gone))
            altered = Altered(
                before=before[before >= 0],
                living=contents.slots_of_rows(sorted(rows)),
                new=np.arange(self.size, contents.size),
            )
            selections, carried = self._selections.following(contents, touched or (), altered)
            statistics = self._statistics.following(contents, carried, altered)
            contents.vectors.keep_ready(self._contents.vectors, carried)
        return MemoryIndex(
            contents,
            head,
            selections=selections,
            statistics=statistics,
            uses=uses,
            facts=facts,
            # Links that change though nobody came may be those of a repair.
            bars=self.bars.following(head, only_came=only_came and (came or not edges)),
        )

    def _touched(self, before: set[Place] | None, changes: Changes) -> set[Place] | None:
        """Return at which places something changed, None if at too many to ask about each."""
        rows = [*changes.row_ids, *changes.gone]
        if before is None or len(rows) > _FEW_ROWS or len(before) > _FEW_ROWS:
            return None
        # Where they were; what came in an earlier batch was there when that was looked at.
        slots, known = self._contents.slots_of_rows(rows), self.places()
        codes = self._contents.columns["place"][slots[slots >= 0]].tolist()
        return before | {row.memory.place for row in changes.rows} | {known[one] for one in codes}

    def id_digests(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the 64 bits that stand for the id of each of some live memories."""
        return self._contents.id_digests(slots)

    def compacted(self) -> MemoryIndex:
        """Return the index without anything of memories that are gone, down to their words."""
        if self.size == len(self):
            return self
        contents = self._contents.successor()
        compact(contents)
        uses = self._uses.following(contents, {})
        selections = self._next_generation(contents)
        return MemoryIndex(contents, self.head, selections=selections, uses=uses, bars=self.bars)

    def packed(self) -> MemoryIndex:
        """Return the same index as it would be read from a file: arrays, and no dictionaries."""
        plain, arrays = self.compacted().export()
        arrays |= {name: narrow(arrays[name]) for name in _BOUNDS}
        for name in _HAD_AGAIN:
            del arrays[name]
        return MemoryIndex.restore(plain, side_by_side(arrays))

    def knows_uses(self, who: Who) -> bool:
        """Return whether it was told what a principal has used."""
        return self._uses.knows(who)

    def learn_uses(self, who: Who, uses: Uses) -> None:
        """Take over what a principal has used, as of this index's head."""
        self._uses.learn(who, uses)

    def uses_of(self, who: Who) -> OwnUses | None:
        """Return what a principal has used, by slot; None if that is nothing."""
        return self._uses.of(who)

    def facts(
        self, paths: Iterable[Path], read: Callable[[WantedFacts], Facts]
    ) -> Mapping[Path, FactColumn]:
        """Return what filters ask for, by path; `read` is asked for what is not known of it."""
        return self._facts.columns(paths, read)

    def mend(self) -> None:
        """Drop what an index that was to follow this one, and never came to be, has left."""
        self._contents.mend()

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
        # What is in a tail is sorted in on the way: in a successor, since others read this one.
        vocabularies, arrays = self._contents.successor().export()
        return {"head": self.head._asdict(), "vocabularies": vocabularies}, arrays

    @classmethod
    def restore(cls, plain: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> MemoryIndex:
        """Return the index that was exported; it takes the arrays as its own."""
        contents = Contents.restore(plain["vocabularies"], arrays)
        return cls(contents, Head(**plain["head"]))

    def _came(self, changes: Changes) -> bool:
        """Return whether what changed is that memories came, and nothing else."""
        known = self._contents.slots_of_rows(changes.row_ids)
        return not changes.gone and not bool((known >= 0).any())

    def _next_generation(self, contents: Contents) -> Selections:
        return Selections(contents, self._selections.generation + 1)
