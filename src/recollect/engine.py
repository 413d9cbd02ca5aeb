"""`Recollect`: the front door. It checks, calls the parts in order, and hands back their answers.

In: a caller's words. Out: frozen values. The clock, the embedder and randomness come in here and
are passed down; nothing below reads them for itself. One lock makes a handle safe for threads.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, NamedTuple, get_args

from recollect import asked
from recollect.embed import EmbedderError, ModelIdentity, check_model, load_embedder
from recollect.errors import InvalidInput, StoreClosed
from recollect.frames.cache import CacheKey, FrameCache
from recollect.frames.registry import FrameRegistry
from recollect.hours import HoursMode, iso, moved
from recollect.index.follow import Follower
from recollect.model import (
    LOCAL,
    FrameDefinition,
    FrameResult,
    Memory,
    RecallAnswer,
    RecallResult,
    Remembered,
)
from recollect.paks import RecallStore, UnknownPak
from recollect.paks.validate import is_id, optional_text
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.ports.store import ClockState, Dispute, MemoryStore, Page, StoreState
from recollect.recall.pack import count_tokens
from recollect.recall.pipeline import Answer, Request, Sources
from recollect.recall.pipeline import recall as answer_to
from recollect.stores.sqlite import SqliteStore
from recollect.write.draft import ARGUMENTS, draft
from recollect.write.link import edge
from recollect.write.reembed import reembed
from recollect.write.reinforce import reinforce
from recollect.write.remember import fill_pending, remember

__all__ = ["Recollect", "SystemClock"]

_TOP_K_MAX = 1000
_BULK = 512
_PENDING_NAMED = 1000


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return the time in Unix seconds."""
        return time.time()


class Recollect:
    """An agent's memory. Open one with `Recollect.open`; use it in a `with` statement."""

    def __init__(
        self,
        store: SqliteStore,
        *,
        embedder: Embedder,
        clock: Clock,
        links: bool,
        hours: HoursMode,
        counter: Callable[[str], int],
        cache_path: Path | None,
    ) -> None:
        self._store: MemoryStore = store
        self._catalogue = store.catalogue
        self._path = store.path
        self._embedder = embedder
        self._clock = clock
        self._links = links
        self._hours: HoursMode = hours
        self._count_tokens = counter
        self._follower = Follower(store, cache_path)
        self._frames = FrameRegistry(_FrameRows(store))
        self._cached_frames = FrameCache()
        self._asides = _Asides(-1, (), ())
        self._embedder_error: EmbedderError | None = None
        self._checked_model: str | None = None
        self._lock = RLock()
        self._closed = False

    @classmethod
    def open(
        cls,
        path: Path | str | None = None,
        *,
        embedder: str | Embedder | None = None,
        clock: Clock | None = None,
        links: bool = True,
        hours: HoursMode = "active",
        token_counter: Callable[[str], int] = count_tokens,
        cache_file: bool = True,
        power_safe: bool = False,
    ) -> Recollect:
        """Open the memory at `path`, or at the default place, making it if it is new.

        Without an `embedder`: the one the memory was filled with, if it came with the install;
        a new memory gets the static one. A memory filled with another one refuses.
        `links=False` skips the search for likenesses on every write: no automatic edges, no report
        of near-duplicates. `hours="wall"` lets idle time count. `cache_file=False` keeps no copy of
        the index beside the database.

        What a write reported survives the death of the process. With `power_safe` it survives a
        power cut too: every write then waits for the disk.
        """
        if hours not in get_args(HoursMode):
            raise InvalidInput(
                f"hours must be active or wall, not {hours!r}.", hint="leave hours out for active."
            )
        store = SqliteStore.open(path, store_id=uuid.uuid4().hex, power_safe=power_safe)
        try:
            stored = _model_of(store.state())
            chosen = load_embedder(_own_embedder(stored) if embedder is None else embedder)
            check_model(stored, chosen)
        except BaseException:
            store.close()
            raise
        return cls(
            store,
            embedder=chosen,
            clock=clock or SystemClock(),
            links=links,
            hours=hours,
            counter=token_counter,
            cache_path=_cache_path(store.path) if cache_file else None,
        )

    @property
    def path(self) -> Path:
        """Where the database file is."""
        return self._path

    @property
    def paks(self) -> RecallStore:
        """The catalogue: titles, reason codes, risk flags, full text."""
        return self._catalogue

    @property
    def frames(self) -> FrameRegistry:
        """The frames: register your own, look at, change and delete them."""
        return self._frames

    def close(self) -> None:
        """Close the memory, leaving a warm cache for the next opening; closing twice is fine."""
        with self._lock:
            if not self._closed:
                self._closed = True
                try:
                    self._follower.save(uuid.uuid4().hex)
                finally:
                    self._store.close()

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
        now: str | None = None,
    ) -> Remembered:
        """Store a text; it is durable, and visible to the next recall, when this returns.

        The same text in the same place is the same Pak. `state` is pending when the embedder
        failed: the text is safe, and the vector is made up for later. `occurred_at` may be written
        as people do ("8 May 2023, 1:56 pm"); if nobody can read it, it is kept and reported.
        """
        given = locals()
        arguments = {name: given[name] for name in ARGUMENTS}
        stamp, clock = self._times(now)
        return self._remember([self._draft(arguments, stamp, clock)], stamp, clock)[0]

    def remember_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        progress: Callable[[int, int], None] | None = None,
        now: str | None = None,
    ) -> list[Remembered]:
        """Store many texts, a few hundred a transaction; each is durable once reported.

        An item is a text, or a mapping with the arguments of `remember` but `now`. All are checked
        before the first is written.
        """
        stamp, clock = self._times(now)
        memories = []
        for number, item in enumerate(_listed(items)):
            try:
                memories.append(self._draft(asked.arguments(item), stamp, clock))
            except InvalidInput as error:
                raise InvalidInput(f"item {number}: {error.message}", hint=error.hint) from error
        done: list[Remembered] = []
        for start in range(0, len(memories), _BULK):
            done += self._remember(memories[start : start + _BULK], stamp, clock)
            if progress is not None:
                progress(len(done), len(memories))
        return done

    def recall(
        self,
        query: str | None = None,
        *,
        frame: str = "evidence",
        top_k: int = 5,
        token_budget: int | None = None,
        tags: Sequence[str] | None = None,
        project: str | None = None,
    ) -> RecallAnswer:
        """Find what answers `query`, best first, with the reasons. Writes nothing.

        Without a query, what matters most by the frame's other weights. `tags` are exact names or
        prefixes ending in %.
        """
        with self._turn():
            definition = self._frames.get(frame)
            sources = self._sources()
            state = self._follower.state
            request, clock = self._request(
                query, definition, top_k, token_budget, tags, project, state=state
            )
            answer = answer_to(request, sources)
        return RecallAnswer(
            results=tuple(
                RecallResult(block.memory, block.score, block.why, block.signals)
                for block in answer.packed.blocks
            ),
            query={
                "query": request.query,
                "frame": definition.name,
                "top_k": top_k,
                "token_budget": token_budget,
                "tags": list(request.tags),
                "project": project,
                "active_hours": clock.active_hours,
            },
            generated_at=iso(request.now),
            tokens_used=answer.packed.tokens_used,
            truncated=bool(answer.packed.dropped),
            degraded=answer.degraded,
            dropped=answer.dropped,
        )

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
        with self._turn():
            definition = self._frames.get(name)
            budget = definition.token_budget if token_budget is None else token_budget
            state = self._store.state()
            request, clock = self._request(
                query, definition, top_k, budget, None, None, state=state
            )
            key = CacheKey(definition, LOCAL, query, top_k, budget)
            found = self._from_cache(key, request.now)
            if found is not None:
                return found
            token = self._events(definition)
            result = _frame_result(
                definition.name, budget, answer_to(request, self._sources(state))
            )
            used = reinforce(self._store, [block.pak_id for block in result.blocks], clock=clock)
            if self._follower.take(used):
                self._asides = self._asides._replace(revision=used.revision)
            if definition.cache is not None:
                ttl = definition.cache.ttl_seconds
                self._cached_frames.put(key, result, now=request.now, ttl_seconds=ttl, token=token)
            return result

    def get(self, pak_id: str) -> Memory | None:
        """Return one memory, or None."""
        with self._turn():
            return self._store.memories([pak_id]).get(pak_id) if is_id(pak_id) else None

    def list(
        self, *, project: str | None = None, limit: int = 100, cursor: str | None = None
    ) -> Page:
        """Return one page of memories, newest first."""
        with self._turn():
            return self._store.page(project=project, limit=limit, cursor=cursor)

    def link(self, pak_id: str, other: str, *, weight: float = 1.0) -> None:
        """Join two memories; recall then follows one to the other."""
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= 1:
            raise InvalidInput(
                f"weight must be above 0 and at most 1, not {weight!r}.", hint="1.0 is strongest."
            )
        with self._turn():
            rows = self._two(pak_id, other)
            with self._writing():
                self._store.put_edges(
                    [edge(rows[pak_id], rows[other], float(weight), automatic=False)]
                )

    def dispute(self, pak_id: str, other: str, *, note: str = "") -> None:
        """Say that two memories contradict each other: an answer holds the better one only."""
        note = optional_text("note", note) or ""
        with self._turn():
            self._two(pak_id, other)
            with self._writing():
                self._store.dispute(pak_id, other, note=note, now=iso(self._clock.now()))

    def resolve(self, pak_id: str, other: str) -> bool:
        """Settle a dispute: both may be answers again. Return whether there was one."""
        with self._turn():
            self._two(pak_id, other)
            with self._writing():
                return self._store.resolve(pak_id, other)

    def disputes(self) -> Sequence[Dispute]:
        """Return the open disputes."""
        with self._turn():
            return self._store.disputes()

    def forget(self, pak_id: str) -> bool:
        """Delete a memory and all that hangs on it; return whether there was one."""
        if not is_id(pak_id):
            return False
        with self._turn(), self._writing():
            return self._store.forget(pak_id)

    def retry_pending(self) -> int:
        """Try again to embed what waits for a vector; return how many got one."""
        with self._turn():
            filled = 0
            while done := self._fill_pending():
                filled += done
            return filled

    def reembed(
        self, embedder: str | Embedder, *, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Switch to another embedder; the old vectors serve until the new are complete.

        Return how many texts were embedded now. A run that was cut off goes on when called again.
        """
        chosen = load_embedder(embedder)
        with self._turn():
            done = reembed(self._store, chosen, progress=progress)
            self._embedder = chosen
            self._checked_model = None
            self._follower.forget()
            with self._store.transaction():
                self._store.fire("curate_complete")
            return done

    def reindex(self) -> None:
        """Throw the index away and build it anew from the store."""
        with self._turn():
            with self._store.transaction():
                self._store.tidy()
                self._store.fire("curate_complete")
            self._follower.forget()
            self._follower.current()

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the store, in words; nothing when all is well."""
        with self._turn():
            return self._store.check()

    def stats(self) -> dict[str, Any]:
        """Return facts about the memory: sizes, model, clock, the embedder's last complaint."""
        with self._turn():
            state = self._store.state()
            return {
                **self._store.count(),
                "revision": state.revision,
                "model_id": state.model_id,
                "dimension": state.dimension,
                "reembedding_to": state.next_model_id,
                "active_hours": moved(
                    state.clock, self._clock.now(), mode=self._hours
                ).active_hours,
                "embedder_error": str(self._embedder_error) if self._embedder_error else None,
            }

    def _turn(self) -> RLock:
        """Return the lock that lets one thread at a time use this handle."""
        if self._closed:
            raise StoreClosed(
                f"The memory at {self._path} was closed.", hint="open it again with Recollect.open."
            )
        return self._lock

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write in one transaction; like every write, it moves the counter of active hours."""
        with self._store.transaction():
            self._store.set_clock(self._times(None)[1])
            yield

    def _draft(self, arguments: Mapping[str, Any], now: str, clock: ClockState) -> Memory:
        return draft(arguments, place=LOCAL, now=now, active_hours=clock.active_hours)

    def _remember(
        self, memories: Sequence[Memory], now: str, clock: ClockState
    ) -> Sequence[Remembered]:
        with self._turn():
            self._check_model(self._store.state())
            batch = remember(
                memories,
                store=self._store,
                embedder=self._embedder,
                index=self._follower.current() if self._links else None,
                clock=clock,
                now=now,
            )
            self._embedder_error = batch.error
            if batch.error is None:
                self._fill_pending()
            return batch.remembered

    def _fill_pending(self) -> int:
        index = self._follower.current() if self._links else None
        return fill_pending(self._store, self._embedder, index=index)

    def _request(
        self,
        query: str | None,
        frame: FrameDefinition,
        top_k: int,
        token_budget: int | None,
        tags: Sequence[str] | None,
        project: str | None,
        *,
        state: StoreState,
    ) -> tuple[Request, ClockState]:
        now = self._clock.now()
        clock = moved(state.clock, now, mode=self._hours)
        request = Request(
            query=asked.query(query),
            frame=frame,
            top_k=asked.positive("top_k", top_k, _TOP_K_MAX),
            token_budget=None
            if token_budget is None
            else asked.positive("token_budget", token_budget, 10**9),
            active_hours=clock.active_hours,
            now=now,
            project=optional_text("project", project),
            tags=asked.patterns(tags),
        )
        return request, clock

    def _check_model(self, state: StoreState) -> None:
        """Refuse to go on if another process switched the store to another embedder."""
        if state.model_id is not None and state.model_id != self._checked_model:
            check_model(_model_of(state), self._embedder)
            self._checked_model = state.model_id

    def _sources(self, state: StoreState | None = None) -> Sources:
        index = self._follower.current(state)
        self._check_model(self._follower.state)
        if self._asides.revision != index.revision:
            self._asides = _asides(self._store, index.revision)
        return Sources(
            index=index,
            embedder=self._embedder,
            disputes=self._asides.disputes,
            pending=self._asides.pending,
            memories=self._store.memories,
            count_tokens=self._count_tokens,
        )

    def _from_cache(self, key: CacheKey, now: float) -> FrameResult | None:
        if key.frame.cache is None:
            return None
        return self._cached_frames.get(key, now=now, token=self._events(key.frame))

    def _events(self, frame: FrameDefinition) -> tuple[int, ...]:
        if frame.cache is None:
            return ()
        fired = self._store.events()
        return tuple(fired.get(event, 0) for event in frame.cache.invalidate_on)

    def _two(self, pak_id: str, other: str) -> dict[str, int]:
        if pak_id == other:
            raise InvalidInput(
                f"{pak_id!r} cannot be joined with itself.", hint="name two memories."
            )
        rows = self._store.row_ids([one for one in (pak_id, other) if is_id(one)])
        for one in (pak_id, other):
            if one not in rows:
                raise UnknownPak(f"There is no memory {one!r}.", hint="check the id with get().")
        return rows

    def _times(self, now: str | None) -> tuple[str, ClockState]:
        """Return when this happens: the time to write down, and the counter of active hours."""
        seconds = self._clock.now()
        with self._turn():
            clock = moved(self._store.state().clock, seconds, mode=self._hours)
        return (iso(seconds) if now is None else asked.past(now, seconds)), clock


class _Asides(NamedTuple):
    """The few facts a recall needs beside the index, as of one revision."""

    revision: int
    disputes: tuple[tuple[str, str], ...]
    pending: tuple[str, ...]


class _FrameRows:
    """The users' frames, as rows of the store."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def load(self) -> Mapping[str, tuple[FrameDefinition, str | None]]:
        return self._store.frames()

    def save(self, definition: FrameDefinition, extends: str | None) -> None:
        with self._store.transaction():
            self._store.put_frame(definition, extends)

    def delete(self, name: str) -> None:
        with self._store.transaction():
            self._store.delete_frame(name)


def _frame_result(name: str, budget: int, answer: Answer) -> FrameResult:
    packed = answer.packed
    return FrameResult(
        text=packed.text,
        blocks=packed.blocks,
        frame_name=name,
        cached=False,
        tokens_used=packed.tokens_used,
        token_budget=budget,
        over_budget=packed.over_budget,
        dropped=answer.dropped,
        degraded=answer.degraded,
    )


def _asides(store: MemoryStore, revision: int) -> _Asides:
    disputes = tuple((one.first, one.second) for one in store.disputes())
    pending = tuple(pak_id for pak_id, _ in store.pending(_PENDING_NAMED))
    return _Asides(revision, disputes, pending)


def _model_of(state: StoreState) -> ModelIdentity | None:
    return None if state.model_id is None else ModelIdentity(state.model_id, state.dimension or 0)


def _own_embedder(stored: ModelIdentity | None) -> str:
    return "none" if stored is not None and stored.dimension == 0 else "static"


def _cache_path(path: Path) -> Path | None:
    return None if str(path) == ":memory:" else path.with_name(path.name + ".index")


def _listed(items: object) -> Iterable[object]:
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput(
            f"items must be a list of memories, not {type(items).__name__}.",
            hint="use remember() for one.",
        )
    return items
