"""The flow of a selection: find, score, collapse, order, cut, tell.

Reads happen here, in one state of the store and in a handful of statements however many candidates
there are. What decides is in `ranking`, and is pure.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from recollect.paks import PakListFilters, RecallStore, RiskFlagEntry
from recollect.paks.listing import conditions, where
from recollect.ports.tokens import TokenCounter
from recollect.recall.pack import count_tokens
from recollect.recall.select import words
from recollect.recall.select.answer import Picked, told
from recollect.recall.select.columns import Kept, kept, listed
from recollect.recall.select.ranking import Found, Ranking, rank, standing
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
    store: RecallStore,
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
    store: RecallStore,
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
    store: RecallStore, query: SelectQuery, readable: Readable, count: TokenCounter
) -> Selection:
    tokens = words.tokens(query.text) if query.text.strip() else ()
    with store.snapshot() as committed:
        words.prepare(store.conn)
        reader = _Reader(store.conn, kept(store, alone=committed), readable)
        hits = [reader.hit(token) for token in tokens]
        found = reader.found(query, [hit for hit in hits if len(hit.slots)])
        ranking = rank(found, query, reader.rows, readable)
        picked = reader.picked(ranking)
    return Selection(told(ranking, picked, count), ranking)


class _Reader:
    """One state of a store, seen by one caller."""

    def __init__(self, conn: sqlite3.Connection, memory: Kept, readable: Readable) -> None:
        self._conn = conn
        self._memory = memory
        self._readable = readable
        self.rows = memory.rows

    def hit(self, token: str) -> Hit:
        """Return the readable Paks that hold a word."""
        hit = self._memory.hit(self._conn, token)
        if self._readable is None:
            return hit
        mine = self._is_readable(hit.slots)
        return Hit(token, hit.slots[mine], hit.counts[mine], hit.lengths[mine])

    def found(self, query: SelectQuery, hits: list[Hit]) -> Found:
        """Return the candidates of a query."""
        if not (query.text.strip() or query.project or query.pak_type):
            newest = self._newest(query)
            return Found(newest, np.zeros(len(newest)), ())
        slots = [hit.slots for hit in hits]
        if query.project or query.pak_type:
            slots.append(self._equal(query))
        everyone, places = np.unique(
            np.concatenate([np.empty(0, np.int64), *slots]), return_inverse=True
        )
        bm25, first = np.zeros(len(everyone)), 0
        for hit in hits:
            statistics = self._memory.statistics(self._conn, self._readable)
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
        wanted = (listed(self.rows.columns.row_ids[slots]),)
        place_of = dict(zip(self.rows.columns.pak_ids[slots], places, strict=True))
        texts = {
            place_of[pak_id]: (title, summary)
            for pak_id, title, summary in self._conn.execute(_TEXTS, wanted)
        }
        flags: dict[int, list[RiskFlagEntry]] = {place: [] for place in places}
        for pak_id, *flag in self._conn.execute(_FLAGS, wanted):
            flags[place_of[pak_id]].append(RiskFlagEntry(*flag))
        return Picked(texts, flags)

    def _equal(self, query: SelectQuery) -> Ints:
        """Return the Paks that equal all the filters given."""
        filters = PakListFilters(query.project or None, query.pak_type or None)
        tests, values = conditions(filters)
        sql = f"SELECT group_concat(paks.rowid) FROM main.paks{where(tests)}"
        row_ids = words.numbers(self._conn.execute(sql, values).fetchone()[0])
        return self._mine(self.rows.slots(self._conn, row_ids))

    def _newest(self, query: SelectQuery) -> Ints:
        """Return the newest Paks, as many as it takes to pick `limit` different ones."""
        size = 2 * query.limit
        while True:
            newest = self._conn.execute(_NEWEST, (size,)).fetchall()
            row_ids = np.fromiter((row[0] for row in newest), np.int64, len(newest))
            slots = self._mine(self.rows.slots(self._conn, row_ids))
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


_NEWEST = "SELECT rowid FROM main.paks ORDER BY updated_at DESC, pak_id DESC LIMIT ?"
_PICKED = "json_each(?) AS wanted CROSS JOIN main.paks AS p ON p.rowid = wanted.value"
_TEXTS = f"SELECT p.pak_id, p.title, p.summary FROM {_PICKED}"
_FLAGS = (
    f"SELECT p.pak_id, f.risk_flag, f.severity FROM {_PICKED}"
    " CROSS JOIN main.pak_risk_flags AS f ON f.pak_id = p.pak_id ORDER BY f.risk_flag"
)
