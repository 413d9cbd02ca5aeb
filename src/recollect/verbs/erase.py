"""Forget: from what was asked to what is gone, everywhere that this process knows of.

In: ids, or an entity, and a scope. Out: what was erased. Rows go in one transaction with the note
that they went; then caches, index and file are wiped, and somebody looks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from recollect.model import Forgotten, Scope
from recollect.verbs.caller import Caller
from recollect.write import forget

__all__ = ["erase"]


def erase(
    caller: Caller, pak_ids: Sequence[str], about: str | None, scope: Scope | None
) -> Forgotten:
    """Erase what of these the caller has the right to erase."""
    opened, store, who = caller.opened, caller.store, caller.principal
    with opened.turn():
        ids = pak_ids if about is None else store.about(who.tenant, about)
        roles = store.access.roles_of(who.tenant, who.id)
        erased = forget.erasable(store.standing(ids), who, roles, scope)
        if not erased:
            return Forgotten(())
        target = about if about is not None else "\n".join(erased)
        with opened.administering(who, "forget", _hash(target), f"{len(erased)} Paks") as revision:
            edges = forget.erase(
                erased, store=store, before=opened.follower.before, revision=revision
            )
        forget.verify(store, erased)
        opened.cached_frames.drop_holding(erased)
        opened.follower.wipe()
        return Forgotten(tuple(erased), edges, store.scrub())


def _hash(target: str) -> str:
    """Return what the audit log keeps of what was forgotten."""
    return f"sha256:{hashlib.sha256(target.encode()).hexdigest()}"
