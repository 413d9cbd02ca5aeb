"""The flow: authorise, candidates, score, suppress, guarantee, pack, render.

Reads happen here and only here: the index, the embedder, disputes, the texts of the chosen. What
decides are the pure stages that this module calls in order. It writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recollect.index.arrays import exclude, is_in
from recollect.index.index import MemoryIndex
from recollect.index.selection import Selection, Where
from recollect.model import (
    INSTRUCTION,
    WRITTEN,
    Dropped,
    FrameDefinition,
    Memory,
    ScoredBlock,
    Signals,
    Weights,
    words_of,
)
from recollect.policy.sanitizer import plain
from recollect.policy.view import QUARANTINED
from recollect.ports.embedder import Embedder
from recollect.ports.tokens import TokenCounter
from recollect.recall import candidates, score
from recollect.recall.blocks import Chosen, ChosenItem, Packed, Ranked, Settled, best_first
from recollect.recall.candidates import Candidates
from recollect.recall.diversify import spread
from recollect.recall.guarantee import guarantee
from recollect.recall.pack import pack
from recollect.recall.question import ask
from recollect.recall.sight import Sight
from recollect.recall.suppress import suppress
from recollect.recall.times import nearest_time
from recollect.recall.why import reasons

__all__ = ["Answer", "Request", "Scored", "Sources", "Stages", "reach_of", "run", "shown_signals"]

# A frame that is mostly about the question leaves out what has nothing to do with it.
_ABOUT_THE_QUESTION = 0.5

# Where two of the signals stand in the order of their fields.
_NEARBY, _THREAD = 7, 8
# So many for each result are compared where novelty counts.
_COMPARED_PER_RESULT = 4

# Without a question all rows are ranked; this many more than asked for are kept for suppression.
_SPARE = 50


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, by which recipe, and when. Filters here narrow the frame's own.

    `among` is a mask over the slots. With a `diversity` of 1 nobody waits for saying the same as
    another; below it novelty counts besides. `channel` is what is looked for: memories, or
    instructions.
    """

    query: str | None
    frame: FrameDefinition
    top_k: int
    token_budget: int | None
    active_hours: float
    now: float
    project: str | None = None
    tags: tuple[str, ...] = ()
    among: NDArray[np.bool_] | None = None
    diversity: float | None = None
    channel: Literal["memories", "instructions"] = "memories"


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """Where the reads go. `worth` scales the confidence of each slot; None leaves it as it is."""

    sight: Sight
    embedder: Embedder
    disputes: Collection[tuple[str, str]]
    count_tokens: TokenCounter
    worth: NDArray[np.float64] | None = None
    sanitize: bool = True

    @property
    def index(self) -> MemoryIndex:
        """The index that the sight is of."""
        return self.sight.index


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome: packed blocks and text, what was left out, which sources were missing."""

    packed: Packed
    dropped: tuple[Dropped, ...]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The candidates' signals, the weights they count with, and the scores that this gives."""

    signals: score.SignalColumns
    weights: Weights
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """A request as it went: what each stage saw and kept. All that an explanation is read from."""

    request: Request
    sources: Sources
    selection: Selection
    reach: Selection
    promised: NDArray[np.int64]
    found: Candidates
    scored: Scored
    settled: Settled
    chosen: Chosen
    packed: Packed
    degraded: tuple[str, ...]

    @property
    def answer(self) -> Answer:
        """The outcome alone."""
        return Answer(self.packed, (*self.chosen.dropped, *self.packed.dropped), self.degraded)


def run(request: Request, sources: Sources) -> Stages:
    """Answer a request, and keep how it went.

    The same request of the same sources gives the same answer.
    """
    index = sources.index
    selection, reach = _authorised(request, sources.sight)
    promised = _promised(request.frame, index, selection)
    found, degraded = _candidates(request, sources, selection, reach, promised)
    scored = _scored(request, sources, found, reach)
    ranked = _ranked(request, index, found, scored, promised)
    settled = suppress(ranked, sources.disputes)
    held = set(promised.tolist())
    chosen, memories = _chosen(
        request, sources, settled, [one for one in ranked if one.slot in held]
    )
    blocks = _hydrated(chosen.items, memories, sources, found, scored, reach)
    packed = pack(
        blocks,
        template=request.frame.template,
        token_budget=request.token_budget,
        repeats=chosen.repeats,
        count=sources.count_tokens,
    )
    return Stages(
        request=request,
        sources=sources,
        selection=selection,
        reach=reach,
        promised=promised,
        found=found,
        scored=scored,
        settled=settled,
        chosen=chosen,
        packed=packed,
        degraded=degraded,
    )


def reach_of(request: Request, *, with_quarantined: bool) -> Where:
    """Return what a Pak must fulfil to be reached by a request, however old it is."""
    filters = request.frame.filters
    orders = request.channel == "instructions"
    return Where(
        statuses=("active", QUARANTINED) if with_quarantined else ("active",),
        project=request.project,
        tag_patterns=filters.tag_patterns,
        narrow_tags=request.tags,
        categories=(INSTRUCTION,) if orders else filters.categories,
        without_category=None if orders else INSTRUCTION,
    )


def _authorised(request: Request, sight: Sight) -> tuple[Selection, Selection]:
    """Return what is looked through, and what links may reach: the same but for the window."""
    reach = reach_of(request, with_quarantined=sight.view.with_quarantined)
    window = request.frame.filters.search_window_hours
    if window is None:
        both = sight.select(reach, among=request.among)
        return both, both
    within = replace(reach, reinforced_after=request.active_hours - window)
    return sight.select(within, among=request.among), sight.select(reach, among=request.among)


def _chosen(
    request: Request, sources: Sources, settled: Settled, promised: Sequence[Ranked]
) -> tuple[Chosen, dict[str, Memory | None]]:
    """Return what is chosen, and the memories that were read to choose it.

    Nearly always the first say different things, and nobody else's text needs to be read.
    """
    lined_up = _lined_up(request, sources, settled)
    memories: dict[str, Memory | None] = {}
    while True:
        chosen = guarantee(
            settled,
            promised,
            top_k=request.top_k,
            lined_up=lined_up,
            texts=None if request.diversity == 1 else memories,
        )
        unread = [item.ranked for item in chosen.items if item.ranked.pak_id not in memories]
        unread += chosen.unread
        memories |= dict.fromkeys(one.pak_id for one in unread)
        memories |= sources.sight.memories_in(_slots(unread))
        if not chosen.unread:
            return chosen, memories


def _lined_up(request: Request, sources: Sources, settled: Settled) -> tuple[Ranked, ...]:
    best = best_first(settled.kept)
    if request.diversity is None or request.diversity == 1:
        return best
    first = best[: _COMPARED_PER_RESULT * request.top_k]
    cosines = sources.index.cosines_between(_slots(first))
    return (*spread(first, cosines, diversity=request.diversity), *best[len(first) :])


def _slots(ranked: Iterable[Ranked]) -> NDArray[np.int64]:
    return np.array([one.slot for one in ranked], dtype=np.int64)


def _promised(
    frame: FrameDefinition, index: MemoryIndex, selection: Selection
) -> NDArray[np.int64]:
    if not frame.guarantees:
        return np.empty(0, np.int64)
    return index.slots_tagged(frame.guarantees, selection)


def _candidates(
    request: Request,
    sources: Sources,
    selection: Selection,
    reach: Selection,
    promised: NDArray[np.int64],
) -> tuple[Candidates, tuple[str, ...]]:
    if request.query is None:
        return candidates.everything(selection), ()
    question = ask(
        request.query,
        embedder=sources.embedder,
        index=sources.index,
        selection=selection,
        now=request.now,
    )
    found = candidates.matching(
        sources.index,
        question,
        selection=selection,
        reach=reach,
        seeds=request.top_k * candidates.SEEDS_PER_RESULT,
        always=promised,
        only_similar=request.frame.weights.similarity >= _ABOUT_THE_QUESTION,
    )
    missing = question.embedder_failed or sources.index.any_pending(selection)
    return found, ("vector",) if missing else ()


def _scored(request: Request, sources: Sources, found: Candidates, reach: Selection) -> Scored:
    weights = request.frame.weights
    if request.query is None:
        weights = weights.renormalized_without_similarity()
    signals = _signals(request, sources, found, reach)
    return Scored(signals, weights, score.composite(signals, weights))


def _ranked(
    request: Request,
    index: MemoryIndex,
    found: Candidates,
    scored: Scored,
    promised: NDArray[np.int64],
) -> list[Ranked]:
    """Return the candidates, in no order: without a question the best of them, and `promised`."""
    rows = np.arange(len(found.slots))
    if request.query is None:
        best = index.best(found.slots, scored.scores, 2 * request.top_k + _SPARE)
        left_out = exclude(promised, found.slots[best])
        rows = np.concatenate([best, np.flatnonzero(is_in(found.slots, left_out))])
    slots = found.slots[rows]
    return [
        Ranked._make(values)
        for values in zip(
            scored.scores[rows].tolist(),
            index.column("updated_at")[slots].tolist(),
            index.pak_ids(slots),
            scored.signals.confidence[rows].tolist(),
            index.column("last_reinforced")[slots].tolist(),
            found.expanded[rows].tolist(),
            slots.tolist(),
            rows.tolist(),
            strict=True,
        )
    ]


def _signals(
    request: Request, sources: Sources, found: Candidates, reach: Selection
) -> score.SignalColumns:
    index, slots = sources.index, found.slots
    hours = request.active_hours - index.column("last_reinforced")[slots]
    return score.SignalColumns(
        similarity=found.likeness.similarity,
        confidence=_confidence(sources, slots),
        recency=score.recency(index.column("decay")[slots], hours),
        centrality=score.centrality(index.degrees(reach, slots)),
        reinforcement=score.reinforcement(index.column("reinforced")[slots]),
    )


def _confidence(sources: Sources, slots: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how sure we are: as it was said, times our trust in the source and the garden."""
    said: NDArray[np.float64] = sources.index.column("confidence")[slots]
    return said if sources.worth is None else said * sources.worth[slots]


def shown_signals(found: Candidates, scored: Scored, rows: Sequence[int]) -> list[Signals]:
    """Return the signals of some candidates as an answer shows them: to nine decimals."""
    signals, likeness = scored.signals, found.likeness
    columns = (
        signals.similarity,
        signals.confidence,
        signals.recency,
        signals.centrality,
        signals.reinforcement,
        likeness.lexical,
        likeness.semantic,
        likeness.nearby,
        likeness.thread,
        likeness.speaker,
        likeness.date,
        likeness.time_words,
    )
    places = np.array(rows, dtype=np.int64)
    known = np.array([column.take(places) for column in columns if column is not None])
    given = iter(known.round(9).tolist())
    shown = [[None] * len(rows) if column is None else next(given) for column in columns]
    for place in (_NEARBY, _THREAD):
        # Not a number: the row is in no thread.
        shown[place] = [None if value != value else value for value in shown[place]]
    return [Signals(*values) for values in zip(*shown, strict=True)]


def _hydrated(
    items: tuple[ChosenItem, ...],
    read: Mapping[str, Memory | None],
    sources: Sources,
    found: Candidates,
    scored: Scored,
    reach: Selection,
) -> list[ScoredBlock]:
    # A memory that another process deleted since the index last looked has no text to show.
    memories = {pak_id: memory for pak_id, memory in read.items() if memory is not None}
    shown = [item for item in items if item.ranked.pak_id in memories]
    slots = _slots(item.ranked for item in shown)
    signals = shown_signals(found, scored, [item.ranked.row for item in shown])
    matched = _matched(slots, found)
    origins = _origins(slots, sources.index, found)
    return [
        _block(
            item,
            _safe(memories[item.ranked.pak_id], sanitize=sources.sanitize),
            own,
            words,
            _linked(item, slot, sources, found, reach),
            origin,
        )
        for item, slot, own, words, origin in zip(
            shown, slots, signals, matched, origins, strict=True
        )
    ]


@dataclass(frozen=True, slots=True)
class _Origin:
    """What of a Pak's thread and time speaks for it, in words."""

    thread_of: str | None = None
    from_time: str | None = None


def _origins(slots: NDArray[np.int64], index: MemoryIndex, found: Candidates) -> Iterable[_Origin]:
    times = () if found.question is None else found.question.times
    best = found.likeness.best
    if best is None and not times:
        return repeat(_Origin(), len(slots))
    days = index.column("day")[slots].tolist()
    named = [nearest_time(day, times) for day in days] if times else [None] * len(slots)
    if best is None:
        return [_Origin(from_time=time) for time in named]
    best_of = dict(zip(found.slots.tolist(), best.tolist(), strict=True))
    own = slots.tolist()
    leads = [slot if best_of[slot] < 0 else best_of[slot] for slot in own]
    names = index.pak_ids(np.array(leads, dtype=np.int64))
    return [
        _Origin(None if lead == slot else name, time)
        for slot, lead, name, time in zip(own, leads, names, named, strict=True)
    ]


def _safe(memory: Memory, *, sanitize: bool) -> Memory:
    """Return a Pak as a model may read it: without what the eye cannot see."""
    if not sanitize:
        return replace(memory, risks=()) if memory.risks else memory
    if all(plain(text) is text for text in words_of(memory)):
        return memory
    written = {name: text for name in WRITTEN if (text := getattr(memory, name))}
    clean: dict[str, Any] = {name: plain(text) for name, text in written.items()}
    return replace(memory, **clean, tags=tuple(map(plain, memory.tags)))


def _block(
    item: ChosenItem,
    memory: Memory,
    signals: Signals,
    matched: Sequence[str],
    linked: Sequence[str],
    origin: _Origin,
) -> ScoredBlock:
    ranked = item.ranked
    return ScoredBlock(
        memory=memory,
        score=ranked.score,
        signals=signals,
        was_expanded=ranked.was_expanded,
        guaranteed=item.guaranteed,
        disputed=item.disputed,
        why=reasons(
            signals,
            matched_terms=matched,
            linked_to=linked,
            said_by=memory.speaker if signals.speaker else None,
            from_time=origin.from_time,
            thread_of=origin.thread_of,
            reinforced=memory.reinforced,
            was_expanded=ranked.was_expanded,
            guaranteed=item.guaranteed,
            disputed=item.disputed,
        ),
    )


def _matched(slots: NDArray[np.int64], found: Candidates) -> list[list[str]]:
    """Return what of the question each row holds, in the asker's own words."""
    if found.words is None:
        return [[] for _ in slots]
    told = found.words.explaining_terms(slots)
    return [[found.spoken.get(term, term) for term in terms] for terms in told]


def _linked(
    item: ChosenItem, slot: int, sources: Sources, found: Candidates, reach: Selection
) -> list[str]:
    """Return the seeds that led to an expanded row."""
    if not item.ranked.was_expanded:
        return []
    neighbours = sources.index.neighbours(np.array([slot]), reach)
    return sorted(sources.index.pak_ids(neighbours[is_in(neighbours, found.seeds)]))
