"""Score the candidates and put them in the order of their claim.

In: candidates, what may be looked at, and how far confidence counts. Out: `Ranking`: the five
signals of each, the weights, the scores, and the candidates themselves, best first. It reads
columns of the index and nothing else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recollect.index.arrays import exclude, is_in
from recollect.model import Weights
from recollect.recall import score
from recollect.recall.authorise import Authorised, effective_confidence
from recollect.recall.blocks import Ranked
from recollect.recall.candidates import Candidates
from recollect.recall.sequence import Sequence, in_sequence
from recollect.recall.sight import Sight
from recollect.values import dataclass

__all__ = ["Ranking", "rank"]

# Without a question all rows are ranked; this many more than asked for are kept for suppression.
_SPARE = 50


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The candidates' signals, the weights they count with, the scores that this gives, the order.

    `sequence` is how the latest or the first was put first, where that was asked for. `ranked`
    holds all candidates; without a question the best of them, and what is promised.
    """

    signals: score.SignalColumns
    weights: Weights
    scores: NDArray[np.float64]
    ranked: tuple[Ranked, ...]
    sequence: Sequence | None = None


def rank(
    candidates: Candidates, authorised: Authorised, *, worth: NDArray[np.float64] | None = None
) -> Ranking:
    """Return the candidates with their scores, best first."""
    weights = authorised.frame.weights
    if authorised.request.query is None:
        weights = weights.renormalized_without_similarity()
    signals = _signals(candidates, authorised, worth)
    scores = score.composite(signals, weights)
    sequence, order = None, authorised.asked.order
    if order is not None:
        moments = authorised.sight.moments(candidates.slots)
        sequence = in_sequence(scores, signals.similarity, moments, order)
        scores = sequence.scores
    places = _places(candidates, authorised, scores)
    ranked = _ranked(candidates, signals, scores, places, authorised.sight)
    return Ranking(signals, weights, scores, ranked, sequence)


def _signals(
    candidates: Candidates, authorised: Authorised, worth: NDArray[np.float64] | None
) -> score.SignalColumns:
    index, slots = authorised.sight.index, candidates.slots
    sight = authorised.sight
    hours = authorised.moment.active_hours - sight.column("last_reinforced")[slots]
    gains = None if sight.uses is None else sight.uses.gains
    return score.SignalColumns(
        similarity=candidates.likeness.similarity,
        confidence=effective_confidence(sight, worth, slots),
        recency=score.recency(_decay(authorised, slots), hours),
        centrality=score.centrality(index.degrees(authorised.reach, slots, gains=gains)),
        reinforcement=score.reinforcement(sight.column("reinforced")[slots]),
    )


def _decay(authorised: Authorised, slots: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how fast memories fade; what another tenant holds dear fades like any other."""
    decay: NDArray[np.float64] = authorised.sight.index.column("decay")[slots]
    slow = np.flatnonzero(decay < score.STANDARD)
    if len(slow):
        decay[slow[~authorised.sight.binds(slots[slow])]] = score.STANDARD
    return decay


def _places(
    candidates: Candidates, authorised: Authorised, scores: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return which candidates are ranked, by their places among them."""
    request = authorised.request
    if request.query is not None:
        # Nearly in order already, they are sorted in one walk.
        return scores.argsort()[::-1]
    index = authorised.sight.index
    best = index.best(candidates.slots, scores, 2 * request.top_k + _SPARE)
    left_out = exclude(authorised.promised, candidates.slots[best])
    return np.concatenate([best, np.flatnonzero(is_in(candidates.slots, left_out))])


def _ranked(
    candidates: Candidates,
    signals: score.SignalColumns,
    scores: NDArray[np.float64],
    places: NDArray[np.int64],
    sight: Sight,
) -> tuple[Ranked, ...]:
    slots, index = candidates.slots[places], sight.index
    rows = zip(
        scores[places].tolist(),
        index.column("updated_at")[slots].tolist(),
        index.pak_ids(slots),
        signals.confidence[places].tolist(),
        sight.column("last_reinforced")[slots].tolist(),
        candidates.expanded[places].tolist(),
        slots.tolist(),
        places.tolist(),
        strict=True,
    )
    new = tuple.__new__
    # As `best_first` has it: plain tuples are compared sooner than those with names.
    return tuple([new(Ranked, row) for row in sorted(rows, reverse=True)])
