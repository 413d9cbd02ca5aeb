"""What a principal must be allowed to do before a verb does it.

In: a principal, and its view where a place counts. Out: nothing, or `NotAllowed`. What a principal
cannot read is answered as if it did not exist, never with a refusal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, NotAllowed, UnknownGarden
from recollect.lookalikes import normal_name
from recollect.model import (
    INSTRUCTION,
    Place,
    known_scope,
)

if TYPE_CHECKING:
    from recollect.model import (
        Garden,
        Memory,
        Permission,
        Principal,
        Role,
        Scope,
    )

__all__ = [
    "WRITING_ROLES",
    "chosen_place",
    "is_of_self",
    "known_scope",
    "need",
    "no_garden",
    "takes_instruct",
]

WRITING_ROLES: tuple[Role, ...] = ("writer", "admin", "moderator")
# Tags that say who an agent is and what it wants: frames guarantee a place by them.
_OF_SELF = "self/"


def is_of_self(tag: str) -> bool:
    """Return whether a tag, or a pattern of tags, is one of those that guarantee."""
    return tag.startswith(_OF_SELF)


def takes_instruct(memory: Memory) -> bool:
    """Return whether it takes the instruct permission to write a memory, or to let it in.

    To give orders does, and to say who others are: to oneself one may say what one wants.
    """
    if memory.category == INSTRUCTION:
        return True
    return memory.place.scope != "local" and any(map(is_of_self, memory.tags))


def need(principal: Principal, permission: Permission) -> None:
    """Refuse a principal without a permission."""
    if permission not in principal.permissions:
        raise NotAllowed(
            f"{principal.id} has no {permission} permission.",
            hint=f"it takes a key with the {permission} permission.",
        )


def no_garden(slug: object) -> UnknownGarden:
    """Return the one answer to a garden that is not there, or not for this principal."""
    return UnknownGarden(
        f"there is no garden {slug!r:.80}.", hint="gardens.list() names those you are in."
    )


def chosen_place(
    principal: Principal,
    *,
    scope: object = None,
    team: object = None,
    garden: Garden | None = None,
    role: Role | None = None,
) -> Place:
    """Return where a principal's new memory goes; a garden brings its own scope and team."""
    if garden is not None:
        return _in_garden(principal, garden, role, scope, team)
    chosen = "local" if scope is None else known_scope(scope)
    return Place(principal.tenant, principal.id, chosen, _team(principal, chosen, team), None)


def _in_garden(
    principal: Principal, garden: Garden, role: Role | None, scope: object, team: object
) -> Place:
    if role not in WRITING_ROLES:
        raise NotAllowed(
            f"{principal.id} is a {role} of {garden.slug} and may not write there.",
            hint="ask an admin of the garden for the role of writer.",
        )
    if scope not in (None, garden.scope) or team not in (None, garden.team):
        raise InvalidInput(
            f"the garden {garden.slug} has the scope {garden.scope}.",
            hint="leave scope and team out: a memory in a garden has the garden's.",
        )
    return Place(principal.tenant, principal.id, garden.scope, garden.team, garden.slug)


def _team(principal: Principal, scope: Scope, team: object) -> str | None:
    if scope != "team":
        if team is not None:
            raise InvalidInput(
                f"a memory of scope {scope} has no team.", hint='pass scope="team" as well.'
            )
        return None
    if team is None and len(principal.teams) == 1:
        return principal.teams[0]
    if team is None:
        raise InvalidInput("which team?", hint="pass team= as well as scope.")
    named = {normal_name(own): own for own in principal.teams}
    if isinstance(team, str) and (own := named.get(normal_name(team))) is not None:
        return own
    raise NotAllowed(
        f"{principal.id} is not in the team {team!r:.60}.", hint="name a team of yours."
    )
