"""What the engine asks of a store about access: gardens, members, keys, trust, the audit log.

Facts only, each under the tenant it is of. What follows from them is decided in `recollect.policy`;
what becomes of a garden's memories when it goes is decided there too, and written before it goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import Garden, Role
    from recollect.policy.keys import KeyRow
    from recollect.ports.state import Head

__all__ = ["AccessRoom", "Act"]


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


class AccessRoom(Protocol):
    """Facts about access. Writes happen inside a commit."""

    def roles_of(self, tenant: str, principal: str) -> dict[str, Role]:
        """Return a principal's roles by the slug of the garden, in the order of the slugs."""

    def gardens(self, tenant: str, *, slug: str | None = None) -> dict[str, Garden]:
        """Return a tenant's gardens by slug, in their order; with `slug`, that one at most."""

    def put_garden(self, garden: Garden) -> None:
        """Keep a garden as given, in the place of one with its tenant and slug."""

    def delete_garden(self, tenant: str, slug: str) -> None:
        """Drop a garden and its members. Whatever memory names it still is left as it is."""

    def members(self, tenant: str, slug: str) -> dict[str, Role]:
        """Return the members of a garden with their roles, in the order of their names."""

    def set_role(self, tenant: str, slug: str, principal: str, role: Role | None) -> bool:
        """Give a principal a role in a garden that exists; None takes it out.

        Return whether it had one before.
        """

    def put_key(self, key: KeyRow) -> None:
        """Keep what may be kept of a key, in the place of the one with its prefix."""

    def key(self, prefix: str) -> KeyRow | None:
        """Return the key with this public prefix, of whatever tenant."""

    def keys(self, tenant: str | None) -> list[KeyRow]:
        """Return a tenant's keys, oldest first; None, for whoever holds the store, is all."""

    def trusts(self, tenant: str) -> Mapping[str, float]:
        """Return how far a tenant trusts each source that it has spoken of."""

    def set_trust(self, tenant: str, source: str, trust: float) -> None:
        """Keep how far a tenant trusts a source."""

    def plain_at(self, tenant: str, principal: str) -> Head | None:
        """Return the head of the store, if answers need nothing of what a memory does not hold.

        That is: no dispute is open, the tenant has no gardens and has spoken of no source, and the
        principal has no role. None if any of that is there.
        """

    def note(self, act: Act) -> None:
        """Add an act to the audit log and give it the next number of its tenant; the first is 1."""

    def acts(self, tenant: str, *, limit: int, before: int | None) -> Sequence[Act]:
        """Return a tenant's acts, latest first; with `before`, those with a lower number."""
