"""The seam between a recall and its first chain: `pre_recall_expand`.

In: a query, a namespace and k as the caller gave them. Out: a `PreRecallOutcome`. The chain keeps
the deadline of 50 ms, so whoever calls needs no clock of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.hooks.decisions import Allow, Denied, Modified
from recollect.hooks.events import HookEvent
from recollect.hooks.payload import Shape
from recollect.model import RecallRequest

if TYPE_CHECKING:
    from recollect.hooks.chain import HookChain
    from recollect.hooks.decisions import PreRecallOutcome
    from recollect.hooks.registry import ExecutorRegistry
    from recollect.model import Principal

__all__ = ["EXPAND", "apply_pre_recall_expand"]

EXPAND = Shape.of(
    HookEvent.PRE_RECALL_EXPAND,
    RecallRequest,
    only=("query", "project", "top_k"),
    changes=("query", "namespace", "k"),
    also_called={"content": "query", "priority": "k"},
)
_ALLOW = Allow()


def apply_pre_recall_expand(
    query: str,
    namespace: str,
    k: int,
    chain: HookChain,
    registry: ExecutorRegistry,
    *,
    who: Principal | None = None,
) -> PreRecallOutcome:
    """Let the hooks rewrite or refuse a recall; without any, allow it and make nothing of it.

    A recall cannot wait for a person: a question becomes an allowance, with a warning in the log.
    """
    if not chain.listens(HookEvent.PRE_RECALL_EXPAND):
        return _ALLOW
    payload = EXPAND.payload(RecallRequest(query=query, project=namespace, top_k=k), who)
    result = chain.fire(payload, registry).without_questions()
    if result.denied is not None:
        return Denied(result.denied.reason, result.denied.code, result=result)
    if result.delta:
        values = result.payload.values
        return Modified(values["query"], values["namespace"], values["k"], result=result)
    return Allow(result=result)
