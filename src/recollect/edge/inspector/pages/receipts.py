"""Receipts: what was answered to whom, latest first; each leads to itself beside today's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.edge.inspector.page import Data, Form, Page

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit

__all__ = ["FORMS", "PAGES"]

_MOST_LISTED = 25


def _receipts(visit: Visit) -> Data:
    page = visit.ask("receipts", limit=_MOST_LISTED, **visit.given("receipts", "cursor"))
    return {**page, "cursor": visit.text("cursor"), "keeps": visit.server.options.receipts}


PAGES = (
    Page(
        "/receipts",
        "receipts.html",
        _receipts,
        "Receipts",
        label="Receipts",
        help="What was answered to whom, and whether it still is.",
    ),
)
FORMS: tuple[Form, ...] = ()
