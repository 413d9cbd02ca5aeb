"""The flow of a selection: find, score, collapse, order, cut, tell.

Reads happen here, through the catalogue's port, in one state of it and in a handful of calls
however many candidates there are. What decides is in `ranking`, and is pure.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from recollect.errors import InvalidInput
from recollect.paks.expression import parse, terms_sought
from recollect.paks.match import matching_documents
from recollect.recall.pack import count_tokens
from recollect.recall.select import words
from recollect.recall.select.answer import PickedTexts, compose_answer
from recollect.recall.select.ranking import Found, mark_standing, rank
from recollect.recall.select.reads import reads_of
from recollect.recall.select.values import SelectQuery, checked
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.ports.catalogue import Catalogue, CatalogueRecords
    from recollect.ports.tokens import TokenCounter
    from recollect.recall.select.ranking import Ranking
    from recollect.recall.select.reads import KeptReads
    from recollect.recall.select.values import SelectResult
    from recollect.recall.select.words import Hit

__all__ = ["Match", "Selection", "search", "select", "trace"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Readable = Collection[str] | None
Match = Literal["any", "all"]
# Logarithms may differ in their last bit from machine to machine; so many decimals do not.
_SHOWN_DECIMALS = 12


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
    token_counter: TokenCounter = count_tokens,
) -> SelectResult:
    """Pick the Paks that answer a query best, with every part of each score and the reasons.

    `readable` names the Paks that take part, None all of them: no other has any influence.
    `token_counter` counts the tokens of a Pak's title and summary for the query's budget.
    """
    return trace(store, query, readable=readable, token_counter=token_counter).result


def trace(
    store: Catalogue,
    query: SelectQuery,
    *,
    readable: Readable = None,
    token_counter: TokenCounter = count_tokens,
) -> Selection:
    """Select, and keep how it went."""
    return _run(store, checked(query, _now()), readable, token_counter)


def search(
    store: Catalogue,
    text: str,
    *,
    readable: Readable = None,
    project: str | None = None,
    pak_type: str | None = None,
    limit: int,
    match: Match = "any",
) -> list[tuple[str, float]]:
    """Find Paks by their words alone, best first: the id of each, and how well it matches.

    What is not readable has no influence; `project` and `pak_type` keep out all that differs, and
    count for nothing. Equal matches come in the order of their ids.
    """
    if match not in get_args(Match):
        raise InvalidInput(f"match must be any or all, not {match!r:.60}.", hint="leave it out.")
    query = checked(SelectQuery(text=text), _now())
    if not query.text.strip():
        return []
    with store.snapshot() as committed:
        records = store.records()
        reader = _Reader(records, reads_of(records, committed=committed), readable)
        found = reader.find(query)
        columns = reader.rows.columns
        chosen = np.ones(len(found.slots), np.bool_)
        if project is not None:
            chosen &= reader.rows.projects.equal(columns.projects[found.slots], project)
        if pak_type is not None:
            chosen &= reader.rows.types.equal(columns.types[found.slots], pak_type)
        if match == "all":
            held = sum(np.isin(found.slots, hit.slots).astype(np.int64) for hit in found.hits)
            chosen &= held == len(words.distinct_words(query.text, records))
        names = columns.pak_ids[found.slots[chosen]].tolist()
    scores = np.round(found.bm25[chosen], _SHOWN_DECIMALS).tolist()
    return heapq.nsmallest(
        limit, zip(names, scores, strict=True), key=lambda one: (-one[1], one[0])
    )


def _now() -> str:
    """Read the clock: the one place of a selection that does, and only for who gave no time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _run(
    store: Catalogue, query: SelectQuery, readable: Readable, token_counter: TokenCounter
) -> Selection:
    with store.snapshot() as committed:
        records = store.records()
        reader = _Reader(records, reads_of(records, committed=committed), readable)
        found = reader.find(query)
        ranking = rank(found, query, reader.rows, readable)
        picked = reader.texts_of_picked(ranking)
    return Selection(compose_answer(ranking, picked, token_counter), ranking)


class _Reader:
    """One state of a store, seen by one caller."""

    def __init__(self, records: CatalogueRecords, reads: KeptReads, readable: Readable) -> None:
        self._records = records
        self._reads = reads
        self._readable = readable
        self.rows = reads.rows

    def find(self, query: SelectQuery) -> Found:
        """Return the candidates of a query."""
        if not (query.text.strip() or query.project or query.pak_type):
            newest = self._newest(query)
            return Found(newest, np.zeros(len(newest)), ())
        hits = self._hits(query) if query.text.strip() else []
        slots = [hit.slots for hit, _ in hits]
        if query.project or query.pak_type:
            slots.append(self._equal(query))
        everyone, places = np.unique(
            np.concatenate([np.empty(0, np.int64), *slots]), return_inverse=True
        )
        bm25, first = np.zeros(len(everyone)), 0
        for hit, added in hits:
            last = first + len(hit.slots)
            np.add.at(bm25, places[first:last], added)
            first = last
        return Found(everyone, bm25, tuple(hit for hit, _ in hits))

    def texts_of_picked(self, ranking: Ranking) -> PickedTexts:
        """Return the texts of what was picked, and the risk flags of it and of its copies."""
        places = [
            *ranking.picked,
            *(copy for place in ranking.picked for copy in ranking.copies.get(place, ())),
        ]
        slots = ranking.slots[places]
        row_ids = self.rows.columns.row_ids[slots]
        place_of = dict(zip(row_ids.tolist(), places, strict=True))
        said = {place_of[one.row]: one for one in self._records.texts(row_ids)}
        return PickedTexts(
            texts={place: (one.title, one.summary) for place, one in said.items()},
            flags={place: one.risk_flags for place, one in said.items()},
        )

    def _hits(self, query: SelectQuery) -> list[tuple[Hit, Floats]]:
        """Return which readable Paks answer by each word, and what it adds to the score of each."""
        if query.syntax == "plain":
            found = words.distinct_words(query.text, self._records)
            return [(hit, self._bm25(hit)) for hit in self._hits_of(found)]
        expression = parse(query.text, self._records.words_of)
        documents = matching_documents(expression, self._records)
        matching = self._reads.slots_of_documents(self._records, documents)
        found = [f"{word}*" if prefix else word for word, prefix in terms_sought(expression)]
        hits = []
        for hit in self._hits_of(found):
            # How rare a word is does not depend on what else was asked for.
            chosen = np.isin(hit.slots, matching)
            hits.append((hit.among(chosen), self._bm25(hit)[chosen]))
        return hits

    def _hits_of(self, found: list[str]) -> list[Hit]:
        """Return which readable Paks hold each word, leaving out words that none holds."""
        hits = [self._reads.hit(self._records, word) for word in found]
        if self._readable is not None:
            hits = [hit.among(self._is_readable(hit.slots)) for hit in hits]
        return [hit for hit in hits if len(hit.slots)]

    def _bm25(self, hit: Hit) -> Floats:
        return words.bm25(hit, self._reads.statistics(self._records, self._readable))

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
        stands = mark_standing(slots, query, self.rows, self._readable)
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
