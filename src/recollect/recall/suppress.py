"""Settle contradictions: of two candidates in an open dispute only one stays.

Ranked candidates and open pairs come in; the same candidates without the losers go out, in the
same order. Nothing is ever added, and settling what is settled changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from recollect.model import Dropped
from recollect.recall.blocks import Ranked, Settled

__all__ = ["suppress"]

_Pair = tuple[Ranked, Ranked]


def suppress(ranked: Sequence[Ranked], disputes: Collection[tuple[str, str]]) -> Settled:
    """Remove the weaker side of each open pair.

    The pair with the best score in it is settled first, and a pair that has already lost a side
    is left alone; so a chain a-b-c has one answer, however the pairs are listed.
    """
    if not disputes:
        return Settled(kept=tuple(ranked))
    standing = {candidate.pak_id: candidate for candidate in ranked}
    dropped, winners = [], {}
    for pair in _best_pairs_first(standing, disputes):
        winner, loser = _settle(pair)
        if winner.pak_id in standing and loser.pak_id in standing:
            del standing[loser.pak_id]
            dropped.append(_lost(loser, winner))
            winners[loser.pak_id] = winner.pak_id
    kept = tuple(candidate for candidate in ranked if candidate.pak_id in standing)
    return Settled(kept=kept, dropped=tuple(dropped), winners=winners)


def _best_pairs_first(
    standing: dict[str, Ranked], disputes: Iterable[tuple[str, str]]
) -> list[_Pair]:
    ids = {(min(a, b), max(a, b)) for a, b in disputes if a in standing and b in standing}
    pairs = [(standing[a], standing[b]) for a, b in ids if a != b]
    return sorted(pairs, key=_pair_order)


def _pair_order(pair: _Pair) -> tuple[float, float, str, str]:
    first, second = pair
    scores = first.score, second.score
    return (-max(scores), -min(scores), first.pak_id, second.pak_id)


def _settle(pair: _Pair) -> _Pair:
    loser, winner = sorted(pair, key=lambda c: (c.confidence, c.last_reinforced, c.pak_id))
    return winner, loser


def _lost(loser: Ranked, winner: Ranked) -> Dropped:
    return Dropped(
        pak_id=loser.pak_id,
        stage="suppress",
        reason=f"contradicted by {winner.pak_id}, {_advantage(winner, loser)}",
    )


def _advantage(winner: Ranked, loser: Ranked) -> str:
    if winner.confidence > loser.confidence:
        return f"of higher confidence ({winner.confidence:.2f} against {loser.confidence:.2f})"
    if winner.last_reinforced > loser.last_reinforced:
        return "equally confident and reinforced more recently"
    return "equal in all but its id"
