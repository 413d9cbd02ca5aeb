"""What goes on: counts as they are now, recalls that took long, hooks, and who did what.

In: who asks. Out: numbers of what that may read, each with the page it counts; numbers of the whole
server and its hooks for whoever is at the machine, and for nobody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.edge.http.operating import told_of_hooks
from recollect.edge.http.slow import SLOW_SECONDS
from recollect.edge.inspector.page import Data, Form, Go, Page
from recollect.edge.inspector.pages.access import paged
from recollect.edge.inspector.pages.keep import as_found
from recollect.errors import InvalidInput, NotAllowed

if TYPE_CHECKING:
    from recollect.edge.inspector.visit import Visit

__all__ = ["FORMS", "PAGES"]

_A_PAGE = 25
_SLOWEST = 20


def _activity(visit: Visit) -> Data:
    counts = visit.ask("list", limit=1, counts=True)["counts"]
    is_admin = "admin" in visit.me.permissions
    whose = None if is_admin else visit.me.id
    slow = visit.server.slow.of(visit.served.store, visit.me.tenant, principal=whose)
    page = paged(visit, slow, _SLOWEST)
    return {
        "counts": [
            _counted("Memories", counts["memories"], "/keep"),
            _counted("Conversations", len(counts["thread"]), "/threads"),
            _counted("Speakers", len(as_found("speaker", counts["speaker"])), "/names/speaker"),
            _counted("Projects", len(counts["project"]), "/names/project"),
            _counted("Tags", len(counts["tag"]), "/names/tag"),
            _counted("Risk flags", len(visit.flagged()), "/names/flag"),
            _counted("Injection shapes", len(counts["risk"]), "/names/risk"),
            _counted("In quarantine", len(visit.ask("quarantine.list")["waiting"]), "/quarantine"),
            _counted("Open disputes", len(visit.ask("disputes")["disputes"]), "/disputes"),
            _counted("Gardens", len(visit.ask("gardens.list")["gardens"]), "/gardens"),
        ],
        "at": visit.text("cursor"),
        "slow": page["items"],
        "slow_count": page["count"],
        "next_cursor": page["next_cursor"],
        "is_first": page["is_first"],
        "slow_ms": 1_000 * SLOW_SECONDS,
        "is_admin": is_admin,
        "server": visit.server.counts.told() if visit.is_at_the_machine else None,
    }


def _counted(label: str, count: int, path: str) -> Data:
    return {"label": label, "count": count, "path": path}


def _hooks(visit: Visit) -> Data:
    _need_machine(visit)
    told = told_of_hooks(visit.server.stores.hooks)
    page = paged(visit, told["hooks"])
    return {**told, **page, "hooks": page.pop("items")}


def _reload(visit: Visit) -> Go:
    _need_machine(visit)
    visit.server.reloads.reload(visit.server.stores)
    return Go("/hooks", "The file of hooks was read anew.")


def _need_machine(visit: Visit) -> None:
    if not visit.is_at_the_machine:
        raise NotAllowed(
            "hooks are the server's own.",
            hint="`recollect inspector`, or the token that a local server prints, shows them.",
        )


def _audit(visit: Visit) -> Data:
    before = visit.given("audit", "before")
    if before.get("before", 1) < 1:
        raise InvalidInput("acts are numbered from 1.", hint="start with the first page.")
    acts = visit.ask("audit", limit=_A_PAGE + 1, **before)["acts"]
    shown = acts[:_A_PAGE]
    return {
        "acts": shown,
        "next_before": shown[-1]["number"] if len(acts) > _A_PAGE else None,
        "is_first": not before,
    }


PAGES = (
    Page(
        "/activity",
        "activity.html",
        _activity,
        "Activity",
        label="Activity",
        group="Watch",
        help="Counts as they are now, and recalls that took long.",
    ),
    # In no navigation: a key never opens it, and Activity names it to whoever may.
    Page("/hooks", "hooks.html", _hooks, "Hooks"),
    Page(
        "/audit",
        "audit.html",
        _audit,
        "Audit trail",
        label="Audit trail",
        group="Watch",
        permission="admin",
        help="Who did what to look after this store.",
    ),
)
FORMS = (Form("/hooks/reload", _reload),)
