"""BM25 inside a selection: document counts, frequencies and average length are the selection's.

Terms and postings come in, a score from 0 to 1 for each slot goes out. Sums run over the terms in
sorted order in float64, so a score does not depend on where a memory lies or what lies beside it.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from math import fsum, log
from typing import TYPE_CHECKING

import numpy as np

from recollect.index.arrays import Growing, kth_largest
from recollect.index.postings import MOST_COUNTED, Posting
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from recollect.index.selection import Moved, Selection

__all__ = [
    "K1",
    "STRESS",
    "Lexical",
    "Part",
    "count_inside",
    "is_sparse",
    "length_weight",
    "part_of",
    "rarity",
    "score",
]

K1 = 1.2
# How much more a quoted word or a proper name counts.
STRESS = 1.5
_CHAT_TERMS, _PAGE_TERMS, _PAGE_WEIGHT = 30.0, 60.0, 0.75
# Below this share of all slots, scores are kept for the selected slots alone.
_SPARSE = 32
# Above this ratio, looking selected slots up among a term's is less work than the reverse.
_SHORTER = 16
# A term that stands in at least this part of all texts nearly stands everywhere.
_NEARLY_ALL = 2
# Up to so many slots are looked for one by one.
_FEW_MOVED = 4


def length_weight(average: float) -> float:
    """Return BM25's b for texts of this many terms on average.

    Among chat turns of some twenty terms a longer one is not less to the point, so 0; it rises
    evenly to the usual 0.75 for notes of 60.
    """
    share = (average - _CHAT_TERMS) / (_PAGE_TERMS - _CHAT_TERMS)
    return _PAGE_WEIGHT * min(max(share, 0.0), 1.0)


def rarity(documents: int, frequency: int) -> float:
    """Return a term's weight: the rarer among the selected documents, the more; never 0."""
    # Of the selection alone: counts over everything would let a caller measure, by the weight of
    # a word, how many texts hold it that they may not read.
    return log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def count_inside(slots: NDArray[np.int32], selection: Selection) -> int:
    """Return how many of a term's slots are selected."""
    if selection.is_solid:
        return len(slots)
    if selection.count * _SHORTER < len(slots):
        return len(_intersect(slots, selection.slots)[0])
    return int(np.count_nonzero(selection.mask.take(slots)))


# A term with less than this share of the rarest one's weight does not explain a match.
_LEAST_SHARE_TO_EXPLAIN = 0.25


@dataclass(frozen=True, eq=False)
class Lexical:
    """Scores of a selection's slots for some terms."""

    terms: tuple[str, ...]
    _scores: NDArray[np.float64]
    # Which slots the scores are of, ascending; None: all slots.
    _slots: NDArray[np.int64] | None
    _postings: tuple[Posting, ...]
    _weights: tuple[float, ...]
    _saturation: _Saturation

    @cached_property
    def hits(self) -> NDArray[np.int64]:
        """The slots with a score, ascending."""
        places = np.flatnonzero(self._scores)
        return places if self._slots is None else self._slots[places]

    def scores_at(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of some slots; 0 where no term is found, or outside the selection."""
        if self._slots is None:
            return self._scores[slots]
        if not len(self._slots):
            return np.zeros(len(slots))
        if slots is self._slots:
            return self._scores
        places = self._slots.searchsorted(slots)
        known = self._slots.take(places, mode="clip") == slots
        return np.where(known, self._scores.take(places, mode="clip"), 0.0)

    def top(self, keep: int) -> NDArray[np.int64]:
        """Return the `keep` best hits and every hit that ties with the last of them; ascending."""
        if keep < 1:
            return np.empty(0, dtype=np.int64)
        if len(self._scores) <= keep:
            return self.hits
        least = kth_largest(self._scores, keep)
        if least <= 0.0:
            return self.hits
        places = np.flatnonzero(self._scores >= least)
        return places if self._slots is None else self._slots[places]

    def matched_terms(self, slot: int) -> list[str]:
        """Return which of the terms a slot holds, in order."""
        return [
            term
            for term, found in zip(self.terms, self._postings, strict=True)
            if (place := int(found.slots.searchsorted(slot))) < len(found.slots)
            and found.slots[place] == slot
        ]

    def explaining_terms(self, slots: NDArray[np.int64]) -> list[list[str]]:
        """Return for each slot the terms it holds that say something, rarest first.

        Beside a rare word, "the" says nothing.
        """
        explaining: list[list[str]] = [[] for _ in range(len(slots))]
        rarest = [0.0] * len(slots)
        # Of one type: else numpy would copy a whole posting to the wider one.
        narrow = slots.astype(np.int32)
        by_weight = sorted(
            zip(self._weights, self.terms, self._postings, strict=True),
            key=lambda one: (-one[0], one[1]),
        )
        for weight, term, found in by_weight:
            if weight < min(rarest, default=0.0) * _LEAST_SHARE_TO_EXPLAIN:
                break
            for place in _holds(found.slots, narrow).nonzero()[0].tolist():
                rarest[place] = rarest[place] or weight
                if weight >= rarest[place] * _LEAST_SHARE_TO_EXPLAIN:
                    explaining[place].append(term)
        return explaining

    def counts_at(self, slots: NDArray[np.int64], some: slice) -> NDArray[np.float64]:
        """Return how often some of the terms, a row each, occur in some selected slots."""
        postings = self._postings[some]
        counts = np.zeros((len(postings), len(slots)))
        for row, found in zip(counts, postings, strict=True):
            if len(found.slots):
                # Of one type: else numpy would copy the whole posting to the wider one.
                places = found.slots.searchsorted(slots.astype(found.slots.dtype))
                held = found.slots.take(places, mode="clip") == slots
                row[held] = found.counts[places[held]]
        return counts

    def add_scores(
        self,
        scores: NDArray[np.float64],
        counts: NDArray[np.float64],
        lengths: NDArray[np.float64],
        some: slice,
    ) -> None:
        """Add what some of the terms give to texts of these lengths that hold them so often."""
        most = fsum(self._weights)
        divisor = self._saturation.divisor(lengths)
        for row, weight in zip(counts, self._weights[some], strict=True):
            scores += row / (row + divisor) * (weight / most)


def _holds(found: NDArray[np.int32], slots: NDArray[np.int32]) -> NDArray[np.bool_]:
    if not len(found):
        return np.zeros(len(slots), dtype=np.bool_)
    held: NDArray[np.bool_] = found.take(found.searchsorted(slots), mode="clip") == slots
    return held


def score(
    terms: Sequence[str],
    parts: Sequence[Part],
    lengths: NDArray[np.int32],
    *,
    selection: Selection,
    average: float,
    stressed: Container[str] = (),
) -> Lexical:
    """Score the selected slots. `terms` are distinct and sorted, each with its part.

    Terms that are `stressed` count for more than their rarity.
    """
    sparse = is_sparse(selection)
    weights = [
        rarity(selection.count, part.frequency) * (STRESS if term in stressed else 1.0)
        for term, part in zip(terms, parts, strict=True)
    ]
    # A term adds its weight times a saturation below 1 (K1 + 1 would cancel out), so the sum of
    # all weights is what no text can exceed: scores of different questions share one scale.
    most = fsum(weights)
    saturation = _Saturation(lengths, average)
    scores = np.zeros(selection.count if sparse else len(selection.mask))
    # Floating sums depend on their order. The terms are sorted, so a memory gets the same bits
    # however the question was worded and whichever other memories hold its terms.
    for part, weight in zip(parts, weights, strict=True):
        if part.frequency:
            part.add_to(scores, saturation, weight / most)
    # One pass over the mask in the end costs less than a lookup for each posting on the way.
    if not sparse and not selection.is_solid:
        scores *= selection.mask
    found = tuple(part.posting for part in parts)
    slots = selection.slots if sparse else None
    return Lexical(tuple(terms), scores, slots, found, tuple(weights), saturation)


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """What share of its weight a term adds to each of its slots, by a saturation of two numbers."""

    by: tuple[float, float]
    each: Growing[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """What share a term adds to each score, 0 where it does not stand; None until asked again."""

    by: tuple[float, float]
    over: int
    each: NDArray[np.float64] | None = None


@dataclass(slots=True, eq=False)
class Part:
    """A posting, how many of its slots are selected, and where its scores are kept.

    `generation` says of which one it is, to who keeps it from one to the next.
    """

    posting: Posting
    frequency: int
    places: NDArray[np.integer]
    generation: int = 0
    _shares: _Shares | None = None
    _spread: _Spread | None = None
    _room: tuple[Growing[np.int32], Growing[np.uint16]] | None = None

    def shares(self, saturation: _Saturation) -> NDArray[np.float64]:
        """Return what share of its weight the term adds to each slot, whatever is asked."""
        known, size = self._shares, len(self.places)
        if known is None or known.by != saturation.by:
            known = _Shares(saturation.by, Growing(saturation.of(self.posting)))
        elif len(known.each.seen) < size:
            later = saturation.of(self.posting.after(len(known.each.seen)))
            known = _Shares(known.by, known.each.then(later))
        self._shares = known
        return known.each.seen

    def add_to(self, scores: NDArray[np.float64], saturation: _Saturation, weight: float) -> None:
        """Add what the term is worth to the scores of the texts that it stands in."""
        shares = self.shares(saturation)
        spread = self._spread_over(len(scores), shares, saturation)
        if spread is None:
            np.add.at(scores, self.places, shares * weight)
        else:
            # Adding nothing to the others as well, in their order, takes a third of the time.
            scores += spread * weight

    def _spread_over(
        self, size: int, shares: NDArray[np.float64], saturation: _Saturation
    ) -> NDArray[np.float64] | None:
        """Return the shares among those of all others, of a term that stands nearly everywhere.

        Few terms do. It is made when it is asked for again: after a write it may be of no use.
        """
        if len(shares) * _NEARLY_ALL < size:
            return None
        known = self._spread
        if known is None or (known.by, known.over) != (saturation.by, size):
            self._spread = _Spread(saturation.by, size)
            return None
        if known.each is None:
            each = np.zeros(size)
            each[self.places] = shares
            known = self._spread = _Spread(known.by, size, each)
        return known.each

    def following(self, later: Posting, moved: Moved, selection: Selection) -> Part:
        """Return the part of a later generation, where others are selected and some are new.

        Of a selection whose scores are kept for all slots; `later` is what the term has of those
        that are new. What is known of the others stays.
        """
        posting, room, generation = self.posting, self._room, selection.generation
        change = _change(posting.slots, moved)
        if not len(later.slots) and not change:
            # The same in both: whoever still asks the earlier one counts anew.
            self.generation = generation
            return self
        if len(later.slots):
            change += int(np.count_nonzero(selection.mask.take(later.slots)))
            held = room or (Growing(posting.slots), Growing(posting.counts))
            room = held[0].then(later.slots), held[1].then(later.counts)
            posting = Posting(room[0].seen, room[1].seen)
        frequency = self.frequency + change
        return Part(posting, frequency, posting.slots, generation, self._shares, None, room)


def _change(slots: NDArray[np.int32], moved: Moved) -> int:
    """Return by how many more of a term's slots are selected."""
    if not len(moved.slots) or not len(slots):
        return 0
    if len(moved.slots) > _FEW_MOVED:
        return int(moved.by[_holds(slots, moved.slots)].sum())
    # Nearly always it is one, and to find one in order takes less than to set up for many.
    change, last = 0, len(slots) - 1
    for slot, by in zip(moved.slots, moved.by, strict=True):
        if slots[min(slots.searchsorted(slot), last)] == slot:
            change += int(by)
    return change


def is_sparse(selection: Selection) -> bool:
    """Return whether so few slots are selected that scores are kept for them alone."""
    return selection.count * _SPARSE < len(selection.mask)


def part_of(posting: Posting, selection: Selection) -> Part:
    """Return what of a posting lies inside a selection."""
    return (_selected if is_sparse(selection) else _whole)(posting, selection)


def _whole(posting: Posting, selection: Selection) -> Part:
    """Leave a posting as it is: what is not selected is wiped out in the end."""
    return Part(posting, count_inside(posting.slots, selection), posting.slots)


def _selected(posting: Posting, selection: Selection) -> Part:
    if selection.count * _SHORTER < len(posting.slots):
        places, at = _intersect(posting.slots, selection.slots)
    else:
        at = selection.mask.take(posting.slots).nonzero()[0]
        places = selection.slots.searchsorted(posting.slots[at])
    return Part(Posting(posting.slots[at], posting.counts[at]), len(at), places)


@lru_cache(maxsize=1)
def _saturation_by_count(base: float) -> NDArray[np.float64]:
    """Return the share for every count there is, where the length of a text does not matter."""
    counts = np.arange(MOST_COUNTED + 1, dtype=np.float64)
    return counts / (counts + base)


class _Saturation:
    """What share of its weight a term adds, given how often it occurs in how long a text."""

    def __init__(self, lengths: NDArray[np.int32], average: float) -> None:
        self._lengths = lengths
        b = length_weight(average)
        self._base = K1 * (1.0 - b)
        self._slope = K1 * b / average if b else 0.0
        self.by = (self._base, self._slope)

    def divisor(self, lengths: NDArray[np.float64]) -> NDArray[np.float64] | float:
        """Return what is added to a term's count in texts of these lengths to divide it by."""
        return lengths * self._slope + self._base if self._slope else self._base

    def of(self, posting: Posting) -> NDArray[np.float64]:
        """Return what share of its weight a term adds to each of its slots."""
        counts = posting.counts
        if not self._slope:
            return _saturation_by_count(self._base).take(counts)
        terms = counts.astype(np.float64)
        divisor = self._lengths.take(posting.slots) * self._slope
        divisor += self._base
        divisor += terms
        terms /= divisor
        return terms


def _intersect(
    slots: NDArray[np.int32], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    at = slots.searchsorted(chosen.astype(np.int32))
    found = (slots.take(at, mode="clip") == chosen).nonzero()[0]
    return found, at[found]
