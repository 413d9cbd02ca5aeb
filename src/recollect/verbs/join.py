"""The verbs on two memories: link, dispute, resolve. Both must be readable, or neither exists.

In: two ids. Out: a row written, or an error that names the one that is not there. Ends that the
caller itself stored just now are `known`, whoever may read them.
"""

from __future__ import annotations

from dataclasses import replace

from recollect.check import is_id
from recollect.errors import InvalidInput
from recollect.paks import UnknownPak
from recollect.verbs.caller import Caller
from recollect.write.link import edge_between

__all__ = ["dispute", "link", "relinked", "resolve"]


def link(caller: Caller, pak_id: str, other: str, weight: float) -> None:
    """Join two memories by hand."""
    with caller.opened.turn():
        rows = _two(caller, pak_id, other)
        with caller.opened.writing():
            caller.store.put_edges(
                [edge_between(rows[pak_id], rows[other], weight, automatic=False)]
            )


def relinked(caller: Caller, pak_id: str, other: str, weight: float, automatic: bool) -> None:
    """Join two memories that were stored just now as they were joined elsewhere.

    An automatic link stays one if it came about here too; only its weight is brought along.
    """
    with caller.opened.turn():
        rows = caller.store.row_ids((pak_id, other))
        made = edge_between(rows[pak_id], rows[other], weight, automatic=automatic)
        ends = (made.low, made.high)
        here = [one for one in caller.store.edges([made.low]) if (one.low, one.high) == ends]
        if not any(one.automatic for one in here):
            made = replace(made, automatic=False)
        # Most automatic links have come about just as they were: nothing is left to write.
        if made not in here:
            with caller.opened.writing():
                caller.store.put_edges([made])


def dispute(caller: Caller, pak_id: str, other: str, note: str, *, known: bool = False) -> None:
    """Say that two memories contradict each other."""
    with caller.opened.turn():
        if not known:
            _two(caller, pak_id, other)
        with caller.opened.writing():
            caller.store.dispute(pak_id, other, note=note, now=caller.now())


def resolve(caller: Caller, pak_id: str, other: str) -> bool:
    """Settle a dispute; return whether there was one."""
    with caller.opened.turn():
        _two(caller, pak_id, other)
        with caller.opened.writing():
            return caller.store.resolve(pak_id, other)


def _two(caller: Caller, pak_id: str, other: str) -> dict[str, int]:
    if pak_id == other:
        raise InvalidInput(f"{pak_id!r} cannot be joined with itself.", hint="name two memories.")
    sight = caller.sight()
    known = [one for one in (pak_id, other) if is_id(one) and sight.may_read(one)]
    rows = caller.store.row_ids(known)
    for one in (pak_id, other):
        if one not in rows:
            raise UnknownPak(f"There is no memory {one!r}.", hint="check the id with get().")
    return rows
