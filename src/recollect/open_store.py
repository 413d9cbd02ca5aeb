"""An open store with all that its handles share: index, embedder, clock, caches.

In: a store and the choices made at opening. Out: what a verb needs: a principal's `Sight`, the
time, a commit. Handles of several principals and threads sit on one of these. Readers take no
lock: what they have is of one head of the store, or they look again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect import arguments
from recollect.embed import ModelIdentity, check_model, load_embedder, that_filled
from recollect.embed.ahead import embed_ahead, reads_whole
from recollect.embed.text import model_of, reads_titles
from recollect.errors import StoreClosed
from recollect.frames.cache import FrameCache
from recollect.gate import Gate
from recollect.hours import CheckedClock, iso, moved
from recollect.index.follow import Follower
from recollect.paks.footprint import cache_of
from recollect.policy.trust import UNKNOWN_SOURCE, by_key
from recollect.policy.view import view_of
from recollect.ports.memories import RowFilter
from recollect.recall.pipeline import Sources
from recollect.recall.recipe import RECIPE, SENTENCES
from recollect.recall.sight import Sight, StoreMoved
from recollect.values import dataclass
from recollect.wiping import Wiping

if TYPE_CHECKING:
    from recollect.embed import EmbedderError
    from recollect.hooks.dispatcher import Dispatcher
    from recollect.hooks.on_first_use import HooksOnFirstUse, SharedHooks
    from recollect.hours import HoursMode
    from recollect.index.follow import Current
    from recollect.index.index import MemoryIndex
    from recollect.index.selection import Selection
    from recollect.index.uses import OwnUses
    from recollect.model import Garden, Looked, Place, Principal, Role
    from recollect.policy.sanitizer import SanitizerMode
    from recollect.policy.view import View
    from recollect.ports.clock import Clock
    from recollect.ports.edges import Dispute
    from recollect.ports.embedder import Embedder
    from recollect.ports.store import ClockState, Commit, Head, Store, StoreState, Who
    from recollect.ports.tokens import TokenCounter
    from recollect.recall.recipe import Recipe

__all__ = ["Figures", "HeadFacts", "OpenStore", "fitting_embedder"]


# So often an answer is tried before the store is made to stand still for it.
_ATTEMPTS = 3
# What an open store takes beside its index: rooms, locks, what is prepared for statements.
_OWN_BYTES = 8_000
_WEIGHED_EVERY = 16

Answer = TypeVar("Answer")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class HeadFacts:
    """The few facts a recall needs beside an index, as of the same head, by slot or by name.

    `disputes` are all that are open, `settled` those that count in a tenant.
    """

    index: MemoryIndex | None
    disputes: tuple[tuple[str, str], ...]
    settled: dict[str, tuple[tuple[str, str], ...]]
    views: dict[Principal, View]
    worth: dict[str, NDArray[np.float64] | None]
    trusts: dict[str, dict[str, float]]
    access: dict[str, tuple[Mapping[str, float], Mapping[str, Garden]]]


@dataclass(frozen=True, slots=True)
class Figures:
    """What an operator watches: memories in the index, its bytes, commits it has not seen yet.

    `store` is the id that the store was made with: who has it knows nothing of what is in it.
    """

    memories: int
    held_bytes: int
    behind: int
    store: str


class OpenStore:
    """One open store, for any number of threads."""

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
        hooks: HooksOnFirstUse | SharedHooks,
        new_id: Callable[[], str],
        receipt_days: float | None = None,
        worth_saving: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.store = store
        self.path = path
        self.embedder = embedder
        self.clock: Clock = CheckedClock(clock)
        self.links = links
        self.hours: HoursMode = hours
        self.token_counter = token_counter
        # How similarity is made; only who measures what a stage is worth has another.
        self.recipe: Recipe | None = None
        self.sanitizer: SanitizerMode = sanitizer
        self._gate = Gate()
        cache_path = _cache_path(path)
        self._is_file = cache_path is not None
        self.follower = Follower(
            store,
            cache_path,
            keeps_file=cache_file,
            worth_saving=worth_saving,
            progress=progress,
            pause=self.give_way,
        )
        self._wiping = Wiping(store, self.follower, path)
        self.cached_frames = FrameCache()
        self.embedder_error: EmbedderError | None = None
        self._head_facts = HeadFacts(None, (), {}, {}, {}, {}, {})
        self._lost: tuple[frozenset[int], frozenset[Place]] | None = None
        self._named: tuple[Selection, frozenset[str]] | None = None
        self._checked_model: str | None = None
        self._next_embedder: Embedder | None = None
        self._hooks = hooks
        # For how long answers have a receipt; None for none.
        self.receipt_days = receipt_days
        self._new_id = new_id
        self._closed = False
        # How often nothing but the clock moved since it was weighed, and the index that was.
        self._weighed: tuple[int, MemoryIndex | None] = (_WEIGHED_EVERY, None)
        self._bytes = 0

    def close(self) -> None:
        """Close the store, leaving a warm cache; closing twice is fine."""
        self._hooks.close()
        if not self._closed:
            self._closed = True
            try:
                self.finish_wiping()
                self.follower.save(self._new_id())
            finally:
                self.store.close()

    def rest(self) -> None:
        """Let go of what is quickly had again: connections, and what answers left behind."""
        self.follower.rest()
        self._head_facts = HeadFacts(None, (), {}, {}, {}, {}, {})
        self._named = None
        self.store.rest()

    def held_bytes(self) -> int:
        """Return about how many bytes of memory the store takes, but for its connections.

        It is weighed when its index changed, and now and then: answers leave something behind.
        """
        index, times, found = self.follower.index, *self._weighed
        if index is not found or times >= _WEIGHED_EVERY:
            from recollect.weigh import weigh

            self._bytes = _OWN_BYTES + weigh(index, self._head_facts, self.cached_frames)
            times = 0
        self._weighed = times + 1, index
        return self._bytes

    def figures(self) -> Figures:
        """Return how much is held in memory, and how far it is behind the store."""
        index, state = self.follower.index, self.store.state.read()
        if index is None:
            return Figures(0, 0, state.revision, state.store_id)
        behind = max(0, state.revision - index.revision)
        return Figures(len(index), self.held_bytes(), behind, state.store_id)

    def open_connections(self) -> int:
        """Return how many connections are open while nobody uses them."""
        return self.store.connections()

    def wipe(self) -> tuple[Looked, ...]:
        """Wipe what was forgotten out of every file of the store; return what was looked at."""
        return self._wiping.wipe()

    def finish_wiping(self) -> bool:
        """Wipe what somebody forgot and could not wipe; who reads just now is not waited for."""
        return self._wiping.finish(patient=False)

    def check_open(self) -> None:
        """Refuse to go on with a store that was closed."""
        if self._closed:
            raise StoreClosed(
                f"The memory at {self.path} was closed.", hint="open it again with Recollect.open."
            )

    def need_living_key(self, principal: Principal) -> None:
        """Refuse a principal that came with a key which was revoked, or has expired, since."""
        if principal.key is not None and not self._closed:
            from recollect.policy.keys import invalid_key, is_living

            row = self.store.access.key(principal.key)
            if not is_living(row, now=iso(self.clock.now())):
                raise invalid_key()

    @property
    def shows_plain_words(self) -> bool:
        """Whether what is shown is made plain first."""
        return self.sanitizer != "off"

    @property
    def dispatcher(self) -> Dispatcher:
        """The verbs with their hooks around them."""
        self.check_open()
        return self._hooks.dispatcher()

    @property
    def has_hooks(self) -> bool:
        """Whether anybody has a say in what verbs do."""
        self.check_open()
        return not self._hooks.is_idle

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let the body read one state of the store."""
        self.check_open()
        with self.store.snapshot():
            yield

    @contextmanager
    def commit(self) -> Iterator[Commit]:
        """Write, all of it or nothing; like every write it moves the counter of active hours."""
        self.check_open()
        seconds = self.clock.now()
        with self.store.commit(self._new_id(), at=iso(seconds)) as commit:
            self.follower.saw(commit.before)
            self.store.state.set_clock(moved(commit.before.clock, seconds, mode=self.hours))
            yield commit

    @contextmanager
    def administering(
        self, principal: Principal, act: str, target: str, detail: str = ""
    ) -> Iterator[Commit]:
        """Write in one commit that also says in the audit log who did what."""
        with self.commit() as commit:
            self.need_living_key(principal)
            yield commit
            self.note(principal, act, target, detail)

    def note(self, principal: Principal, act: str, target: str, detail: str = "") -> None:
        """Say in the audit log who does what, as part of the transaction that does it."""
        from recollect.ports.access import Act

        at = iso(self.clock.now())
        self.store.access.note(Act(at, principal.tenant, principal.id, act, target, detail))

    def time_of_writing(self, now: str | None) -> str:
        """Return the time to write down: the clock's, or a caller's own if it is not to come."""
        seconds = self.clock.now()
        return iso(seconds) if now is None else arguments.past(now, seconds)

    def active_hours(self, commit: Commit) -> float:
        """Return how much time the store has lived through when a commit is made."""
        return moved(commit.before.clock, self.clock.now(), mode=self.hours).active_hours

    def current(self) -> Current:
        """Return the index, up to date with everything committed so far, and the store's state."""
        self.check_open()
        current = self.follower.current()
        self.check_model(current.state)
        return current

    def roles_of(self, principal: Principal) -> dict[str, Role]:
        """Return a principal's roles by garden, as far as its permissions let them count."""
        roles = self.store.access.roles_of(principal.tenant, principal.id)
        if not roles:
            return {}
        from recollect.policy.gardens import role_with

        return {slug: role_with(principal, role) for slug, role in roles.items()}

    def sight(self, principal: Principal) -> Sight:
        """Return what a principal may read, as of now."""
        return self.of_one_revision(lambda: self._look(principal))

    def _look(self, principal: Principal) -> Sight:
        current = self.current()
        self.need_living_key(principal)
        facts = self._head_facts
        if facts.index is not current.index or principal not in facts.views:
            facts = self._learnt(principal, current.index)
        trusts = facts.trusts[principal.tenant]
        return Sight(
            facts.views[principal],
            current.index,
            self.store,
            current.state,
            self.clock.now(),
            trusts,
            uses=self._uses((principal.tenant, principal.id), facts, current.index),
        )

    def _uses(self, who: Who, facts: HeadFacts, index: MemoryIndex) -> OwnUses | None:
        """Return what a principal has used: read when it first asks, and followed from then on."""
        if not index.knows_uses(who):
            index.learn_uses(who, self._still(facts, self.store.uses.of(who)))
        return index.uses_of(who)

    def sight_before(self, principal: Principal, commit: Commit) -> Sight:
        """Return what a principal may read as a commit begins.

        Nobody else can write meanwhile, so what is decided by it stays true until the commit.
        """
        self.need_living_key(principal)
        return Sight(
            view_of(principal, self.roles_of(principal)),
            self.follower.before(commit),
            self.store,
            commit.before,
            self.clock.now(),
            head=commit.head,
        )

    def answer_asking(self, query: str | None, answer: Callable[[Embedder], Answer]) -> Answer:
        """Return what is answered with the embedder, which has read the question before.

        Whoever re-embeds the store meanwhile makes the question's vector useless.
        """
        while True:
            embedder = ahead = self.embedder
            if query is not None and self._has_vectors():
                ahead = embed_ahead(embedder, query)
            try:
                return self._gate.pass_through(partial(answer, ahead))
            except StoreMoved:
                if self.embedder is embedder:
                    raise

    def give_way(self) -> None:
        """Let whoever is being answered just now come first.

        Without a file there is one connection, and that one may wait for who would give way.
        """
        if self._is_file:
            self._gate.give_way()

    def _has_vectors(self) -> bool:
        state = self.follower.state
        # A store that has a model has its dimension, 0 for one that makes no vectors.
        return bool((self.current().state if state.model_id is None else state).dimension)

    def of_one_revision(self, answer: Callable[[], Answer]) -> Answer:
        """Return an answer that is of one revision, whoever writes meanwhile.

        It starts again when the store moved between index and texts. While others write without a
        pause, the last attempt reads a state that stands still.
        """
        for _ in range(_ATTEMPTS):
            with suppress(StoreMoved):
                return answer()
        self.check_open()
        with self.follower.standing_still():
            return answer()

    def _learnt(self, principal: Principal, index: MemoryIndex) -> HeadFacts:
        """Return what an index does not know and an answer to a principal needs: in one look."""
        tenant, access = principal.tenant, self.store.access
        head, roles = access.plain_at(tenant, principal.id), {}
        known: tuple[Mapping[str, float], Mapping[str, Garden]] = {}, {}
        if head is None:
            with self.store.snapshot() as state:
                head, roles = state.head, self.roles_of(principal)
                known = access.trusts(tenant), access.gardens(tenant)
                facts = self._facts_at(index, head, self.store.edges.disputes)
        else:
            facts = self._facts_at(index, head, tuple)
        facts.access[tenant] = known
        facts.trusts[tenant] = by_key(known[0])
        facts.views[principal] = _view_of(principal, tuple(sorted(roles.items())))
        return facts

    def _facts(self, index: MemoryIndex) -> HeadFacts:
        facts = self._head_facts
        # Another index of the same head may have its memories in other slots.
        if facts.index is index:
            return facts
        with self.store.snapshot() as state:
            return self._facts_at(index, state.head, self.store.edges.disputes)

    def _facts_at(
        self, index: MemoryIndex, head: Head, disputes: Callable[[], Iterable[Dispute]]
    ) -> HeadFacts:
        """Return the facts about an index, as of a head that must be its own."""
        if head != index.head:
            raise StoreMoved
        facts = self._head_facts
        if facts.index is not index:
            pairs = tuple((one.first, one.second) for one in disputes())
            facts = self._head_facts = HeadFacts(index, pairs, {}, {}, {}, {}, {})
        return facts

    def _still(self, facts: HeadFacts, read: Value) -> Value:
        """Return what was read for some facts, unless the store has moved on from their head."""
        if facts.index is None or self.store.head() != facts.index.head:
            raise StoreMoved
        return read

    def sources(self, sight: Sight, embedder: Embedder, *, tells_damage: bool) -> Sources:
        """Return where the reads of a recall go. With `tells_damage` any damage is told of."""
        kept = sight.state.model_id
        if kept is not None and model_of(kept) != embedder.model_id:
            raise StoreMoved
        facts = self._facts(sight.index)
        return Sources(
            sight=sight,
            embedder=embedder,
            disputes=_settled(sight, facts),
            token_counter=self.token_counter,
            worth=self._worth(sight, facts),
            sanitize=self.shows_plain_words,
            is_damaged=self._is_damaged(sight.view, of_anybody=tells_damage),
            recipe=self.recipe or (SENTENCES if reads_whole(type(embedder)) else RECIPE),
        )

    def _is_damaged(self, view: View, *, of_anybody: bool) -> bool:
        """Return whether rows cannot be read that a view would show, as far as that is known.

        Whoever opened the store hears of all; anybody else must not learn of what is hidden.
        """
        unreadable = self.store.memories.unreadable()
        if not unreadable or of_anybody:
            return bool(unreadable)
        lost = self._lost
        if lost is None or lost[0] != unreadable:
            lost = self._lost = (unreadable, self.store.memories.unreadable_places())
        # Whether a text was one that is blocked cannot be told any more.
        return not view.without_risky and any(map(view.allows, lost[1]))

    def names(self, index: MemoryIndex, selection: Selection) -> frozenset[str]:
        """Return the ids of a selection; the same object as long as it is the same selection."""
        named = self._named
        if named is None or named[0] is not selection:
            named = self._named = (selection, frozenset(index.pak_ids(selection.slots)))
        return named[1]

    def check_model(self, state: StoreState) -> None:
        """Refuse to go on if another process switched the store to another embedder."""
        if state.model_id is None or state.model_id == self._checked_model:
            return
        following = self._next_embedder
        if following is not None and following.model_id == model_of(state.model_id):
            self.embedder = following
        check_model(_model_of(state), self.embedder)
        self._checked_model = state.model_id

    def will_switch_to(self, embedder: Embedder) -> None:
        """Let readers go on with another embedder once the store holds its vectors."""
        self._next_embedder = embedder

    def switched_to(self, embedder: Embedder) -> None:
        """Go on with another embedder, whose vectors the store holds now."""
        self.embedder = embedder
        self.follower.forget()

    def fill_pending(
        self,
        tenant: str | None,
        *,
        owner: str | None = None,
        and_then: Callable[[int], None] | None = None,
    ) -> int:
        """Give some memories of a tenant that wait for a vector one; return how many got it.

        Those of `owner` first; without a tenant, whoever's. They are embedded outside of any
        commit: a slow model keeps nobody waiting. `and_then` is told how many, in that commit.
        """
        from recollect.write.remember import fill_pending, waiting_for_vectors
        from recollect.write.vectors import embed_texts

        look = partial(waiting_for_vectors, self.store, tenant, owner=owner)
        embedder, waiting = self.embedder, look()
        if not waiting:
            return 0
        state = self.store.state.read()
        with_titles = reads_titles(state.model_id)
        texts = [one.text(with_title=with_titles) for one in waiting]
        embedded = embed_texts(embedder, texts, dimension=state.dimension)
        if embedded.error is not None:
            return 0
        with suppress(StoreMoved):
            return fill_pending(
                waiting,
                embedded,
                look_again=look,
                store=self.store,
                embedder=embedder,
                before=self.follower.before,
                links=self.links,
                commit=partial(self.commit_vectors, embedder, with_titles=with_titles),
                and_then=and_then,
            )
        return 0

    @contextmanager
    def commit_vectors(self, embedder: Embedder, *, with_titles: bool) -> Iterator[Commit]:
        """Write what this embedder has read; refuse if the store has other vectors by now."""
        with self.commit() as commit:
            self.check_model(commit.before)
            if self.embedder is not embedder or with_titles != reads_titles(commit.before.model_id):
                raise StoreMoved
            yield commit

    def count_uses(self, who: Who, pak_ids: Sequence[str], clock: ClockState) -> None:
        """Count that a principal used these memories; the index need not read that again."""
        from recollect.write.reinforce import reinforce

        with self.commit() as commit:
            hours = clock.active_hours
            used = reinforce(self.store, who, pak_ids, active_hours=hours, commit=commit)
        before, after = self.follower.take(used, commit)
        facts = self._head_facts
        if after is not None and facts.index is before:
            self._head_facts = replace(facts, index=after)

    def _worth(self, sight: Sight, facts: HeadFacts) -> NDArray[np.float64] | None:
        """Return by how much trust and gardens scale confidence; None if by nothing."""
        tenant, access = sight.view.tenant, self.store.access
        if tenant not in facts.worth:
            known = facts.access.get(tenant)
            trusts, gardens = known or (access.trusts(tenant), access.gardens(tenant))
            worth = _worth(sight.index, self.store, trusts, gardens, tenant)
            # Where nobody is trusted less or more nothing was read just now.
            facts.worth[tenant] = self._still(facts, worth) if trusts or not known else worth
        return facts.worth[tenant]


def _model_of(state: StoreState) -> ModelIdentity | None:
    """Return the model that a store's vectors are of, if it has any."""
    return None if state.model_id is None else ModelIdentity(state.model_id, state.dimension or 0)


def fitting_embedder(
    store: Store,
    wanted: str | Embedder | None,
    *,
    load: Callable[[str | Embedder], Embedder] = load_embedder,
) -> Embedder:
    """Return the embedder to open a store with: the one that is wanted, or that it was filled with.

    One that filled it by an earlier recipe goes on so; one that did not fill it is refused.
    """
    stored = _model_of(store.state.read())
    chosen = that_filled(stored, load(_own_spec(stored) if wanted is None else wanted))
    check_model(stored, chosen)
    return chosen


def _own_spec(stored: ModelIdentity | None) -> str:
    """Return the embedder that comes with an install and may have filled a store."""
    if stored is None or stored.dimension:
        return "minilm" if stored and stored.model_id.startswith("minilm:") else "static"
    return "none"


def _cache_path(path: Path) -> Path | None:
    """Return where the index's cache is kept: beside the file, if the store is in one.

    By whatever name the file was reached, and wherever the process goes, that is one place.
    """
    file = path.resolve()
    return cache_of(file) if file.is_file() else None


@lru_cache(maxsize=256)
def _view_of(principal: Principal, roles: tuple[tuple[str, Role], ...]) -> View:
    """Return what a principal may read: the same value after each write, as long as it is so."""
    return view_of(principal, dict(roles))


def _settled(sight: Sight, facts: HeadFacts) -> tuple[tuple[str, str], ...]:
    """Return the open disputes that count in the tenant of a sight."""
    tenant = sight.view.tenant
    if tenant not in facts.settled:
        facts.settled[tenant] = tuple(pair for pair in facts.disputes if sight.settles(*pair))
    return facts.settled[tenant]


def _worth(
    index: MemoryIndex,
    store: Store,
    trusts: Mapping[str, float],
    gardens: Mapping[str, Garden],
    tenant: str,
) -> NDArray[np.float64] | None:
    lesser = {slug: garden.tier for slug, garden in gardens.items() if garden.tier < 1}
    external = index.column("external")
    if not external.any() and not lesser and all(trust == 1 for trust in trusts.values()):
        return None
    unknown = external.copy()
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
