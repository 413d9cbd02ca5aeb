"""From a store and what is chosen at opening to a caller: the one way in, for one store or many.

In: who wires the store, and the choices. Out: a `Caller` that verbs start from. Clock, ids and the
embedder come in here and are passed down; nothing below reads them for itself.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, get_args

from recollect import arguments
from recollect.embed import load_embedder
from recollect.hooks.on_first_use import HooksOnFirstUse
from recollect.hours import HoursMode
from recollect.model import LOCAL_PRINCIPAL
from recollect.open_store import OpenStore, fitting_embedder
from recollect.paks.opening import HowToOpen
from recollect.policy.sanitizer import SanitizerMode
from recollect.recall.pack import count_tokens
from recollect.settings import RECEIPT_DAYS, check_platform
from recollect.values import dataclass
from recollect.verbs.caller import Caller

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.hooks.on_first_use import SharedHooks
    from recollect.model import Principal
    from recollect.ports.clock import Clock
    from recollect.ports.embedder import Embedder
    from recollect.ports.tokens import TokenCounter
    from recollect.wiring import OpenableStore

__all__ = ["Choices", "SystemClock", "Wire", "open_caller"]


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return the time in Unix seconds."""
        return time.time()


class Wire(Protocol):
    """Opens a store."""

    def __call__(self, *, store_id: str, how: HowToOpen) -> OpenableStore:
        """Open it, made with `store_id` if it is new."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """What `Recollect.open` lets its caller choose, beside the place."""

    principal: Principal | None = None
    embedder: str | Embedder | None = None
    clock: Clock | None = None
    links: bool = True
    hours: HoursMode = "active"
    token_counter: TokenCounter = count_tokens
    cache_file: bool = True
    power_safe: bool = False
    read_only: bool = False
    timeout: float = 5.0
    any_filesystem: bool = False
    sanitizer: SanitizerMode = "flag"
    hooks: Path | str | None = None
    receipts: bool = False
    receipt_days: float = RECEIPT_DAYS
    # How many rows must have changed for an index to be written to its cache file.
    worth_saving: int | None = None
    # Told how far an index is that has to be built from the store.
    progress: Callable[[int, int], None] | None = None
    # How an embedder is had by its name; stores that share a process may share it.
    load: Callable[[str | Embedder], Embedder] = load_embedder
    # Hooks that are shared in the same way, in place of a file of them.
    heard: SharedHooks | None = None

    def how(self) -> HowToOpen:
        """Return how the store itself is opened; refuse what cannot be chosen."""
        check_platform()
        arguments.lasting("receipt_days", self.receipt_days)
        arguments.one_of("hours", self.hours, get_args(HoursMode))
        arguments.one_of("sanitizer", self.sanitizer, get_args(SanitizerMode))
        timeout_s = arguments.patience("timeout", self.timeout)
        return HowToOpen(self.power_safe, self.read_only, self.any_filesystem, timeout_s)


def open_caller(wire: Wire, choices: Choices) -> Caller:
    """Open a store as it is chosen, for a principal or for nobody in particular."""
    how = choices.how()
    principal = choices.principal
    who = LOCAL_PRINCIPAL if principal is None else arguments.principal(principal)
    store = wire(store_id=uuid.uuid4().hex, how=how)
    try:
        chosen = fitting_embedder(store, choices.embedder, load=choices.load)
        heard = choices.heard or HooksOnFirstUse(
            arguments.file("hooks", choices.hooks), k_max=arguments.TOP_K_MAX
        )
    except BaseException:
        store.close()
        raise
    open_store = OpenStore(
        store,
        store.path,
        embedder=chosen,
        clock=choices.clock or SystemClock(),
        links=choices.links,
        hours=choices.hours,
        token_counter=choices.token_counter,
        cache_file=choices.cache_file and not choices.read_only,
        sanitizer=choices.sanitizer,
        hooks=heard,
        new_id=lambda: uuid.uuid4().hex,
        receipt_days=choices.receipt_days if choices.receipts else None,
        worth_saving=choices.worth_saving,
        progress=choices.progress,
    )
    open_store.finish_wiping()
    return Caller(open_store, store.catalogue, who, is_opener=principal is None)
