"""What selections have read of a catalogue, kept until it changes.

In: the records of a catalogue. Out: rows, words and statistics as of now, read anew only where the
catalogue says that something changed. Nothing is read here but through the port.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from recollect.ports.catalogue import Posting
from recollect.recall.select.columns import Documents, Rows
from recollect.recall.select.words import Hit
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.ports.catalogue import CatalogueRecords, Statistics, Touched

__all__ = ["KeptReads", "reads_of"]

# So many occurrences of words are kept, three numbers each.
_MOST_HELD = 1_000_000
# Forgotten rows leave holes; with more than so many it is better to start anew.
_MOST_FORGOTTEN = 50_000

Ints = NDArray[np.int64]


class KeptReads:
    """What was read of one catalogue, good for one state of it.

    What is known to have changed is forgotten row by row.
    """

    def __init__(self) -> None:
        self._forgotten = 0
        self.rows = Rows()
        self._documents = Documents()
        self._hits: dict[str, Hit] = {}
        self._held = 0
        self._counted: tuple[Collection[str] | None, Statistics] | None = None

    def forget(self, touched: Touched) -> bool:
        """Forget what was changed; return whether what is left is worth keeping."""
        if len(touched.rows) or len(touched.documents):
            self.rows.forget(touched.rows)
            self._documents.forget(touched)
            self._hits, self._held, self._counted = {}, 0, None
            self._forgotten += len(touched.rows) + len(touched.documents)
        return self._forgotten <= _MOST_FORGOTTEN

    def hit(self, records: CatalogueRecords, word: str) -> Hit:
        """Return the Paks that hold a word; with a star at its end, any word that begins so."""
        known = self._hits.get(word)
        if known is None:
            known = self._read_hit(records, word)
            self._held += len(known.slots)
            if self._held > _MOST_HELD:
                self._hits, self._held = {}, len(known.slots)
            self._hits[word] = known
        return known

    def slots_of_documents(self, records: CatalogueRecords, documents: Ints) -> Ints:
        """Return whose documents these are, leaving out those that are nobody's."""
        row_ids, _ = self._documents.of(records, documents)
        return np.unique(self.rows.slots(records, row_ids[row_ids >= 0]))

    def _read_hit(self, records: CatalogueRecords, word: str) -> Hit:
        found = _posting(records, word)
        row_ids, lengths = self._documents.of(records, found.documents)
        # Full text may hold rows of no Pak; nobody can pick those.
        stands = row_ids >= 0
        slots = self.rows.slots(records, row_ids[stands])
        return Hit(word, slots, found.counts[stands], lengths[stands])

    def statistics(self, records: CatalogueRecords, readable: Collection[str] | None) -> Statistics:
        """Return how many documents count and how long they are together."""
        if self._counted is None or self._counted[0] is not readable:
            self._counted = (readable, records.statistics(readable))
        return self._counted[1]


def _posting(records: CatalogueRecords, word: str) -> Posting:
    # No word has a star in it.
    if not word.endswith("*"):
        return records.posting(word)
    documents = records.occurrences(word[:-1], prefix=True).documents
    return Posting(*np.unique(documents, return_counts=True))


@dataclass(slots=True)
class _Marked:
    """What is kept of one catalogue, as of a mark."""

    mark: Any
    reads: KeptReads


# By records, not by catalogue: threads that read at once have records of their own.
_KEPT: WeakKeyDictionary[CatalogueRecords, _Marked] = WeakKeyDictionary()


def reads_of(records: CatalogueRecords, *, committed: bool) -> KeptReads:
    """Return what is known of the catalogue as it is now.

    Inside a transaction of the caller, who may yet take it back, nothing is kept.
    """
    if not committed:
        return KeptReads()
    kept = _KEPT.get(records)
    mark, touched = records.changes(None if kept is None else kept.mark)
    if kept is None or touched is None or not kept.reads.forget(touched):
        kept = _KEPT[records] = _Marked(mark, KeptReads())
    kept.mark = mark
    return kept.reads
