"""Gardens, members, keys, trust and the audit log as rows of the same file.

In: values of `recollect.ports.access`. Out: the same. Every read names the tenant it is for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, get_args

from recollect.check import is_share
from recollect.model import Garden, Principal, Role
from recollect.ports.state import Head

if TYPE_CHECKING:
    from recollect.policy.keys import KeyRow
    from recollect.ports.access import Act
    from recollect.stores.sqlite.session import Session

__all__ = ["SqliteAccess"]

# All of it in one statement: after each write who asks next must know.
_PLAIN = (
    "SELECT revision, commit_id FROM engine_state"
    " WHERE NOT EXISTS (SELECT 1 FROM memory_disputes WHERE is_open = 1)"
    " AND NOT EXISTS (SELECT 1 FROM gardens WHERE tenant = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM source_trust WHERE tenant = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM garden_members WHERE tenant = ?1 AND principal = ?2)"
)

_GARDEN = "tenant, slug, name, scope, team, tier, created_at"
_KEY = (
    "prefix, digest, tenant, principal, teams, permissions, name, created_at, expires_at,"
    " revoked_at"
)


class SqliteAccess:
    """The facts about access of one SQLite file."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def roles_of(self, tenant: str, principal: str) -> dict[str, Role]:
        """Return a principal's roles by the slug of the garden."""
        return _roles(
            self._db.all(
                "SELECT slug, role FROM garden_members WHERE tenant = ? AND principal = ?"
                " ORDER BY slug",
                tenant,
                principal,
            )
        )

    def gardens(self, tenant: str, *, slug: str | None = None) -> dict[str, Garden]:
        """Return a tenant's gardens by slug, or that one at most."""
        one, values = ("", (tenant,)) if slug is None else (" AND slug = ?", (tenant, slug))
        found = self._db.all(
            f"SELECT {_GARDEN} FROM gardens WHERE tenant = ?{one} ORDER BY slug", *values
        )
        return {row[1]: Garden(*row) for row in found if _is_garden(row)}

    def put_garden(self, garden: Garden) -> None:
        """Keep a garden."""
        self._db.run(
            f"INSERT INTO gardens ({_GARDEN}) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (tenant, slug) DO UPDATE SET name = excluded.name,"
            " scope = excluded.scope, team = excluded.team, tier = excluded.tier,"
            " created_at = excluded.created_at",
            garden.tenant,
            garden.slug,
            garden.name,
            garden.scope,
            garden.team,
            garden.tier,
            garden.created_at,
        )

    def delete_garden(self, tenant: str, slug: str) -> None:
        """Drop a garden and its members."""
        self._db.run("DELETE FROM gardens WHERE tenant = ? AND slug = ?", tenant, slug)

    def members(self, tenant: str, slug: str) -> dict[str, Role]:
        """Return the members of a garden with their roles."""
        return _roles(
            self._db.all(
                "SELECT principal, role FROM garden_members WHERE tenant = ? AND slug = ?"
                " ORDER BY principal",
                tenant,
                slug,
            )
        )

    def set_role(self, tenant: str, slug: str, principal: str, role: Role | None) -> bool:
        """Give a principal a role in a garden, or take it out; return whether it had one."""
        had = self._db.run(
            "DELETE FROM garden_members WHERE tenant = ? AND slug = ? AND principal = ?",
            tenant,
            slug,
            principal,
        )
        if role is not None:
            self._db.run(
                "INSERT INTO garden_members (tenant, slug, principal, role) VALUES (?, ?, ?, ?)",
                tenant,
                slug,
                principal,
                role,
            )
        return had.rowcount > 0

    def put_key(self, key: KeyRow) -> None:
        """Keep what may be kept of a key, in the place of the one with its prefix."""
        principal = key.principal
        self._db.run(
            f"INSERT OR REPLACE INTO access_keys ({_KEY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            key.prefix,
            key.digest,
            principal.tenant,
            principal.id,
            json.dumps(principal.teams),
            json.dumps(principal.permissions),
            key.name,
            key.created_at,
            key.expires_at,
            key.revoked_at,
        )

    def key(self, prefix: str) -> KeyRow | None:
        """Return the key with this public prefix."""
        found = self._db.all(f"SELECT {_KEY} FROM access_keys WHERE prefix = ?", prefix)
        return _key(found[0]) if found else None

    def keys(self, tenant: str | None) -> list[KeyRow]:
        """Return a tenant's keys, or all there are, oldest first."""
        mine = ("", ()) if tenant is None else (" WHERE tenant = ?", (tenant,))
        condition, values = mine
        return [
            key
            for row in self._db.all(
                f"SELECT {_KEY} FROM access_keys{condition} ORDER BY created_at, prefix", *values
            )
            if (key := _key(row)) is not None
        ]

    def trusts(self, tenant: str) -> dict[str, float]:
        """Return how far a tenant trusts each source that it has spoken of."""
        return dict(
            self._db.all(
                "SELECT source, trust FROM source_trust WHERE tenant = ?"
                " AND trust BETWEEN 0 AND 1 ORDER BY source",
                tenant,
            )
        )

    def set_trust(self, tenant: str, source: str, trust: float) -> None:
        """Say how far a tenant trusts a source."""
        self._db.run(
            "INSERT INTO source_trust (tenant, source, trust) VALUES (?, ?, ?)"
            " ON CONFLICT (tenant, source) DO UPDATE SET trust = excluded.trust",
            tenant,
            source,
            trust,
        )

    def plain_at(self, tenant: str, principal: str) -> Head | None:
        """Return the head, if there are no open disputes, gardens, trusts and roles."""
        found = self._db.all(_PLAIN, tenant, principal)
        return Head(*found[0]) if found else None

    def note(self, act: Act) -> None:
        """Add an act to the audit log."""
        self._db.run(
            "INSERT INTO audit_log (number, at, tenant, principal, act, target, detail)"
            " SELECT ifnull(max(number), 0) + 1, ?, ?, ?, ?, ?, ? FROM audit_log WHERE tenant = ?",
            act.at,
            act.tenant,
            act.principal,
            act.act,
            act.target,
            act.detail,
            act.tenant,
        )

    def acts(self, tenant: str, *, limit: int, before: int | None) -> list[Act]:
        """Return a tenant's acts, latest first."""
        from recollect.ports.access import Act

        return [
            Act(*row)
            for row in self._db.all(
                "SELECT at, tenant, principal, act, target, detail, number FROM audit_log"
                " WHERE tenant = ? AND number < ? ORDER BY number DESC LIMIT ?",
                tenant,
                2**62 if before is None else before,
                limit,
            )
        ]


def _key(row: tuple[Any, ...]) -> KeyRow | None:
    """Return a key; None for one that was damaged: it opens nothing."""
    from recollect.policy.keys import KeyRow

    if not _is_text(row):
        return None
    try:
        teams, permissions = (tuple(json.loads(one)) for one in row[4:6])
        principal = Principal(row[2], row[3], teams, permissions, exact=True)
    except (ValueError, TypeError):
        return None
    return KeyRow(row[0], row[1], principal, *row[6:])


def _roles(rows: Iterable[tuple[Any, ...]]) -> dict[str, Role]:
    """Return roles by name; one that was damaged is none."""
    return {name: role for name, role in rows if type(name) is str and role in get_args(Role)}


def _is_garden(row: tuple[Any, ...]) -> bool:
    *texts, tier, created_at = row
    return _is_text((*texts, created_at)) and is_share(tier)


def _is_text(values: Iterable[object]) -> bool:
    return all(value is None or type(value) is str for value in values)
