"""`Node`: many stores in one process, each opened when it is first used and kept while it is warm.

In: names of stores. Out: `Recollect` handles, lent for as long as a `with` lasts. It counts the
bytes that its stores take and lets go of those that were not used for longest. Nothing of another
store is read, locked or loaded to answer: each has a lock of its own, and there is none for all.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from heapq import nsmallest
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from recollect import arguments, check
from recollect.embed import load_embedder
from recollect.engine import Recollect, be_ready_to_fork
from recollect.errors import StoreBusy, StoreClosed, StoreError, StoreReplaced
from recollect.hooks.on_first_use import HooksOnFirstUse, SharedHooks
from recollect.hours import iso
from recollect.open_store import Figures
from recollect.opening import Choices, SystemClock, open_caller
from recollect.recall.pack import count_tokens
from recollect.settings import RECEIPT_DAYS
from recollect.values import dataclass
from recollect.wiring import wire_stores

if TYPE_CHECKING:
    from collections.abc import Hashable

    from recollect.hooks import Hooks
    from recollect.hours import HoursMode
    from recollect.policy.sanitizer import SanitizerMode
    from recollect.ports.clock import Clock
    from recollect.ports.embedder import Embedder
    from recollect.ports.tokens import TokenCounter
    from recollect.verbs.caller import Caller
    from recollect.wiring import Stores

__all__ = ["Node", "NodeUsage", "StoreUsage"]

_log = logging.getLogger("recollect.node")

# What all stores may take together unless somebody says otherwise.
_MEMORY_LIMIT = 512 * 1024 * 1024
_LARGEST_LIMIT = 1 << 60
# A connection takes two or three files: far less than the 1,024 that a process may usually have.
_MOST_CONNECTIONS = 64
# What SQLite takes for one: the tables as it knows them, and pages.
_CONNECTION_BYTES = 160_000
_LOOKED_AT_ONCE = 64
_LOOK_S = 0.1
# So many stores at a time are put to rest, or let go, by one who gives one back.
_AT_A_TIME = 4


@dataclass(frozen=True, slots=True)
class StoreUsage:
    """What one store takes: memory and connections are 0 while it is not held."""

    name: str
    is_held: bool
    users: int
    memory_bytes: int
    connections: int
    disk_bytes: int
    last_used: str | None


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """What all stores that are held take together."""

    held: int
    users: int
    memory_bytes: int
    memory_limit_bytes: int
    connections: int


class Node:
    """Stores by name. Use it in a `with` statement, from any number of threads."""

    def __init__(
        self,
        folder: Path | str,
        *,
        memory_limit_bytes: int = _MEMORY_LIMIT,
        most_connections: int = _MOST_CONNECTIONS,
        embedder: str | Embedder | None = None,
        clock: Clock | None = None,
        links: bool = True,
        hours: HoursMode = "active",
        token_counter: TokenCounter = count_tokens,
        cache_file: bool = True,
        power_safe: bool = False,
        timeout: float = 5.0,
        any_filesystem: bool = False,
        sanitizer: SanitizerMode = "flag",
        hooks: Path | str | None = None,
        receipts: bool = False,
        receipt_days: float = RECEIPT_DAYS,
    ) -> None:
        """Serve the stores below `folder`, which is made if it is new; none is opened yet.

        `memory_limit_bytes` is what stores that nobody uses may take together, and
        `most_connections` how many connections to their files stay open meanwhile. All else is as
        for `Recollect.open`, and holds for every store.
        """
        self._limit = check.whole("memory_limit_bytes", memory_limit_bytes, most=_LARGEST_LIMIT)
        self._most_connections = check.whole("most_connections", most_connections, most=1 << 20)
        self._clock = clock or SystemClock()
        heard = HooksOnFirstUse(arguments.file("hooks", hooks), k_max=arguments.TOP_K_MAX)
        self._choices = Choices(
            embedder=embedder,
            clock=self._clock,
            links=links,
            hours=hours,
            token_counter=token_counter,
            cache_file=cache_file,
            power_safe=power_safe,
            timeout=timeout,
            any_filesystem=any_filesystem,
            sanitizer=sanitizer,
            receipts=receipts,
            receipt_days=receipt_days,
            # A store that was let go is opened again from its file, however small it is.
            worth_saving=1,
            load=_Embedders(),
            heard=SharedHooks(heard),
        )
        self._how = self._choices.how()
        self._hooks = heard
        self._stores: Stores = wire_stores(folder)
        self._held: dict[str, _Held] = {}
        self._trimmer: weakref.ref[_Loan] | None = None
        self._ticks = count(1)
        self._closed = False
        _NODES.add(self)
        be_ready_to_fork()

    def names(self) -> tuple[str, ...]:
        """Return the names of all stores, in order."""
        self._check_open()
        return self._stores.names()

    def create(self, name: str) -> None:
        """Make a store; one that is there is left as it is, and refused with StoreExists."""
        self._check_open()
        wanted = check.store_name("store", name)
        self._stores.make(wanted, store_id=uuid.uuid4().hex, how=self._how)

    @contextmanager
    def store(self, name: str) -> Iterator[Recollect]:
        """Lend the memory of this name for as long as the `with` lasts.

        It is opened if nobody has used it lately. What is lent is refused once the `with` is over,
        and so is every handle that was made of it; closing it does nothing.
        """
        wanted = check.store_name("store", name)
        loan = _Loan(wanted)
        held, caller = self._taken(wanted, loan)
        try:
            yield Recollect(replace(caller, check_lent=loan.check, store_name=wanted))
        except StoreReplaced:
            held.is_stale = True
            raise
        finally:
            self._given_back(held, loan)

    def drop(self, name: str, *, timeout: float | None = None) -> None:
        """Remove a store with all its files, once nobody uses it.

        While somebody of this process does, it waits `timeout` seconds, as long as a write does
        unless it is said, and is then refused with StoreBusy. Other processes find it gone.
        """
        self._check_open()
        wanted = check.store_name("store", name)
        patience = (
            self._how.timeout_s if timeout is None else check.number("timeout", timeout, least=0)
        )
        held = self._entry(wanted)
        with held.emptied(patience):
            self._let_go(held)
            self._stores.remove(wanted, removal_id=uuid.uuid4().hex)

    def usage(self) -> NodeUsage:
        """Return what the stores that are held take together."""
        held = [one for one in [*self._held.values()] if one.caller is not None]
        return NodeUsage(
            held=len(held),
            users=sum(one.users() for one in held),
            memory_bytes=sum(one.memory_bytes for one in held),
            memory_limit_bytes=self._limit,
            connections=sum(one.connections for one in held),
        )

    def figures(self) -> Figures:
        """Return the most memories in an index, all bytes, and the commits of who is behind most.

        Of stores that are held; one that is opened or let go of right now is left out.
        """
        found = []
        for held in [*self._held.values()]:
            if held.lock.acquire(blocking=False):
                try:
                    if held.caller is not None:
                        found.append(held.caller.open_store.figures())
                finally:
                    held.lock.release()
        return Figures(
            max((one.memories for one in found), default=0),
            sum(one.held_bytes for one in found),
            max((one.behind for one in found), default=0),
            "",
        )

    def usage_of(self, name: str) -> StoreUsage:
        """Return what one store takes; it is not opened for that."""
        self._check_open()
        wanted = check.store_name("store", name)
        if self._stores.identity(wanted) is None:
            raise self._stores.unknown(wanted)
        held = self._held.get(wanted)
        size = self._stores.size(wanted)
        if held is None or held.caller is None:
            last_used = None if held is None else held.last_used
            return StoreUsage(wanted, False, 0, 0, 0, size, last_used)
        return StoreUsage(
            wanted,
            True,
            held.users(),
            held.memory_bytes,
            held.connections,
            size,
            held.last_used,
        )

    def close(self) -> None:
        """Close all stores; whoever uses one is refused from now on. Closing twice is fine."""
        self._closed = True
        for held in [*self._held.values()]:
            with held.lock:
                self._let_go(held)
        self._hooks.close()

    @property
    def hooks(self) -> Hooks:
        """The hooks, the same for all stores: register functions of your own, see how they are."""
        self._check_open()
        return self._hooks.hooks()

    def __enter__(self) -> Node:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed("The node was closed.", hint="make another one of the same folder.")

    def _entry(self, name: str) -> _Held:
        # One step: of two threads that come first both get the same one.
        return self._held.get(name) or self._held.setdefault(name, _Held(name))

    def _taken(self, name: str, loan: _Loan) -> tuple[_Held, Caller]:
        while True:
            self._check_open()
            held = self._entry(name)
            with held.lock:
                held.wait_for_who_leaves()
                if not held.is_over and self._is_stale(held):
                    # Whoever uses it has been refused since the file went.
                    self._let_go(held)
                if held.is_over:
                    self._forget(held)
                    continue
                self._check_open()
                return held, self._lent(held, loan)

    def _is_stale(self, held: _Held) -> bool:
        """Return whether another store has this name by now, or none: others drop and make too."""
        if held.caller is None:
            return False
        return held.is_stale or held.identity != self._stores.identity(held.name)

    def _lent(self, held: _Held, loan: _Loan) -> Caller:
        """Return the caller of a store, opened if it has to be; to be called with its lock."""
        caller = held.caller
        try:
            if caller is None:
                held.identity = self._stores.identity(held.name)
                caller = open_caller(partial(self._stores.open, held.name), self._choices)
                held.caller = caller
            held.lend(loan)
        except BaseException:
            if not held.users():
                self._let_go(held)
            raise
        held.last_used = iso(self._clock.now())
        return caller

    def _given_back(self, held: _Held, loan: _Loan) -> None:
        loan.is_over = True
        with held.lock:
            held.take_back(loan)
            held.tick = next(self._ticks)
            is_new = not held.memory_bytes
            if held.caller is not None and not held.is_over:
                held.weigh()
        # To add up costs as much as there are stores, so it is done once for many small changes.
        if is_new or held.tick % max(1, len(self._held) // _LOOKED_AT_ONCE) == 0:
            self._trim()

    def _trim(self) -> None:
        """Put to rest, or let go of, stores that were not used for long, if all take too much.

        One thread at a time does so, for courtesy: others go on with what they were at.
        """
        if self._trimmer is not None and self._trimmer() is not None:
            return
        me = _Loan("")
        self._trimmer = weakref.ref(me)
        held = [one for one in [*self._held.values()] if one.caller is not None]
        if (excess := sum(one.connections for one in held) - self._most_connections) > 0:
            for one in _oldest([one for one in held if one.connections]):
                excess -= one.connections
                self._quietly(one, one.rest)
                if excess <= 0:
                    break
        if (excess := sum(one.memory_bytes for one in held) - self._limit) > 0:
            for one in _oldest(held):
                excess -= one.memory_bytes
                self._quietly(one, partial(self._let_go, one))
                if excess <= 0:
                    break
        self._trimmer = None
        del me

    def _quietly(self, held: _Held, work: Callable[[], None]) -> None:
        """Do something with a store that nobody uses; if somebody does, or is about to, do not."""
        if not held.lock.acquire(blocking=False):
            return
        try:
            if not held.users():
                work()
        except StoreError as error:
            # Whoever gives back another store is not to blame, nor concerned.
            _log.warning("store %s could not be put to rest: %s", held.name, error)
            self._let_go(held)
        finally:
            held.lock.release()

    def _let_go(self, held: _Held) -> None:
        """Close a store and know nothing of it any more; to be called with its lock."""
        caller, held.caller = held.caller, None
        self._forget(held)
        if caller is not None:
            try:
                caller.open_store.close()
            except StoreError as error:
                _log.warning("store %s was closed all the same: %s", held.name, error)

    def _forget(self, held: _Held) -> None:
        held.is_over = True
        held.memory_bytes = held.connections = 0
        if self._held.get(held.name) is held:
            self._held.pop(held.name, None)

    def _in_child(self) -> None:
        self._trimmer = None
        for held in [*self._held.values()]:
            held.in_child()


class _Loan:
    """Stands for the use of a store, as long as somebody holds on to it."""

    __slots__ = ("__weakref__", "is_over", "name", "thread_id")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_over = False
        self.thread_id = threading.get_ident()

    def check(self) -> None:
        """Refuse who goes on after giving back."""
        if self.is_over:
            raise StoreClosed(
                f"The store {self.name!r} was given back to its node.",
                hint="use it inside of the with that lends it.",
            )


class _Held:
    """One store that a node holds, its lock, and who has it.

    Once it `is_over`, nobody gets it any more; the next one of its name is another.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.caller: Caller | None = None
        self.identity: Hashable | None = None
        self.is_stale = self.is_over = self.is_leaving = False
        self.tick = 0
        self.last_used: str | None = None
        self.memory_bytes = self.connections = 0
        self._loans: dict[int, weakref.ref[_Loan]] = {}
        self._make_lock()

    def _make_lock(self) -> None:
        self.lock = threading.RLock()
        self._changed = threading.Condition(self.lock)

    def users(self) -> int:
        """Return how many have it."""
        return len(self._loans)

    def lend(self, loan: _Loan) -> None:
        """Know of a user until it gives back, or an exception came before it could."""
        loans, key = self._loans, id(loan)
        loans[key] = weakref.ref(loan, lambda _: loans.pop(key, None))

    def take_back(self, loan: _Loan) -> None:
        """Know that a user is done."""
        self._loans.pop(id(loan), None)
        self._changed.notify_all()

    def weigh(self) -> None:
        """Count again what the store takes."""
        if self.caller is None:
            return
        open_store = self.caller.open_store
        self.connections = open_store.open_connections()
        self.memory_bytes = open_store.held_bytes() + self.connections * _CONNECTION_BYTES

    def rest(self) -> None:
        """Let go of all that is quickly had again."""
        if self.caller is not None:
            self.caller.open_store.rest()
            self.weigh()

    def wait_for_who_leaves(self) -> None:
        """Wait while somebody waits for users to be done; to be called with the lock."""
        while self.is_leaving:
            self._changed.wait(_LOOK_S)

    @contextmanager
    def emptied(self, patience_s: float) -> Iterator[None]:
        """Let the body have the store for itself once nobody uses it; nobody comes meanwhile."""
        deadline = time.monotonic() + patience_s
        with self.lock:
            self.wait_for_who_leaves()
            self.is_leaving = True
            try:
                while self.users():
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise StoreBusy(
                            f"the store {self.name!r} is in use; it was not dropped.",
                            hint="try again when whoever uses it is done.",
                        )
                    self._changed.wait(min(left, _LOOK_S))
                yield
            finally:
                self.is_leaving = False
                self._changed.notify_all()

    def in_child(self) -> None:
        """Go on in a forked child, in which this is the only thread."""
        self._make_lock()
        self.is_leaving = False
        own, here = {}, threading.get_ident()
        for key, found in self._loans.items():
            loan = found()
            if loan is not None and loan.thread_id == here:
                own[key] = found
        self._loans.clear()
        self._loans.update(own)


class _Embedders:
    """Embedders by their names, one for all stores: what a model takes, it takes once."""

    def __init__(self) -> None:
        self._known: dict[str, Embedder] = {}

    def __call__(self, spec: str | Embedder) -> Embedder:
        if not isinstance(spec, str):
            return spec
        return self._known.get(spec) or self._known.setdefault(spec, load_embedder(spec))


def _oldest(held: list[_Held]) -> list[_Held]:
    """Return those that nobody uses and that were not used for longest."""
    idle = [one for one in held if not one.users()]
    return nsmallest(_AT_A_TIME, idle, key=lambda one: one.tick)


_NODES: weakref.WeakSet[Node] = weakref.WeakSet()


def _in_child() -> None:
    for node in [*_NODES]:
        node._in_child()


os.register_at_fork(after_in_child=_in_child)
