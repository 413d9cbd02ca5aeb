"""Why a memory is in the answer of a recall or a frame, or the first stage that left it out.

In: the trace of a request, and an id. Out: an `Explanation`, read from the very values that made
the answer, so that it cannot tell another story. A memory that the principal may not read is
explained as one that does not exist, and is never named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.hours import iso
from recollect.index.selection import Where
from recollect.model import (
    INSTRUCTION,
    RETURNED,
    UNKNOWN,
    Contribution,
    Explanation,
    FrameRequest,
)
from recollect.recall.authorise import asked_of, conditions, mask_of, reach_of
from recollect.recall.candidates import SEEDS_PER_RESULT
from recollect.recall.hydrate import shown_signals
from recollect.recall.respond import as_run, shown
from recollect.recall.select.explaining import NO_SUCH_PAK
from recollect.recall.similarity import parts
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import (
        Memory,
        ScoredBlock,
        Verb,
    )
    from recollect.recall.authorise import Authorised
    from recollect.recall.pipeline import Trace
    from recollect.recall.sight import Sight

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
_NARROWING = ("thread", "speaker", "filter")


@dataclass(frozen=True, slots=True)
class _Subject:
    """What every explanation of one question has in common."""

    pak_id: str
    verb: Verb
    query: Mapping[str, Any]
    generated_at: str

    def because(self, stage: str, reason: str, **known: Any) -> Explanation:
        return Explanation(
            self.pak_id, self.verb, stage, reason, self.query, self.generated_at, **known
        )


def explain_recall(pak_id: str, trace: Trace) -> Explanation:
    """Return what became of one memory in a recall."""
    moment = trace.authorised.moment
    query = as_run(trace.request, moment)
    subject = _Subject(pak_id, "recall", query, iso(moment.now))
    memory = _readable(pak_id, trace.sources.sight)
    if memory is None:
        return _unknown(subject)
    if memory.category == INSTRUCTION and trace.instructions is not None:
        trace = trace.instructions
    if not trace.authorised.sight.may_read(pak_id):
        return subject.because("filter", f"Filtered out: {_outside(memory, trace.authorised)}.")
    return _explained(subject, memory, trace, shown(trace.packed.blocks, trace.request.query))


def explain_frame(pak_id: str, trace: Trace) -> Explanation:
    """Return what became of one memory in a frame's text."""
    moment, asked = trace.authorised.moment, FrameRequest(trace.authorised.frame, trace.request)
    query = {**asked.to_dict(), "active_hours": moment.active_hours}
    subject = _Subject(pak_id, "frame", query, iso(moment.now))
    memory = _readable(pak_id, trace.sources.sight)
    if memory is None:
        return _unknown(subject)
    if not trace.authorised.sight.may_read(pak_id):
        return subject.because("filter", f"Filtered out: {_outside(memory, trace.authorised)}.")
    return _explained(subject, memory, trace, trace.packed.blocks)


def denied(
    pak_id: str, verb: Verb, *, query: Mapping[str, Any], generated_at: str, reason: str
) -> Explanation:
    """Return the explanation of any memory when a hook refused the whole request."""
    subject = _Subject(pak_id, verb, query, generated_at)
    return subject.because("hook", f"A hook denied the request: {reason}.")


def _readable(pak_id: str, sight: Sight) -> Memory | None:
    return sight.memories([pak_id]).get(pak_id)


def _unknown(subject: _Subject) -> Explanation:
    return subject.because(UNKNOWN, NO_SUCH_PAK)


def _explained(
    subject: _Subject,
    memory: Memory,
    trace: Trace,
    order: tuple[ScoredBlock, ...],
) -> Explanation:
    slot = trace.sources.index.slot_of(subject.pak_id)
    if slot is None:
        return _unknown(subject)
    places = np.flatnonzero(trace.candidates.slots == slot)
    if not len(places):
        successor = _successor(memory, slot, trace.authorised)
        if successor is not None:
            reason = f"Left out: superseded by {successor}."
            return subject.because("superseded", reason, rival=successor)
        return subject.because(*_no_candidate(memory, slot, trace))
    place = int(places[0])
    known = _signal_parts(place, trace)
    for rank, block in enumerate(order, start=1):
        if block.pak_id == subject.pak_id:
            reason = f"Returned, {rank} of {len(order)}."
            return subject.because(RETURNED, reason, rank=rank, why=block.why, **known)
    left_out = next((d for d in trace.dropped if d.pak_id == subject.pak_id), None)
    if left_out is None and any(one.slot == slot for one in trace.chosen.ranked):
        return _unknown(subject)  # another process has just deleted it
    if left_out is None or left_out.stage == "top_k":
        return _outscored(subject, known, trace)
    if left_out.stage == "suppress":
        known["rival"] = trace.settled.winners[subject.pak_id]
        return subject.because("suppress", f"Lost a dispute: {left_out.reason}.", **known)
    if left_out.stage == "diversity":
        known["rival"] = trace.chosen.repeats[subject.pak_id]
    return subject.because(left_out.stage, f"Left out: {left_out.reason}.", **known)


def _successor(memory: Memory, slot: int, authorised: Authorised) -> str | None:
    """Return what superseded a memory, if that is what keeps it out of the answer."""
    current = authorised.sight.select(Where(active_only=False, current_only=True))
    return None if current.mask[slot] else memory.superseded_by


def _no_candidate(memory: Memory, slot: int, trace: Trace) -> tuple[str, str]:
    authorised = trace.authorised
    if not authorised.reach.mask[slot]:
        unfulfilled = _filter(memory, slot, authorised)
        if unfulfilled is None:
            return (
                "window",
                f"Outside the window: it is from {memory.occurred_at or memory.created_at}.",
            )
        return "filter", f"Filtered out: {unfulfilled}."
    if not authorised.selection.mask[slot]:
        window = authorised.frame.filters.search_window_hours
        passed = authorised.moment.active_hours - memory.last_reinforced
        return (
            "window",
            f"Outside the window: last used {passed:.1f} active hours ago, and the frame"
            f" {authorised.frame.name} looks back {window:g}.",
        )
    seeds = authorised.request.top_k * SEEDS_PER_RESULT
    if len(trace.candidates.seeds) < seeds:
        return "candidates", "Not a candidate: it has nothing in common with the question."
    return "candidates", f"Not a candidate: {seeds} others match the question better."


def _filter(memory: Memory, slot: int, authorised: Authorised) -> str | None:
    """Return the first condition of a request that a memory does not fulfil, in words.

    None if that is when it is from.
    """
    request, sight = authorised.request, authorised.sight
    where = reach_of(
        request,
        authorised.frame,
        authorised.channel,
        with_quarantined=sight.view.with_quarantined,
    )
    nothing = Where(active_only=False)
    for name in _FILTERS:
        value = getattr(where, name)
        if value != getattr(nothing, name):
            alone = sight.select(replace(nothing, **{name: value}))
            if not alone.mask[slot]:
                return _unfulfilled(name, value, memory)
    among = mask_of(request, sight, authorised.worth)
    if sight.select(among=among, tree=asked_of(request, whenever=True)).mask[slot]:
        return None
    given = [f"{name} {value}" for name, value in conditions(request).items()]
    given += [f"{name} {value}" for name in _NARROWING if (value := getattr(request, name))]
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


def _outside(memory: Memory, authorised: Authorised) -> str:
    view = authorised.sight.view
    if view.own_only and not view.binds(memory.place):
        return "another tenant's is no instruction here, and not about oneself"
    wanted = {"scope": authorised.request.scope, "garden": authorised.request.garden}
    given = [f"the {name} {value}" for name, value in wanted.items() if value is not None]
    return f"only {' and '.join(given)} was asked for"


def _signal_parts(place: int, trace: Trace) -> dict[str, Any]:
    """Return the score of a candidate and what it is made of."""
    ranking = trace.ranking
    contributions = []
    for field in fields(ranking.weights):
        weight = getattr(ranking.weights, field.name)
        value = round(float(getattr(ranking.signals, field.name)[place]), _DECIMALS)
        contributions.append(
            Contribution(field.name, value, weight, round(weight * value, _DECIMALS))
        )
    if ranking.sequence is not None and ranking.sequence.added[place]:
        added = round(float(ranking.sequence.added[place]), _DECIMALS)
        name = f"{trace.authorised.asked.order} first"
        contributions.append(Contribution(name, added, 1.0, added))
    return {
        "score": float(ranking.scores[place]),
        "contributions": tuple(contributions),
        "details": parts(
            shown_signals(trace.candidates, ranking, [place])[0], trace.candidates.tables
        ),
    }


def _outscored(subject: _Subject, known: dict[str, Any], trace: Trace) -> Explanation:
    chosen = trace.chosen.ranked
    if not chosen:
        return subject.because("top_k", "Left out: the answer is empty.", **known)
    score = known["score"]
    last = chosen[-1]
    free = trace.chosen.others
    if not free:
        reason = f"Guaranteed memories fill all {trace.request.top_k} places."
        return subject.because("top_k", reason, **(known | {"rival": last.pak_id}))
    lowest = min(free)
    gap = round(lowest.score - score, _DECIMALS)
    known |= {"rival": lowest.pak_id, "gap": gap}
    if gap < 0:
        return subject.because(
            "diversity",
            f"Too near in meaning to what was taken already: {lowest.pak_id}, {-gap:.6g} below"
            " it, adds more.",
            **known,
        )
    lost = f"Outscored by {gap:.6g}" if gap > 0 else "Of equal score, but older or of a lower id"
    top_k = trace.request.top_k
    reason = f"{lost}: {lowest.pak_id} is the last of the {top_k} taken."
    return subject.because("top_k", reason, **known)
