"""From a checked request to the response: narrow the view, run the flow, put the answer together.

In: what is asked, the frame, the time, where the reads go. Out: `RecallResponse`. Instructions are
found by the same flow in a channel of their own. It reads, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.errors import NotAllowed
from recollect.hours import iso
from recollect.index.columns import epoch_microseconds
from recollect.index.selection import Where
from recollect.model import (
    INSTRUCTION,
    FrameDefinition,
    Place,
    RecallRequest,
    RecallResponse,
    RecallResult,
    ScoredBlock,
)
from recollect.policy.permit import known_scope, no_garden
from recollect.policy.view import View
from recollect.ports.store import RowFilter
from recollect.recall import pipeline
from recollect.recall.pipeline import Answer, Request, Sources, Stages
from recollect.recall.sight import Sight

__all__ = ["Moment", "Went", "as_run", "refused", "response", "run", "shown"]


@dataclass(frozen=True, slots=True)
class Moment:
    """When something is asked, by both clocks."""

    now: float
    active_hours: float


@dataclass(frozen=True, slots=True, eq=False)
class Went:
    """How a request went: what the principal sees in all, both channels, and when."""

    asked: RecallRequest
    moment: Moment
    sight: Sight
    memories: Stages
    instructions: Stages | None


def run(asked: RecallRequest, frame: FrameDefinition, moment: Moment, sources: Sources) -> Went:
    """Answer a request whose values were checked, and keep how it went."""
    whole = sources.sight
    sight = _narrowed(asked, whole)
    if sight is not whole:
        sources = replace(sources, sight=sight)
    request = Request(
        query=asked.query,
        frame=frame,
        top_k=asked.top_k,
        token_budget=asked.token_budget,
        active_hours=moment.active_hours,
        now=moment.now,
        project=asked.project,
        tags=tuple(asked.tags or ()),
        among=_among(asked, sources),
        diversity=_diversity(asked),
    )
    orders = _instructions(request, sources)
    if orders is not None and request.token_budget is not None:
        left = max(0, request.token_budget - orders.packed.tokens_used)
        request = replace(request, token_budget=left)
    return Went(asked, moment, whole, pipeline.run(request, sources), orders)


def response(went: Went) -> RecallResponse:
    """Put the answer together."""
    orders = None if went.instructions is None else went.instructions.answer
    return _response(went.asked, went.moment, went.memories.answer, orders)


def refused(asked: RecallRequest, moment: Moment) -> RecallResponse:
    """Return the answer to a request that somebody refused: none."""
    return RecallResponse(
        results=(),
        instructions=(),
        generated_at=iso(moment.now),
        query=as_run(asked, moment),
        tokens_used=0,
        truncated=False,
        degraded=(),
        dropped=(),
    )


def _response(
    asked: RecallRequest, moment: Moment, answer: Answer, orders: Answer | None
) -> RecallResponse:
    parts = [answer] if orders is None else [answer, orders]
    return RecallResponse(
        results=_results(answer.packed.blocks),
        instructions=() if orders is None else _results(orders.packed.blocks),
        generated_at=iso(moment.now),
        query=as_run(asked, moment),
        tokens_used=sum(part.packed.tokens_used for part in parts),
        truncated=any(part.packed.dropped for part in parts),
        degraded=tuple(dict.fromkeys(source for part in parts for source in part.degraded)),
        dropped=tuple(dropped for part in parts for dropped in part.dropped),
    )


def as_run(asked: RecallRequest, moment: Moment) -> dict[str, Any]:
    """Return a request as it was run, as plain data."""
    tags = list(asked.tags or ())
    return {**asked.to_dict(), "tags": tags, "active_hours": moment.active_hours}


def shown(blocks: Iterable[ScoredBlock]) -> tuple[ScoredBlock, ...]:
    """Return blocks as they are shown: by rank, whatever the order they were taken in."""
    return tuple(sorted(blocks, key=_rank, reverse=True))


def _results(blocks: Iterable[ScoredBlock]) -> tuple[RecallResult, ...]:
    return tuple(
        RecallResult(
            fact=block.memory,
            score=block.score,
            why=block.why,
            signals=block.signals,
            risk=block.memory.risks,
            expanded=block.was_expanded,
            guaranteed=block.guaranteed,
            disputed=block.disputed,
        )
        for block in shown(blocks)
    )


def _rank(block: ScoredBlock) -> tuple[bool, float, int, str]:
    moment = epoch_microseconds(block.memory.updated_at)
    return (block.guaranteed, block.score, moment, block.pak_id)


def _narrowed(asked: RecallRequest, sight: Sight) -> Sight:
    """Return no more than was there before: what a request says can only take away."""
    view = sight.view
    if asked.scope is not None:
        view = view.narrowed(scope=known_scope(asked.scope))
    if asked.garden is not None:
        view = view.narrowed(garden=_known_garden(asked.garden, sight))
    if asked.include_quarantined:
        view = replace(_moderator(view), with_quarantined=True)
    return sight if view is sight.view else replace(sight, view=view)


def _known_garden(slug: str, sight: Sight) -> str:
    view = sight.view
    found = sight.store.access.gardens(view.tenant, slug=slug) if view.role_in(slug) else {}
    garden = found.get(slug)
    if garden is None or not view.allows(
        Place(view.tenant, view.principal, garden.scope, garden.team, slug)
    ):
        raise no_garden(slug)
    return slug


def _moderator(view: View) -> View:
    if view.moderates_all or any(role == "moderator" for _, role in view.roles):
        return view
    raise NotAllowed(
        f"{view.principal} may not see what is in quarantine.",
        hint="leave include_quarantined out; it is for moderators.",
    )


def _among(asked: RecallRequest, sources: Sources) -> NDArray[np.bool_] | None:
    """Return the mask of a request's own conditions, if it has any that are not columns."""
    index = sources.index
    mask: NDArray[np.bool_] | None = None
    facts = RowFilter(entity=asked.entity, relation=asked.relation, source=asked.source)
    if facts != RowFilter():
        mask = np.zeros(index.size, np.bool_)
        mask[index.slots_of_rows(sources.sight.store.memories.rows(facts))] = True
    if asked.min_confidence is not None:
        sure = index.column("confidence")
        enough = (sure if sources.worth is None else sure * sources.worth) >= asked.min_confidence
        mask = enough if mask is None else mask & enough
    return mask


def _diversity(asked: RecallRequest) -> float | None:
    """Return how far novelty counts: not at all where one entity is asked for."""
    return 1.0 if asked.diversity is None and asked.entity is not None else asked.diversity


def _instructions(request: Request, sources: Sources) -> Stages | None:
    index = sources.index
    if index.code("category", INSTRUCTION) < 0:
        return None
    if not sources.sight.select(Where(categories=(INSTRUCTION,))).count:
        return None
    return pipeline.run(replace(request, channel="instructions"), sources)
