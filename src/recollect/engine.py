"""`Recollect`: the front door, bound to one principal. It checks, calls the parts in order, and
hands back their answers.

In: a caller's words. Out: frozen values. The clock, the embedder and randomness come in here and
are passed down; nothing below reads them for itself. What handles of one store share is in
`recollect.opened`; what looks after a store is in `recollect.admin`.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, get_args

from recollect import asked
from recollect.admin.gardens import Gardens
from recollect.admin.keys import Keys
from recollect.admin.quarantine import Quarantine
from recollect.admin.trust import Trust
from recollect.embed import ModelIdentity, check_model, load_embedder
from recollect.errors import InvalidInput, NotAllowed, PakIdTaken
from recollect.frames.cache import CacheKey, named
from recollect.frames.registry import FrameRegistry
from recollect.hooks import HookDenied, Hooks
from recollect.hooks.dispatcher import Dispatcher, Touch
from recollect.hooks.events import PreFrame
from recollect.hours import HoursMode, iso, moved
from recollect.model import (
    INSTRUCTION,
    LOCAL_PRINCIPAL,
    Explanation,
    Forgotten,
    FrameDefinition,
    FrameResult,
    Ingested,
    IngestedItem,
    Memory,
    Place,
    Principal,
    RecallRequest,
    RecallResponse,
    Remembered,
    Scope,
    Verb,
    words_of,
)
from recollect.opened import OpenStore, model_of
from recollect.paks import RecallStore, UnknownPak
from recollect.paks.validate import is_id, optional_text
from recollect.policy.permit import chosen_place, known_scope, need, no_garden
from recollect.policy.sanitizer import SanitizerMode, plain
from recollect.policy.trust import UNKNOWN_SOURCE
from recollect.ports.access import Act
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.ports.store import ClockState, Dispute, MemoryStore, Standing
from recollect.recall.explain import denied, explain_frame, explain_recall
from recollect.recall.flags import frame_package, package_flags
from recollect.recall.inspect import Inspection, inspect
from recollect.recall.pack import count_tokens
from recollect.recall.pipeline import Request, Stages, run
from recollect.recall.respond import Moment, Went, refused, response
from recollect.recall.respond import run as answer_to
from recollect.recall.select import SelectQuery, SelectResult, explain, select
from recollect.recall.select.values import checked
from recollect.recall.sight import MemoryPage, Sight
from recollect.stores.sqlite import SqliteStore
from recollect.write import transfer
from recollect.write.draft import ARGUMENTS, derived_id, draft, is_derived
from recollect.write.forget import erasable, need_right_to_erase, verify
from recollect.write.ingest import Outside, admitted, fact_from, items_of
from recollect.write.link import edge
from recollect.write.reembed import reembed
from recollect.write.remember import remember

__all__ = ["Recollect", "SystemClock"]

_BULK = 512


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return the time in Unix seconds."""
        return time.time()


class Recollect:
    """An agent's memory. Open one with `Recollect.open`; use it in a `with` statement."""

    def __init__(
        self,
        opened: OpenStore,
        catalogue: RecallStore,
        principal: Principal,
        *,
        is_opener: bool,
    ) -> None:
        self._opened = opened
        self._store = opened.store
        self._catalogue = catalogue
        self._principal = principal
        self._is_opener = is_opener
        self._frames = FrameRegistry(_FrameRows(opened, principal))

    @classmethod
    def open(
        cls,
        path: Path | str | None = None,
        *,
        principal: Principal | None = None,
        embedder: str | Embedder | None = None,
        clock: Clock | None = None,
        links: bool = True,
        hours: HoursMode = "active",
        token_counter: Callable[[str], int] = count_tokens,
        cache_file: bool = True,
        power_safe: bool = False,
        sanitizer: SanitizerMode = "flag",
        hooks: Path | str | None = None,
    ) -> Recollect:
        """Open the memory at `path`, or at the default place, making it if it is new.

        `principal` is who asks through this handle; without one it is the local principal, who
        needs no set-up and may do everything.

        Without an `embedder`: the one the memory was filled with, if it came with the install;
        a new memory gets the static one. A memory filled with another one refuses.
        `links=False` skips the search for likenesses on every write: no automatic edges, no report
        of near-duplicates. `hours="wall"` lets idle time count. `cache_file=False` keeps no copy of
        the index beside the database. `sanitizer` says what becomes of texts that look like an
        injection: flag marks and quotes them, block leaves them out, off lets them through.
        `hooks` is a file of hooks: programs that may change or refuse what is done. Their daemons
        are started before this returns.

        What a write reported survives the death of the process. With `power_safe` it survives a
        power cut too: every write then waits for the disk.
        """
        asked.one_of("hours", hours, get_args(HoursMode))
        asked.one_of("sanitizer", sanitizer, get_args(SanitizerMode))
        who = LOCAL_PRINCIPAL if principal is None else asked.principal(principal)
        store = SqliteStore.open(path, store_id=uuid.uuid4().hex, power_safe=power_safe)
        try:
            stored = model_of(store.state())
            chosen = load_embedder(_own_embedder(stored) if embedder is None else embedder)
            check_model(stored, chosen)
            dispatcher = Dispatcher(Hooks(asked.file("hooks", hooks), k_max=asked.TOP_K_MAX))
        except BaseException:
            store.close()
            raise
        opened = OpenStore(
            store,
            store.path,
            embedder=chosen,
            clock=clock or SystemClock(),
            links=links,
            hours=hours,
            counter=token_counter,
            cache_path=_cache_path(store.path) if cache_file else None,
            sanitizer=sanitizer,
            dispatcher=dispatcher,
        )
        return cls(opened, store.catalogue, who, is_opener=principal is None)

    def as_principal(self, principal: Principal) -> Recollect:
        """Return a handle on the same store for another principal.

        Only the handle that was opened without a principal gives others; what is opened for one
        principal stays with it. Closing any of them closes the store.
        """
        if not self._is_opener:
            raise NotAllowed(
                f"this handle belongs to {self._principal.id}.",
                hint="ask the one that Recollect.open gave without a principal.",
            )
        who = asked.principal(principal)
        return Recollect(self._opened, self._catalogue, who, is_opener=False)

    @property
    def path(self) -> Path:
        """Where the database file is."""
        return self._opened.path

    @property
    def principal(self) -> Principal:
        """Who asks through this handle."""
        return self._principal

    @property
    def paks(self) -> RecallStore:
        """The catalogue: titles, reason codes, risk flags, full text. It knows no principals."""
        if not self._is_opener:
            raise NotAllowed(
                "the catalogue is not for a handle of one principal.",
                hint="use recall, list and get; they show what the principal may read.",
            )
        return self._catalogue

    @property
    def frames(self) -> FrameRegistry:
        """The frames: register your own, look at, change and delete them."""
        return self._frames

    @property
    def hooks(self) -> Hooks:
        """The hooks: register functions of your own, load the file again, see how they are."""
        if not self._is_opener:
            raise NotAllowed(
                "the hooks are not for a handle of one principal.",
                hint="ask the one that Recollect.open gave without a principal.",
            )
        return self._opened.dispatcher.hooks

    @property
    def gardens(self) -> Gardens:
        """Named access lists: make them, and say who is in them."""
        return Gardens(self._opened, self._principal)

    @property
    def quarantine(self) -> Quarantine:
        """Facts that wait for a moderator."""
        return Quarantine(self._opened, self._principal)

    @property
    def keys(self) -> Keys:
        """Keys by which programs say who they are."""
        return Keys(
            self._opened,
            self._principal,
            of_all=self._is_opener,
            random_bytes=secrets.token_bytes,
        )

    @property
    def trust(self) -> Trust:
        """How far the word of each source counts."""
        return Trust(self._opened, self._principal)

    def close(self) -> None:
        """Close the memory, leaving a warm cache for the next opening; closing twice is fine."""
        self._opened.close(uuid.uuid4().hex)

    def __enter__(self) -> Recollect:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def remember(
        self,
        content: str,
        *,
        pak_id: str | None = None,
        title: str | None = None,
        summary: str = "",
        tags: Sequence[str] = (),
        category: str = "knowledge",
        project: str | None = None,
        topic: str | None = None,
        pak_type: str = "memory",
        source: str | None = None,
        authority: str = "user_approved",
        entity: str | None = None,
        relation: str | None = None,
        value: str | None = None,
        confidence: float = 1.0,
        thread: str | None = None,
        speaker: str | None = None,
        occurred_at: str | None = None,
        valid_until: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        garden: str | None = None,
        now: str | None = None,
    ) -> Remembered:
        """Store a text; it is durable, and visible to the next recall, when this returns.

        The same text in the same place is the same Pak. Its place is the principal's own, unless a
        wider `scope` (with its `team`) or a `garden` is named. `state` is pending when the embedder
        failed: the text is safe, and the vector is made up for later. `occurred_at` may be written
        as people do ("8 May 2023, 1:56 pm"); if nobody can read it, it is kept and reported.
        """
        given = locals()
        arguments = {name: given[name] for name in (*ARGUMENTS, *_PLACE)}
        stamp, clock = self._opened.times(now)
        drafted, touch = self._draft(arguments, stamp, clock, self._place)
        return _told(self._remember([drafted], stamp, clock)[0], touch)

    def remember_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        progress: Callable[[int, int], None] | None = None,
        now: str | None = None,
    ) -> Sequence[Remembered]:
        """Store many memories, a few hundred a transaction; each is durable once reported.

        An item is a text, or a mapping with the arguments of `remember` but `now`. All are checked
        before the first is written.
        """
        stamp, clock = self._opened.times(now)
        drafts = []
        places = functools.cache(self._place)
        for number, item in enumerate(asked.listed(items)):
            try:
                drafts.append(self._draft(asked.arguments(item), stamp, clock, places))
            except InvalidInput as error:
                raise InvalidInput(f"item {number}: {error.message}", hint=error.hint) from error
            except HookDenied as error:
                raise error.of_item(number) from error
        done: list[Remembered] = []
        for start in range(0, len(drafts), _BULK):
            part = [memory for memory, _ in drafts[start : start + _BULK]]
            done += self._remember(part, stamp, clock)
            if progress is not None:
                progress(len(done), len(drafts))
        return [_told(report, touch) for report, (_, touch) in zip(done, drafts, strict=True)]

    def recall(
        self,
        query: str | None = None,
        *,
        frame: str = "evidence",
        top_k: int = 5,
        token_budget: int | None = None,
        tags: Sequence[str] | None = None,
        project: str | None = None,
        entity: str | None = None,
        relation: str | None = None,
        source: str | None = None,
        scope: str | None = None,
        garden: str | None = None,
        min_confidence: float | None = None,
        diversity: float | None = None,
        include_quarantined: bool = False,
    ) -> RecallResponse:
        """Find what answers `query`, best first, with the reasons. Writes nothing.

        Without a query, what matters most by the frame's other weights. `tags` are exact names or
        prefixes ending in %. Everything but the query narrows what is looked through.
        """
        given = locals()
        names = RecallRequest.__dataclass_fields__
        return self.respond(RecallRequest(**{name: given[name] for name in names}))

    def respond(self, request: RecallRequest) -> RecallResponse:
        """Answer a request that came as data; the same as `recall` with its fields."""
        wanted = asked.recall(request)
        return self._opened.dispatcher.recall(wanted, self._respond, self._refuse)

    def frame(
        self,
        name: str,
        query: str | None = None,
        *,
        top_k: int = 5,
        token_budget: int | None = None,
    ) -> FrameResult:
        """Render the text of a frame for a prompt, and count the use of what is in it.

        An answer from the frame's cache is marked `cached` and counts nothing.
        """
        with self._opened.turn():
            definition = self._frames.get(name)
        wanted = _pre_frame(definition, query, top_k, token_budget)
        return self._opened.dispatcher.frame(wanted, functools.partial(self._frame, definition))

    def select(self, query: SelectQuery) -> SelectResult:
        """Pick Paks of the catalogue by words, filters, age and reason codes. Writes nothing.

        The same as `recollect.recall.select.select`, among what the principal may read.
        """
        return self._opened.dispatcher.select(checked(query, self._now()), self._select)

    def explain(
        self,
        pak_id: str,
        query: str | RecallRequest | SelectQuery | None = None,
        *,
        frame: str | None = None,
        top_k: int = 5,
        token_budget: int | None = None,
    ) -> Explanation:
        """Say why a Pak is in an answer, or which stage left it out. Writes nothing.

        The answer is that of `recall(query)`; with `frame`, that of `frame(frame, query)`; for a
        `RecallRequest` that of `respond`, and for a `SelectQuery` that of `select`, whole as they
        are. What may not be read is explained like what is not there.
        """
        name = asked.name("pak_id", pak_id)
        if isinstance(query, SelectQuery):
            return self._explain_selection(name, query)
        if frame is not None:
            return self._explain_frame(name, query, frame, top_k, token_budget)
        if not isinstance(query, RecallRequest):
            query = RecallRequest(query=query, top_k=top_k, token_budget=token_budget)
        wanted, touch = self._opened.dispatcher.before_recall(asked.recall(query))
        if touch.denied is not None:
            return self._denied(name, "recall", wanted.to_dict(), touch)
        with self._opened.turn():
            return explain_recall(name, self._went(wanted))

    def get(self, pak_id: str) -> Memory | None:
        """Return one memory, or None."""
        with self._opened.turn():
            return self._sight().memories([pak_id]).get(pak_id) if is_id(pak_id) else None

    def inspect(self, pak_id: str) -> Inspection | None:
        """Return everything about one Pak: text, codes, flags, links, disputes, uses; or None."""
        with self._opened.turn(), self._catalogue.snapshot():
            sight = self._sight()
            readable = self._readable()
            return inspect(
                pak_id,
                sight,
                self._catalogue,
                may_read=lambda name: readable is None or name in readable,
                active_hours=self._clock_of(sight).active_hours,
            )

    def list(
        self, *, project: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> MemoryPage:
        """Return one page of memories, newest first."""
        with self._opened.turn():
            return self._sight().page(
                project=optional_text("project", project),
                limit=asked.positive("limit", limit, asked.MOST_LISTED),
                cursor=cursor,
            )

    def link(self, pak_id: str, other: str, *, weight: float = 1.0) -> None:
        """Join two memories; recall then follows one to the other."""
        asked.weight(weight)
        need(self._principal, "write")
        self._link(pak_id, other, float(weight), self._two)

    def dispute(self, pak_id: str, other: str, *, note: str = "") -> None:
        """Say that two memories contradict each other: an answer holds the better one only."""
        note = optional_text("note", note) or ""
        need(self._principal, "write")
        with self._opened.turn():
            self._two(pak_id, other)
            self._dispute(pak_id, other, note)

    def resolve(self, pak_id: str, other: str) -> bool:
        """Settle a dispute: both may be answers again. Return whether there was one."""
        need(self._principal, "write")
        with self._opened.turn():
            self._two(pak_id, other)
            with self._opened.writing():
                return self._store.resolve(pak_id, other)

    def disputes(self) -> Sequence[Dispute]:
        """Return the open disputes."""
        with self._opened.turn():
            return self._sight().disputes()

    def forget(
        self,
        pak_id: str | Sequence[str] | None = None,
        *,
        entity: str | None = None,
        scope: str | None = None,
    ) -> Forgotten:
        """Erase memories, or everything about an entity, so that no trace of the text is left.

        The owner of a memory may do so, and an admin of its tenant or garden. `scope` leaves other
        scopes alone. The answer says what was erased; nothing, if there was nothing to erase.
        """
        need_right_to_erase(self._principal)
        wanted, about = asked.forgettable(pak_id, entity)
        chosen = None if scope is None else known_scope(scope)
        erase = functools.partial(self._erase, wanted, about, chosen)
        return self._opened.dispatcher.forget(wanted, about, erase)

    def _erase(self, wanted: Sequence[str], about: str | None, scope: Scope | None) -> Forgotten:
        tenant, who = self._principal.tenant, self._principal.id
        with self._opened.turn():
            ids = wanted if about is None else self._store.about(tenant, about)
            roles = self._store.access.roles_of(tenant, who)
            erased = erasable(self._store.standing(ids), self._principal, roles, scope)
            if not erased:
                return Forgotten(())
            target = about if about is not None else "\n".join(erased)
            with self._opened.administering(
                self._principal, "forget", _hash(target), f"{len(erased)} Paks"
            ):
                edges = self._store.erase(erased)
            verify(self._store, erased)
            self._opened.cached_frames.drop_holding(erased)
            self._opened.follower.wipe()
            return Forgotten(tuple(erased), edges, self._store.scrub())

    def ingest(
        self,
        items: Iterable[Mapping[str, Any]] | str | bytes,
        *,
        source: str,
        scope: str | None = None,
        team: str | None = None,
        garden: str | None = None,
    ) -> Ingested:
        """Take in facts from outside, each at what the word of `source` is worth here.

        A fact that cannot be taken is refused with the reason; the others are stored. Those of a
        source that is little trusted, and orders from anyone, wait in quarantine.
        """
        need(self._principal, "write")
        name = asked.name("source", source)
        place = self._place(scope, team, garden)
        take = functools.partial(self._take_in, source=name, place=place)
        return self._opened.dispatcher.ingest(name, items_of(items), take)

    def _take_in(self, facts: Sequence[object], source: str, place: Place) -> Ingested:
        stamp, clock = self._opened.times()
        with self._opened.turn():
            trust = self._store.access.trusts(place.tenant).get(source, UNKNOWN_SOURCE)
            outside = Outside(source, trust, place, stamp, clock.active_hours)
            taken: list[Memory] = []
            reports: list[IngestedItem] = []
            for item in facts:
                try:
                    memory = fact_from(item, outside)
                    known = self._store.standing([memory.pak_id]).get(memory.pak_id)
                    admit = admitted(memory, known)
                except InvalidInput as error:
                    reports.append(IngestedItem("refused", None, error.message, error.hint))
                    continue
                taken += [] if admit is None else [admit]
                held = (known or memory).status != "active"
                reports.append(IngestedItem("quarantined" if held else "accepted", memory.pak_id))
            for start in range(0, len(taken), _BULK):
                self._remember(taken[start : start + _BULK], stamp, clock)
            self._noted("ingest", source, f"{len(taken)} of {len(reports)}")
        return Ingested(tuple(reports))

    def export(self, principal: Principal | None = None) -> Iterator[str]:
        """Yield what the principal may read as lines of JSON, which `import_` takes back."""
        if principal is not None and principal != self._principal:
            yield from self.as_principal(principal).export()
            return
        # The lock is held for a part at a time: whoever reads slowly keeps nobody waiting.
        parts = transfer.exported(self._sight)
        while True:
            with self._opened.turn():
                lines = next(parts, None)
            if lines is None:
                return
            yield from lines

    def import_(
        self, lines: Iterable[str], *, progress: Callable[[int, int], None] | None = None
    ) -> Sequence[Remembered]:
        """Take back what `export` gave, into the principal's own tenant.

        An admin brings back memories as they were, owners and uses included; anyone else makes
        them its own. All lines are checked before the first is written.
        """
        need(self._principal, "write")
        stamp, clock = self._opened.times()
        with self._opened.turn():
            return transfer.imported(
                transfer.parsed(lines),
                draft=functools.partial(
                    self._imported, now=stamp, clock=clock, places=functools.cache(self._place)
                ),
                remember=lambda memories: self._remember(memories, stamp, clock),
                # Both ends were stored just now, whoever may read them.
                link=lambda one, other, weight: self._link(one, other, weight, self._rows),
                dispute=self._dispute,
                progress=progress,
            )

    def audit(self, *, limit: int = 100, before: int | None = None) -> Sequence[Act]:
        """Return who did what to look after this memory, latest first."""
        need(self._principal, "admin")
        count = asked.positive("limit", limit, asked.MOST_LISTED)
        with self._opened.turn():
            return self._store.access.acts(self._principal.tenant, limit=count, before=before)

    def retry_pending(self) -> int:
        """Try again to embed what waits for a vector; return how many got one."""
        need(self._principal, "write")
        with self._opened.turn():
            filled = 0
            while done := self._opened.fill_pending():
                filled += done
            return filled

    def reembed(
        self, embedder: str | Embedder, *, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Switch to another embedder; the old vectors serve until the new are complete.

        Return how many texts were embedded now. A run that was cut off goes on when called again.
        """
        need(self._principal, "admin")
        chosen = load_embedder(embedder)
        with self._opened.turn():
            done = reembed(self._store, chosen, progress=progress)
            self._opened.switched_to(chosen)
            with self._store.transaction():
                self._store.fire("curate_complete")
            return done

    def reindex(self) -> None:
        """Throw the index away and build it anew from the store."""
        need(self._principal, "admin")
        with self._opened.turn():
            with self._store.transaction():
                self._store.tidy()
                self._store.fire("curate_complete")
            self._opened.follower.forget()
            self._opened.follower.current()

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the store, in words; nothing when all is well."""
        need(self._principal, "admin")
        with self._opened.turn():
            return self._store.check()

    def stats(self) -> dict[str, Any]:
        """Return facts about the memory: how much may be read; to whoever opened it, all of it."""
        with self._opened.turn():
            sight = self._sight()
            if not self._is_opener:
                return {"memories": sight.select().count}
            state = self._store.state()
            error = self._opened.embedder_error
            return {
                **self._store.count(),
                "revision": state.revision,
                "model_id": state.model_id,
                "dimension": state.dimension,
                "reembedding_to": state.next_model_id,
                "active_hours": self._clock_of(sight).active_hours,
                "embedder_error": str(error) if error else None,
                "hooks": self._opened.dispatcher.hooks.stats(),
            }

    def _sight(self) -> Sight:
        """Return what this handle may read, as of now."""
        sight = self._opened.sight(self._principal)
        if self._opened.sanitizer != "block":
            return sight
        return replace(sight, view=replace(sight.view, without_risky=True))

    def _went(self, wanted: RecallRequest) -> Went:
        """Answer a request whose values were checked, and keep how it went."""
        definition = self._frames.get(wanted.frame)
        sight = self._sight()
        moment = Moment(sight.now, self._clock_of(sight).active_hours)
        return answer_to(wanted, definition, moment, self._opened.sources(sight))

    def _explain_frame(
        self, pak_id: str, query: object, frame: str, top_k: int, token_budget: int | None
    ) -> Explanation:
        with self._opened.turn():
            definition = self._frames.get(frame)
        wanted, touch = self._opened.dispatcher.before_frame(
            _pre_frame(definition, query, top_k, token_budget)
        )
        if touch.denied is not None:
            return self._denied(pak_id, "frame", asdict(wanted), touch)
        with self._opened.turn():
            sight = self._sight()
            clock, budget = self._clock_of(sight), wanted.token_budget
            request = _frame_request(definition, wanted.query, wanted.k, budget, sight, clock)
            return explain_frame(pak_id, run(request, self._opened.sources(sight)))

    def _explain_selection(self, pak_id: str, query: SelectQuery) -> Explanation:
        wanted, touch = self._opened.dispatcher.before_select(checked(query, self._now()))
        if touch.denied is not None:
            return self._denied(pak_id, "select", wanted.to_dict(), touch)
        with self._opened.turn(), self._catalogue.snapshot():
            readable = self._readable()
            count = self._opened.count_tokens
            return explain(self._catalogue, pak_id, wanted, readable=readable, count=count)

    def _denied(
        self, pak_id: str, verb: Verb, query: Mapping[str, Any], touch: Touch
    ) -> Explanation:
        reason = touch.denied.reason if touch.denied else ""
        return denied(pak_id, verb, query=query, generated_at=self._now(), reason=reason)

    def _readable(self) -> frozenset[str] | None:
        """Return the Paks that the principal may read, None for all there are.

        What the catalogue holds beside the memories has no place; it is for whoever opened it.
        """
        sight = self._sight()
        selection = sight.select()
        if not self._is_opener:
            return self._opened.names(sight.index, selection)
        if selection.is_all:
            return None
        return self._opened.names(sight.index, selection) | self._store.unplaced()

    def _clock_of(self, sight: Sight) -> ClockState:
        state = self._opened.follower.state
        return moved(state.clock, sight.now, mode=self._opened.hours)

    def _now(self) -> str:
        return iso(self._opened.clock.now())

    def _noted(self, act: str, target: str, detail: str) -> None:
        with self._opened.administering(self._principal, act, target, detail):
            pass

    def _respond(self, wanted: RecallRequest) -> RecallResponse:
        with self._opened.turn():
            return response(self._went(wanted))

    def _refuse(self, wanted: RecallRequest) -> RecallResponse:
        with self._opened.turn():
            sight = self._sight()
            return refused(wanted, Moment(sight.now, self._clock_of(sight).active_hours))

    def _frame(self, definition: FrameDefinition, wanted: PreFrame) -> FrameResult:
        with self._opened.turn():
            sight = self._sight()
            clock = self._clock_of(sight)
            budget = wanted.token_budget
            request = _frame_request(definition, wanted.query, wanted.k, budget, sight, clock)
            key = CacheKey(definition, sight.view, request.query, wanted.k, budget)
            found = self._from_cache(key, sight)
            if found is not None:
                return found
            token = self._token(definition, sight)
            result = _frame_result(run(request, self._opened.sources(sight)))
            self._opened.count_uses([block.pak_id for block in result.blocks], clock)
            if definition.cache is not None:
                ttl = definition.cache.ttl_seconds
                self._opened.cached_frames.put(
                    key, result, now=sight.now, ttl_seconds=ttl, token=token
                )
            return result

    def _select(self, query: SelectQuery) -> SelectResult:
        with self._opened.turn(), self._catalogue.snapshot():
            readable = self._readable()
            count = self._opened.count_tokens
            return select(self._catalogue, query, readable=readable, count=count)

    def _draft(
        self,
        arguments: Mapping[str, Any],
        now: str,
        clock: ClockState,
        places: Callable[..., Place],
    ) -> tuple[Memory, Touch]:
        """Return the memory that the arguments describe, once checked and as the hooks left it."""
        memory = self._checked(arguments, now, clock, places)
        touch = self._opened.dispatcher.remember(memory)
        if touch.delta:
            memory = self._checked({**arguments, **touch.delta}, now, clock, places)
        return memory, touch

    def _checked(
        self,
        arguments: Mapping[str, Any],
        now: str,
        clock: ClockState,
        places: Callable[..., Place],
    ) -> Memory:
        need(self._principal, "write")
        place = places(*(optional_text(name, arguments.get(name)) for name in _PLACE))
        own = {name: value for name, value in arguments.items() if name not in _PLACE}
        memory = draft(own, place=place, now=now, active_hours=clock.active_hours)
        if memory.category == INSTRUCTION:
            need(self._principal, "instruct")
        self._check_id(arguments.get("pak_id"), memory)
        return memory

    def _imported(
        self,
        fields: Mapping[str, Any],
        now: str,
        clock: ClockState,
        places: Callable[..., Place],
    ) -> Memory:
        faithful = "admin" in self._principal.permissions
        given = transfer.arguments(fields)
        if is_derived(given.get("pak_id")) and not faithful:
            given = {**given, "pak_id": None}
        memory, _ = self._draft(given, now, clock, places)
        return transfer.restored(memory, fields, faithful=faithful)

    def _check_id(self, given: object, memory: Memory) -> None:
        """Refuse an id made from another text: asking would tell whether that is there.

        An admin may look after everything of its tenant, and bring back what was exported.
        """
        if not is_derived(given) or "admin" in self._principal.permissions:
            return
        if memory.pak_id != derived_id(memory) and not self._sight().may_read(memory.pak_id):
            raise _taken(memory.pak_id)

    def _place(self, scope: str | None, team: str | None, garden: str | None) -> Place:
        if garden is None:
            return chosen_place(self._principal, scope=scope, team=team)
        tenant = self._principal.tenant
        with self._opened.turn():
            role = self._store.access.roles_of(tenant, self._principal.id).get(garden)
            known = self._store.access.gardens(tenant).get(garden)
        if role is None or known is None:
            raise no_garden(garden)
        return chosen_place(self._principal, scope=scope, team=team, garden=known, role=role)

    def _remember(
        self, memories: Sequence[Memory], now: str, clock: ClockState
    ) -> Sequence[Remembered]:
        with self._opened.turn():
            self._opened.check_model(self._store.state())
            batch = remember(
                memories,
                store=self._store,
                embedder=self._opened.embedder,
                index=self._opened.follower.current() if self._opened.links else None,
                clock=clock,
                now=now,
                may_replace=self._may_replace,
            )
            self._opened.embedder_error = batch.error
            if batch.error is None:
                self._opened.fill_pending()
            self._opened.dispatcher.remembered(memories, batch.remembered)
            return batch.remembered

    def _may_replace(self, pak_id: str, standing: Standing) -> None:
        """Refuse to write over what is not the principal's own."""
        place = standing.place
        if (place.tenant, place.owner) == (self._principal.tenant, self._principal.id):
            return
        raise _taken(pak_id)

    def _from_cache(self, key: CacheKey, sight: Sight) -> FrameResult | None:
        if key.frame.cache is None:
            return None
        token = self._token(key.frame, sight)
        found = self._opened.cached_frames.get(key, now=sight.now, token=token)
        return found if found is not None and _still_holds(found, sight) else None

    def _token(self, frame: FrameDefinition, sight: Sight) -> tuple[object, ...]:
        """Return the state of what a cached answer depends on, as far as the principal sees it."""
        if frame.cache is None:
            return ()
        fired = self._store.events()
        return tuple(
            sight.self_blocks() if event == "self_block_change" else fired.get(event, 0)
            for event in frame.cache.invalidate_on
        )

    def _link(
        self, pak_id: str, other: str, weight: float, find: Callable[[str, str], dict[str, int]]
    ) -> None:
        def join(weight: float) -> None:
            with self._opened.turn():
                rows = find(pak_id, other)
                with self._opened.writing():
                    self._store.put_edges(
                        [edge(rows[pak_id], rows[other], weight, automatic=False)]
                    )

        self._opened.dispatcher.link(pak_id, other, weight, join)

    def _dispute(self, pak_id: str, other: str, note: str) -> None:
        with self._opened.writing():
            self._store.dispute(pak_id, other, note=note, now=self._now())

    def _rows(self, *pak_ids: str) -> dict[str, int]:
        return self._store.row_ids(pak_ids)

    def _two(self, pak_id: str, other: str) -> dict[str, int]:
        if pak_id == other:
            raise InvalidInput(
                f"{pak_id!r} cannot be joined with itself.", hint="name two memories."
            )
        sight = self._sight()
        known = [one for one in (pak_id, other) if is_id(one) and sight.may_read(one)]
        rows = self._store.row_ids(known)
        for one in (pak_id, other):
            if one not in rows:
                raise UnknownPak(f"There is no memory {one!r}.", hint="check the id with get().")
        return rows


_PLACE = ("scope", "team", "garden")


class _FrameRows:
    """The frames of a principal's tenant, as rows of the store; an admin changes them."""

    def __init__(self, opened: OpenStore, principal: Principal) -> None:
        self._opened = opened
        self._store: MemoryStore = opened.store
        self._principal = principal

    def load(self) -> Mapping[str, tuple[FrameDefinition, str | None]]:
        with self._opened.turn():
            return self._store.frames(self._principal.tenant)

    def save(self, definition: FrameDefinition, extends: str | None) -> None:
        need(self._principal, "admin")
        with self._opened.turn(), self._store.transaction():
            self._store.put_frame(self._principal.tenant, definition, extends)

    def delete(self, name: str) -> None:
        need(self._principal, "admin")
        with self._opened.turn(), self._store.transaction():
            self._store.delete_frame(self._principal.tenant, name)


def _pre_frame(
    frame: FrameDefinition, query: object, top_k: object, token_budget: object
) -> PreFrame:
    budget = frame.token_budget if token_budget is None else token_budget
    return PreFrame(
        name=frame.name,
        query=asked.query(query) or "",
        k=asked.top_k(top_k),
        token_budget=asked.positive("token_budget", budget, 10**9),
    )


def _frame_request(
    frame: FrameDefinition,
    query: object,
    top_k: object,
    token_budget: object,
    sight: Sight,
    clock: ClockState,
) -> Request:
    return Request(
        query=asked.query(query),
        frame=frame,
        top_k=asked.top_k(top_k),
        token_budget=asked.positive("token_budget", token_budget, 10**9),
        active_hours=clock.active_hours,
        now=sight.now,
    )


def _frame_result(stages: Stages) -> FrameResult:
    answer, request = stages.answer, stages.request
    packed = answer.packed
    return FrameResult(
        text=packed.text,
        blocks=packed.blocks,
        frame_name=request.frame.name,
        cached=False,
        tokens_used=packed.tokens_used,
        token_budget=request.token_budget or 0,
        over_budget=packed.over_budget,
        dropped=answer.dropped,
        degraded=answer.degraded,
        flags=package_flags(frame_package(stages)),
    )


def _told(report: Remembered, touch: Touch) -> Remembered:
    """Return a report with what hooks had to do with it."""
    return replace(report, meta=touch.report()) if touch.runs else report


def _still_holds(kept: FrameResult, sight: Sight) -> bool:
    """Return whether a kept answer names and says nothing that was forgotten or hidden since."""
    if not all(map(sight.may_read, named(kept))):
        return False
    now = sight.memories(block.pak_id for block in kept.blocks)
    return all(
        [plain(text) for text in words_of(now[block.pak_id])]
        == [plain(text) for text in words_of(block.memory)]
        for block in kept.blocks
    )


def _taken(pak_id: str) -> PakIdTaken:
    return PakIdTaken(
        f"the id {pak_id!r:.80} cannot be had.", hint="choose another pak_id, or leave it out."
    )


def _hash(target: str) -> str:
    """Return what the audit log keeps of what was forgotten."""
    return f"sha256:{hashlib.sha256(target.encode()).hexdigest()}"


def _own_embedder(stored: ModelIdentity | None) -> str:
    return "none" if stored is not None and stored.dimension == 0 else "static"


def _cache_path(path: Path) -> Path | None:
    return None if str(path) == ":memory:" else path.with_name(path.name + ".index")
