"""Why a Pak is in the answer of a recall or a frame, or the first stage that left it out.

In: a request as it went, and an id. Out: an `Explanation`, read from the very values that made the
answer, so that it cannot tell another story. A Pak that the principal may not read is told as one
that does not exist, and is never named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from recollect.hours import iso
from recollect.index.selection import Where
from recollect.model import (
    INSTRUCTION,
    RETURNED,
    UNKNOWN,
    Contribution,
    Explanation,
    Memory,
    RecallRequest,
    ScoredBlock,
    Verb,
)
from recollect.recall.candidates import SEEDS_PER_RESULT
from recollect.recall.pipeline import Stages, reach_of, shown_signals
from recollect.recall.respond import Went, as_run, shown
from recollect.recall.sight import Sight
from recollect.recall.similarity import parts

__all__ = ["denied", "explain_frame", "explain_recall"]

_DECIMALS = 9
# In the order in which a request looks at them.
_FILTERS = (
    "statuses",
    "project",
    "tag_patterns",
    "narrow_tags",
    "categories",
    "without_category",
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What every explanation of one question has in common."""

    pak_id: str
    verb: Verb
    query: Mapping[str, Any]
    generated_at: str

    def told(self, stage: str, reason: str, **known: Any) -> Explanation:
        return Explanation(
            self.pak_id, self.verb, stage, reason, self.query, self.generated_at, **known
        )


def explain_recall(pak_id: str, went: Went) -> Explanation:
    """Return what became of one Pak in a recall."""
    query = as_run(went.asked, went.moment)
    asked = _Asked(pak_id, "recall", query, iso(went.moment.now))
    memory = _readable(pak_id, went.sight)
    if memory is None:
        return _unknown(asked)
    stages = went.memories
    if memory.category == INSTRUCTION and went.instructions is not None:
        stages = went.instructions
    if not stages.sources.sight.may_read(pak_id):
        return asked.told("filter", f"Filtered out: {_outside(went.asked)}.")
    order = shown(stages.packed.blocks)
    return _explained(asked, memory, stages, order, wanted=went.asked)


def explain_frame(pak_id: str, stages: Stages) -> Explanation:
    """Return what became of one Pak in a frame's text."""
    request = stages.request
    query = {
        "name": request.frame.name,
        "query": request.query,
        "top_k": request.top_k,
        "token_budget": request.token_budget,
        "active_hours": request.active_hours,
    }
    asked = _Asked(pak_id, "frame", query, iso(request.now))
    memory = _readable(pak_id, stages.sources.sight)
    if memory is None:
        return _unknown(asked)
    return _explained(asked, memory, stages, stages.packed.blocks, wanted=None)


def denied(
    pak_id: str, verb: Verb, *, query: Mapping[str, Any], generated_at: str, reason: str
) -> Explanation:
    """Return the explanation of any Pak when a hook refused the whole request."""
    asked = _Asked(pak_id, verb, query, generated_at)
    return asked.told("hook", f"A hook denied the request: {reason}.")


def _readable(pak_id: str, sight: Sight) -> Memory | None:
    return sight.memories([pak_id]).get(pak_id)


def _unknown(asked: _Asked) -> Explanation:
    return asked.told(UNKNOWN, "There is no such Pak that you may read.")


def _explained(
    asked: _Asked,
    memory: Memory,
    stages: Stages,
    order: tuple[ScoredBlock, ...],
    *,
    wanted: RecallRequest | None,
) -> Explanation:
    slot = stages.sources.index.slot_of(asked.pak_id)
    if slot is None:
        return _unknown(asked)
    places = np.flatnonzero(stages.found.slots == slot)
    if not len(places):
        return asked.told(*_no_candidate(memory, slot, stages, wanted))
    place = int(places[0])
    known = _makings(place, stages)
    for rank, block in enumerate(order, start=1):
        if block.pak_id == asked.pak_id:
            reason = f"Returned, {rank} of {len(order)}."
            return asked.told(RETURNED, reason, rank=rank, why=block.why, **known)
    left_out = next((d for d in stages.answer.dropped if d.pak_id == asked.pak_id), None)
    if left_out is None and any(item.ranked.slot == slot for item in stages.chosen.items):
        return _unknown(asked)  # another process has just deleted it
    if left_out is None or left_out.stage == "top_k":
        return _outscored(asked, known, stages)
    if left_out.stage == "suppress":
        known["rival"] = stages.settled.winners[asked.pak_id]
        return asked.told("suppress", f"Lost a dispute: {left_out.reason}.", **known)
    if left_out.stage == "diversity":
        known["rival"] = stages.chosen.repeats[asked.pak_id]
    return asked.told(left_out.stage, f"Left out: {left_out.reason}.", **known)


def _no_candidate(
    memory: Memory, slot: int, stages: Stages, wanted: RecallRequest | None
) -> tuple[str, str]:
    if not stages.reach.mask[slot]:
        return "filter", f"Filtered out: {_filter(memory, slot, stages, wanted)}."
    request = stages.request
    if not stages.selection.mask[slot]:
        window = request.frame.filters.search_window_hours
        passed = request.active_hours - memory.last_reinforced
        return (
            "window",
            f"Outside the window: last used {passed:.1f} active hours ago, and the frame"
            f" {request.frame.name} looks back {window:g}.",
        )
    seeds = request.top_k * SEEDS_PER_RESULT
    if len(stages.found.seeds) < seeds:
        return "candidates", "Not a candidate: it has nothing in common with the question."
    return "candidates", f"Not a candidate: {seeds} others match the question better."


def _filter(memory: Memory, slot: int, stages: Stages, wanted: RecallRequest | None) -> str:
    """Return the first condition of a request that a Pak does not fulfil, in words."""
    sight = stages.sources.sight
    where = reach_of(stages.request, with_quarantined=sight.view.with_quarantined)
    nothing = Where(active_only=False)
    for name in _FILTERS:
        value = getattr(where, name)
        if value != getattr(nothing, name):
            alone = sight.select(replace(nothing, **{name: value}))
            if not alone.mask[slot]:
                return _unfulfilled(name, value, memory)
    asked = {} if wanted is None else asdict(wanted)
    names = ("entity", "relation", "source", "min_confidence")
    given = [f"{name} {asked[name]}" for name in names if asked.get(name) is not None]
    return f"only {', '.join(given)} was asked for"


def _unfulfilled(name: str, value: Any, memory: Memory) -> str:
    if name == "statuses":
        return f"its status is {memory.status}"
    if name == "project":
        return f"its project is {memory.project or 'none'}, not {value}"
    if name == "tag_patterns":
        return f"the frame looks only at tags {', '.join(value)}"
    if name == "narrow_tags":
        return f"only tags {', '.join(value)} were asked for"
    if name == "categories":
        return f"the frame looks only at the categories {', '.join(value)}"
    return f"its category is {memory.category}"


def _outside(asked: RecallRequest) -> str:
    wanted = {"scope": asked.scope, "garden": asked.garden}
    given = [f"the {name} {value}" for name, value in wanted.items() if value is not None]
    return f"only {' and '.join(given)} was asked for"


def _makings(place: int, stages: Stages) -> dict[str, Any]:
    """Return the score of a candidate and what it is made of."""
    scored = stages.scored
    contributions = []
    for field in fields(scored.weights):
        weight = getattr(scored.weights, field.name)
        value = round(float(getattr(scored.signals, field.name)[place]), _DECIMALS)
        contributions.append(
            Contribution(field.name, value, weight, round(weight * value, _DECIMALS))
        )
    return {
        "score": float(scored.scores[place]),
        "contributions": tuple(contributions),
        "details": parts(*shown_signals(stages.found, scored, [place])),
    }


def _outscored(asked: _Asked, known: dict[str, Any], stages: Stages) -> Explanation:
    chosen = [item.ranked for item in stages.chosen.items]
    if not chosen:
        return asked.told("top_k", "Left out: the answer is empty.", **known)
    score = known["score"]
    last = chosen[-1]
    free = [item.ranked for item in stages.chosen.items if not item.guaranteed]
    if not free:
        reason = f"Guaranteed Paks fill all {stages.request.top_k} places."
        return asked.told("top_k", reason, **(known | {"rival": last.pak_id}))
    lowest = min(free)
    gap = round(lowest.score - score, _DECIMALS)
    known |= {"rival": lowest.pak_id, "gap": gap}
    if gap < 0:
        return asked.told(
            "diversity",
            f"Too near in meaning to what was taken already: {lowest.pak_id}, {-gap:.6g} below"
            " it, adds more.",
            **known,
        )
    lost = f"Outscored by {gap:.6g}" if gap > 0 else "Of equal score, but older or of a lower id"
    top_k = stages.request.top_k
    reason = f"{lost}: {lowest.pak_id} is the last of the {top_k} taken."
    return asked.told("top_k", reason, **known)
