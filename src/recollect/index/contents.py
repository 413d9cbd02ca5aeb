"""All that an index holds, one part for each kind of fact, every part over the same slots.

What lies at slot n of one part belongs to the memory at slot n of all others. `changes` fills the
parts, `questions` reads them, and the cache file keeps them; nothing here remembers an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.index.columns import CODED, Columns
from recollect.index.graph import Graph
from recollect.index.lexicon import Lexicon
from recollect.index.lookup import Lookup, digest
from recollect.index.postings import Postings
from recollect.index.speakers import Speakers
from recollect.index.strings import Strings
from recollect.index.threads import Threads
from recollect.index.vectors import Vectors

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
    speakers: Speakers = field(default_factory=Speakers)

    def __post_init__(self) -> None:
        self.lexicon = Lexicon(self.terms.names)

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
        for slot in self.by_pak.candidates(digest(pak_id)):
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
