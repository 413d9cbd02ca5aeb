"""From chosen candidates to blocks: texts as a model may read them, signals, reasons.

In: what was chosen, the memories behind it, and how it was found. Out: `ScoredBlock`s in the order
of their claim. Nothing is fetched here; what another process deleted meanwhile is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.dates import NO_DAY, day_number
from recollect.index.arrays import is_in
from recollect.index.index import MemoryIndex
from recollect.model import Match, Memory, ScoredBlock, Signals
from recollect.recall.authorise import Authorised
from recollect.recall.blocks import Chosen, Ranked
from recollect.recall.candidates import Candidates
from recollect.recall.clean import clean_memory
from recollect.recall.rank import Ranking
from recollect.recall.spelling import Spelling
from recollect.recall.strength import strength
from recollect.recall.times import nearest_time
from recollect.recall.why import reasons
from recollect.values import dataclass

__all__ = ["hydrate", "shown_signals"]

_DECIMALS = 9
_FROM_RANKING = ("similarity", "confidence", "recency", "centrality", "reinforcement")
_FROM_LIKENESS = tuple(name for name in Signals.__slots__ if name not in _FROM_RANKING)


@dataclass(frozen=True, slots=True)
class _Origin:
    """What of a memory's thread and time speaks for it, in words."""

    thread_of: str | None = None
    from_time: str | None = None


_UNKNOWN_ORIGIN = _Origin()


def hydrate(
    chosen: Chosen,
    memories: Mapping[str, Memory | None],
    *,
    authorised: Authorised,
    candidates: Candidates,
    ranking: Ranking,
    sanitize: bool = True,
) -> tuple[ScoredBlock, ...]:
    """Return what was chosen as blocks; who has no memory was deleted and is left out."""
    texts = [(one, memories.get(one.pak_id)) for one in chosen.ranked]
    shown = [(one, text) for one, text in texts if text is not None]
    slots = np.array([one.slot for one, _ in shown], dtype=np.int64)
    index = authorised.sight.index
    details = zip(
        shown,
        shown_signals(candidates, ranking, [one.row for one, _ in shown]),
        _matched(slots, candidates),
        _origins(slots, index, candidates),
        strict=True,
    )
    blocks = []
    for (one, text), signals, matched, origin in details:
        memory, match = _safe(text, sanitize=sanitize), _match(signals, candidates)
        guaranteed, disputed = one in chosen.guaranteed, one.pak_id in chosen.disputed
        why = reasons(
            signals,
            ranking.weights,
            match=match,
            matched_terms=matched,
            mended=_mended(matched, candidates),
            linked_to=_linked(one, authorised, candidates) if one.was_expanded else (),
            said_by=memory.speaker if signals.speaker else None,
            from_time=origin.from_time,
            of_time=() if guaranteed else _of_time(memory, one, authorised, ranking),
            thread_of=origin.thread_of,
            reinforced=memory.reinforced,
            was_expanded=one.was_expanded,
            guaranteed=guaranteed,
            disputed=disputed,
        )
        blocks.append(
            ScoredBlock(
                memory=memory,
                score=one.score,
                signals=signals,
                was_expanded=one.was_expanded,
                guaranteed=guaranteed,
                disputed=disputed,
                why=why,
                match=match,
            )
        )
    return tuple(blocks)


def shown_signals(candidates: Candidates, ranking: Ranking, rows: Sequence[int]) -> list[Signals]:
    """Return the signals of some candidates as an answer shows them: to nine decimals."""
    columns = {name: getattr(ranking.signals, name) for name in _FROM_RANKING}
    columns |= {name: getattr(candidates.likeness, name) for name in _FROM_LIKENESS}
    known = [name for name, column in columns.items() if column is not None]
    places = np.array(rows, dtype=np.int64)
    table = np.array([columns[name].take(places) for name in known]).round(_DECIMALS)
    # Not a number: the row is in no thread.
    rows_shown: list[dict[str, Any]] = [
        {name: None if value != value else value for name, value in zip(known, row, strict=True)}
        for row in table.T.tolist()
    ]
    return [Signals(**row) for row in rows_shown]


def _origins(
    slots: NDArray[np.int64], index: MemoryIndex, candidates: Candidates
) -> Iterable[_Origin]:
    times = () if candidates.question is None else candidates.question.times
    best = candidates.likeness.best
    if best is None and not times:
        return repeat(_UNKNOWN_ORIGIN, len(slots))
    days = index.column("day")[slots].tolist()
    named = [nearest_time(day, times) for day in days] if times else [None] * len(slots)
    if best is None:
        return [_Origin(from_time=time) for time in named]
    best_of = dict(zip(candidates.slots.tolist(), best.tolist(), strict=True))
    own = slots.tolist()
    leads = [slot if best_of[slot] < 0 else best_of[slot] for slot in own]
    names = index.pak_ids(np.array(leads, dtype=np.int64))
    return [
        _Origin(None if lead == slot else name, time)
        for slot, lead, name, time in zip(own, leads, names, named, strict=True)
    ]


def _safe(memory: Memory, *, sanitize: bool) -> Memory:
    """Return a memory as a model may read it: without what the eye cannot see."""
    if not sanitize:
        return replace(memory, risks=()) if memory.risks else memory
    return clean_memory(memory)


def _matched(slots: NDArray[np.int64], candidates: Candidates) -> list[list[str]]:
    """Return what of the question each row holds, in the asker's own words."""
    if candidates.words is None:
        return [[] for _ in slots]
    spelling = Spelling(candidates.spoken, candidates.words.terms)
    return [spelling.of(terms) for terms in candidates.words.explaining_terms(slots)]


def _match(signals: Signals, candidates: Candidates) -> Match | None:
    if candidates.question is None:
        return None
    return strength(signals.similarity, candidates.background)


def _mended(matched: Sequence[str], candidates: Candidates) -> Sequence[tuple[str, str]]:
    """Return which words of the question were read as others that a row holds."""
    mended = {} if candidates.question is None else candidates.question.mended
    return [pair for pair in mended.items() if pair[1] in matched] if mended else ()


def _of_time(
    memory: Memory, one: Ranked, authorised: Authorised, ranking: Ranking
) -> Sequence[str]:
    """Return what of the range and the order that are asked for a memory fulfils."""
    asked, sequence = authorised.asked, ranking.sequence
    said = [] if asked.range is None else [asked.range.words]
    if asked.order is not None and sequence is not None and sequence.members[one.row]:
        known = day_number(memory.occurred_at) != NO_DAY
        day = (memory.occurred_at if known else memory.created_at) or ""
        said.append(f"{asked.order} first: {day[: len('2023-05-08')]}")
    return said


def _linked(one: Ranked, authorised: Authorised, candidates: Candidates) -> list[str]:
    """Return the seeds that led to an expanded row."""
    index = authorised.sight.index
    neighbours = index.neighbours(np.array([one.slot]), authorised.reach)
    return sorted(index.pak_ids(neighbours[is_in(neighbours, candidates.seeds)]))
