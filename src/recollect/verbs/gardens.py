"""Gardens: named access lists, and who is in them.

In: slugs, principals, roles. Out: gardens and members as the caller may see them. A garden that is
not there and one that is not for the caller are the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from recollect import check
from recollect.errors import InvalidInput
from recollect.hours import iso
from recollect.lookalikes import complaint, normal_name
from recollect.model import Garden, Member, Principal
from recollect.policy.gardens import (
    checked_role,
    checked_slug,
    keep_an_admin,
    may_manage,
    place_without_garden,
)
from recollect.policy.permit import chosen_place, need, no_garden
from recollect.ports.store import RowFilter
from recollect.verbs.requests import Request, answered, keep, raise_if_repeated
from recollect.write.likeness import arrivals_of, relink

if TYPE_CHECKING:
    from recollect.model import Role, Scope
    from recollect.open_store import OpenStore
    from recollect.ports.store import Commit, Standing

__all__ = ["Gardens"]


class Gardens:
    """The gardens of one principal's tenant."""

    def __init__(self, open_store: OpenStore, principal: Principal) -> None:
        self._open_store = open_store
        self._principal = principal
        self._access = open_store.store.access

    def create(
        self,
        slug: str,
        *,
        name: str | None = None,
        scope: Scope = "company",
        team: str | None = None,
        tier: float = 1.0,
        request_id: str | None = None,
    ) -> Garden:
        """Make a garden; whoever makes it is its first admin."""
        need(self._principal, "admin")
        place = chosen_place(self._principal, scope=scope, team=team)
        garden = Garden(
            tenant=self._principal.tenant,
            slug=checked_slug(slug),
            name=check.optional_text("name", name) or slug,
            scope=place.scope,
            team=place.team,
            tier=check.share("tier", tier),
            created_at=iso(self._open_store.clock.now()),
        )
        request = self._request(request_id, "garden.create", [slug, name, scope, team, tier])
        return answered(
            request,
            lambda: self._create(garden, request),
            told=lambda at: replace(garden, created_at=at),
        )

    def _create(self, garden: Garden, request: Request | None) -> Garden:
        slug, who = garden.slug, self._principal
        with self._open_store.administering(who, "garden.create", slug, garden.scope):
            raise_if_repeated(request)
            if self._access.gardens(garden.tenant, slug=slug):
                raise InvalidInput(
                    f"there is a garden {slug!r} already.", hint="choose another slug."
                )
            self._access.put_garden(garden)
            self._access.set_role(garden.tenant, slug, who.id, "admin")
            keep(request, garden.created_at)
        return garden

    def update(
        self,
        slug: str,
        *,
        name: str | None = None,
        tier: float | None = None,
        request_id: str | None = None,
    ) -> Garden:
        """Rename a garden, or change how far what is in it counts. Its scope is fixed."""
        request = self._request(request_id, "garden.update", [slug, name, tier])
        return answered(
            request,
            lambda: self._update(slug, name, tier, request),
            told=lambda fields: Garden(**fields),
        )

    def _update(
        self, slug: str, name: str | None, tier: float | None, request: Request | None
    ) -> Garden:
        with self._managing(slug, "garden.update", request=request) as (garden, _):
            if name is not None:
                garden = replace(garden, name=check.optional_text("name", name) or slug)
            if tier is not None:
                garden = replace(garden, tier=check.share("tier", tier))
            self._access.put_garden(garden)
            keep(request, asdict(garden))
        return garden

    def delete(self, slug: str, *, request_id: str | None = None) -> int:
        """Drop a garden. No memory is deleted: each goes back to its owner; return how many."""
        request = self._request(request_id, "garden.delete", [slug])
        return answered(request, lambda: self._delete(slug, request), told=int)

    def _delete(self, slug: str, request: Request | None) -> int:
        with self._managing(slug, "garden.delete", request=request) as (_, commit):
            tenant, store = self._principal.tenant, self._open_store.store
            inside = store.memories.standing(RowFilter(tenant=tenant, garden=slug)).values()
            freed = [one._replace(place=place_without_garden(one.place)) for one in inside]
            if self._open_store.links:
                self._link_alone(freed, commit)
            at = self._open_store.time_of_writing(None)
            store.memories.set_standing(freed, by=self._principal.id, at=at)
            self._access.delete_garden(tenant, slug)
            keep(request, len(freed))
        return len(freed)

    def _link_alone(self, freed: Sequence[Standing], commit: Commit) -> None:
        """Link what was in a garden to its owners' own memories, among which it will be."""
        index, store = self._open_store.follower.before(commit), self._open_store.store
        places = {one.row_id: one.place for one in freed}
        arrivals = [
            replace(one, place=places[one.row_id], was_there=False)
            for one in arrivals_of(list(places), index)
        ]
        relink(arrivals, without=(), index=index, store=store, commit=commit)

    def list(self) -> tuple[Garden, ...]:
        """Return the gardens that the principal is in; as an admin, all of the tenant."""
        need(self._principal, "read")
        self._open_store.need_living_key(self._principal)
        with self._open_store.snapshot():
            gardens = self._access.gardens(self._principal.tenant)
            own = self._open_store.roles_of(self._principal)
        sees_all = "admin" in self._principal.permissions
        return tuple(garden for slug, garden in gardens.items() if sees_all or slug in own)

    def members(self, slug: str) -> tuple[Member, ...]:
        """Return who is in a garden."""
        need(self._principal, "read")
        self._open_store.need_living_key(self._principal)
        with self._open_store.snapshot():
            self._garden_and_role(slug)
            members = self._access.members(self._principal.tenant, slug)
        return tuple(Member(principal, role) for principal, role in members.items())

    def add(
        self, slug: str, principal: str, role: Role = "reader", *, request_id: str | None = None
    ) -> Member:
        """Give a principal a role in a garden, or another role."""
        chosen = checked_role(role)
        is_known = self._is_member(slug, principal)
        name = Principal(self._principal.tenant, principal, exact=is_known).id
        request = self._request(request_id, "garden.add", [slug, name, chosen])
        self._change(slug, name, chosen, "garden.add", request)
        return Member(name, chosen)

    def remove(self, slug: str, principal: str, *, request_id: str | None = None) -> bool:
        """Take a principal out of a garden; return whether it was in it."""
        given = check.name("principal", principal)
        request = self._request(request_id, "garden.remove", [slug, given])
        name = given if self._is_member(slug, given) else normal_name(given)
        return self._change(slug, name, None, "garden.remove", request)

    def _is_member(self, slug: str, principal: object) -> bool:
        """Return whether somebody in a garden has this name, which a new one may not have."""
        if not isinstance(principal, str):
            return False
        if normal_name(principal) == principal and complaint(principal) is None:
            return False
        with self._open_store.snapshot():
            self._garden_to_manage(slug)
            return principal in self._access.members(self._principal.tenant, slug)

    def _change(
        self, slug: str, principal: str, role: Role | None, act: str, request: Request | None
    ) -> bool:
        detail = f"{principal} {role}" if role else principal

        def change() -> bool:
            tenant = self._principal.tenant
            with self._managing(slug, act, detail, request=request):
                keep_an_admin(self._access.members(tenant, slug), principal, role)
                was_there = self._access.set_role(tenant, slug, principal, role)
                keep(request, was_there)
            return was_there

        return answered(request, change, told=bool)

    def _request(self, request_id: str | None, verb: str, body: object) -> Request | None:
        need(self._principal, "read")
        return Request.of(self._open_store, self._principal, request_id, verb=verb, body=body)

    @contextmanager
    def _managing(
        self, slug: str, act: str, detail: str = "", *, request: Request | None
    ) -> Iterator[tuple[Garden, Commit]]:
        """Change a garden in one transaction, and note it; give the garden and the commit.

        Who may not change it is told so without a wait for the write lock. What counts is read
        again once it is held: nobody else can take the right away, or the garden, until the commit.
        """
        with self._open_store.snapshot():
            self._garden_to_manage(slug)
        with self._open_store.administering(self._principal, act, slug, detail) as commit:
            raise_if_repeated(request)
            yield self._garden_to_manage(slug), commit

    def _garden_and_role(self, slug: str) -> tuple[Garden, Role | None]:
        tenant = self._principal.tenant
        garden = (
            self._access.gardens(tenant, slug=slug).get(slug) if isinstance(slug, str) else None
        )
        role = self._open_store.roles_of(self._principal).get(slug) if garden else None
        if garden is None or (role is None and "admin" not in self._principal.permissions):
            raise no_garden(slug)
        return garden, role

    def _garden_to_manage(self, slug: str) -> Garden:
        garden, role = self._garden_and_role(slug)
        if not may_manage(self._principal, role):
            need(self._principal, "admin")
        return garden
