"""An open store with all that its handles share: index, embedder, clock, caches, one lock.

In: a store and the choices made at opening. Out: what a verb needs for one turn: a principal's
`Sight`, the time, a transaction. Handles of several principals sit on one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect import arguments
from recollect.embed import EmbedderError, ModelIdentity, check_model, load_embedder
from recollect.embed.ahead import embed_ahead
from recollect.errors import StoreClosed
from recollect.frames.cache import FrameCache
from recollect.hooks.dispatcher import Dispatcher
from recollect.hours import CheckedClock, HoursMode, iso, moved
from recollect.index.follow import Follower
from recollect.index.index import MemoryIndex
from recollect.index.selection import Selection
from recollect.model import Garden, Principal
from recollect.policy.sanitizer import SanitizerMode
from recollect.policy.trust import UNKNOWN_SOURCE, by_key
from recollect.policy.view import View, view_of
from recollect.ports.access import Act
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.ports.store import ClockState, Commit, RowFilter, Store, StoreState
from recollect.ports.tokens import TokenCounter
from recollect.recall.pipeline import Sources
from recollect.recall.sight import Sight, StoreMoved
from recollect.write.reinforce import reinforce
from recollect.write.remember import fill_pending, waiting_for_vectors
from recollect.write.vectors import embed_texts

__all__ = ["OpenStore", "RevisionFacts", "fitting_embedder"]


# So often an answer is tried before the store is made to stand still for it.
_ATTEMPTS = 3

Answer = TypeVar("Answer")


class RevisionFacts(NamedTuple):
    """The few facts a recall needs beside the index, as of one revision."""

    revision: int
    disputes: tuple[tuple[str, str], ...]
    views: dict[Principal, View]
    worth: dict[str, NDArray[np.float64] | None]
    trusts: dict[str, dict[str, float]]


class OpenStore:
    """One open store. Every use of it happens inside `turn`."""

    def __init__(
        self,
        store: Store,
        path: Path,
        *,
        embedder: Embedder,
        clock: Clock,
        links: bool,
        hours: HoursMode,
        token_counter: TokenCounter,
        cache_file: bool,
        sanitizer: SanitizerMode,
        dispatcher: Dispatcher,
        new_id: Callable[[], str],
    ) -> None:
        self.store = store
        self.path = path
        self.embedder = embedder
        self.clock: Clock = CheckedClock(clock)
        self.links = links
        self.hours: HoursMode = hours
        self.token_counter = token_counter
        self.sanitizer: SanitizerMode = sanitizer
        self.follower = Follower(store, _cache_path(path), keeps_file=cache_file)
        self.cached_frames = FrameCache()
        self.embedder_error: EmbedderError | None = None
        self._revision_facts = RevisionFacts(-1, (), {}, {}, {})
        self._named: tuple[Selection, frozenset[str]] | None = None
        self._checked_model: str | None = None
        self._dispatcher = dispatcher
        self._lock = RLock()
        self._new_id = new_id
        self._closed = False

    def close(self) -> None:
        """Close the store, leaving a warm cache; closing twice is fine."""
        self._dispatcher.hooks.close()
        with self._lock:
            if not self._closed:
                self._closed = True
                try:
                    self.follower.save()
                finally:
                    self.store.close()

    def turn(self) -> RLock:
        """Return the lock that lets one thread at a time use the store."""
        if self._closed:
            raise StoreClosed(
                f"The memory at {self.path} was closed.", hint="open it again with Recollect.open."
            )
        return self._lock

    @property
    def dispatcher(self) -> Dispatcher:
        """The verbs with their hooks around them; they run outside of a turn."""
        self.turn()
        return self._dispatcher

    @contextmanager
    def commit(self) -> Iterator[Commit]:
        """Write, all of it or nothing; like every write it moves the counter of active hours."""
        seconds = self.clock.now()
        with self.turn(), self.store.commit(self._new_id(), at=iso(seconds)) as commit:
            self.follower.saw(commit.before)
            self.store.state.set_clock(moved(commit.before.clock, seconds, mode=self.hours))
            yield commit

    @contextmanager
    def administering(
        self, principal: Principal, act: str, target: str, detail: str = ""
    ) -> Iterator[Commit]:
        """Write in one commit that also says in the audit log who did what."""
        with self.commit() as commit:
            yield commit
            self.note(principal, act, target, detail)

    def note(self, principal: Principal, act: str, target: str, detail: str = "") -> None:
        """Say in the audit log who does what, as part of the transaction that does it."""
        at = iso(self.clock.now())
        self.store.access.note(Act(at, principal.tenant, principal.id, act, target, detail))

    def time_of_writing(self, now: str | None) -> str:
        """Return the time to write down: the clock's, or a caller's own if it is not to come."""
        seconds = self.clock.now()
        return iso(seconds) if now is None else arguments.past(now, seconds)

    def active_hours(self, commit: Commit) -> float:
        """Return how much time the store has lived through when a commit is made."""
        return moved(commit.before.clock, self.clock.now(), mode=self.hours).active_hours

    def index(self) -> MemoryIndex:
        """Return the index, up to date with everything committed so far."""
        current = self.follower.current()
        index = current.index
        self.check_model(current.state)
        if self._revision_facts.revision != index.revision:
            disputes = tuple((one.first, one.second) for one in self.store.edges.disputes())
            self._revision_facts = RevisionFacts(index.revision, disputes, {}, {}, {})
        return index

    def sight(self, principal: Principal) -> Sight:
        """Return what a principal may read, as of now."""
        index = self.index()
        view = self._revision_facts.views.get(principal)
        if view is None:
            roles = self.store.access.roles_of(principal.tenant, principal.id)
            view = self._revision_facts.views[principal] = view_of(principal, roles)
        trusts = self._revision_facts.trusts.get(principal.tenant)
        if trusts is None:
            known = self.store.access.trusts(principal.tenant)
            trusts = self._revision_facts.trusts[principal.tenant] = by_key(known)
        return Sight(view, index, self.store, self.clock.now(), trusts)

    def sight_before(self, principal: Principal, commit: Commit) -> Sight:
        """Return what a principal may read as a commit begins.

        Nobody else can write meanwhile, so what is decided by it stays true until the commit.
        """
        roles = self.store.access.roles_of(principal.tenant, principal.id)
        view = view_of(principal, roles)
        return Sight(view, self.follower.before(commit), self.store, self.clock.now())

    @contextmanager
    def turn_asking(self, query: str | None) -> Iterator[Embedder]:
        """Take a turn; give the embedder, which has read the question before the turn began.

        A model that is slow to read it keeps nobody waiting.
        """
        while True:
            embedder = ahead = self.embedder
            if query is not None and self._has_vectors():
                ahead = embed_ahead(embedder, query)
            with self.turn():
                # Who re-embedded the store meanwhile has made the question's vector useless.
                if self.embedder is embedder:
                    yield ahead
                    return

    def _has_vectors(self) -> bool:
        if not self.follower.state.dimension:
            with self.turn():
                self.follower.current()
        return bool(self.follower.state.dimension)

    def of_one_revision(
        self, answer: Callable[[Sight], Answer], sight: Sight, look: Callable[[], Sight]
    ) -> Answer:
        """Return an answer that is of one revision, whoever writes meanwhile.

        It starts again when the store moved between index and texts. While others write without a
        pause, the last attempt reads a state that stands still.
        """
        for _ in range(_ATTEMPTS):
            try:
                return answer(sight)
            except StoreMoved:
                sight = look()
        with self.store.snapshot():
            return answer(look())

    def sources(self, sight: Sight, embedder: Embedder) -> Sources:
        """Return where the reads of a recall go."""
        return Sources(
            sight=sight,
            embedder=embedder,
            disputes=self._revision_facts.disputes,
            token_counter=self.token_counter,
            worth=self._worth(sight),
            sanitize=self.sanitizer != "off",
        )

    def names(self, index: MemoryIndex, selection: Selection) -> frozenset[str]:
        """Return the ids of a selection; the same object as long as it is the same selection."""
        if self._named is None or self._named[0] is not selection:
            self._named = (selection, frozenset(index.pak_ids(selection.slots)))
        return self._named[1]

    def check_model(self, state: StoreState) -> None:
        """Refuse to go on if another process switched the store to another embedder."""
        if state.model_id is not None and state.model_id != self._checked_model:
            check_model(_model_of(state), self.embedder)
            self._checked_model = state.model_id

    def switched_to(self, embedder: Embedder) -> None:
        """Go on with another embedder, whose vectors the store now holds."""
        self.embedder = embedder
        self._checked_model = None
        self.follower.forget()

    def fill_pending(self) -> int:
        """Give some of the memories that wait for a vector one; return how many got it.

        They are embedded outside of any turn: a slow model keeps nobody waiting.
        """
        with self.turn():
            embedder, waiting = self.embedder, waiting_for_vectors(self.store)
            dimension = self.store.state.read().dimension if waiting else None
        embedded = embed_texts(embedder, [one.text for one in waiting], dimension=dimension)
        if not waiting or embedded.error is not None:
            return 0
        with self.turn():
            if self.embedder is not embedder:
                return 0
            return fill_pending(
                waiting,
                embedded,
                store=self.store,
                embedder=embedder,
                before=self.follower.before,
                links=self.links,
                commit=self.commit,
            )

    def count_uses(self, pak_ids: Sequence[str], clock: ClockState) -> None:
        """Count that these memories were used; the index need not read again what is known here."""
        with self.commit() as commit:
            hours = clock.active_hours
            used = reinforce(self.store, pak_ids, active_hours=hours, commit=commit)
        if self.follower.take(used, commit):
            self._revision_facts = self._revision_facts._replace(revision=used.revision)

    def _worth(self, sight: Sight) -> NDArray[np.float64] | None:
        """Return by how much trust and gardens scale confidence; None if by nothing."""
        tenant = sight.view.tenant
        if tenant not in self._revision_facts.worth:
            self._revision_facts.worth[tenant] = _worth(
                sight.index,
                self.store,
                self.store.access.trusts(tenant),
                self.store.access.gardens(tenant),
                tenant,
            )
        return self._revision_facts.worth[tenant]


def _model_of(state: StoreState) -> ModelIdentity | None:
    """Return the model that a store's vectors are of, if it has any."""
    return None if state.model_id is None else ModelIdentity(state.model_id, state.dimension or 0)


def fitting_embedder(store: Store, wanted: str | Embedder | None) -> Embedder:
    """Return the embedder to open a store with: the one that is wanted, or that it was filled with.

    One that the store was not filled with is refused.
    """
    stored = _model_of(store.state.read())
    own = "none" if stored is not None and stored.dimension == 0 else "static"
    chosen = load_embedder(own if wanted is None else wanted)
    check_model(stored, chosen)
    return chosen


def _cache_path(path: Path) -> Path | None:
    """Return where the index's cache is kept: beside the file, if the store is in one.

    By whatever name the file was reached, and wherever the process goes, that is one place.
    """
    file = path.resolve()
    return file.with_name(file.name + ".index") if file.is_file() else None


def _worth(
    index: MemoryIndex,
    store: Store,
    trusts: Mapping[str, float],
    gardens: Mapping[str, Garden],
    tenant: str,
) -> NDArray[np.float64] | None:
    lesser = {slug: garden.tier for slug, garden in gardens.items() if garden.tier < 1}
    unknown = index.column("external").copy()
    if not unknown.any() and not lesser and all(trust == 1 for trust in trusts.values()):
        return None
    worth = np.ones(index.size)
    for source, trust in sorted(trusts.items()):
        slots = index.slots_of_rows(store.memories.rows(RowFilter(source=source)))
        worth[slots] = np.minimum(worth[slots], trust)
        unknown[slots] = False
    # Our own word counts in full until somebody says otherwise; what came from outside does not.
    worth[unknown] = UNKNOWN_SOURCE
    tiers = [
        lesser.get(place.garden or "", 1.0) if place.tenant == tenant else 1.0
        for place in index.places()
    ]
    scaled: NDArray[np.float64] = worth * np.array(tiers or [1.0])[index.column("place")]
    return scaled
