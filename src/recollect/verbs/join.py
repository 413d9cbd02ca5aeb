"""The verbs on two memories: link, dispute, resolve. Both must be readable, or neither exists.

In: two ids. Out: a row written, or an error that names the one that is not there, or says that the
right is missing: what it takes is in the `View`. What an import joins, the caller itself has stored
just now, whoever may read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recollect.check import is_id
from recollect.errors import InvalidInput, NotAllowed
from recollect.paks import UnknownPak
from recollect.policy.permit import need, takes_instruct
from recollect.ports.store import RowFilter
from recollect.verbs.requests import keep, raise_if_repeated
from recollect.write.link import edge_between

if TYPE_CHECKING:
    from recollect.model import LinkRequest, Memory
    from recollect.policy.view import View
    from recollect.ports.store import Edge
    from recollect.recall.sight import Sight
    from recollect.verbs.caller import Caller
    from recollect.verbs.requests import Request
    from recollect.write.transfer import Join

__all__ = ["dispute", "link", "rejoin", "resolve"]


def link(caller: Caller, request: Request | None, wanted: LinkRequest) -> None:
    """Join two memories by hand."""
    ends = (wanted.pak_id, wanted.other)
    with _joining(caller, *ends, request) as rows:
        caller.store.edges.put([edge_between(*rows, wanted.weight, automatic=False)])
        keep(request, None, names=ends)


def rejoin(caller: Caller, joins: Sequence[Join]) -> None:
    """Join memories that were stored just now as they were joined elsewhere, in a transaction.

    An automatic link stays one if it came about here too; only its weight is brought along. What
    somebody forgot meanwhile is joined with nothing.
    """
    rows = _rows_of(caller, [end for join in joins for end in join.ends])
    there = [join for join in joins if all(end in rows for end in join.ends)]
    links = [
        edge_between(rows[join.ends[0]], rows[join.ends[1]], join.weight, automatic=join.automatic)
        for join in there
        if join.kind == "link"
    ]
    here = {
        (one.low, one.high): one for one in caller.store.edges.touching({one.low for one in links})
    }
    caller.store.edges.put(_changed_edges(links, here))
    for join in there:
        if join.kind == "dispute":
            caller.store.edges.dispute(join.ends, note=join.note, now=caller.now())
    successors = dict(join.ends for join in there if join.kind == "successor")
    if successors:
        caller.store.memories.supersede(successors, by=caller.principal.id, at=caller.now())


def _changed_edges(links: Iterable[Edge], here: Mapping[tuple[int, int], Edge]) -> list[Edge]:
    """Return the links to write; most automatic ones have come about just as they were."""
    changed = []
    for link in links:
        known = here.get((link.low, link.high))
        automatic = link.automatic and known is not None and known.automatic
        if (made := link._replace(automatic=automatic)) != known:
            changed.append(made)
    return changed


def dispute(caller: Caller, request: Request | None, pak_id: str, other: str, *, note: str) -> None:
    """Say that two memories contradict each other."""
    with _joining(caller, pak_id, other, request, settles=True):
        caller.store.edges.dispute((pak_id, other), note=note, now=caller.now())
        keep(request, None, names=(pak_id, other))


def resolve(caller: Caller, request: Request | None, pak_id: str, other: str) -> bool:
    """Settle a dispute; return whether there was one."""
    with _joining(caller, pak_id, other, request, settles=True):
        settled = caller.store.edges.resolve((pak_id, other))
        keep(request, settled, names=(pak_id, other))
    return settled


@contextmanager
def _joining(
    caller: Caller,
    pak_id: str,
    other: str,
    request: Request | None,
    *,
    settles: bool = False,
) -> Iterator[tuple[int, int]]:
    """Write about two memories in one commit; give their rows.

    What is not there, or not allowed, is told without a wait for the write lock; both are looked at
    again once it is held. `settles`: one of the two may be left out of answers for it.
    """
    if pak_id == other:
        raise InvalidInput(
            f"{pak_id!r:.80} cannot be joined with itself.", hint="name two memories."
        )
    pair = pak_id, other
    caller.answer(lambda sight: _rows_to_join(caller, sight, pair, settles=settles))
    with caller.open_store.commit() as commit:
        raise_if_repeated(request)
        yield _rows_to_join(caller, caller.sight_before(commit), pair, settles=settles)


def _rows_to_join(
    caller: Caller, sight: Sight, pair: tuple[str, str], *, settles: bool
) -> tuple[int, int]:
    known = sight.memories(one for one in pair if is_id(one))
    for one in pair:
        if not is_id(one) or one not in known:
            raise UnknownPak(f"There is no memory {one!r:.80}.", hint="check the id with get().")
    _need_right(caller, sight.view, [known[one] for one in pair], settles=settles)
    rows = _rows_of(caller, pair)
    return rows[pair[0]], rows[pair[1]]


def _need_right(caller: Caller, view: View, pair: Sequence[Memory], *, settles: bool) -> None:
    """Refuse to join what is not the caller's to join; orders and guarantees are not silenced."""
    one, other = (memory.place for memory in pair)
    if not view.joins(one, other):
        raise NotAllowed(
            f"{view.principal} may not join these two memories.",
            hint="it takes the right to write where they are; another tenant's can be joined with"
            " a memory that is not public.",
        )
    if settles and any(map(takes_instruct, pair)):
        need(caller.principal, "instruct")


def _rows_of(caller: Caller, pak_ids: Sequence[str]) -> dict[str, int]:
    standing = caller.store.memories.standing(RowFilter(pak_ids=tuple(pak_ids)))
    return {pak_id: one.row_id for pak_id, one in standing.items()}
