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

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit

__all__ = ["FORMS", "PAGES"]

_BY = ("pak_id", "thread", "project", "tag", "entity", "source", "owner", "since", "until", "scope")
_HOW = ("versions", "filter")
_SHOWN = 25


def _forget(visit: Visit) -> Data:
    given = visit.given("forget", *_BY, *_HOW)
    named = {name: one for name, one in given.items() if name not in ("scope", "versions")}
    would = visit.ask("forget", dry_run=True, **given) if named else None
    return {
        "typed": {
            **{name: visit.text(name) for name in (*_BY, *_HOW)},
            "pak_id": visit.texts("pak_id"),
        },
        "would": None if would is None else _preview(visit, would),
    }


def _preview(visit: Visit, would: dict[str, Any]) -> Data:
    """Return what would go, a page of it with titles."""
    ids = would["pak_ids"]
    before = min(int(visit.text("cursor") or 0), len(ids)) if _is_number(visit) else 0
    shown = list(ids[before : before + _SHOWN])
    more = len(ids) > before + _SHOWN
    return {
        **{name: would[name] for name in ("edges", "versions", "receipts", "returns")},
        "memories": len(ids),
        "items": _rows(visit, shown),
        "digest": _digest(would),
        "next_cursor": str(before + _SHOWN) if more else None,
        "is_first": before == 0,
    }


def _is_number(visit: Visit) -> bool:
    text = visit.text("cursor") or "0"
    return text.isascii() and text.isdigit() and len(text) < 10


def _rows(visit: Visit, ids: list[str]) -> list[Data]:
    """Return rows of what has these ids; of what cannot be listed, the id alone."""
    if not ids:
        return []
    page = visit.ask("list", limit=len(ids), filter={"pak_id": {"in": ids}})
    known = {one["pak_id"]: one for one in rows_of(page["items"])}
    return [known.get(pak_id, {"pak_id": pak_id}) for pak_id in ids]


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
