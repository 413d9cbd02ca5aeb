"""From a principal to what it may read. This is the one place where that is decided.

In: a principal and its roles in gardens. Out: a `View`, a frozen value that every read takes. It
answers for one memory at a time; `recollect.recall.sight` asks it once for each place and turns the
answers into a mask. What a public memory of another tenant may do here is decided here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Final

from recollect.errors import NotAllowed
from recollect.policy.permit import WRITING_ROLES, is_of_self
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import Memory, Place, Principal, Role, Scope

__all__ = [
    "HELD_BACK",
    "HIDDEN_FIELDS",
    "QUARANTINED",
    "REJECTED",
    "View",
    "view_of",
    "view_of_own",
]

QUARANTINED: Final = "quarantined"
REJECTED: Final = "rejected"
# States in which nobody reads a memory, but a moderator who asks for what is in quarantine.
HELD_BACK = (QUARANTINED, REJECTED)
# Fields of a memory that no reader gets: a gap between positions would tell of a hidden turn.
HIDDEN_FIELDS = ("position",)


@dataclass(frozen=True, slots=True)
class View:
    """What one principal may read.

    `scope`, `garden` and `own_only`, to its tenant, narrow it; nothing widens it.
    """

    tenant: str
    principal: str
    teams: frozenset[str]
    roles: tuple[tuple[str, Role], ...]
    moderates_all: bool
    scope: Scope | None = None
    garden: str | None = None
    own_only: bool = False
    with_quarantined: bool = False
    without_risky: bool = False
    _gardens: frozenset[str] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_gardens", frozenset(slug for slug, _ in self.roles))
        known = [getattr(self, one.name) for one in fields(self) if one.compare]
        object.__setattr__(self, "_hash", hash(tuple(known)))

    def __hash__(self) -> int:
        # Selections are kept by view: with many roles, hashing anew would be felt in each recall.
        return self._hash

    def allows(self, place: Place) -> bool:
        """Return whether memories at a place may be read: scope first, then the garden."""
        return self._in_scope(place) and self._in_garden(place) and self._is_wanted(place)

    def binds(self, place: Place) -> bool:
        """Return whether a memory at a place may do more here than be known.

        A public one of another tenant is knowledge and nothing more: it guarantees nothing, orders
        nothing, says nothing of who we are, and is judged and counted by nobody but its own.
        """
        return place.tenant == self.tenant

    def bound(self) -> View:
        """Return a view of no more than what binds here."""
        return replace(self, own_only=True)

    def whole(self) -> View:
        """Return a view that is not narrowed: all that the principal may read, unasked."""
        plain = replace(self, scope=None, garden=None, own_only=False, with_quarantined=False)
        return self if plain == self else plain

    def as_known(self, memory: Memory) -> Memory:
        """Return a memory as it is read here: what another tenant says of itself is left out."""
        if self.binds(memory.place) or not any(map(is_of_self, memory.tags)):
            return memory
        return replace(memory, tags=tuple(tag for tag in memory.tags if not is_of_self(tag)))

    def joins(self, one: Place, other: Place) -> bool:
        """Return whether memories at two places may be linked and disputed by the principal.

        It takes the right to write at both. With another tenant's a memory may be joined that its
        readers cannot see: what is said of the two is then heard here alone.
        """
        if self._writes(one) and self._writes(other):
            return True
        own, foreign = (one, other) if self.binds(one) else (other, one)
        return self._writes(own) and own.scope != "public" and not self.binds(foreign)

    def settles(self, one: Place, other: Place) -> bool:
        """Return whether a dispute between memories at two places counts here.

        A tenant settles its own; one between tenants was opened by whoever has the hidden end.
        """
        if one.tenant == other.tenant:
            return True
        own = one if self.binds(one) else other
        return self.binds(own) and own.scope != "public"

    def moderates(self, place: Place) -> bool:
        """Return whether quarantined memories at a place may be seen, promoted and rejected."""
        if not self.binds(place) or not self.allows(place):
            return False
        return self.moderates_all or (place.garden, "moderator") in self.roles

    def shows(self, memory: Memory) -> bool:
        """Return whether one memory may be read, whatever the time."""
        if memory.status == QUARANTINED:
            return self.with_quarantined and self.moderates(memory.place)
        return memory.status != REJECTED and self.allows(memory.place)

    def narrowed(self, *, scope: Scope | None = None, garden: str | None = None) -> View:
        """Return a view of no more than a scope, or a garden."""
        return replace(self, scope=scope or self.scope, garden=garden or self.garden)

    def role_in(self, slug: str) -> Role | None:
        """Return the principal's role in a garden of its tenant."""
        return dict(self.roles).get(slug)

    def _writes(self, place: Place) -> bool:
        if not self.binds(place) or not self.allows(place):
            return False
        return place.garden is None or self.role_in(place.garden) in WRITING_ROLES

    def _in_scope(self, place: Place) -> bool:
        if place.scope == "public":
            return True
        if place.tenant != self.tenant:
            return False
        if place.scope == "local":
            return place.owner == self.principal
        if place.scope == "team":
            return place.team in self.teams
        return place.scope == "company"

    def _in_garden(self, place: Place) -> bool:
        if place.garden is None:
            return True
        return place.tenant == self.tenant and place.garden in self._gardens

    def _is_wanted(self, place: Place) -> bool:
        if self.own_only and not self.binds(place):
            return False
        return self.scope in (None, place.scope) and self.garden in (None, place.garden)


def view_of(principal: Principal, roles: Mapping[str, Role]) -> View:
    """Return what a principal may read, given its roles in the gardens of its tenant."""
    if "read" not in principal.permissions:
        raise NotAllowed(
            f"{principal.id} may not read.", hint="ask an admin for a key with read permission."
        )
    return View(
        tenant=principal.tenant,
        principal=principal.id,
        teams=frozenset(principal.teams),
        roles=tuple(sorted(roles.items())),
        moderates_all="moderate" in principal.permissions,
    )


def view_of_own(principal: Principal, places: Iterable[Place]) -> View:
    """Return a view of places at which a principal wrote, for storing there again what it wrote.

    It may have lost the right to read there since; what it finds is told to nobody.
    """
    own = [one for one in places if (one.tenant, one.owner) == (principal.tenant, principal.id)]
    gardens = sorted({one.garden for one in own if one.garden is not None})
    return View(
        tenant=principal.tenant,
        principal=principal.id,
        teams=frozenset(one.team for one in own if one.team is not None),
        roles=tuple((slug, "writer") for slug in gardens),
        moderates_all=False,
        own_only=True,
    )
