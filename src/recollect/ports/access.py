"""What the engine asks of a store about access: gardens, members, keys, trust, the audit log.

Facts only. What follows from them is decided in `recollect.policy`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.model import Garden, Role
from recollect.policy.keys import KeyRow

__all__ = ["AccessStore", "Act"]


@dataclass(frozen=True, slots=True)
class Act:
    """One administrative act: who did what to what, and when. Never a text or a query."""

    at: str
    tenant: str
    principal: str
    act: str
    target: str
    detail: str = ""
    number: int = 0


class AccessStore(Protocol):
    """Facts about access. Writes happen inside the store's `transaction`."""

    def roles_of(self, tenant: str, principal: str) -> dict[str, Role]:
        """Return a principal's roles by the slug of the garden."""

    def gardens(self, tenant: str) -> dict[str, Garden]:
        """Return a tenant's gardens by slug."""

    def garden(self, tenant: str, slug: str) -> Garden | None: ...

    def put_garden(self, garden: Garden) -> None: ...

    def delete_garden(self, tenant: str, slug: str) -> int:
        """Drop a garden; its Paks go back to their owners alone. Return how many did."""

    def members(self, tenant: str, slug: str) -> dict[str, Role]: ...

    def put_member(self, tenant: str, slug: str, principal: str, role: Role) -> None: ...

    def delete_member(self, tenant: str, slug: str, principal: str) -> bool: ...

    def put_key(self, key: KeyRow) -> None: ...

    def key(self, prefix: str) -> KeyRow | None: ...

    def keys(self, tenant: str | None) -> list[KeyRow]:
        """Return a tenant's keys, oldest first; None is for whoever holds the file: all of them."""

    def revoke_key(self, tenant: str | None, prefix: str, *, now: str) -> bool:
        """End a key of a tenant, or of any; return whether there was a living one."""

    def trusts(self, tenant: str) -> Mapping[str, float]:
        """Return how far a tenant trusts each source that it has spoken of."""

    def set_trust(self, tenant: str, source: str, trust: float) -> None: ...

    def note(self, act: Act) -> None:
        """Add an act to the audit log."""

    def acts(self, tenant: str, *, limit: int, before: int | None) -> Sequence[Act]:
        """Return a tenant's acts, latest first."""
