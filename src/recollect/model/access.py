"""Who asks, and where a memory sits: principals, scopes, gardens.

Frozen values, standard library only. What follows from them is in `recollect.policy`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Literal, get_args

from recollect.errors import InvalidInput
from recollect.lookalikes import complaint, normal_name
from recollect.values import dataclass

__all__ = [
    "LOCAL",
    "LOCAL_PRINCIPAL",
    "PERMISSIONS",
    "ROLES",
    "SCOPES",
    "Garden",
    "Member",
    "Permission",
    "Place",
    "Principal",
    "Role",
    "Scope",
    "known_scope",
]

Scope = Literal["local", "team", "company", "public"]
Permission = Literal["read", "write", "admin", "moderate", "instruct"]
Role = Literal["reader", "writer", "admin", "moderator"]

SCOPES: tuple[Scope, ...] = get_args(Scope)
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
# What a principal may do unless told otherwise.
ORDINARY: tuple[Permission, ...] = ("read", "write")
ROLES: tuple[Role, ...] = get_args(Role)

_MOST_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory sits in the access model."""

    tenant: str = "local"
    owner: str = "local"
    scope: Scope = "local"
    team: str | None = None
    garden: str | None = None


LOCAL = Place()


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. Any order of teams and permissions is the same principal, and any Unicode form.

    Names that could be mistaken for others are refused. With `exact` they are taken as they are, as
    long as they can be printed: for names in a store from before that was so. `key` is the public
    prefix of the key by which the principal was found; what is done for it ends with that key.
    """

    tenant: str = "local"
    id: str = "local"
    teams: tuple[str, ...] = ()
    permissions: tuple[Permission, ...] = ORDINARY
    key: str | None = field(default=None, kw_only=True, compare=False, repr=False)
    exact: bool = field(default=False, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        checked = _check_name if self.exact else _distinct_name
        object.__setattr__(self, "tenant", checked("tenant", self.tenant))
        object.__setattr__(self, "id", checked("id", self.id))
        teams = {checked("team", team) for team in _names("teams", self.teams)}
        permissions = _names("permissions", self.permissions)
        for permission in permissions:
            if permission not in PERMISSIONS:
                raise InvalidInput(
                    f"there is no permission {permission!r:.60}.",
                    hint=f"permissions are {', '.join(PERMISSIONS)}.",
                )
        object.__setattr__(self, "teams", tuple(sorted(teams)))
        object.__setattr__(self, "permissions", tuple(p for p in PERMISSIONS if p in permissions))


@dataclass(frozen=True, slots=True)
class Garden:
    """A named access list inside one scope. `tier` scales the confidence of what is in it."""

    tenant: str
    slug: str
    name: str
    scope: Scope
    team: str | None = None
    tier: float = 1.0
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A principal of the garden's tenant, and what it may do there."""

    principal: str
    role: Role


def _names(field: str, values: object) -> set[str]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(
            f"{field} of a principal are a list of names.", hint=f'write {field}=["..."].'
        )
    names = set()
    for value in values:
        if not isinstance(value, str):
            raise InvalidInput(
                f"{field} of a principal are names, not {value!r:.60}.",
                hint=f'write {field}=["..."].',
            )
        names.add(value)
    return names


def _distinct_name(field: str, value: object) -> str:
    """Return a name in its normal form; refuse what could be mistaken for another name."""
    name = normal_name(_check_name(field, value))
    wrong = complaint(name)
    if wrong is not None:
        raise InvalidInput(
            f"{field} of a principal {wrong[0]}: {value!a:.60}.",
            hint=f"{wrong[1]} A name that a store has already: Principal(..., exact=True).",
        )
    return name


def _check_name(field: str, value: object) -> str:
    """Return what can be printed as a name; refuse what could be mistaken for none."""
    if (
        not isinstance(value, str)
        or not 0 < len(value) <= _MOST_NAME_CHARS
        or value != value.strip()
        or not value.isprintable()
    ):
        raise InvalidInput(
            f"{field} of a principal must be a name of 1 to {_MOST_NAME_CHARS} printable"
            f" characters, not {value!r:.60}.",
            hint="leave out spaces around it, line breaks and control characters.",
        )
    return value


LOCAL_PRINCIPAL = Principal(permissions=PERMISSIONS)


def known_scope(scope: object) -> Scope:
    """Return a scope, or say which there are."""
    for known in SCOPES:
        if scope == known:
            return known
    raise InvalidInput(f"there is no scope {scope!r:.60}.", hint=f"scopes are {', '.join(SCOPES)}.")
