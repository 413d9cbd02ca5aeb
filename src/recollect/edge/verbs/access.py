"""The verbs about who may read what: gardens, quarantine, trust, keys, the audit trail, oneself.

Rows of the table, each with the few lines that call the engine and hand its answer to `wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.edge import wire
from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.edge.verbs.narrowing import PAK_ID, SCOPE
from recollect.edge.verbs.verb import Route, Verb
from recollect.errors import UnknownKey
from recollect.model import PERMISSIONS, ROLES, Garden, Member, Principal
from recollect.model.request import MOST_LISTED
from recollect.ports.access import Act
from recollect.verbs.quarantine import Held

if TYPE_CHECKING:
    from recollect.engine import Recollect

__all__ = ["VERBS"]

_SLUG = Field("slug", "text", "The name of the garden.", REQUIRED, example="lab")
_TITLE = Field("name", "text", "What people call it.")
_PRINCIPAL = Field("principal", "text", "The id of a principal of the tenant.", REQUIRED)
_SOURCE = Field("source", "text", "Whose word it is.", REQUIRED, example="mail")
_GARDENS = {"gardens": list[Garden]}
_MEMBERS = {"garden": str, "members": list[Member]}
_KEY = {
    "prefix": str,
    "name": str,
    "tenant": str,
    "principal": str,
    "teams": list[str],
    "permissions": list[str],
    "created_at": str,
    "expires_at": str | None,
    "revoked_at": str | None,
}


def _gardens(memory: Recollect, _: dict[str, Any]) -> wire.Object:
    return wire.gardens(memory.gardens.list())


def _create_garden(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.gardens([memory.gardens.create(given.pop("slug"), **given)])


def _update_garden(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.gardens([memory.gardens.update(given.pop("slug"), **given)])


def _delete_garden(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    slug = given.pop("slug")
    return wire.deleted(slug, memories=memory.gardens.delete(slug, **given))


def _members(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.members(given["slug"], memory.gardens.members(given["slug"]))


def _add_member(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    slug, principal = given.pop("slug"), given.pop("principal")
    return wire.members(slug, [memory.gardens.add(slug, principal, **given)])


def _remove_member(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    slug, principal = given.pop("slug"), given.pop("principal")
    return wire.removed(slug, was_there=memory.gardens.remove(slug, principal, **given))


def _quarantine(memory: Recollect, _: dict[str, Any]) -> wire.Object:
    return wire.held(memory.quarantine.list())


def _promote(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    memory.quarantine.promote(**given)
    return wire.judged("promoted", given["pak_id"])


def _reject(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    memory.quarantine.reject(**given)
    return wire.judged("rejected", given["pak_id"])


def _trust(memory: Recollect, _: dict[str, Any]) -> wire.Object:
    return wire.trusts(memory.trust.list())


def _set_trust(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    memory.trust.set(**given)
    return wire.trust(given["source"], given["trust"])


def _keys(memory: Recollect, _: dict[str, Any]) -> wire.Object:
    return wire.keys(memory.keys.list())


def _create_key(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    who = Principal(
        memory.principal.tenant,
        given["principal"],
        tuple(given.get("teams") or ()),
        tuple(given.get("permissions") or ("read",)),
    )
    name, expires_at = given.get("name") or "", given.get("expires_at")
    request_id = given.get("request_id")
    made = memory.keys.create(who, name=name, expires_at=expires_at, request_id=request_id)
    return wire.issued(made)


def _revoke_key(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    prefix = given.pop("prefix")
    if not memory.keys.revoke(prefix, **given):
        raise UnknownKey("there is no living key of this prefix.", hint="keys.list names them.")
    return wire.revoked(prefix)


def _audit(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.acts(memory.audit(**given))


def _ingest(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.ingested(memory.ingest(given.pop("items"), **given))


def _me(memory: Recollect, _: dict[str, Any]) -> wire.Object:
    return wire.principal(memory.principal)


VERBS = (
    Verb(
        "gardens.list",
        "List the gardens that you are in; for an admin, all of the tenant.",
        "reads",
        "read",
        (),
        _GARDENS,
        _gardens,
        Route("GET", "/v1/gardens"),
    ),
    Verb(
        "gardens.create",
        "Make a garden, a named access list; whoever makes it is its first admin.",
        "writes",
        "admin",
        (
            _SLUG,
            _TITLE,
            Field("scope", "text", "Its scope.", "company", choices=SCOPE.choices),
            Field("team", "text", "Whose it is, with the scope team."),
            Field("tier", "number", "How far what is in it counts.", 1.0, least=0, most=1),
        ),
        _GARDENS,
        _create_garden,
        Route("POST", "/v1/gardens"),
        repeats=True,
    ),
    Verb(
        "gardens.update",
        "Rename a garden, or change how far what is in it counts.",
        "writes",
        "read",
        (_SLUG, _TITLE, Field("tier", "number", "How far it counts.", least=0, most=1)),
        _GARDENS,
        _update_garden,
        Route("PATCH", "/v1/gardens/{slug}"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "gardens.delete",
        "Drop a garden; no memory is deleted, each goes back to its owner.",
        "destroys",
        "read",
        (_SLUG,),
        {"deleted": str, "memories": int},
        _delete_garden,
        Route("DELETE", "/v1/gardens/{slug}"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "gardens.members",
        "Show who is in a garden.",
        "reads",
        "read",
        (_SLUG,),
        _MEMBERS,
        _members,
        Route("GET", "/v1/gardens/{slug}/members"),
    ),
    Verb(
        "gardens.add",
        "Give a principal a role in a garden, or another role.",
        "writes",
        "read",
        (_SLUG, _PRINCIPAL, Field("role", "text", "Its role.", "reader", choices=ROLES)),
        _MEMBERS,
        _add_member,
        Route("PUT", "/v1/gardens/{slug}/members/{principal}"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "gardens.remove",
        "Take a principal out of a garden.",
        "destroys",
        "read",
        (_SLUG, _PRINCIPAL),
        {"garden": str, "removed": bool},
        _remove_member,
        Route("DELETE", "/v1/gardens/{slug}/members/{principal}"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "quarantine.list",
        "List what waits for a moderator, without what it says.",
        "reads",
        "read",
        (),
        {"waiting": list[Held]},
        _quarantine,
        Route("GET", "/v1/quarantine"),
    ),
    Verb(
        "quarantine.promote",
        "Make a waiting fact a memory like any other.",
        "writes",
        "read",
        (PAK_ID,),
        {"promoted": str},
        _promote,
        Route("POST", "/v1/quarantine/{pak_id}/promote"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "quarantine.reject",
        "Turn a waiting fact away for good.",
        "destroys",
        "read",
        (PAK_ID,),
        {"rejected": str},
        _reject,
        Route("POST", "/v1/quarantine/{pak_id}/reject"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "trust.list",
        "List the sources that something was said about, and how far each is trusted.",
        "reads",
        "read",
        (),
        {"trust": dict[str, float]},
        _trust,
        Route("GET", "/v1/trust"),
    ),
    Verb(
        "trust.set",
        "Say how far a source is trusted; it counts at once for what is already here.",
        "writes",
        "admin",
        (_SOURCE, Field("trust", "number", "1 is full trust.", REQUIRED, least=0, most=1)),
        {"source": str, "trust": float},
        _set_trust,
        Route("PUT", "/v1/trust/{source}"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "keys.list",
        "List the keys of the tenant, oldest first, without their secrets.",
        "reads",
        "admin",
        (),
        {"keys": [_KEY]},
        _keys,
        Route("GET", "/v1/keys"),
    ),
    Verb(
        "keys.create",
        "Make a key for a principal of the tenant; its secret is in this answer and nowhere else.",
        "writes",
        "admin",
        (
            _PRINCIPAL,
            Field("teams", "texts", "The teams it is in.", ()),
            Field(
                "permissions",
                "texts",
                f"What it may do: {', '.join(PERMISSIONS)}.",
                ("read",),
                example=["read", "write"],
            ),
            Field("name", "text", "What the key is for.", ""),
            Field("expires_at", "time", "Until when it holds."),
        ),
        {"secret": str | None, "key": _KEY},
        _create_key,
        Route("POST", "/v1/keys"),
        repeats=True,
    ),
    Verb(
        "keys.revoke",
        "End a key at once.",
        "destroys",
        "admin",
        (Field("prefix", "text", "The public part of the key.", REQUIRED),),
        {"revoked": str},
        _revoke_key,
        Route("DELETE", "/v1/keys/{prefix}"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "audit",
        "Show who did what to look after this memory, latest first.",
        "reads",
        "admin",
        (
            Field("limit", "whole", "How many at the most.", 100, least=1, most=MOST_LISTED),
            Field("before", "whole", "Only acts with a lower number."),
        ),
        {"acts": list[Act]},
        _audit,
        Route("GET", "/v1/audit"),
    ),
    Verb(
        "ingest",
        "Take in facts from outside, each at what the word of its source is worth here.",
        "writes",
        "write",
        (
            Field("items", "facts", "The facts, each an object.", REQUIRED),
            _SOURCE,
            Field("scope", "text", "How widely they are visible.", choices=SCOPE.choices),
            Field("team", "text", "Whose they are, with the scope team."),
            Field("garden", "text", "The garden that they go into."),
        ),
        {"accepted": int, "quarantined": int, "refused": int, "items": list[dict[str, Any]]},
        _ingest,
        Route("POST", "/v1/ingest"),
        repeats=True,
    ),
    Verb(
        "me",
        "Tell who asks, and what that may do.",
        "reads",
        None,
        (),
        {"tenant": str, "principal": str, "teams": list[str], "permissions": list[str]},
        _me,
        Route("GET", "/v1/me"),
    ),
)
