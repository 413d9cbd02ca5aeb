"""One memory: its text, where it is from, what became of it, and what it is joined to.

In: an id. Out: all that `inspect` and `history` tell, versions with what changed, both sides
of each dispute, links as a picture, and, for an admin, who may read it. Here it can be corrected,
archived, and its disputes settled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.edge.inspector import graph
from recollect.edge.inspector.differences import pieces
from recollect.edge.inspector.page import Data, Form, Go, Page
from recollect.edge.inspector.texts import address
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit
    from recollect.engine import Recollect
    from recollect.model import Principal

__all__ = ["FORMS", "PAGES"]

_ROWS = 20
_SETTLED = {
    "this": "The dispute is settled: the other one gave way.",
    "other": "The dispute is settled: this one gave way.",
    "both": "The dispute is settled: both may be answers.",
}


def _memory(visit: Visit) -> Data:
    pak_id = visit.text("pak_id") or ""
    found = visit.ask("inspect", pak_id=pak_id)
    memory = found["memory"]
    versions = visit.paged([] if memory is None else _versions(visit, pak_id), _ROWS, "versions")
    links = visit.paged(found["links"], _ROWS, "links")
    who = None if memory is None else _principals(visit)
    readers = visit.paged(sorted((who or {}).items()), _ROWS, "readers")
    return {
        **found,
        "title": found["pak"]["title"] or pak_id,
        "pak_id": pak_id,
        "whole": visit.text("whole") is not None,
        "versions": [_changed(before, after) for before, after in versions["items"]],
        "pages": {
            "versions": _rest(versions),
            "links": _rest(links),
            "readers": _rest(readers),
        },
        "points": _points(visit, found["links"]),
        "linked": [{**one, "title": _title(visit, one["pak_id"])} for one in links["items"]],
        "sides": [_sides(visit, one, pak_id) for one in found["disputes"]],
        "readers": None
        if who is None
        else [_reader(visit, pak_id, name, one) for name, one in readers["items"]],
    }


def _versions(visit: Visit, pak_id: str) -> list[tuple[Data | None, Data]]:
    """Return the versions, the latest first, each with the one before.

    What it superseded stands among them, with its own id.
    """
    told = visit.ask("history", pak_id=pak_id)["versions"]
    return list(zip([None, *told], told, strict=False))[::-1]


def _changed(before: Data | None, after: Data) -> Data:
    """Return a version with what it says otherwise than the one before."""
    old, new = ("" if one is None else one["memory"]["content"] for one in (before, after))
    is_other = before is not None and old != new
    return {**after, "differences": pieces(old, new) if is_other else None}


def _points(visit: Visit, links: list[Data]) -> list[Data]:
    named = graph.around(links)
    return [{**one, "title": _title(visit, one["pak_id"])} for one in named]


def _title(visit: Visit, pak_id: str) -> str:
    memory = visit.ask("get", pak_id=pak_id)["memory"]
    return str(memory["title"] or pak_id)


def _sides(visit: Visit, dispute: Data, pak_id: str) -> Data:
    other = dispute["second"] if dispute["first"] == pak_id else dispute["first"]
    return {
        "note": dispute["note"],
        "other": other,
        "memory": visit.ask("get", pak_id=other)["memory"],
    }


def _rest(page: Data) -> Data:
    return {name: page[name] for name in ("count", "next_cursor", "is_first")}


def _principals(visit: Visit) -> dict[str, Principal] | None:
    """Return those that have a key, by name; None for who may not know."""
    if "admin" not in visit.me.permissions:
        return None
    rows = [one for one in visit.served.opener.keys.list() if one.revoked_at is None]
    return {one.principal.id: one.principal for one in rows if _is_ours(visit, one.principal)}


def _reader(visit: Visit, pak_id: str, name: str, who: Principal) -> Data:
    """Return whether somebody that has a key may read a memory."""
    return {"principal": name, "reads": _reads(visit.served.opener.as_principal(who), pak_id)}


def _is_ours(visit: Visit, who: Principal) -> bool:
    return who.tenant == visit.me.tenant


def _reads(memory: Recollect, pak_id: str) -> bool:
    return "read" in memory.principal.permissions and memory.get(pak_id) is not None


def _correct(visit: Visit) -> Go:
    pak_id, content = _named(visit, "pak_id"), _named(visit, "content")
    visit.ask("update", pak_id=pak_id, content=content.replace("\r\n", "\n"))
    return Go(
        address("pak", pak_id), said="It is corrected; what it said before is in its history."
    )


def _archive(visit: Visit) -> Go:
    pak_id, how = _named(visit, "pak_id"), visit.text("how")
    verb = "unarchive" if how == "back" else "archive"
    visit.ask(verb, pak_id=pak_id)
    said = (
        "It is back in answers." if verb == "unarchive" else "It is archived: out of all answers."
    )
    return Go(address("pak", pak_id), said=said)


def _settle(visit: Visit) -> Go:
    """Settle a dispute: one takes the place of the other, or both may stand."""
    pak_id, other, how = _named(visit, "pak_id"), _named(visit, "other"), visit.text("how")
    if how not in _SETTLED:
        raise InvalidInput("how it is settled is not said.", hint="choose one of the three.")
    if how == "this":
        visit.ask("supersede", pak_id=other, new=pak_id)
    if how == "other":
        visit.ask("supersede", pak_id=pak_id, new=other)
    visit.ask("resolve", pak_id=pak_id, other=other)
    return Go(address("pak", pak_id), said=_SETTLED[how])


def _named(visit: Visit, name: str) -> str:
    text = visit.text(name)
    if text is None:
        raise InvalidInput(f"{name} is missing.", hint="open the page again, and send it.")
    return text


PAGES = (Page("/pak/{pak_id}", "pak.html", _memory, "A memory"),)
FORMS: tuple[Form, ...] = (
    Form("/correct", _correct, on="/pak/{pak_id}"),
    Form("/archive", _archive),
    Form("/settle", _settle),
)
