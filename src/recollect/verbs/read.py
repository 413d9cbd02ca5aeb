"""The verbs that read: recall, frame, select, get, list, inspect, export.

In: requests whose values were checked. Out: answers, each from inside what the caller may read. A
frame also counts the use of what is in it; all others write nothing.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect import check
from recollect.check import is_id
from recollect.errors import StoreError
from recollect.frames.cache import CacheKey, named
from recollect.frames.registry import with_recipe
from recollect.model import (
    FrameRequest,
    FrameResult,
    words_of,
)
from recollect.policy.permit import need
from recollect.policy.sanitizer import plain
from recollect.recall.authorise import listed
from recollect.recall.clean import clean_inspection, clean_memory, clean_selection
from recollect.recall.pipeline import run
from recollect.recall.respond import refused, response
from recollect.recall.respond import run as answer_to
from recollect.values import dataclass
from recollect.verbs.frames import invalidation_event

if TYPE_CHECKING:
    from recollect.frames.registry import FrameRegistry
    from recollect.model import (
        FrameDefinition,
        ListRequest,
        Memory,
        RecallRequest,
        RecallResponse,
        Version,
    )
    from recollect.model.filters import Filter
    from recollect.ports.embedder import Embedder
    from recollect.recall.inspect import Inspection
    from recollect.recall.listing import MemoryPage
    from recollect.recall.pipeline import Sources, Trace
    from recollect.recall.select import SelectQuery, SelectResult
    from recollect.recall.sight import Sight
    from recollect.verbs.caller import Caller

__all__ = ["Reader"]

_LINES_AT_ONCE = 512
# What is degraded when a frame was rendered and nobody could write down that it was.
_NOT_COUNTED = "reinforcement"

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, eq=False)
class _Rendered:
    """A frame that was rendered just now, and how it would be found again."""

    result: FrameResult
    frame: FrameDefinition
    sight: Sight
    key: CacheKey
    token: tuple[object, ...]


class Reader:
    """Reads for one caller, by the frames of its tenant."""

    def __init__(self, caller: Caller, frames: FrameRegistry) -> None:
        self._caller = caller
        self._open_store = caller.open_store
        self._frames = frames

    def telling(self, looked: Callable[[Sight], None]) -> Reader:
        """Return one that tells what each answer is made from."""
        return Reader(replace(self._caller, looked=looked), self._frames)

    def answer(self, query: str | None, answer: Callable[[Sight, Embedder], Answer]) -> Answer:
        """Return what is answered of one revision, by an embedder that has read the question."""
        return self._open_store.answer_asking(
            query,
            lambda embedder: self._caller.answer(lambda sight: answer(sight, embedder)),
        )

    def respond(self, wanted: RecallRequest) -> RecallResponse:
        """Answer a request."""
        return self.answer(
            wanted.query,
            lambda sight, embedder: response(self.trace_recall(wanted, sight, embedder)),
        )

    def refuse(self, wanted: RecallRequest, _: object) -> RecallResponse:
        """Answer a request that was refused: with nothing, in the shape of an answer."""
        return refused(wanted, self._caller.moment(_at(wanted.now, self._caller.sight())))

    def wanted_frame(
        self, asked: RecallRequest, recipe: Mapping[str, Any] | None = None
    ) -> FrameRequest:
        """Return what is asked of a frame, its budget included, with nothing else checked.

        With a `recipe` it is the frame as it would be with those parts.
        """
        need(self._caller.principal, "read")
        frame = self._frames.get(asked.frame)
        if recipe is not None:
            frame = with_recipe(frame, recipe)
        budget = frame.token_budget if asked.token_budget is None else asked.token_budget
        return FrameRequest(frame, replace(asked, token_budget=budget))

    def frame(self, wanted: FrameRequest) -> FrameResult:
        """Render a frame, or find it among those that were rendered before."""
        if wanted.frame.cache is not None and wanted.query is not None:
            # What is cached needs no embedder.
            cached = self._caller.answer(lambda sight: self._cached(wanted, sight))
            if cached is not None:
                return cached
        rendered = self.answer(wanted.query, functools.partial(self._render, wanted))
        return rendered if isinstance(rendered, FrameResult) else self._use(rendered)

    def preview(self, wanted: FrameRequest) -> FrameResult:
        """Render a frame as of the time that is asked for, if one is."""
        return self.text_of_frame(wanted, wanted.asked.now)

    def text_of_frame(self, wanted: FrameRequest, now: str | None) -> FrameResult:
        """Render a frame as of a time; it is not cached, and no use is counted."""
        return self.answer(
            wanted.query,
            lambda sight, embedder: _rendered(self.trace_frame(wanted, _at(now, sight), embedder)),
        )

    def refuse_frame(self, wanted: FrameRequest, _: object) -> FrameResult:
        """Render a frame that was refused: nothing, in the shape of a frame."""
        return FrameResult(
            text="",
            blocks=(),
            frame_name=wanted.frame.name,
            cached=False,
            tokens_used=0,
            token_budget=wanted.token_budget,
            over_budget=False,
            dropped=(),
            degraded=(),
        )

    def _render(
        self, wanted: FrameRequest, sight: Sight, embedder: Embedder
    ) -> FrameResult | _Rendered:
        """Render a frame, unless that was done before."""
        cached = self._cached(wanted, sight)
        if cached is not None:
            return cached
        return _Rendered(
            _rendered(self.trace_frame(wanted, sight, embedder)),
            wanted.frame,
            sight,
            key=_cache_key(wanted, sight),
            token=self._token(wanted.frame, sight),
        )

    def _use(self, rendered: _Rendered) -> FrameResult:
        """Count the use of what is in a frame, and cache it if it says so."""
        open_store, sight, result = self._open_store, rendered.sight, rendered.result
        try:
            binds = sight.view.binds
            pak_ids = [one.pak_id for one in result.blocks if binds(one.memory.place)]
            open_store.count_uses(self._caller.who, pak_ids, self._caller.clock(sight))
        except StoreError:
            # It was read all the same: whoever asks gets it, and is told that it was not counted.
            return replace(result, degraded=(*result.degraded, _NOT_COUNTED))
        if rendered.frame.cache is not None:
            open_store.cached_frames.put(
                rendered.key,
                result,
                now=sight.now,
                ttl_seconds=rendered.frame.cache.ttl_seconds,
                token=rendered.token,
            )
        return result

    def checked_selection(self, query: SelectQuery) -> SelectQuery:
        """Return what to select, checked and dated."""
        from recollect.recall.select.values import checked

        return checked(query, self._caller.now())

    def refuse_selection(self, query: SelectQuery, _: object) -> SelectResult:
        """Pick nothing, since it was refused."""
        from recollect.recall.select import SelectResult

        return SelectResult((), (), str(query.now or ""), query)

    def select(self, query: SelectQuery) -> SelectResult:
        """Pick Paks of the catalogue, among those that may be read."""
        from recollect.recall.select import select

        with self._caller.standing_still() as sight:
            picked = select(
                self._caller.catalogue,
                query,
                readable=self._caller.selectable(sight),
                token_counter=self._open_store.token_counter,
            )
        return clean_selection(picked) if self._open_store.shows_plain_words else picked

    def get(self, pak_id: str) -> Memory | None:
        """Return one memory, or None."""
        if not is_id(pak_id):
            return None
        return self._caller.answer(lambda sight: sight.memories([pak_id]).get(pak_id))

    def ids(self, beginning: str, *, limit: int) -> tuple[str, ...]:
        """Return the first ids, in their order, that begin so."""
        return self._caller.answer(lambda sight: sight.ids(beginning, limit=limit))

    def page(self, wanted: ListRequest) -> MemoryPage:
        """Return one page of memories."""
        from recollect.recall.listing import page

        def listing(sight: Sight) -> MemoryPage:
            def worth() -> NDArray[np.float64] | None:
                return self._sources(sight, self._open_store.embedder).worth

            return page(*listed(wanted.asked, sight, worth), wanted)

        return self._caller.answer(listing)

    def inspect(self, pak_id: str) -> Inspection | None:
        """Return everything about one memory, or None."""
        from recollect.recall.inspect import inspect

        with self._caller.standing_still() as sight:
            readable = self._caller.readable(sight)
            found = inspect(
                pak_id,
                sight,
                self._caller.catalogue,
                may_read=lambda name: readable is None or name in readable,
                active_hours=self._caller.clock(sight).active_hours,
            )
        return clean_inspection(found) if found and self._open_store.shows_plain_words else found

    def history(self, pak_id: str) -> tuple[Version, ...]:
        """Return the versions of a memory, and of what it superseded."""
        from recollect.recall.history import history

        if not is_id(pak_id):
            return ()
        found = self._caller.answer(lambda sight: history(pak_id, sight))
        if not self._open_store.shows_plain_words:
            return found
        return tuple(replace(one, memory=clean_memory(one.memory)) for one in found)

    def export(self, tree: Filter | None = None) -> Iterator[str]:
        """Yield what may be read as lines of JSON; whoever opened the store is told of the rest."""
        from recollect.write import transfer

        kinds: Counter[str] = Counter()
        tenants: Counter[str] = Counter()
        for part in self._in_turns(transfer.exported(self._caller.sight, tree)):
            kinds[part.kind] += len(part.lines)
            tenants.update(part.tenants)
            yield from part.lines
        if self._caller.is_opener:
            # Its own uses are in the lines of what it used.
            own, store = self._caller.own_uses(), self._caller.store
            kinds.update({"use": len(own.memories), "link_use": len(own.links)})
            with self._caller.open_store.snapshot():
                there = transfer.Tally(dict(store.records.count().items()), store.records.tenants())
            yield from transfer.left_out(there, transfer.Tally(kinds, tenants))

    def export_everything(self) -> Iterator[str]:
        """Yield all of the store as lines of JSON."""
        from recollect.write.whole_export import whole_export

        lines = whole_export(self._caller.store)
        parts = iter(lambda: list(islice(lines, _LINES_AT_ONCE)), [])
        for part in self._in_turns(parts):
            yield from part

    def _in_turns(self, parts: Iterator[Answer]) -> Iterator[Answer]:
        """Yield parts, each read while the store stands still."""
        while True:
            # A part at a time is of one moment: whoever reads slowly keeps nobody waiting.
            with self._caller.standing_still():
                part = next(parts, None)
            if part is None:
                return
            yield part

    def trace_recall(self, wanted: RecallRequest, sight: Sight, embedder: Embedder) -> Trace:
        """Answer a request, and keep how it went."""
        definition = self._frames.get(wanted.frame)
        sight = _at(wanted.now, sight)
        sources = self._sources(sight, embedder)
        return answer_to(wanted, definition, self._caller.moment(sight), sources)

    def trace_frame(self, wanted: FrameRequest, sight: Sight, embedder: Embedder) -> Trace:
        """Put a frame together, and keep how that went."""
        sight = _at(wanted.asked.now, sight)
        sources = self._sources(sight, embedder)
        return run(wanted.asked, wanted.frame, moment=self._caller.moment(sight), sources=sources)

    def _sources(self, sight: Sight, embedder: Embedder) -> Sources:
        tells_damage = self._caller.is_opener
        return self._open_store.sources(sight, embedder, tells_damage=tells_damage)

    def _cached(self, wanted: FrameRequest, sight: Sight) -> FrameResult | None:
        if wanted.frame.cache is None:
            return None
        found = self._open_store.cached_frames.get(
            _cache_key(wanted, sight), now=sight.now, token=self._token(wanted.frame, sight)
        )
        return found if found is not None and _still_holds(found, sight) else None

    def _token(self, frame: FrameDefinition, sight: Sight) -> tuple[object, ...]:
        """Return the state of what a cached answer depends on, as far as the caller sees it."""
        if frame.cache is None:
            return ()
        fired = self._caller.store.state.events()
        return (
            fired.get(invalidation_event(sight.view.tenant, frame.name), 0),
            *(
                sight.self_blocks() if event == "self_block_change" else fired.get(event, 0)
                for event in frame.cache.invalidate_on
            ),
        )


def _cache_key(wanted: FrameRequest, sight: Sight) -> CacheKey:
    frame, view = wanted.frame, sight.view
    asked = wanted.asked
    return CacheKey(
        frame,
        view.tenant,
        view,
        asked.query,
        asked.top_k,
        wanted.token_budget,
        narrowed=json.dumps(wanted.to_dict(), sort_keys=True),
    )


def _at(now: str | None, sight: Sight) -> Sight:
    """Return a sight as of the time that a request says it is; without one, as it is."""
    moment = check.microseconds(now)
    return sight if moment is None else replace(sight, now=moment / 1e6)


def _still_holds(kept: FrameResult, sight: Sight) -> bool:
    """Return whether a kept answer names and says nothing that was forgotten or hidden since."""
    if not all(map(sight.may_read, named(kept))):
        return False
    now = sight.memories(block.pak_id for block in kept.blocks)
    return all(
        now[block.pak_id].status == block.memory.status
        and now[block.pak_id].superseded_by is None
        and [plain(text) for text in words_of(now[block.pak_id])]
        == [plain(text) for text in words_of(block.memory)]
        for block in kept.blocks
    )


def _rendered(trace: Trace) -> FrameResult:
    from recollect.recall.flags import frame_package, package_flags

    packed = trace.packed
    return FrameResult(
        text=packed.text,
        blocks=packed.blocks,
        frame_name=trace.authorised.frame.name,
        cached=False,
        tokens_used=packed.tokens_used,
        token_budget=trace.request.token_budget or 0,
        over_budget=packed.over_budget,
        dropped=trace.dropped,
        degraded=trace.degraded,
        flags=package_flags(frame_package(trace)),
    )
