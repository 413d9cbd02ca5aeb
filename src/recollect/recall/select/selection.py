"""The flow of a selection: find, score, collapse, order, cut, tell.

Reads happen here, through the catalogue's port, in one state of it and in a handful of calls
however many candidates there are. What decides is in `ranking`, and is pure.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from recollect.ports.catalogue import Catalogue, CatalogueRecords
from recollect.ports.tokens import TokenCounter
from recollect.recall.pack import count_tokens
from recollect.recall.select import words
from recollect.recall.select.answer import Picked, told
from recollect.recall.select.ranking import Found, Ranking, rank, standing
from recollect.recall.select.reads import KeptReads, reads_of
from recollect.recall.select.values import SelectQuery, SelectResult, checked
from recollect.recall.select.words import Hit

__all__ = ["Selection", "select", "traced"]

Ints = NDArray[np.int64]
Readable = Collection[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A selection as it went: the answer, and all that is needed to explain any one Pak."""

    result: SelectResult
    ranking: Ranking


def select(
    store: Catalogue,
    query: SelectQuery,
    *,
    readable: Readable = None,
    count: TokenCounter = count_tokens,
) -> SelectResult:
    """Pick the Paks that answer a query best, with every part of each score and the reasons.

    `readable` names the Paks that take part, None all of them: no other has any influence. `count`
    counts the tokens of a Pak's title and summary for the query's budget.
    """
    return traced(store, query, readable=readable, count=count).result


def traced(
    store: Catalogue,
    query: SelectQuery,
    *,
    readable: Readable = None,
    count: TokenCounter = count_tokens,
) -> Selection:
    """Select, and keep how it went."""
    return _selected(store, checked(query, _now()), readable, count)


def _now() -> str:
    """Read the clock: the one place of a selection that does, and only for who gave no time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _selected(
    store: Catalogue, query: SelectQuery, readable: Readable, count: TokenCounter
) -> Selection:
    with store.snapshot() as committed:
        records = store.records()
        reader = _Reader(records, reads_of(store, records, committed=committed), readable)
        found = reader.found(query)
        ranking = rank(found, query, reader.rows, readable)
        picked = reader.picked(ranking)
    return Selection(told(ranking, picked, count), ranking)


class _Reader:
    """One state of a store, seen by one caller."""

    def __init__(self, records: CatalogueRecords, reads: KeptReads, readable: Readable) -> None:
        self._records = records
        self._reads = reads
        self._readable = readable
        self.rows = reads.rows

    def found(self, query: SelectQuery) -> Found:
        """Return the candidates of a query."""
        if not (query.text.strip() or query.project or query.pak_type):
            newest = self._newest(query)
            return Found(newest, np.zeros(len(newest)), ())
        hits = self._hits(query.text) if query.text.strip() else []
        slots = [hit.slots for hit in hits]
        if query.project or query.pak_type:
            slots.append(self._equal(query))
        everyone, places = np.unique(
            np.concatenate([np.empty(0, np.int64), *slots]), return_inverse=True
        )
        bm25, first = np.zeros(len(everyone)), 0
        for hit in hits:
            statistics = self._reads.statistics(self._records, self._readable)
            last = first + len(hit.slots)
            np.add.at(bm25, places[first:last], words.bm25(hit, statistics))
            first = last
        return Found(everyone, bm25, tuple(hits))

    def picked(self, ranking: Ranking) -> Picked:
        """Return the texts of what was picked, and the risk flags of it and of its copies."""
        places = [
            *ranking.picked,
            *(copy for place in ranking.picked for copy in ranking.copies.get(place, ())),
        ]
        slots = ranking.slots[places]
        row_ids = self.rows.columns.row_ids[slots]
        place_of = dict(zip(row_ids.tolist(), places, strict=True))
        said = {place_of[one.row]: one for one in self._records.texts(row_ids)}
        return Picked(
            texts={place: (one.title, one.summary) for place, one in said.items()},
            flags={place: one.risk_flags for place, one in said.items()},
        )

    def _hits(self, text: str) -> list[Hit]:
        """Return who of the readable Paks holds each word, leaving out words that none holds."""
        found = words.distinct_words(text, self._records)
        hits = (self._readable_of(self._reads.hit(self._records, word)) for word in found)
        return [hit for hit in hits if len(hit.slots)]

    def _readable_of(self, hit: Hit) -> Hit:
        if self._readable is None:
            return hit
        mine = self._is_readable(hit.slots)
        return Hit(hit.word, hit.slots[mine], hit.counts[mine], hit.lengths[mine])

    def _equal(self, query: SelectQuery) -> Ints:
        """Return the Paks that equal all the filters given."""
        rows = self._records.equal_to(query.project or None, query.pak_type or None)
        return self._mine(self.rows.slots(self._records, rows))

    def _newest(self, query: SelectQuery) -> Ints:
        """Return the newest Paks, as many as it takes to pick `limit` different ones."""
        size = 2 * query.limit
        while True:
            newest = self._records.newest(size)
            slots = self._mine(self.rows.slots(self._records, newest))
            needed = self._needed(slots, query)
            if needed is not None or len(newest) < size:
                return slots[:needed]
            size *= 2

    def _needed(self, slots: Ints, query: SelectQuery) -> int | None:
        """Return how many of these it takes until `limit` of them differ; None if they do not."""
        seen: set[int] = set()
        stands = standing(slots, query, self.rows, self._readable)
        contents = self.rows.columns.contents[slots]
        for place in np.flatnonzero(stands).tolist():
            seen.add(int(contents[place]))
            if len(seen) == query.limit:
                return int(place) + 1
        return None

    def _mine(self, slots: Ints) -> Ints:
        return slots if self._readable is None else slots[self._is_readable(slots)]

    def _is_readable(self, slots: Ints) -> NDArray[np.bool_]:
        readable = self._readable or ()
        return np.fromiter(
            (pak_id in readable for pak_id in self.rows.columns.pak_ids[slots]),
            np.bool_,
            len(slots),
        )
