"""Who may read what: gardens and their members, what waits in quarantine, keys, trust, disputes.

In: what is typed into forms. Out: the answers of the verbs of the same names. Whoever lacks a right
hears from the verb what it takes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recollect.edge.inspector.page import Data, Form, Go, Page, Shown
from recollect.edge.inspector.pages.keep import rows_of
from recollect.edge.inspector.texts import LONG_CHARS, address
from recollect.errors import NoSuchRoute
from recollect.model import PERMISSIONS, ROLES, SCOPES
from recollect.model.request import asked_of_waiting

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit

__all__ = ["FORMS", "PAGES", "paged"]

# Rows of a list; those with forms of their own, and pairs of memories, are heavier.
_A_PAGE, _WAITING, _PAIRS = 25, 20, 10
_SIDES = ("first", "second")


def paged(visit: Visit, found: list[Any], most: int = _A_PAGE) -> Data:
    """Return a page of a list that comes whole."""
    return visit.paged(found, most)


def _gardens(visit: Visit) -> Data:
    return {**paged(visit, visit.ask("gardens.list")["gardens"]), "scopes": list(SCOPES)}


def _garden(visit: Visit) -> Data:
    slug = visit.text("slug") or ""
    found = [one for one in visit.ask("gardens.list")["gardens"] if one["slug"] == slug]
    if not found:
        raise NoSuchRoute(
            f"there is no garden {slug!r:.80}.", hint="/gardens has those that you are in."
        )
    inside = visit.ask("list", garden=slug, limit=1, counts=True)["counts"]["memories"]
    members = visit.ask("gardens.members", slug=slug)["members"]
    own = [one["role"] for one in members if one["principal"] == visit.me.id]
    return {
        "garden": found[0],
        "memories": inside,
        "roles": list(ROLES),
        "may_manage": "admin" in visit.me.permissions or "admin" in own,
        **paged(visit, members),
    }


def _create_garden(visit: Visit) -> Go:
    given = visit.given("gardens.create", "slug", "name", "scope", "team", "tier")
    visit.ask("gardens.create", **given)
    return Go(address("gardens", given["slug"]), "The garden is there. Its first admin is you.")


def _update_garden(visit: Visit) -> Go:
    given = visit.given("gardens.update", "slug", "name", "tier")
    visit.ask("gardens.update", **given)
    return Go(address("gardens", given["slug"]), "Changed.")


def _delete_garden(visit: Visit) -> Go:
    slug = visit.text("slug") or ""
    gone = visit.ask("gardens.delete", slug=slug)
    count = gone["memories"]
    owned = "memory went back to its owner" if count == 1 else "memories went back to their owners"
    return Go("/gardens", f"The garden {slug} is gone; {count:,} {owned}.")


def _add_member(visit: Visit) -> Go:
    given = visit.given("gardens.add", "slug", "principal", "role")
    visit.ask("gardens.add", **given)
    return Go(address("gardens", given["slug"]), f"{given['principal']} is in.")


def _remove_member(visit: Visit) -> Go:
    given = visit.given("gardens.remove", "slug", "principal")
    visit.ask("gardens.remove", **given)
    return Go(address("gardens", given["slug"]), f"{given['principal']} is out.")


def _quarantine(visit: Visit) -> Data:
    return paged(visit, visit.ask("quarantine.list")["waiting"], _WAITING)


def _held(visit: Visit) -> Data:
    """Return one that waits, with what it says: whoever judges it must read it."""
    pak_id = visit.text("pak_id") or ""
    found = [one for one in visit.ask("quarantine.list")["waiting"] if one["pak_id"] == pak_id]
    if not found:
        raise NoSuchRoute(f"nothing waits as {pak_id!r:.80}.", hint="/quarantine has what waits.")
    asked = visit.ask("recall", **asked_of_waiting(pak_id).to_dict())
    facts = [one["fact"] for one in (*asked["results"], *asked["instructions"])]
    content = facts[0]["content"] if facts else None
    return {
        "held": found[0],
        "content": None if content is None else content[:LONG_CHARS],
        "is_cut": content is not None and len(content) > LONG_CHARS,
    }


def _promote(visit: Visit) -> Go:
    pak_id = visit.text("pak_id") or ""
    visit.ask("quarantine.promote", pak_id=pak_id)
    return Go("/quarantine", f"{pak_id} is a memory like any other now.")


def _reject(visit: Visit) -> Go:
    pak_id = visit.text("pak_id") or ""
    visit.ask("quarantine.reject", pak_id=pak_id)
    return Go("/quarantine", f"{pak_id} was turned away for good.")


def _keys(visit: Visit) -> Data:
    keys = sorted(visit.ask("keys.list")["keys"], key=lambda one: one["created_at"], reverse=True)
    now = datetime.fromtimestamp(visit.server.clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    told = [{**one, "state": _state(one, now)} for one in keys]
    living = [one for one in told if one["state"] == "living"]
    state = visit.text("state")
    return {
        **paged(visit, living if state == "living" else told),
        "all_keys": len(told),
        "living": len(living),
        "state": state,
        "permissions": list(PERMISSIONS),
    }


def _state(key: Data, now: str) -> str:
    if key["revoked_at"] is not None:
        return "revoked"
    return "expired" if key["expires_at"] is not None and key["expires_at"] <= now else "living"


def _create_key(visit: Visit) -> Shown:
    given = visit.given("keys.create", "principal", "permissions", "name", "expires_at")
    teams = [one.strip() for one in (visit.text("teams") or "").split(",") if one.strip()]
    made = visit.ask("keys.create", **given, teams=teams)
    return Shown("key_made.html", "A new key", {"made": made})


def _revoke_key(visit: Visit) -> Go:
    prefix = visit.text("prefix") or ""
    visit.ask("keys.revoke", prefix=prefix)
    return Go("/keys", f"{prefix} opens nothing any more.")


def _trust(visit: Visit) -> Data:
    told = visit.ask("trust.list")["trust"]
    return paged(visit, [{"source": name, "trust": one} for name, one in sorted(told.items())])


def _set_trust(visit: Visit) -> Go:
    given = visit.given("trust.set", "source", "trust")
    visit.ask("trust.set", **given)
    return Go("/trust", f"{given['source']} is trusted {given['trust']:g} from now on.")


def _disputes(visit: Visit) -> Data:
    page = paged(visit, visit.ask("disputes")["disputes"], _PAIRS)
    ids = [name for one in page["items"] for name in (one["first"], one["second"])]
    found = visit.ask("list", limit=max(1, len(ids)), filter={"pak_id": {"in": ids}})
    known = {one["pak_id"]: one for one in rows_of(found["items"])}
    pairs = [
        {**one, "sides": [known.get(one[end], {"pak_id": one[end]}) for end in _SIDES]}
        for one in page["items"]
    ]
    return {**page, "items": pairs}


def _settle(visit: Visit) -> Go:
    pak_id, other = visit.text("pak_id") or "", visit.text("other") or ""
    if visit.text("keep") is not None:
        lost = other if visit.text("keep") == pak_id else pak_id
        visit.ask("supersede", pak_id=lost, new=visit.text("keep"))
    visit.ask("resolve", pak_id=pak_id, other=other)
    return Go("/disputes", "Settled.")


PAGES = (
    Page(
        "/disputes",
        "disputes.html",
        _disputes,
        "Disputes",
        label="Disputes",
        group="Keep",
        help="Memories that contradict each other.",
    ),
    Page(
        "/quarantine",
        "quarantine.html",
        _quarantine,
        "Quarantine",
        label="Quarantine",
        group="Access",
        help="What waits for a moderator.",
    ),
    Page("/quarantine/{pak_id}", "held.html", _held, "Waiting"),
    Page(
        "/gardens",
        "gardens.html",
        _gardens,
        "Gardens",
        label="Gardens",
        group="Access",
        help="Named lists of who may read what.",
    ),
    Page("/gardens/{slug}", "garden.html", _garden, "Garden"),
    Page(
        "/trust",
        "trust.html",
        _trust,
        "Trust",
        label="Trust",
        group="Access",
        help="How far the word of each source counts.",
    ),
    Page(
        "/keys",
        "keys.html",
        _keys,
        "Keys",
        label="Keys",
        group="Access",
        permission="admin",
        help="Who may ask this server, and what for.",
    ),
)
FORMS = (
    Form("/gardens", _create_garden),
    Form("/gardens/{slug}", _update_garden),
    Form("/gardens/{slug}/delete", _delete_garden),
    Form("/gardens/{slug}/add", _add_member, on="/gardens/{slug}"),
    Form("/gardens/{slug}/remove", _remove_member, on="/gardens/{slug}"),
    Form("/quarantine/{pak_id}/promote", _promote),
    Form("/quarantine/{pak_id}/reject", _reject),
    Form("/keys", _create_key),
    Form("/keys/{prefix}/revoke", _revoke_key),
    Form("/trust", _set_trust),
    Form("/disputes/settle", _settle),
)
