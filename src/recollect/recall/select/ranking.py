"""Score candidates, collapse copies, put them in order. Arrays in, arrays out; nothing is read.

In: what was found and the query. Out: a `Ranking`, from which both the answer and the explanation
of any one Pak are taken. A candidate's place in the arrays is an accident of reading and decides
nothing here.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.model import Contribution, Dropped
from recollect.paks.registry import EXCLUDE_CODES
from recollect.recall.select.columns import NEVER
from recollect.recall.select.values import moment
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.recall.select.columns import Rows
    from recollect.recall.select.values import SelectQuery
    from recollect.recall.select.words import Hit

__all__ = [
    "PROJECT_BONUS",
    "SIGNALS",
    "TYPE_BONUS",
    "Found",
    "Ranking",
    "Reasons",
    "mark_standing",
    "rank",
]

PROJECT_BONUS = 0.5
TYPE_BONUS = 0.3

_DAY_S = 86_400.0
_SECOND_US = 1_000_000.0
# Logarithms may differ in their last bit from machine to machine; twelve decimals do not.
_FTS_DECIMALS = 12
# Sums of the same parts in another order differ by less than this, and nothing else does.
_SCORE_DECIMALS = 9
SIGNALS = ("fts", "project", "pak_type", "recency")
_SIGNAL_WEIGHTS = (1.0, PROJECT_BONUS, TYPE_BONUS, 1.0)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The candidates: the slot of each, and its plain BM25 score; 0 without a hit."""

    slots: Ints
    bm25: Floats
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reasons:
    """Reason codes of candidates: whose each entry is, which code, its share, what it adds.

    Entries stand by owner, ascending by code; those of one owner begin at its start.
    """

    owners: Ints
    codes: Ints
    shares: Floats
    added: Floats
    starts: Ints
    names: Sequence[str]

    def of(self, owner: int) -> slice:
        """Return where the entries of one owner are."""
        return slice(int(self.starts[owner]), int(self.starts[owner + 1]))


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """All that became of the candidates, each known by its place.

    `scores` are final: the survivor of copies has the best of theirs, and `donors` say whose.
    `levels` are scores as they are compared, without the noise of adding up.
    `standing` marks what is left after supersession, exclusion and collapse; `picked` is the best
    of that, in order.
    """

    query: SelectQuery
    rows: Rows
    hits: tuple[Hit, ...]
    slots: Ints
    parts: Floats
    reasons: Reasons
    scores: Floats
    levels: Floats
    donors: Ints
    superseded: Bools
    excluded: Bools
    copies: dict[int, tuple[int, ...]]
    standing: Bools
    picked: tuple[int, ...]

    def pak_id(self, place: int) -> str:
        """Return the id of a candidate."""
        return str(self.rows.columns.pak_ids[self.slots[place]])

    def parts_of(self, donors: Ints) -> list[dict[str, float]]:
        """Return what the scores of some are made of, in the order in which they are added up."""
        return [
            dict(zip(SIGNALS, signals, strict=True))
            | {_part_name(code): added for code, added in self.reasons_of(donor)}
            for donor, signals in zip(
                donors.tolist(), self.parts[:, donors].T.tolist(), strict=True
            )
        ]

    def reasons_of(self, place: int) -> list[tuple[str, float]]:
        """Return a candidate's own reason codes, ascending, with what each adds."""
        entries = self.reasons.of(place)
        codes, added = self.reasons.codes[entries].tolist(), self.reasons.added[entries].tolist()
        return [(self.reasons.names[code], one) for code, one in zip(codes, added, strict=True)]

    def contributions_of(self, place: int) -> tuple[Contribution, ...]:
        """Return the parts of a candidate's score, each as a value times a weight."""
        donor, reasons = int(self.donors[place]), self.reasons
        signals = [
            Contribution(name, added / weight, weight, added)
            for name, weight, added in zip(
                SIGNALS, _SIGNAL_WEIGHTS, self.parts[:, donor].tolist(), strict=True
            )
        ]
        entries = reasons.of(donor)
        codes = zip(
            (reasons.names[code] for code in reasons.codes[entries].tolist()),
            reasons.shares[entries].tolist(),
            reasons.added[entries].tolist(),
            strict=True,
        )
        weights = self.query.weights
        return (
            *signals,
            *(
                Contribution(_part_name(code), share, float(weights.get(code, 0.0)), added)
                for code, share, added in codes
            ),
        )

    def carrying(self, code: str) -> set[int]:
        """Return the candidates that carry a reason code."""
        owners = self.reasons.owners[self.reasons.codes == self.rows.codes.known(code)]
        return set(owners.tolist())

    def best(self, places: Iterable[int], count: int | None = None) -> list[int]:
        """Return candidates by score, then the more recently updated, then the higher id."""
        columns, slots, levels = self.rows.columns, self.slots, self.levels

        def key(place: int) -> tuple[float, str, str]:
            slot = slots[place]
            return levels[place], columns.updated_at[slot], columns.pak_ids[slot]

        if count is None:
            return sorted(places, key=key, reverse=True)
        return heapq.nlargest(count, places, key=key)

    def cut(self) -> list[int]:
        """Return what stood but is not picked, in order."""
        left = self.standing.copy()
        left[list(self.picked)] = False
        return self.best(np.flatnonzero(left).tolist())

    def dropped(self) -> tuple[Dropped, ...]:
        """Return what was left out before the budget, stage by stage, in order within each."""
        return (
            *(
                Dropped(self.pak_id(place), "superseded", f"superseded by {self.successor(place)}")
                for place in self.best(np.flatnonzero(self.superseded).tolist())
            ),
            *(
                Dropped(self.pak_id(place), "exclude", f"excluded by {self.exclusion(place)}")
                for place in self.best(np.flatnonzero(self.excluded).tolist())
            ),
            *(
                Dropped(self.pak_id(copy), "collapse", f"same content as {self.pak_id(place)}")
                for place in self.best(self.copies)
                for copy in self.copies[place]
            ),
            *(
                Dropped(self.pak_id(place), "limit", f"not among the best {self.query.limit}")
                for place in self.cut()
            ),
        )

    def left_out(self) -> int:
        """Return how many were left out before the budget."""
        return len(self.slots) - len(self.picked)

    def successor(self, place: int) -> str:
        """Return what superseded a candidate."""
        return str(self.rows.columns.superseded_by[self.slots[place]])

    def exclusion(self, place: int) -> str:
        """Return the exclude codes that a candidate carries."""
        return ", ".join(code for code, _ in self.reasons_of(place) if code in EXCLUDE_CODES)


def mark_standing(
    slots: Ints, query: SelectQuery, rows: Rows, readable: Collection[str] | None
) -> Bools:
    """Return which Paks may be picked at all: neither superseded nor excluded."""
    left_out = _superseded(slots, query, rows, readable)
    return ~(left_out | _excluded(_reasons(slots, query, rows), query, left_out))


def rank(found: Found, query: SelectQuery, rows: Rows, readable: Collection[str] | None) -> Ranking:
    """Score all candidates and pick the best of them."""
    slots = found.slots
    superseded = _superseded(slots, query, rows, readable)
    parts = _parts(found, query, rows, superseded)
    reasons = _reasons(slots, query, rows)
    excluded = _excluded(reasons, query, superseded)
    scores = ((parts[0] + parts[1]) + parts[2]) + parts[3]
    # One after the other, in the order of the entries: ascending codes for each owner.
    np.add.at(scores, reasons.owners, reasons.added)
    whole = Ranking(
        query=query,
        rows=rows,
        hits=found.hits,
        slots=slots,
        parts=parts,
        reasons=reasons,
        scores=scores,
        levels=np.round(scores, _SCORE_DECIMALS),
        donors=np.arange(len(slots)),
        superseded=superseded,
        excluded=excluded,
        copies={},
        standing=~(superseded | excluded),
        picked=(),
    )
    return _pick(_collapse(whole))


def _part_name(code: str) -> str:
    # A code of somebody's own may be called like one of the four signals.
    return f"code:{code}" if code in SIGNALS else code


def _superseded(
    slots: Ints, query: SelectQuery, rows: Rows, readable: Collection[str] | None
) -> Bools:
    """Return who has a successor; one that the caller may not read is none."""
    if query.include_superseded:
        return np.zeros(len(slots), np.bool_)
    successors = rows.columns.superseded_by[slots]
    found = rows.columns.is_superseded[slots]
    if readable is not None:
        for place in np.flatnonzero(found).tolist():
            found[place] = successors[place] in readable
    return found


def _excluded(reasons: Reasons, query: SelectQuery, superseded: Bools) -> Bools:
    """Return who is skipped for a code of the exclude category, if the query wants that."""
    excluded = np.zeros(len(superseded), np.bool_)
    if query.exclude == "skip":
        barred = np.array([code in EXCLUDE_CODES for code in reasons.names])
        excluded[reasons.owners[barred[reasons.codes]]] = True
    return excluded & ~superseded


def _parts(found: Found, query: SelectQuery, rows: Rows, left_out: Bools) -> Floats:
    columns, slots = rows.columns, found.slots
    best = found.bm25[~left_out].max(initial=0.0)
    # What is left out may match better than all that is not; no part is ever above 1.
    fts = np.minimum(found.bm25 / best, 1.0) if best > 0.0 else np.zeros(len(slots))
    return np.stack(
        [
            np.round(fts, _FTS_DECIMALS),
            rows.projects.equal(columns.projects[slots], query.project) * PROJECT_BONUS,
            rows.types.equal(columns.types[slots], query.pak_type) * TYPE_BONUS,
            _recency(columns.updated_us[slots], query),
        ]
    )


def _recency(updated_us: Ints, query: SelectQuery) -> Floats:
    """Return 1 for now and later, falling in a straight line to 0 at the window's end."""
    window_s = query.recency_window_days * _DAY_S
    now = moment(str(query.now))
    if window_s == 0 or now is None:
        return np.zeros(len(updated_us))
    # A time that is none is as old as can be; the difference would not fit its type.
    dated = np.where(updated_us == NEVER, now - int(2 * window_s * _SECOND_US), updated_us)
    age_s = np.maximum(now - dated, 0) / _SECOND_US
    fallen: Floats = np.maximum(1.0 - age_s / window_s, 0.0)
    return fallen


def _reasons(slots: Ints, query: SelectQuery, rows: Rows) -> Reasons:
    """Return the codes of the candidates with what each adds.

    An exclude code counts in full: its rows have small weights, and the product would vanish.
    """
    columns, names = rows.columns, [code or "" for code in rows.codes.all()]
    counts = columns.ends[slots] - columns.starts[slots]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    owners = np.repeat(np.arange(len(slots)), counts)
    entries = np.arange(len(owners)) + np.repeat(columns.starts[slots] - starts[:-1], counts)
    codes = rows.entry_codes[entries]
    weights = np.array([float(query.weights.get(code, 0.0)) for code in names])
    in_full = np.array([code in EXCLUDE_CODES for code in names])
    shares = np.where(in_full[codes], 1.0, rows.entry_weights[entries])
    # Adding zero makes a plain zero of a negative one.
    return Reasons(owners, codes, shares, weights[codes] * shares + 0.0, starts, names)


def _collapse(ranking: Ranking) -> Ranking:
    """Let one of several with equal content stand: the newest, with the best score of them all."""
    columns, slots = ranking.rows.columns, ranking.slots
    places = np.flatnonzero(ranking.standing)
    _, groups, sizes = np.unique(
        columns.contents[slots[places]], return_inverse=True, return_counts=True
    )
    shared = sizes[groups] > 1
    if not shared.any():
        return ranking
    together: dict[int, list[int]] = {}
    for group, place in zip(groups[shared].tolist(), places[shared].tolist(), strict=True):
        together.setdefault(group, []).append(place)
    donors, standing = ranking.donors.copy(), ranking.standing.copy()
    copies = {}
    for members in together.values():
        newest, *others = sorted(
            members,
            key=lambda place: (columns.updated_at[slots[place]], columns.pak_ids[slots[place]]),
            reverse=True,
        )
        # The first of equals, so that a survivor keeps its own parts if no copy has better.
        donors[newest] = max([newest, *others], key=lambda place: ranking.levels[place])
        standing[others] = False
        copies[newest] = tuple(others)
    return replace(
        ranking,
        scores=ranking.scores[donors],
        levels=ranking.levels[donors],
        donors=donors,
        standing=standing,
        copies=copies,
    )


def _pick(ranking: Ranking) -> Ranking:
    places, limit = np.flatnonzero(ranking.standing), ranking.query.limit
    if len(places) > limit:
        levels = ranking.levels[places]
        places = places[levels >= np.partition(levels, -limit)[-limit]]
    return replace(ranking, picked=tuple(ranking.best(places.tolist(), limit)))
