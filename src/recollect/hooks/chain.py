"""The hooks of an event, one after the other, within one deadline.

In: a payload, and what the verb says of a change. Out: `ChainResult`: the payload as the hooks left
it, who denied it, what they ask, and what each of them did. A hook that fails never raises here:
open means it is passed over and named in `degraded`, closed means a denial, 504 when time ran out
and 503 otherwise.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotAllowed
from recollect.hooks.decisions import Allow, Denied, Modify
from recollect.hooks.events import EventClass
from recollect.hooks.failure import Failure, HookFailed
from recollect.hooks.request import EncodedPayload, Request
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.hooks.decisions import AskUser, Decision
    from recollect.hooks.events import HookEvent
    from recollect.hooks.payload import Payload
    from recollect.hooks.registry import ExecutorRegistry
    from recollect.hooks.spec import HookSpec

__all__ = ["K_MAX", "ChainResult", "Check", "HookChain", "HookRun"]

# Refuses a delta as the verb itself refuses a caller's words: by raising.
Check = Callable[[Mapping[str, Any]], object]

K_MAX = 1000
_LOGGED_CHARS = 300
_log = logging.getLogger("recollect.hooks")


@dataclass(frozen=True, slots=True)
class HookRun:
    """What one hook did: allow, modify, deny, ask_user, or how it failed."""

    hook: str
    action: str
    ms: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as in `meta.hooks`."""
        return {"hook": self.hook, "action": self.action, "ms": self.ms}


@dataclass(frozen=True, slots=True)
class ChainResult:
    """What a chain came to. A denial outweighs a question, a question a change."""

    payload: Payload
    delta: Mapping[str, Any] = field(default_factory=dict)
    denied: Denied | None = None
    asks: tuple[AskUser, ...] = ()
    runs: tuple[HookRun, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def action(self) -> str:
        """The whole in a word: deny, ask_user, modify or allow."""
        if self.denied is not None:
            return "deny"
        return "ask_user" if self.asks else "modify" if self.delta else "allow"

    def without_questions(self) -> ChainResult:
        """Return what comes of a read: it waits for no person, and goes on with a warning.

        An expansion that is in question goes on as the caller asked.
        """
        if not self.asks or self.denied is not None:
            return self
        event = self.payload.event
        _log.warning("a hook of %s asked %r: it goes on", event.value, self.asks[0].prompt)
        return replace(self, delta={}) if event.event_class is EventClass.HOT_PATH else self


class HookChain:
    """Hooks in the order they run: by priority, higher first, and as they were given."""

    def __init__(self, hooks: Iterable[HookSpec] = (), *, k_max: int = K_MAX) -> None:
        self._hooks = tuple(hooks)
        self._k_max = k_max
        self._by_event: dict[HookEvent, tuple[HookSpec, ...]] = {}
        for hook in sorted(self._hooks, key=lambda one: -one.priority):
            if hook.enabled:
                self._by_event[hook.event] = (*self._by_event.get(hook.event, ()), hook)

    @property
    def hooks(self) -> Sequence[HookSpec]:
        """All hooks, disabled ones too."""
        return self._hooks

    def listens(self, event: HookEvent) -> bool:
        """Return whether any enabled hook wants to hear of the event."""
        return event in self._by_event

    def fire(
        self, payload: Payload, registry: ExecutorRegistry, check: Check | None = None
    ) -> ChainResult:
        """Ask the hooks of the payload's event, until one denies or time runs out.

        `check` is given all that was changed so far; what it refuses is the last hook's failure.
        """
        hooks = self._by_event.get(payload.event)
        if not hooks:
            return ChainResult(payload)
        run = _Run(payload, registry, self._k_max, check)
        for hook in hooks:
            if hook.matches(run.written.payload.namespace):
                run.ask(hook)
                if run.denied is not None:
                    break
        return ChainResult(
            payload=run.written.payload,
            delta=run.delta,
            denied=run.denied,
            asks=tuple(run.asks),
            runs=tuple(run.runs),
            degraded=tuple(run.degraded),
        )


class _Run:
    """One pass through a chain: what came of it so far."""

    def __init__(
        self, payload: Payload, registry: ExecutorRegistry, k_max: int, check: Check | None
    ) -> None:
        self.ends = time.monotonic() + payload.event.deadline_s
        self.original = payload
        self.written = EncodedPayload(payload)
        self.delta: dict[str, Any] = {}
        self.denied: Denied | None = None
        self.asks: list[AskUser] = []
        self.runs: list[HookRun] = []
        self.degraded: list[str] = []
        self._registry = registry
        self._k_max = k_max
        self._check = check

    def ask(self, hook: HookSpec) -> None:
        """Ask one hook and take in what it decided."""
        began = time.monotonic()
        try:
            seconds = min(self.ends - began, hook.timeout_s)
            if seconds <= 0:
                raise HookFailed(Failure.TIMEOUT, "the hooks before it left no time")
            decision = self._registry.call(hook, Request(self.written, hook.name), seconds)
            action = self._take(decision)
        except HookFailed as failure:
            action = failure.kind.value
            self._fail(hook, failure)
        ms = round((time.monotonic() - began) * 1000, 3)
        self.runs.append(HookRun(hook.name, action, ms))
        self._registry.meter(hook).ran(action, ms)

    def _take(self, decision: Decision) -> str:
        if isinstance(decision, Allow):
            return "allow"
        if isinstance(decision, Modify):
            self._overlay(decision.delta)
            return "modify"
        if isinstance(decision, Denied):
            self.denied = decision
            return "deny"
        self.asks.append(decision)
        return "ask_user"

    def _overlay(self, delta: Mapping[str, Any]) -> None:
        """Lay a delta over the payload; nothing gets wider, or wrong, that the caller asked."""
        try:
            kept = self.original.within(delta, self._k_max)
            changed = {**self.delta, **kept}
            if kept and self._check is not None:
                self._check(changed)
        except (InvalidInput, NotAllowed) as error:
            raise HookFailed(Failure.BAD_REPLY, f"delta: {error.message}") from None
        if kept:
            self.delta = changed
            self.written = EncodedPayload(self.written.payload.changed(kept))

    def _fail(self, hook: HookSpec, failure: HookFailed) -> None:
        self._registry.meter(hook).failed(failure.in_full())
        # Told once per trouble: while the breaker is open every request would say the same.
        quiet = failure.kind in (Failure.BREAKER_OPEN, Failure.NOT_READY, Failure.BUSY)
        level = logging.DEBUG if quiet else logging.WARNING
        _log.log(level, "hook %s failed: %s", hook.name, failure.in_full(_LOGGED_CHARS))
        if hook.fail_mode == "closed":
            self.denied = Denied(f"hook {hook.name}: {failure.detail}", failure.status)
        else:
            self.degraded.append(hook.name)
