"""Give memories another status: let them out of quarantine, turn them away, archive, bring back.

In: where they stand, inside a commit. Out: rows that stand otherwise, and links that follow: only
what is settled is linked by itself (ADR-0011), so who stops being settled leaves the lists of the
others, and who becomes it looks around.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from recollect.write.likeness import arrivals_of, relink
from recollect.write.link import MAX_AUTOMATIC

if TYPE_CHECKING:
    from recollect.model import Status
    from recollect.ports.store import Commit, Standing, Store
    from recollect.write.likeness import IndexBefore

__all__ = ["ARCHIVED", "set_status"]

ARCHIVED: Final = "archived"


def set_status(
    standing: Collection[Standing],
    status: Status,
    *,
    store: Store,
    before: IndexBefore,
    commit: Commit,
    links: bool,
    by: str,
    at: str,
) -> None:
    """Let memories stand as they do but for their status; with `links`, link who may be now."""
    changed = [old._replace(status=status) for old in standing]
    pairs = list(zip(standing, changed, strict=True))
    leaving = [old.row_id for old, new in pairs if old.settled and not new.settled]
    coming = [new.row_id for old, new in pairs if links and new.settled and not old.settled]
    rows_to_relink = store.edges.full_lists_with(leaving, MAX_AUTOMATIC)
    index = before(commit) if coming or rows_to_relink else None
    store.edges.take_out(leaving)
    store.memories.set_standing(changed, by=by, at=at)
    if index is not None:
        new = [replace(one, settled=True, was_there=False) for one in arrivals_of(coming, index)]
        again = arrivals_of(rows_to_relink, index)
        relink([*new, *again], without=leaving, index=index, store=store, commit=commit)
