"""Hooks: programs and functions of your own that may allow, change, deny or question a verb.

Each name is loaded when it is first used, so that a hook's own process, which imports only
`recollect.hooks.sdk`, starts quickly.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.errors import HookConfigError, HookDenied, HookError
    from recollect.hooks.chain import ChainResult, HookChain, HookRun
    from recollect.hooks.decisions import (
        Allow,
        AskUser,
        Denied,
        Modified,
        Modify,
        PreRecallOutcome,
    )
    from recollect.hooks.events import HookEvent
    from recollect.hooks.handle import Hooks
    from recollect.hooks.outcome import HookOutcome
    from recollect.hooks.recall import apply_pre_recall_expand
    from recollect.hooks.registry import ExecutorRegistry
    from recollect.hooks.spec import HookSpec

_HOMES = {
    "Allow": ".decisions",
    "AskUser": ".decisions",
    "ChainResult": ".chain",
    "Denied": ".decisions",
    "ExecutorRegistry": ".registry",
    "HookChain": ".chain",
    "HookConfigError": "recollect.errors",
    "HookDenied": "recollect.errors",
    "HookError": "recollect.errors",
    "HookEvent": ".events",
    "HookOutcome": ".outcome",
    "HookRun": ".chain",
    "HookSpec": ".spec",
    "Hooks": ".handle",
    "Modified": ".decisions",
    "Modify": ".decisions",
    "PreRecallOutcome": ".decisions",
    "apply_pre_recall_expand": ".recall",
}

__all__ = [
    "Allow",
    "AskUser",
    "ChainResult",
    "Denied",
    "ExecutorRegistry",
    "HookChain",
    "HookConfigError",
    "HookDenied",
    "HookError",
    "HookEvent",
    "HookOutcome",
    "HookRun",
    "HookSpec",
    "Hooks",
    "Modified",
    "Modify",
    "PreRecallOutcome",
    "apply_pre_recall_expand",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module 'recollect.hooks' has no attribute {name!r}")
