"""Trying hooks out: one event with a payload of your own, or every hook with a sample.

In: hooks, and what to ask them. Out: what they decided, how long they took, and for those that
failed, why, with the end of their stderr. Nothing is read from or written to a memory.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recollect.errors import HookConfigError
from recollect.hooks.chain import HookChain
from recollect.hooks.payload import OBJECT, PRINCIPAL, Payload
from recollect.hooks.registry import ExecutorRegistry
from recollect.hooks.verbs import SHAPES
from recollect.model import LOCAL_PRINCIPAL
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.hooks.chain import ChainResult
    from recollect.hooks.events import HookEvent
    from recollect.hooks.spec import HookSpec

__all__ = ["Finding", "examine", "payload_of", "try_hooks"]

_SAMPLES: Mapping[str, Any] = {
    "query": "a question from recollect hooks doctor",
    "k": 5,
    "frame": "evidence",
    "name": "task",
    "token_budget": 500,
    "content": "A text from recollect hooks doctor.",
    "title": "A text",
    "category": "knowledge",
    "pak_type": "memory",
    "authority": "user_approved",
    "scope": "local",
    "pak_id": "doctor-1",
    "other": "doctor-2",
    "weight": 1.0,
    "created": True,
    "state": "ready",
    "source": "doctor",
    "confidence": 1.0,
    PRINCIPAL: {"tenant": LOCAL_PRINCIPAL.tenant, "id": LOCAL_PRINCIPAL.id},
}
_DECISIONS = ("allow", "modify", "deny", "ask_user")


@dataclass(frozen=True, slots=True)
class Finding:
    """How one hook is. `problem` says what is wrong, None when nothing is."""

    hook: str
    event: str
    mode: str
    state: str
    action: str | None
    p50_ms: float | None
    max_ms: float | None
    problem: str | None


def payload_of(event: HookEvent, given: Mapping[str, Any] | None = None) -> Payload:
    """Return a payload of an event: what is given, and a sample for the rest."""
    shape = SHAPES[event]
    kinds = {**{name: one.kind for name, one in shape.fields.items()}, PRINCIPAL: OBJECT}
    for name, value in (given or {}).items():
        if name not in kinds:
            raise HookConfigError(
                f"{event} has no {name!r}.", hint=f"it has {', '.join(sorted(kinds))}."
            )
        if value is not None and not kinds[name].fits(value):
            raise HookConfigError(f"{name} must be {kinds[name].words}, not {value!r:.60}.")
    samples = {name: _SAMPLES.get(name, kind.none) for name, kind in kinds.items()}
    return Payload(shape, {**samples, **(given or {})})


def try_hooks(hooks: Sequence[HookSpec], payload: Payload) -> ChainResult:
    """Return what the hooks make of a payload."""
    registry = ExecutorRegistry()
    wanted = [hook for hook in hooks if hook.event is payload.event]
    try:
        registry.start(wanted)
        return HookChain(wanted).fire(payload, registry)
    finally:
        registry.close()


def examine(hooks: Sequence[HookSpec], *, rounds: int) -> list[Finding]:
    """Start every enabled hook and ask it so many times; slow starters get the time they need."""
    registry = ExecutorRegistry()
    try:
        registry.start(hooks, settle_s=10.0)
        return [_examine_one(hook, registry, rounds) for hook in hooks]
    finally:
        registry.close()


def _examine_one(hook: HookSpec, registry: ExecutorRegistry, rounds: int) -> Finding:
    def found(
        state: str, action: str | None = None, ms: Sequence[float] = (), problem: str | None = None
    ) -> Finding:
        p50, most = (statistics.median(ms), max(ms)) if ms else (None, None)
        return Finding(hook.name, hook.event.value, hook.mode, state, action, p50, most, problem)

    if not hook.enabled:
        return found("disabled")
    executor = registry.executor(hook)
    trouble = executor.trouble()
    if trouble is not None:
        return found("failed", problem=trouble.in_full())
    chain, payload = HookChain([replace(hook, namespace="*")]), payload_of(hook.event)
    runs = [chain.fire(payload, registry).runs[0] for _ in range(rounds)]
    failed = any(run.action not in _DECISIONS for run in runs)
    problem = registry.meter(hook).to_dict()["last_failure"] if failed else None
    return found(
        "failed" if failed else "ready",
        runs[-1].action if runs else None,
        [run.ms for run in runs],
        problem,
    )
