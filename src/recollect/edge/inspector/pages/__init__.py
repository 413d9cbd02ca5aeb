"""The pages: each module declares its own, in the order in which the navigation has them."""

from __future__ import annotations

from recollect.edge.inspector.page import Form, Page
from recollect.edge.inspector.pages import (
    access,
    ask,
    demo,
    forgetting,
    frame,
    keep,
    pak,
    receipts,
    watching,
)

__all__ = ["FORMS", "PAGES"]

_MODULES = (ask, frame, receipts, pak, demo, keep, forgetting, access, watching)

PAGES: tuple[Page, ...] = tuple(page for module in _MODULES for page in module.PAGES)
FORMS: tuple[Form, ...] = tuple(form for module in _MODULES for form in module.FORMS)
