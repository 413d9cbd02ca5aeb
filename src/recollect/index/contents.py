"""All that an index holds, one part for each kind of fact, every part over the same slots.

What lies at slot n of one part belongs to the memory at slot n of all others. Contents that readers
have are not altered: `changes` fills a successor, which shares with them what it does not alter.
`questions` reads the parts, and the cache file keeps them; nothing here remembers an answer.
"""

from __future__ import annotations

from copy import copy
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.index.columns import CODED, Columns
from recollect.index.courtesy import Pause, go_on
from recollect.index.graph import Graph
from recollect.index.lexicon import Lexicon
from recollect.index.lookup import Lookup, digest
from recollect.index.postings import Postings
from recollect.index.speakers import Speakers
from recollect.index.strings import Strings
from recollect.index.threads import Threads
from recollect.index.vectors import Vectors
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Contents"]


@dataclass(slots=True, eq=False)
class Contents:
    """The parts of one index, how many memories live in them, and how many terms those have."""

    columns: Columns
    pak_ids: Strings
    by_row: Lookup
    by_pak: Lookup
    terms: Postings
    tags: Postings
    vectors: Vectors
    graph: Graph
    live: int = 0
    live_terms: int = 0
    # What follows can be had from the parts above, and is in no file.
    lexicon: Lexicon = field(init=False)
    threads: Threads = field(default_factory=Threads)
    speakers: Speakers = field(init=False)

    def __post_init__(self) -> None:
        self.name_anew()

    def name_anew(self) -> None:
        """Begin again to learn what follows from names: these have been given new numbers."""
        self.lexicon = Lexicon(self.terms.names)
        self.speakers = Speakers(self.columns.vocabularies["speaker"])

    @classmethod
    def empty(cls, dimension: int) -> Contents:
        """Return the contents of a new index for vectors of this dimension."""
        return cls(
            columns=Columns(),
            pak_ids=Strings(),
            by_row=Lookup(),
            by_pak=Lookup(),
            terms=Postings(),
            tags=Postings(),
            vectors=Vectors(dimension),
            graph=Graph(),
        )

    def successor(self) -> Contents:
        """Return contents to change in the place of these, which stay as they are.

        Of all successors of one, the last is the only one that may be read or have successors.
        """
        successor = copy(self)
        successor.columns = self.columns.successor()
        successor.pak_ids = self.pak_ids.successor()
        successor.by_row = self.by_row.successor()
        successor.by_pak = self.by_pak.successor()
        successor.terms = self.terms.successor()
        successor.tags = self.tags.successor()
        successor.vectors = self.vectors.successor()
        successor.graph = self.graph.successor()
        successor.threads = Threads(self.threads)
        return successor

    def rewritten(self) -> Contents:
        """Return a successor in which every memory stays in its slot, with its text and vector."""
        successor = copy(self)
        successor.columns = self.columns.successor()
        successor.graph = self.graph.successor()
        return successor

    def make_room(self, count: int) -> None:
        """Have room for so many more memories: what grows bit by bit is copied again and again."""
        self.columns.make_room(count)
        self.vectors.make_room(count)

    def settle(self, pause: Pause = go_on) -> None:
        """Make what was put in ready to be read, when all of it is there."""
        self.lexicon.rest()
        for part in (self.terms, self.tags):
            if part.waits:
                pause()
                part.settle()

    def mend(self) -> None:
        """Drop what a successor that was given up, by whatever exception, has left behind."""
        self.columns.mend()
        self.by_row.mend(self.size)
        self.by_pak.mend(self.size)
        self.lexicon.rest()
        self.terms.mend()
        self.tags.mend()

    @property
    def size(self) -> int:
        """Slots in use, dead ones included."""
        return self.columns.size

    def slots_of_rows(self, row_ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the slot of each row of the store; -1 for one that is not here."""
        return self.by_row.find(np.asarray(row_ids, dtype=np.int64), self.columns["alive"])

    def slot_of(self, pak_id: str) -> int | None:
        """Return the slot of a memory, or None if it is not here."""
        alive = self.columns["alive"]
        for slot in self.by_pak.candidates(digest(pak_id), self.size):
            if alive[slot] and self.pak_ids.text_at(slot) == pak_id:
                return slot
        return None

    def export(self) -> tuple[dict[str, list[str | None]], dict[str, NDArray[Any]]]:
        """Return the vocabularies, and all else as arrays named part/array, for `restore`."""
        alive = self.columns["alive"]
        parts: dict[str, Mapping[str, NDArray[Any]]] = {
            "columns": self.columns.export(),
            "pak_ids": self.pak_ids.export(),
            "by_row": self.by_row.export(alive),
            "by_pak": self.by_pak.export(alive),
            "terms": self.terms.export(),
            "tags": self.tags.export(),
            "vectors": self.vectors.export(),
            "graph": self.graph.export(),
        }
        vocabularies = {name: self.columns.vocabularies[name].in_order for name in CODED}
        arrays = {f"{part}/{name}": a for part, held in parts.items() for name, a in held.items()}
        return vocabularies, arrays

    @classmethod
    def restore(
        cls, vocabularies: dict[str, list[str | None]], arrays: Mapping[str, NDArray[Any]]
    ) -> Contents:
        """Return the contents that were exported; they take the arrays as their own."""
        parts: dict[str, dict[str, Any]] = {}
        for path, array in arrays.items():
            part, _, name = path.partition("/")
            parts.setdefault(part, {})[name] = array
        columns = Columns.restore(parts["columns"], vocabularies)
        alive = columns["alive"]
        return cls(
            columns=columns,
            pak_ids=Strings.restore(**parts["pak_ids"]),
            by_row=Lookup.restore(**parts["by_row"]),
            by_pak=Lookup.restore(**parts["by_pak"]),
            terms=Postings.restore(**parts["terms"]),
            tags=Postings.restore(**parts["tags"]),
            vectors=Vectors.restore(**parts["vectors"]),
            graph=Graph.restore(**parts["graph"]),
            live=int(np.count_nonzero(alive)),
            live_terms=int(columns["length"].sum(where=alive, dtype=np.int64)),
        )
