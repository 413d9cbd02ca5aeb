"""The seam between a recall and its first chain: `pre_recall_expand`.

In: a query, a namespace and k as the caller gave them. Out: a `PreRecallOutcome`. The chain keeps
the deadline of 50 ms, so whoever calls needs no clock of its own.
"""

from __future__ import annotations

import logging

from recollect.hooks.chain import HookChain
from recollect.hooks.decisions import Allow, Denied, Modified, PreRecallOutcome
from recollect.hooks.events import HookEvent, RecallExpandQuery
from recollect.hooks.registry import ExecutorRegistry

__all__ = ["apply_pre_recall_expand"]

_log = logging.getLogger("recollect.hooks")
_ALLOW = Allow()


def apply_pre_recall_expand(
    query: str, namespace: str, k: int, chain: HookChain, registry: ExecutorRegistry
) -> PreRecallOutcome:
    """Let the hooks rewrite or refuse a recall; without any, allow it and make nothing of it.

    A recall cannot wait for a person: a question becomes an allowance, with a warning in the log.
    """
    if not chain.listens(HookEvent.PRE_RECALL_EXPAND):
        return _ALLOW
    fired = chain.fire(RecallExpandQuery(query, namespace, k), registry)
    if fired.denied is not None:
        return Denied(fired.denied.reason, fired.denied.code, fired=fired)
    if fired.asks:
        _log.warning(
            "a hook of pre_recall_expand asked %r: a recall cannot wait for a person, it goes on",
            fired.asks[0].prompt,
        )
        return Allow(fired=fired)
    if fired.delta:
        found = fired.payload
        return Modified(found.query, found.namespace, found.k, fired=fired)
    return Allow(fired=fired)
