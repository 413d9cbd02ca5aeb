"""The one dispatcher: every event of every verb is fired here, and nowhere else.

In: what a verb of the engine is about to do, checked, and the function that does it. Out: what came
of it, with `meta.hooks` when a hook had a part in it. Without hooks, a verb is its function. A read
that is denied is an empty answer that says so; a write that is denied raises `HookDenied`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.hooks.chain import Fired, HookRun
from recollect.hooks.decisions import Denied
from recollect.hooks.events import (
    PostForget,
    PostFrame,
    PostLink,
    PostRecall,
    PostRemember,
    PreForget,
    PreFrame,
    PreIngest,
    PreLink,
    PreRecall,
    PreRemember,
    PreSelect,
)
from recollect.hooks.handle import Hooks
from recollect.model import (
    Forgotten,
    FrameResult,
    Ingested,
    Memory,
    RecallRequest,
    RecallResponse,
    Remembered,
)
from recollect.recall.select import SelectQuery, SelectResult

__all__ = ["Dispatcher", "Touch"]


@dataclass(slots=True)
class Touch:
    """What the hooks had to do with one call of a verb."""

    runs: tuple[HookRun, ...] = ()
    degraded: tuple[str, ...] = ()
    denied: Denied | None = None
    delta: Mapping[str, Any] = field(default_factory=dict)

    def add(self, fired: Fired[Any]) -> None:
        """Take in what a chain came to."""
        self.runs += fired.runs
        self.degraded += fired.degraded
        self.denied = self.denied or fired.denied
        self.delta = {**self.delta, **fired.delta}

    def meta(self, event: str = "") -> dict[str, Any]:
        """Return what an answer says of it; `event` names the denial."""
        found: dict[str, Any] = {"hooks": [run.to_dict() for run in self.runs]}
        if self.denied is not None:
            said = {"reason": self.denied.reason, "code": self.denied.code}
            found["diagnostic"] = {f"{event}_denied": said}
        return found

    def report(self) -> dict[str, Any]:
        """Return what the report of a write says of it: nothing when no hook had a part in it."""
        return {**self.meta(), "degraded": list(self.degraded)} if self.runs else {}


_UNTOUCHED = Touch()


class Dispatcher:
    """The verbs with their hooks around them; `hooks` is the handle that users see."""

    def __init__(self, hooks: Hooks) -> None:
        self.hooks = hooks

    def recall(
        self,
        request: RecallRequest,
        answer: Callable[[RecallRequest], RecallResponse],
        refuse: Callable[[RecallRequest], RecallResponse],
    ) -> RecallResponse:
        """Answer a request, as the hooks rewrote it; `refuse` makes the empty answer."""
        if self.hooks.is_idle:
            return answer(request)
        request, touch = self.before_recall(request)
        response = refuse(request) if touch.denied is not None else answer(request)
        if touch.runs:
            response = replace(
                response,
                degraded=(*response.degraded, *touch.degraded),
                meta={**response.meta, **touch.meta("pre_recall")},
            )
        if touch.denied is None:
            self._recalled(request, response)
        return response

    def frame(
        self,
        asked: PreFrame,
        answer: Callable[[PreFrame], FrameResult],
    ) -> FrameResult:
        """Render a frame, as the hooks rewrote it."""
        if self.hooks.is_idle:
            return answer(asked)
        asked, touch = self.before_frame(asked)
        result = answer(asked) if touch.denied is None else _no_frame(asked)
        if touch.runs:
            result = replace(
                result,
                degraded=(*result.degraded, *touch.degraded),
                meta={**result.meta, **touch.meta("pre_frame")},
            )
        if touch.denied is None:
            self._framed(asked, result)
        return result

    def select(
        self, query: SelectQuery, answer: Callable[[SelectQuery], SelectResult]
    ) -> SelectResult:
        """Select, as the hooks rewrote it."""
        if self.hooks.is_idle:
            return answer(query)
        query, touch = self.before_select(query)
        if touch.denied is None:
            result = answer(query)
        else:
            result = SelectResult((), (), str(query.now or ""), query)
        said = {**touch.meta("pre_select"), "degraded": list(touch.degraded)}
        return replace(result, meta=said) if touch.runs else result

    def before_recall(self, request: RecallRequest) -> tuple[RecallRequest, Touch]:
        """Return a request as the hooks rewrite it, and what they had to do with it."""
        touch = Touch()
        if self.hooks.is_idle:
            return request, touch
        request = self._expanded(request, touch)
        return (request if touch.denied else self._asked(request, touch)), touch

    def before_frame(self, asked: PreFrame) -> tuple[PreFrame, Touch]:
        """Return what is asked of a frame as the hooks rewrite it, and what they had to do."""
        touch = Touch()
        if self.hooks.is_idle:
            return asked, touch
        fired = self.hooks.before(asked)
        touch.add(fired)
        return fired.payload, touch

    def before_select(self, query: SelectQuery) -> tuple[SelectQuery, Touch]:
        """Return a query as the hooks rewrite it, and what they had to do with it."""
        touch = Touch()
        if self.hooks.is_idle:
            return query, touch
        fired = self.hooks.before(
            PreSelect(
                query=query.text,
                namespace=query.project or "",
                k=query.limit,
                token_budget=query.token_budget,
                pak_type=query.pak_type,
            )
        )
        touch.add(fired)
        delta = _named(fired.delta, query="text", namespace="project", k="limit")
        return replace(query, **delta), touch

    def remember(self, memory: Memory) -> Touch:
        """Return what the hooks make of a text that is to be stored; `delta` as arguments."""
        if self.hooks.is_idle:
            return _UNTOUCHED
        touch = Touch()
        fired = self.hooks.allowed(_to_remember(memory))
        touch.add(fired)
        touch.delta = _named(fired.delta, namespace="project")
        return touch

    def remembered(self, memories: Sequence[Memory], reports: Sequence[Remembered]) -> None:
        """Tell of texts that were stored."""
        if self.hooks.is_idle:
            return
        for memory, report in zip(memories, reports, strict=True):
            self.hooks.after(
                PostRemember(report.pak_id, memory.project or "", report.created, report.state)
            )

    def forget(
        self, pak_ids: Sequence[str], entity: str | None, erase: Callable[[], Forgotten]
    ) -> Forgotten:
        """Erase, unless a hook objects."""
        if self.hooks.is_idle:
            return erase()
        touch = Touch()
        touch.add(self.hooks.allowed(PreForget(tuple(pak_ids), entity)))
        done = replace(erase(), meta=touch.report())
        if done:
            self.hooks.after(PostForget(done.pak_ids, entity))
        return done

    def link(self, pak_id: str, other: str, weight: float, join: Callable[[float], None]) -> None:
        """Join two Paks, unless a hook objects."""
        weight = self.before_link(pak_id, other, weight)
        join(weight)
        self.linked(pak_id, other, weight)

    def before_link(self, pak_id: str, other: str, weight: float) -> float:
        """Return the weight that the hooks give a link, unless one objects."""
        if self.hooks.is_idle:
            return weight
        return self.hooks.allowed(PreLink(pak_id, other, weight)).payload.weight

    def linked(self, pak_id: str, other: str, weight: float) -> None:
        """Tell of a link that was made."""
        if not self.hooks.is_idle:
            self.hooks.after(PostLink(pak_id, other, weight))

    def ingest(
        self,
        source: str,
        facts: Sequence[Any],
        take: Callable[[Sequence[Any]], Ingested],
    ) -> Ingested:
        """Take in facts from outside, those that the hooks left."""
        if self.hooks.is_idle:
            return take(facts)
        touch = Touch()
        fired = self.hooks.allowed(PreIngest(source, tuple(facts)))
        touch.add(fired)
        return replace(take(fired.payload.facts), meta=touch.report())

    def _expanded(self, request: RecallRequest, touch: Touch) -> RecallRequest:
        query, namespace = request.query or "", request.project or ""
        outcome = self.hooks.expand(query, namespace, request.top_k)
        if outcome.fired is None:
            return request
        touch.add(outcome.fired)
        if not outcome.fired.delta or outcome.fired.asks:
            return request
        return _rewritten(
            request,
            {
                "query": outcome.query(query),
                "namespace": outcome.namespace(namespace),
                "k": outcome.k(request.top_k),
            },
        )

    def _asked(self, request: RecallRequest, touch: Touch) -> RecallRequest:
        fired = self.hooks.before(
            PreRecall(
                query=request.query or "",
                namespace=request.project or "",
                k=request.top_k,
                frame=request.frame,
                token_budget=request.token_budget,
                tags=tuple(request.tags or ()),
                entity=request.entity,
                relation=request.relation,
                source=request.source,
                scope=request.scope,
                garden=request.garden,
                min_confidence=request.min_confidence,
            )
        )
        touch.add(fired)
        return _rewritten(request, fired.delta)

    def _recalled(self, request: RecallRequest, response: RecallResponse) -> None:
        self.hooks.after(
            PostRecall(
                query=request.query or "",
                namespace=request.project or "",
                k=request.top_k,
                pak_ids=tuple(result.fact.pak_id for result in response.results),
                tokens_used=response.tokens_used,
                truncated=response.truncated,
                degraded=response.degraded,
            )
        )

    def _framed(self, asked: PreFrame, result: FrameResult) -> None:
        self.hooks.after(
            PostFrame(
                name=asked.name,
                query=asked.query,
                pak_ids=tuple(block.pak_id for block in result.blocks),
                tokens_used=result.tokens_used,
                cached=result.cached,
                degraded=result.degraded,
            )
        )


def _named(delta: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """Return a delta under the names that the engine uses; a namespace of "" is none."""
    renamed = {names.get(name, name): value for name, value in delta.items()}
    return {**renamed, **({"project": renamed["project"] or None} if "project" in renamed else {})}


def _rewritten(request: RecallRequest, delta: Mapping[str, Any]) -> RecallRequest:
    """Return a request with a delta laid over it; a blank query is none, as for any caller."""
    if not delta:
        return request
    changed = _named(delta, namespace="project", k="top_k")
    if "query" in changed and not changed["query"].strip():
        changed["query"] = None
    return replace(request, **changed)


def _to_remember(memory: Memory) -> PreRemember:
    same = (name for name in PreRemember.__slots__ if name != "namespace")
    return PreRemember(
        namespace=memory.project or "", **{name: getattr(memory, name) for name in same}
    )


def _no_frame(asked: PreFrame) -> FrameResult:
    return FrameResult(
        text="",
        blocks=(),
        frame_name=asked.name,
        cached=False,
        tokens_used=0,
        token_budget=asked.token_budget,
        over_budget=False,
        dropped=(),
        degraded=(),
    )
