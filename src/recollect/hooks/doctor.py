"""Trying hooks out: one event with a payload of your own, or every hook with a sample.

In: hooks, and what to ask them. Out: what they decided, how long they took, and for those that
failed, why, with the end of their stderr. Nothing is read from or written to a memory.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from recollect.hooks.chain import Fired, HookChain
from recollect.hooks.errors import HookConfigError
from recollect.hooks.events import PAYLOADS, HookEvent, Payload
from recollect.hooks.registry import ExecutorRegistry
from recollect.hooks.spec import HookSpec

__all__ = ["Finding", "examine", "payload_of", "tried"]

_SAMPLE: Mapping[str, Any] = {
    "query": "a question from recollect hooks doctor",
    "namespace": "",
    "k": 5,
    "frame": "evidence",
    "name": "task",
    "token_budget": 500,
    "content": "A text from recollect hooks doctor.",
    "pak_id": "doctor-1",
    "other": "doctor-2",
    "pak_ids": (),
    "weight": 1.0,
    "tokens_used": 0,
    "truncated": False,
    "cached": False,
    "created": True,
    "state": "ready",
    "degraded": (),
    "source": "doctor",
    "facts": (),
    "tags": (),
    "confidence": 1.0,
    "min_confidence": 0.5,
}
_KINDS: Mapping[type, tuple[str, tuple[type, ...]]] = {
    str: ("a text", (str,)),
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    bool: ("true or false", (bool,)),
    tuple: ("a list", (list, tuple)),
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
    kind = PAYLOADS[event]
    names = {one.name for one in fields(kind)}
    for name, value in (given or {}).items():
        if name not in names:
            raise HookConfigError(
                f"{event} has no {name!r}.", hint=f"it has {', '.join(sorted(names))}."
            )
        word, kinds = _KINDS[type(_SAMPLE.get(name, ""))]
        if value is not None and type(value) not in kinds:
            raise HookConfigError(f"{name} must be {word}, not {value!r:.60}.")
    samples = {name: _SAMPLE[name] for name in names & _SAMPLE.keys()}
    return kind(**{**samples, **(given or {})})


def tried(hooks: Sequence[HookSpec], payload: Payload) -> Fired[Payload]:
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
        return [_examined(hook, registry, rounds) for hook in hooks]
    finally:
        registry.close()


def _examined(hook: HookSpec, registry: ExecutorRegistry, rounds: int) -> Finding:
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
