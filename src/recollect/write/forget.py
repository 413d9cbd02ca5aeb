"""Forget: erase memories for good, and look whether they are gone.

In: ids that the caller has the right to erase. Out: what went. Text, vector, full text, edges and
derived rows go in one transaction, and the links that gave way to them come back; then the file is
wiped of what deletion leaves behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.errors import NotAllowed, StoreDamaged
from recollect.ports.store import RowFilter
from recollect.write.likeness import arrivals_of, relink
from recollect.write.link import MAX_AUTOMATIC

if TYPE_CHECKING:
    from recollect.model import Principal, Role, Scope
    from recollect.ports.store import Commit, Standing, Store
    from recollect.write.likeness import IndexBefore

__all__ = ["erasable", "erase", "need_right_to_erase", "verify"]


def need_right_to_erase(principal: Principal) -> None:
    """Refuse a principal that could not have written anything either."""
    if not {"write", "admin"} & set(principal.permissions):
        raise NotAllowed(
            f"{principal.id} may not forget anything.",
            hint="it takes a key with the write or admin permission.",
        )


def erasable(
    standing: dict[str, Standing],
    principal: Principal,
    roles: dict[str, Role],
    scope: Scope | None,
) -> list[str]:
    """Return the ids that a principal may erase: its own; as an admin, all of its tenant."""
    return sorted(
        pak_id
        for pak_id, one in standing.items()
        if scope in (None, one.place.scope) and _may_erase(one, principal, roles)
    )


def erase(pak_ids: Sequence[str], *, store: Store, before: IndexBefore, commit: Commit) -> int:
    """Erase memories, inside this commit; return how many edges went along."""
    rows = store.memories.rows(RowFilter(pak_ids=tuple(pak_ids)))
    rows_to_relink = store.edges.full_lists_with(rows, MAX_AUTOMATIC)
    index = before(commit) if rows_to_relink else None
    edges = store.memories.erase(pak_ids)
    if index is not None:
        looking = arrivals_of(rows_to_relink, index)
        relink(looking, without=rows, index=index, store=store, commit=commit)
    return edges


def verify(store: Store, pak_ids: Sequence[str]) -> None:
    """Look whether anything still knows these memories."""
    if left := store.memories.traces(pak_ids):
        raise StoreDamaged(
            f"what was forgotten is still in {', '.join(left)}.",
            hint="run `recollect paks repair`, then forget again.",
        )


def _may_erase(one: Standing, principal: Principal, roles: dict[str, Role]) -> bool:
    place = one.place
    if place.tenant != principal.tenant:
        return False
    if "admin" in principal.permissions or place.owner == principal.id:
        return True
    return place.garden is not None and roles.get(place.garden) == "admin"
