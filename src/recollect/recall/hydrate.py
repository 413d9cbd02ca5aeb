"""From chosen candidates to blocks: texts as a model may read them, signals, reasons.

In: what was chosen, the memories behind it, and how it was found. Out: `ScoredBlock`s in the order
of their claim. Nothing is fetched here; what another process deleted meanwhile is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.dates import NO_DAY, day_number
from recollect.index.arrays import is_in
from recollect.index.index import MemoryIndex
from recollect.model import Match, Memory, ScoredBlock, Signals, Weights
from recollect.recall.authorise import Authorised
from recollect.recall.blocks import Chosen, Ranked
from recollect.recall.candidates import Candidates
from recollect.recall.clean import clean_memory
from recollect.recall.question import Question
from recollect.recall.rank import Ranking
from recollect.recall.spelling import Spelling
from recollect.recall.strength import strength
from recollect.recall.times import nearest_time
from recollect.recall.why import reasons
from recollect.values import dataclass, later

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
    shown = [(one, _safe(text, sanitize=sanitize)) for one, text in texts if text is not None]
    found = _found(shown, chosen, authorised, candidates, ranking)
    told = _Told(found)
    return tuple(
        [
            ScoredBlock(
                memory=memory,
                score=one.score,
                signals=later(partial(told.signals, place)),
                was_expanded=one.was_expanded,
                guaranteed=one.pak_id in found.guaranteed,
                disputed=one.pak_id in found.disputed,
                why=later(partial(told.why, place)),
                match=found.matches[place],
            )
            for place, (one, memory) in enumerate(shown)
        ]
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """How some blocks were found, by their places, as it was looked up in the index.

    Reasons are made of it, maybe much later: who keeps an answer keeps no index by it.
    """

    shown: Sequence[tuple[Ranked, Memory]]
    columns: Mapping[str, NDArray[np.float64]]
    matches: Sequence[Match | None]
    terms: Sequence[Sequence[str]]
    wanted: tuple[str, ...]
    question: Question | None
    origins: Sequence[_Origin]
    linked_to: Sequence[Sequence[str]]
    of_time: Sequence[Sequence[str]]
    weights: Weights
    guaranteed: frozenset[str]
    disputed: frozenset[str]


def _found(
    shown: Sequence[tuple[Ranked, Memory]],
    chosen: Chosen,
    authorised: Authorised,
    candidates: Candidates,
    ranking: Ranking,
) -> _Found:
    slots = np.array([one.slot for one, _ in shown], dtype=np.int64)
    words = candidates.words
    return _Found(
        shown,
        _columns(candidates, ranking, [one.row for one, _ in shown]),
        _matches([one for one, _ in shown], candidates, ranking),
        [()] * len(shown) if words is None else words.explaining_terms(slots),
        () if words is None else words.terms,
        candidates.question,
        _origins(slots, authorised.sight.index, candidates),
        [_linked(one, authorised, candidates) if one.was_expanded else () for one, _ in shown],
        _of_times(shown, authorised, ranking),
        ranking.weights,
        frozenset([one.pak_id for one in chosen.guaranteed]),
        chosen.disputed,
    )


class _Told:
    """The signals of some blocks and why each is there: made for all when one is asked about."""

    __slots__ = ("_found", "_made")

    def __init__(self, found: _Found) -> None:
        self._found = found
        self._made: list[tuple[Signals, tuple[str, ...]]] | None = None

    def signals(self, place: int) -> Signals:
        """Return the signals of a block."""
        return self._all()[place][0]

    def why(self, place: int) -> tuple[str, ...]:
        """Return why a block is in the answer."""
        return self._all()[place][1]

    def _all(self) -> list[tuple[Signals, tuple[str, ...]]]:
        if self._made is None:
            self._made = list(_tell(self._found))
        return self._made


def _tell(found: _Found) -> Iterator[tuple[Signals, tuple[str, ...]]]:
    """Yield the signals of each block, and why it is in the answer."""
    question, signals_of = found.question, _signals(found.columns)
    spelling = Spelling({} if question is None else question.spoken, found.wanted)
    mended = {} if question is None else question.mended
    for place, (one, memory) in enumerate(found.shown):
        signals, origin = signals_of[place], found.origins[place]
        matched, is_promised = spelling.of(found.terms[place]), one.pak_id in found.guaranteed
        yield (
            signals,
            reasons(
                signals,
                found.weights,
                match=found.matches[place],
                matched_terms=matched,
                mended=[pair for pair in mended.items() if pair[1] in matched],
                linked_to=found.linked_to[place],
                said_by=memory.speaker if signals.speaker else None,
                from_time=origin.from_time,
                of_time=() if is_promised else found.of_time[place],
                thread_of=origin.thread_of,
                reinforced=memory.reinforced,
                was_expanded=one.was_expanded,
                guaranteed=is_promised,
                disputed=one.pak_id in found.disputed,
            ),
        )


def shown_signals(candidates: Candidates, ranking: Ranking, rows: Sequence[int]) -> list[Signals]:
    """Return the signals of some candidates as an answer shows them: to nine decimals."""
    return _signals(_columns(candidates, ranking, rows))


def _columns(
    candidates: Candidates, ranking: Ranking, rows: Sequence[int]
) -> dict[str, NDArray[np.float64]]:
    """Return the signals of some rows, a column each, but for those that had nothing to say."""
    places = np.array(rows, dtype=np.int64)
    columns = {name: getattr(ranking.signals, name) for name in _FROM_RANKING}
    columns |= {name: getattr(candidates.likeness, name) for name in _FROM_LIKENESS}
    return {name: column.take(places) for name, column in columns.items() if column is not None}


def _signals(columns: Mapping[str, NDArray[np.float64]]) -> list[Signals]:
    """Return rows of columns as signals, to nine decimals."""
    table = np.array([*columns.values()]).round(_DECIMALS)
    # Not a number: the row is in no thread.
    rows_shown: list[dict[str, Any]] = [
        {name: None if value != value else value for name, value in zip(columns, row, strict=True)}
        for row in table.T.tolist()
    ]
    return [Signals(**row) for row in rows_shown]


def _origins(
    slots: NDArray[np.int64], index: MemoryIndex, candidates: Candidates
) -> Sequence[_Origin]:
    times = () if candidates.question is None else candidates.question.times
    best = candidates.likeness.best
    if best is None and not times:
        return [_UNKNOWN_ORIGIN] * len(slots)
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


def _matches(
    ranked: Iterable[Ranked], candidates: Candidates, ranking: Ranking
) -> list[Match | None]:
    """Return how well each fits the question; None where there was none."""
    if candidates.question is None:
        return [None for _ in ranked]
    similarity, background = ranking.signals.similarity, candidates.background
    return [strength(float(similarity[one.row]), background) for one in ranked]


def _of_times(
    shown: Sequence[tuple[Ranked, Memory]], authorised: Authorised, ranking: Ranking
) -> Sequence[Sequence[str]]:
    """Return what of the range and the order that are asked for each memory fulfils."""
    if authorised.asked.range is None and authorised.asked.order is None:
        return [()] * len(shown)
    return [_of_time(memory, one, authorised, ranking) for one, memory in shown]


def _of_time(
    memory: Memory, one: Ranked, authorised: Authorised, ranking: Ranking
) -> Sequence[str]:
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
