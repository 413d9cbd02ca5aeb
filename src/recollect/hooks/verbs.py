"""The verbs that hooks have a say in: one row each.

A row says which events are fired before and after the verb, what they tell, what a change of a hook
is laid over, and where the answer shows who had a part in it. `recollect.hooks.dispatcher` is the
loop over these rows; a verb that is not among them has no hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from recollect.hooks.events import HookEvent
from recollect.hooks.payload import Shape
from recollect.hooks.recall import EXPAND
from recollect.model import (
    ForgetRequest,
    IngestRequest,
    LinkRequest,
    Memory,
    RecallRequest,
)
from recollect.model.request import NOT_OF_FRAMES
from recollect.recall.select import SelectQuery
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.hooks.outcome import HookOutcome
    from recollect.model import (
        Forgotten,
        FrameRequest,
        FrameResult,
        Ingested,
        RecallResponse,
        Remembered,
        RememberRequest,
    )
    from recollect.recall.select import SelectResult

__all__ = [
    "FORGET",
    "FRAME",
    "INGEST",
    "LINK",
    "RECALL",
    "REMEMBER",
    "SELECT",
    "SHAPES",
    "VERBS",
    "HookedVerb",
]

Request = TypeVar("Request")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class HookedVerb(Generic[Request, Answer]):
    """How one verb looks to hooks.

    `describe_before` gives what the payloads are read off; `apply` lays changes over a request, and
    the verb checks what comes of that like any caller's words. `describe_after` gives what `after`
    tells, None when there is nothing to tell.
    """

    name: str
    before: tuple[Shape, ...]
    after: Shape | None = None
    describe_before: Callable[[Request], object] = lambda request: request
    apply: Callable[[Request, Mapping[str, Any]], Any] = lambda request, changes: replace(
        request,  # type: ignore[type-var]
        **changes,
    )
    describe_after: Callable[[Request, Answer], object | None] = lambda _, __: None
    report: Callable[[Answer, HookOutcome], Answer] = lambda answer, _: answer


def _in_answer(name: str) -> Callable[[Any, HookOutcome], Any]:
    """Show hooks in an answer's `meta`, and those that failed among what was missing."""
    return lambda answer, outcome: replace(
        answer,
        degraded=(*answer.degraded, *outcome.degraded),
        meta={**answer.meta, **outcome.meta(name)},
    )


def _in_meta(name: str) -> Callable[[Any, HookOutcome], Any]:
    """Show hooks in the `meta` of a report that has no other place for those that failed."""
    return lambda answer, outcome: replace(
        answer, meta={**answer.meta, **outcome.meta(name), "degraded": list(outcome.degraded)}
    )


@dataclass(frozen=True, slots=True)
class RecallAnswered:
    """What `post_recall` tells."""

    query: str | None
    project: str | None
    top_k: int
    pak_ids: tuple[str, ...]
    tokens_used: int
    truncated: bool
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FrameRendered:
    """What `post_frame` tells."""

    name: str
    query: str | None
    pak_ids: tuple[str, ...]
    tokens_used: int
    cached: bool
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryToStore(Memory):
    """What `pre_remember` tells: the memory, and what was said of it that is no part of it."""

    turn: int | None = None
    supersedes: tuple[str, ...] = ()
    on_conflict: str = "report"

    @classmethod
    def of(cls, request: RememberRequest) -> MemoryToStore:
        """Return what a request wants to store."""
        known = {one.name: getattr(request.memory, one.name) for one in fields(Memory)}
        return cls(
            **known,
            turn=request.arguments.get("turn"),
            supersedes=request.supersedes,
            on_conflict=request.on_conflict,
        )


@dataclass(frozen=True, slots=True)
class MemoryStored:
    """What `post_remember` tells."""

    pak_id: str
    project: str | None
    created: bool
    state: str


@dataclass(frozen=True, slots=True)
class MemoriesErased:
    """What `post_forget` tells."""

    pak_ids: tuple[str, ...]
    entity: str | None


@dataclass(frozen=True, slots=True)
class MemoriesLinked:
    """What `post_link` tells."""

    pak_id: str
    other: str
    weight: float


RECALL: HookedVerb[RecallRequest, RecallResponse] = HookedVerb(
    "recall",
    before=(
        EXPAND,
        Shape.of(
            HookEvent.PRE_RECALL,
            RecallRequest,
            changes=("query", "namespace", "k", "token_budget", "tags"),
            narrows=("tags",),
        ),
    ),
    after=Shape.of(HookEvent.POST_RECALL, RecallAnswered),
    describe_after=lambda request, answer: RecallAnswered(
        query=request.query,
        project=request.project,
        top_k=request.top_k,
        pak_ids=tuple(result.fact.pak_id for result in answer.results),
        tokens_used=answer.tokens_used,
        truncated=answer.truncated,
        degraded=answer.degraded,
    ),
    report=_in_answer("recall"),
)

FRAME: HookedVerb[FrameRequest, FrameResult] = HookedVerb(
    "frame",
    before=(
        Shape.of(
            HookEvent.PRE_FRAME,
            RecallRequest,
            without=NOT_OF_FRAMES,
            also={"name": "frame"},
            changes=("query", "k", "token_budget"),
        ),
    ),
    after=Shape.of(HookEvent.POST_FRAME, FrameRendered),
    describe_before=lambda request: request.asked,
    apply=lambda request, changes: replace(request, asked=replace(request.asked, **changes)),
    describe_after=lambda request, answer: FrameRendered(
        name=request.frame.name,
        query=request.query,
        pak_ids=tuple(block.pak_id for block in answer.blocks),
        tokens_used=answer.tokens_used,
        cached=answer.cached,
        degraded=answer.degraded,
    ),
    report=_in_answer("frame"),
)

SELECT: HookedVerb[SelectQuery, SelectResult] = HookedVerb(
    "select",
    before=(
        Shape.of(
            HookEvent.PRE_SELECT,
            SelectQuery,
            changes=("query", "namespace", "k", "token_budget"),
        ),
    ),
    report=_in_meta("select"),
)

REMEMBER: HookedVerb[RememberRequest, Remembered] = HookedVerb(
    "remember",
    before=(
        Shape.of(
            HookEvent.PRE_REMEMBER,
            MemoryToStore,
            # What the engine decides, and a caller cannot say.
            without=(
                "position",
                "created_at",
                "updated_at",
                "status",
                "decay",
                "reinforced",
                "last_reinforced",
                "risks",
                "superseded_by",
                "place",
            ),
            also={name: f"place.{name}" for name in ("scope", "team", "garden")},
            changes=(
                "content",
                "namespace",
                "title",
                "summary",
                "tags",
                "category",
                "topic",
                "entity",
                "relation",
                "value",
                "confidence",
                "metadata",
            ),
        ),
    ),
    after=Shape.of(HookEvent.POST_REMEMBER, MemoryStored),
    describe_before=MemoryToStore.of,
    apply=lambda request, changes: {**request.arguments, **changes},
    describe_after=lambda request, report: MemoryStored(
        report.pak_id, request.memory.project, report.created, report.state
    ),
    report=_in_meta("remember"),
)

FORGET: HookedVerb[ForgetRequest, Forgotten] = HookedVerb(
    "forget",
    before=(Shape.of(HookEvent.PRE_FORGET, ForgetRequest),),
    after=Shape.of(HookEvent.POST_FORGET, MemoriesErased),
    describe_after=lambda request, report: (
        MemoriesErased(report.pak_ids, request.entity) if report.pak_ids else None
    ),
    report=_in_meta("forget"),
)

LINK: HookedVerb[LinkRequest, None] = HookedVerb(
    "link",
    before=(Shape.of(HookEvent.PRE_LINK, LinkRequest, changes=("weight",)),),
    after=Shape.of(HookEvent.POST_LINK, MemoriesLinked),
    describe_after=lambda request, _: MemoriesLinked(request.pak_id, request.other, request.weight),
)

INGEST: HookedVerb[IngestRequest, Ingested] = HookedVerb(
    "ingest",
    before=(Shape.of(HookEvent.PRE_INGEST, IngestRequest, changes=("facts",)),),
    apply=lambda _, changes: changes["facts"],
    report=_in_meta("ingest"),
)

VERBS: tuple[HookedVerb[Any, Any], ...] = (RECALL, FRAME, SELECT, REMEMBER, FORGET, LINK, INGEST)
SHAPES: Mapping[HookEvent, Shape] = {
    shape.event: shape
    for verb in VERBS
    for shape in (*verb.before, *(() if verb.after is None else (verb.after,)))
}
