"""From a checked request to the response: run the flow in both channels, put the answer together.

In: what is asked, the frame, the time, where the reads go. Out: `RecallResponse`. Instructions are
found by the same flow in a channel of their own. It reads, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from recollect.hours import iso
from recollect.index.columns import epoch_microseconds
from recollect.index.selection import Where
from recollect.model import (
    INSTRUCTION,
    Dropped,
    FrameDefinition,
    RecallRequest,
    RecallResponse,
    RecallResult,
    ScoredBlock,
)
from recollect.recall import pipeline
from recollect.recall.authorise import Moment
from recollect.recall.blocks import Chosen
from recollect.recall.pipeline import Sources, Trace
from recollect.recall.verbatim import is_verbatim
from recollect.values import as_told, later

__all__ = ["as_run", "refused", "response", "run", "shown"]


def run(request: RecallRequest, frame: FrameDefinition, moment: Moment, sources: Sources) -> Trace:
    """Answer a request whose values were checked, and keep how it went."""
    orders = _instructions(request, frame, moment, sources)
    if orders is None:
        return pipeline.run(request, frame, moment=moment, sources=sources)
    if request.token_budget is not None:
        left = max(0, request.token_budget - orders.packed.tokens_used)
        request = replace(request, token_budget=left)
    trace = pipeline.run(request, frame, moment=moment, sources=sources)
    return replace(trace, instructions=orders)


def response(trace: Trace) -> RecallResponse:
    """Put the answer together."""
    orders = trace.instructions
    parts = [trace] if orders is None else [trace, orders]
    moment, query = trace.authorised.moment, trace.request.query
    return RecallResponse(
        results=_results(trace.packed.blocks, query),
        instructions=() if orders is None else _results(orders.packed.blocks, query),
        generated_at=iso(moment.now),
        query=later(partial(as_run, trace.request, moment)),
        tokens_used=sum(part.packed.tokens_used for part in parts),
        truncated=any(part.packed.dropped for part in parts),
        degraded=tuple(dict.fromkeys(source for part in parts for source in part.degraded)),
        dropped=later(partial(_dropped, [(part.chosen, part.dropped_since) for part in parts])),
    )


def refused(request: RecallRequest, moment: Moment) -> RecallResponse:
    """Return the answer to a request that somebody refused: none."""
    return RecallResponse(
        results=(),
        instructions=(),
        generated_at=iso(moment.now),
        query=as_run(request, moment),
        tokens_used=0,
        truncated=False,
        degraded=(),
        dropped=(),
    )


def as_run(request: RecallRequest, moment: Moment) -> dict[str, Any]:
    """Return a request as it was run, as plain data."""
    tags = list(request.tags or ())
    return {**request.to_dict(), "tags": tags, "active_hours": moment.active_hours}


def shown(blocks: Iterable[ScoredBlock], query: str | None) -> tuple[ScoredBlock, ...]:
    """Return blocks as they are shown: by rank, whatever the order they were taken in."""
    return tuple(sorted(blocks, key=partial(_rank, query), reverse=True))


def _dropped(parts: Iterable[tuple[Chosen, tuple[Dropped, ...]]]) -> tuple[Dropped, ...]:
    """Return what each channel left out, by whoever chose and by those before and after."""
    return tuple([one for chosen, others in parts for one in (*chosen.dropped, *others)])


def _results(blocks: Iterable[ScoredBlock], query: str | None) -> tuple[RecallResult, ...]:
    return tuple([_result(block) for block in shown(blocks, query)])


def _result(block: ScoredBlock) -> RecallResult:
    return RecallResult(
        fact=block.memory,
        score=block.score,
        why=as_told(block, "why"),
        signals=as_told(block, "signals"),
        risk=block.memory.risks,
        expanded=block.was_expanded,
        guaranteed=block.guaranteed,
        disputed=block.disputed,
        match=block.match,
    )


def _rank(query: str | None, block: ScoredBlock) -> tuple[bool, bool, float, int, str]:
    moment = epoch_microseconds(block.memory.updated_at)
    is_asked = is_verbatim(block.memory, query)
    return (block.guaranteed, is_asked, block.score, moment, block.pak_id)


def _instructions(
    request: RecallRequest, frame: FrameDefinition, moment: Moment, sources: Sources
) -> Trace | None:
    index = sources.index
    if index.code("category", INSTRUCTION) < 0:
        return None
    if not sources.sight.bound().select(Where(categories=(INSTRUCTION,))).count:
        return None
    return pipeline.run(request, frame, moment=moment, sources=sources, channel="instructions")
