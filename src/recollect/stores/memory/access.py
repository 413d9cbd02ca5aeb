"""Gardens, members, keys, trust and the audit log in memory.

In: values of `recollect.ports.access`. Out: the same. Every read names the tenant it is for.
"""

from __future__ import annotations

from dataclasses import replace

from recollect.model import Garden, Role
from recollect.policy.keys import KeyRow
from recollect.ports.access import Act
from recollect.ports.state import Head
from recollect.stores.memory.session import Session

__all__ = ["MemoryAccess"]


class MemoryAccess:
    """The facts about access of one store in memory."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def roles_of(self, tenant: str, principal: str) -> dict[str, Role]:
        """Return a principal's roles by the slug of the garden."""
        members = self._session.members
        with self._session.snapshot():
            return {
                slug: members[own, slug, name]
                for own, slug, name in sorted(members)
                if (own, name) == (tenant, principal)
            }

    def gardens(self, tenant: str, *, slug: str | None = None) -> dict[str, Garden]:
        """Return a tenant's gardens by slug, or that one at most."""
        gardens = self._session.gardens
        with self._session.snapshot():
            return {
                name: gardens[own, name]
                for own, name in sorted(gardens)
                if own == tenant and slug in (None, name)
            }

    def put_garden(self, garden: Garden) -> None:
        """Keep a garden."""
        self._need_commit()
        self._session.gardens.put((garden.tenant, garden.slug), garden)

    def delete_garden(self, tenant: str, slug: str) -> None:
        """Drop a garden and its members."""
        self._need_commit()
        self._session.gardens.drop((tenant, slug))
        for principal in self.members(tenant, slug):
            self._session.members.drop((tenant, slug, principal))

    def members(self, tenant: str, slug: str) -> dict[str, Role]:
        """Return the members of a garden with their roles."""
        members = self._session.members
        with self._session.snapshot():
            return {
                name: members[own, garden, name]
                for own, garden, name in sorted(members)
                if (own, garden) == (tenant, slug)
            }

    def set_role(self, tenant: str, slug: str, principal: str, role: Role | None) -> bool:
        """Give a principal a role in a garden, or take it out; return whether it had one."""
        self._need_commit()
        key = (tenant, slug, principal)
        had = self._session.members.drop(key)
        if role is not None:
            self._session.members.put(key, role)
        return had

    def put_key(self, key: KeyRow) -> None:
        """Keep what may be kept of a key, in the place of the one with its prefix."""
        self._need_commit()
        self._session.keys.put(key.prefix, key)

    def key(self, prefix: str) -> KeyRow | None:
        """Return the key with this public prefix."""
        with self._session.snapshot():
            return self._session.keys.get(prefix)

    def keys(self, tenant: str | None) -> list[KeyRow]:
        """Return a tenant's keys, or all there are, oldest first."""
        with self._session.snapshot():
            keys = sorted(self._session.keys.rows(), key=lambda key: (key.created_at, key.prefix))
            return [key for key in keys if tenant in (None, key.principal.tenant)]

    def trusts(self, tenant: str) -> dict[str, float]:
        """Return how far a tenant trusts each source that it has spoken of."""
        trusts = self._session.trusts
        with self._session.snapshot():
            return {source: trusts[own, source] for own, source in sorted(trusts) if own == tenant}

    def set_trust(self, tenant: str, source: str, trust: float) -> None:
        """Say how far a tenant trusts a source."""
        self._need_commit()
        self._session.trusts.put((tenant, source), trust)

    def plain_at(self, tenant: str, principal: str) -> Head | None:
        """Return the head, if there are no open disputes, gardens, trusts and roles."""
        session = self._session
        with session.snapshot():
            disputes = session.disputes
            known = self.gardens(tenant) or self.trusts(tenant) or self.roles_of(tenant, principal)
            if known or any(disputes[pair].is_open for pair in disputes):
                return None
            return session.state.head

    def note(self, act: Act) -> None:
        """Add an act to the audit log."""
        self._need_commit()
        acts = self._session.acts
        number = max((one for tenant, one in acts if tenant == act.tenant), default=0) + 1
        acts.put((act.tenant, number), replace(act, number=number))

    def acts(self, tenant: str, *, limit: int, before: int | None) -> list[Act]:
        """Return a tenant's acts, latest first."""
        acts = self._session.acts
        with self._session.snapshot():
            numbers = (n for own, n in acts if own == tenant and (before is None or n < before))
            return [acts[tenant, n] for n in sorted(numbers, reverse=True)[:limit]]

    def _need_commit(self) -> None:
        """Refuse a write outside of a commit."""
        _ = self._session.revision
