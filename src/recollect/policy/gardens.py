"""The rules of gardens: what a slug looks like, who may change what, and that an admin remains.

In: values and the members as they are. Out: checked values, or an error. Nothing is stored here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, NotAllowed
from recollect.model import ROLES, Place

if TYPE_CHECKING:
    from recollect.model import Principal, Role

__all__ = [
    "checked_role",
    "checked_slug",
    "keep_an_admin",
    "may_manage",
    "place_without_garden",
    "role_with",
]

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def checked_slug(slug: object) -> str:
    """Return a slug, or say what one looks like."""
    if isinstance(slug, str) and _SLUG.fullmatch(slug):
        return slug
    raise InvalidInput(
        f"{slug!r:.80} is no slug for a garden.",
        hint="small letters, digits and -, not first; at most 63.",
    )


def checked_role(role: object) -> Role:
    """Return a role, or say which there are."""
    for known in ROLES:
        if role == known:
            return known
    raise InvalidInput(f"there is no role {role!r:.60}.", hint=f"roles are {', '.join(ROLES)}.")


def role_with(principal: Principal, role: Role) -> Role:
    """Return what is left of a role with the permissions at hand: who may not write is a reader."""
    return role if "write" in principal.permissions else "reader"


def may_manage(principal: Principal, role: Role | None) -> bool:
    """Return whether a principal may change a garden of its tenant and its members."""
    return role == "admin" or "admin" in principal.permissions


def place_without_garden(place: Place) -> Place:
    """Return where a memory goes when its garden is dropped: to its owner alone.

    The narrowest place there is: nothing is lost, and nobody reads what they could not.
    """
    return Place(place.tenant, place.owner)


def keep_an_admin(members: Mapping[str, Role], principal: str, role: Role | None) -> None:
    """Refuse to take away the last admin; `role` is the new one, None to remove."""
    admins = [name for name, one in members.items() if one == "admin"]
    if admins == [principal] and role != "admin":
        raise NotAllowed(
            f"{principal} is the last admin of this garden.", hint="make another one admin first."
        )
