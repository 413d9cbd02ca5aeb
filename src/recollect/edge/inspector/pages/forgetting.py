"""Forget: what would go, before it goes; then the proof that it went.

In: by what memories are named. Out: a preview, which erases nothing; and what `forget` answers,
with the files that were looked at. What is erased is what was shown: if it is not the same any
more, it is shown again instead.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from recollect.edge.inspector.page import Data, Form, Go, Page, Shown
from recollect.edge.inspector.pages.keep import rows_of
from recollect.edge.inspector.texts import beginning
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit

__all__ = ["FORMS", "PAGES"]

_BY = ("pak_id", "thread", "project", "tag", "entity", "source", "owner", "since", "until", "scope")
_HOW = ("versions", "filter")
# By what earlier versions of what stays are named, too.
_OF_VERSIONS = ("thread", "project", "tag", "entity", "source", "owner", "scope")
_SHOWN = 25


def _forget(visit: Visit) -> Data:
    given = visit.given("forget", *_BY, *_HOW)
    named = {name: one for name, one in given.items() if name not in ("scope", "versions")}
    _need_more_than_time(named)
    would = visit.ask("forget", dry_run=True, **given) if named else None
    return {
        "typed": {
            **{name: visit.text(name) for name in (*_BY, *_HOW)},
            "pak_id": visit.texts("pak_id"),
        },
        "would": None if would is None else _preview(visit, would, given),
    }


def _need_more_than_time(named: dict[str, Any]) -> None:
    """Refuse a stretch of time alone: whose or of what it is has to be said, too."""
    for name in ("since", "until"):
        if name in named and not set(named) - {"since", "until"}:
            raise InvalidInput(
                f"{name} narrows what is named, and nothing else is.",
                hint="name a project, a conversation, a tag or a source, too.",
            )


def _preview(visit: Visit, would: dict[str, Any], given: dict[str, Any]) -> Data:
    """Return what would go: of memories and of versions a page each, with how they begin."""
    ids = list(would["pak_ids"])
    page = visit.paged(ids, _SHOWN)
    return {
        **{name: would[name] for name in ("versions", "receipts", "returns")},
        "memories": len(ids),
        "digest": _digest(would),
        **page,
        "items": _rows(visit, page["items"]),
        "older": _older(visit, given) if would["versions"] else None,
    }


def _rows(visit: Visit, ids: list[str]) -> list[Data]:
    """Return rows of what has these ids, each with how many links end; or the id alone."""
    if not ids:
        return []
    page = visit.ask("list", limit=len(ids), filter={"pak_id": {"in": ids}})
    known = {one["pak_id"]: one for one in rows_of(page["items"])}
    return [
        {**known[pak_id], "links": len(visit.ask("inspect", pak_id=pak_id)["links"])}
        if pak_id in known
        else {"pak_id": pak_id}
        for pak_id in ids
    ]


def _older(visit: Visit, given: dict[str, Any]) -> Data:
    """Return a page of the earlier versions that would go of what stays."""
    named = {name: one for name, one in given.items() if name in _OF_VERSIONS}
    numbered = [
        (pak_id, number) for pak_id, numbers in visit.older(**named).items() for number in numbers
    ]
    page = visit.paged(numbered, _SHOWN, "older")
    return {**page, "items": _versions(visit, page["items"])}


def _versions(visit: Visit, numbered: list[tuple[str, int]]) -> list[Data]:
    """Return versions with when they were made and how they begin; or id and number alone."""
    ids = [*dict.fromkeys(pak_id for pak_id, _ in numbered)]
    may_be_read = visit.ask("list", limit=max(1, len(ids)), filter={"pak_id": {"in": ids}})["items"]
    told = {one["pak_id"]: _history(visit, one["pak_id"]) for one in may_be_read}
    unread = {"at": None, "beginning": None}
    return [
        {"pak_id": pak_id, "number": number, **told.get(pak_id, {}).get(number, unread)}
        for pak_id, number in numbered
    ]


def _history(visit: Visit, pak_id: str) -> dict[int, Data]:
    return {
        one["number"]: {"at": one["at"], "beginning": beginning(one["memory"]["content"])}
        for one in visit.ask("history", pak_id=pak_id)["versions"]
        if one["pak_id"] == pak_id
    }


def _digest(would: dict[str, Any]) -> str:
    """Return what tells whether that which would go is still what was looked at."""
    told = repr([sorted(would["pak_ids"]), would["versions"], would["receipts"]])
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _erase(visit: Visit) -> Go | Shown:
    given = visit.given("forget", *_BY, *_HOW)
    now = visit.ask("forget", dry_run=True, **given)
    if visit.text("digest") != _digest(now):
        typed = {name: visit.texts(name) for name in (*_BY, *_HOW)}
        return Go(
            f"/forget?{urlencode(typed, doseq=True)}",
            "What would go has changed since you looked. Nothing was erased: look again.",
        )
    gone = visit.ask("forget", **given)
    return Shown("forgotten.html", "Forgotten", {"gone": gone})


PAGES = (
    Page(
        "/forget",
        "forget.html",
        _forget,
        "Forget",
        label="Forget",
        group="Keep",
        permission="write",
        help="Erase for good, with a preview and a proof.",
    ),
)
FORMS = (Form("/forget", _erase),)
