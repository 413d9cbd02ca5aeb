"""The flow: authorise, candidates, rank, suppress, guarantee, hydrate, pack.

In: a checked request, its frame, the time, and where the reads go. Out: a `Trace`: what each stage
saw, kept and dropped. This module only calls the stages in order, and fetches the texts that they
ask for. It writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recollect.index.index import MemoryIndex
from recollect.limits import NOVELTY_COMPARED
from recollect.model import Dropped, FrameDefinition, Match, Memory, RecallRequest
from recollect.model.answer import MATCHES
from recollect.ports.embedder import Embedder
from recollect.ports.tokens import TokenCounter
from recollect.recall.authorise import Authorised, Channel, Moment, authorise
from recollect.recall.blocks import Chosen, Packed, Ranked, Settled
from recollect.recall.candidates import Candidates, find_candidates
from recollect.recall.diversify import spread
from recollect.recall.guarantee import guarantee
from recollect.recall.hydrate import hydrate
from recollect.recall.pack import pack
from recollect.recall.rank import Ranking, rank
from recollect.recall.recipe import RECIPE, Recipe
from recollect.recall.sight import Sight
from recollect.recall.strength import strength
from recollect.recall.suppress import suppress
from recollect.recall.verbatim import nearest, verbatim_first
from recollect.values import dataclass

__all__ = ["Sources", "Trace", "run"]

# So many for each result are compared where novelty counts.
_COMPARED_PER_RESULT = 4


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """Where the reads go. `worth` scales the confidence of each slot; None leaves it as it is.

    `is_damaged`: some row of the store could not be read, and the caller may know. `recipe` is how
    similarity is made.
    """

    sight: Sight
    embedder: Embedder
    disputes: Collection[tuple[str, str]]
    token_counter: TokenCounter
    worth: NDArray[np.float64] | None = None
    sanitize: bool = True
    is_damaged: bool = False
    recipe: Recipe = RECIPE

    @property
    def index(self) -> MemoryIndex:
        """The index that the sight is of."""
        return self.sight.index


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A request as it went: what each stage saw and kept. All that an explanation is read from.

    `instructions` is the trace of the other channel, where a recall looked into it.
    """

    sources: Sources
    authorised: Authorised
    candidates: Candidates
    ranking: Ranking
    settled: Settled
    chosen: Chosen
    packed: Packed
    instructions: Trace | None = None

    @property
    def request(self) -> RecallRequest:
        """The request as it came; instructions had its whole budget, the rest what they left."""
        return (self.instructions or self).authorised.request

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        """What was considered and left out, with stage and reason."""
        return (*self.chosen.dropped, *self.dropped_since)

    @property
    def dropped_since(self) -> tuple[Dropped, ...]:
        """What did not fit into what was chosen, and what a window of time had taken away."""
        return (*self.packed.dropped, *self.authorised.left_out)

    @property
    def degraded(self) -> tuple[str, ...]:
        """The sources that could not take part."""
        damaged = ("damaged",) if self.sources.is_damaged else ()
        return (*self.candidates.degraded, *damaged)


def run(
    request: RecallRequest,
    frame: FrameDefinition,
    *,
    moment: Moment,
    sources: Sources,
    channel: Channel = "memories",
) -> Trace:
    """Answer a request, and keep how it went.

    The same request of the same sources gives the same answer.
    """
    worth = sources.worth
    authorised = authorise(
        request, frame, moment=moment, sight=sources.sight, worth=worth, channel=channel
    )
    candidates = find_candidates(authorised, sources.embedder, sources.recipe)
    ranking = rank(candidates, authorised, worth=worth)
    settled = _enough(suppress(ranking.ranked, sources.disputes), request.min_score)
    if request.min_match is not None and candidates.question is not None:
        settled = _fitting(settled, request.min_match, candidates, ranking)
    chosen, memories = _choose(authorised, ranking, settled)
    blocks = hydrate(
        chosen,
        memories,
        authorised=authorised,
        candidates=candidates,
        ranking=ranking,
        sanitize=sources.sanitize,
    )
    packed = pack(
        blocks,
        template=frame.template,
        token_budget=request.token_budget,
        repeats=chosen.repeats,
        token_counter=sources.token_counter,
    )
    return Trace(sources, authorised, candidates, ranking, settled, chosen, packed)


def _enough(settled: Settled, least: float | None) -> Settled:
    """Leave out what scores too little; which of two in dispute is right has been settled."""
    if least is None:
        return settled
    reason = f"scores below {least:g}"
    low = [Dropped(one.pak_id, "min_score", reason) for one in settled.kept if one.score < least]
    kept = tuple(one for one in settled.kept if one.score >= least)
    return replace(settled, kept=kept, dropped=(*settled.dropped, *low))


def _fitting(settled: Settled, least: Match, candidates: Candidates, ranking: Ranking) -> Settled:
    """Leave out what matches the question less well than was asked for."""
    similarity, background = ranking.signals.similarity, candidates.background
    enough = MATCHES[MATCHES.index(least) :]
    found = [strength(float(similarity[one.row]), background) for one in settled.kept]
    pairs = list(zip(settled.kept, found, strict=True))
    low = [
        Dropped(one.pak_id, "min_match", f"its match is {match}, not {least}")
        for one, match in pairs
        if match not in enough
    ]
    kept = tuple(one for one, match in pairs if match in enough)
    return replace(settled, kept=kept, dropped=(*settled.dropped, *low))


def _choose(
    authorised: Authorised, ranking: Ranking, settled: Settled
) -> tuple[Chosen, dict[str, Memory | None]]:
    """Return what is chosen, and the memories that were read to choose it.

    Nearly always the first say different things, and nobody else's text needs to be read.
    """
    slots = set(authorised.promised.tolist())
    promised = [one for one in ranking.ranked if one.slot in slots] if slots else []
    query, lined_up = authorised.request.query, _line_up(authorised, settled)
    memories: dict[str, Memory | None] = {}
    first = (*promised, *lined_up[: authorised.request.top_k])
    close = () if query is None else nearest(settled.kept, ranking.signals.similarity)
    unread: Collection[Ranked] = {one.pak_id: one for one in (*first, *close)}.values()
    while True:
        # Also where nothing was found: that is an answer too, and must be of one revision.
        memories |= dict.fromkeys(one.pak_id for one in unread)
        memories |= authorised.sight.memories_in(_slots(unread))
        chosen = guarantee(
            settled,
            promised,
            top_k=authorised.request.top_k,
            lined_up=verbatim_first(lined_up, query, memories),
            texts=None if authorised.diversity == 1 else memories,
        )
        unread = chosen.unread
        if not unread:
            return chosen, memories


def _line_up(authorised: Authorised, settled: Settled) -> tuple[Ranked, ...]:
    diversity = authorised.diversity
    if diversity is None or diversity == 1:
        return settled.kept
    compared = min(_COMPARED_PER_RESULT * authorised.request.top_k, NOVELTY_COMPARED)
    first = settled.kept[:compared]
    cosines = authorised.sight.index.cosines_between(_slots(first))
    return (*spread(first, cosines, diversity=diversity), *settled.kept[len(first) :])


def _slots(ranked: Collection[Ranked]) -> NDArray[np.int64]:
    return np.array([one.slot for one in ranked], dtype=np.int64)
