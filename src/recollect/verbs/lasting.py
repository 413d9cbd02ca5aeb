"""What ends by itself: tidy erases it, touch lets it hold on. Reading does neither unless asked to.

In: a caller, and ids to touch. Out: what was erased, or which memories hold longer now. Erasing is
what `forget` does; to touch takes the right to write where a memory is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollect.model import Forgotten
from recollect.model.filters import has_ended
from recollect.ports.store import ReceiptFilter, RowFilter
from recollect.recall.sight import rows_fulfilling
from recollect.verbs.erase import report
from recollect.verbs.requests import keep, raise_if_repeated
from recollect.write import forget
from recollect.write.draft import end_of

if TYPE_CHECKING:
    from recollect.index.index import MemoryIndex
    from recollect.ports.store import Head
    from recollect.verbs.caller import Caller
    from recollect.verbs.requests import Request

__all__ = ["tidy", "touch"]


def tidy(caller: Caller, request: Request | None = None, *, dry_run: bool = False) -> Forgotten:
    """Erase what has ended: of the whole store for whoever opened it, else of the tenant."""
    open_store = caller.open_store

    def ended_now() -> list[str]:
        index = open_store.current().index
        return _ended(caller, index, index.head)

    tenant = None if caller.is_opener else caller.principal.tenant
    answers = ReceiptFilter(tenant, ended_by=caller.now())
    found = open_store.of_one_revision(ended_now)
    count = caller.store.receipts.count(answers)
    if dry_run:
        return Forgotten(tuple(found), 0, wiped=False, dry_run=True, receipts=count)
    if request is None and not found and not count:
        return report((), 0, open_store.wipe())
    with open_store.commit() as commit:
        caller.need_living_key()
        raise_if_repeated(request)
        # Somebody may have touched one meanwhile; from here on nobody else can.
        erased = _ended(caller, open_store.follower.before(commit), commit.head)
        before = open_store.follower.before
        edges = forget.erase(erased, store=caller.store, before=before, commit=commit)
        receipts = caller.store.receipts.erase(answers)
        if erased or receipts:
            detail = f"{len(erased)} memories" + (f", {receipts} receipts" if receipts else "")
            open_store.note(caller.principal, "tidy", "ended", detail)
        keep(request, {"pak_ids": erased, "edges": edges, "receipts": receipts})
    forget.verify(caller.store, erased)
    open_store.cached_frames.drop_holding(erased)
    return report(erased, edges, open_store.wipe(), receipts=receipts)


def touch(
    caller: Caller, pak_ids: Sequence[str], request: Request | None = None
) -> tuple[str, ...]:
    """Let memories that hold for a time hold for that long from now on; return which do."""
    with caller.open_store.commit() as commit:
        caller.need_living_key()
        raise_if_repeated(request)
        sight = caller.sight_before(commit)
        now, view = caller.now(), sight.view
        ends = {
            memory.pak_id: end_of(memory.ttl, now)
            for memory in sight.memories(pak_ids).values()
            if memory.ttl is not None and view.joins(memory.place, memory.place)
        }
        slots = [sight.index.slots_of([pak_id])[0] for pak_id in ends]
        rows = sight.index.column("row_id")[np.array(slots, dtype=np.int64)].tolist()
        caller.store.memories.set_ends(dict(zip(rows, ends.values(), strict=True)))
        # What is not the caller's to touch must not be told of by its going either.
        keep(request, list(ends), names=ends)
    return tuple(ends)


def _ended(caller: Caller, index: MemoryIndex, head: Head) -> list[str]:
    rows = rows_fulfilling(has_ended(caller.now()), index, caller.store, head)
    tenant = None if caller.is_opener else caller.principal.tenant
    return sorted(caller.store.memories.standing(RowFilter(tenant=tenant, row_ids=tuple(rows))))
