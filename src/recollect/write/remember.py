"""Remember: text, vector, catalogue entry and links, inside one transaction.

In: drafted memories with their vectors, a store, and an index to find likenesses in. Out:
`Remembered`, one a memory. An embedder that failed makes a memory pending, not lost. Nothing is
embedded here: whoever has the store's lock must not wait for a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from recollect.dates import NO_DAY, day_number
from recollect.embed import ModelIdentity, check_model
from recollect.embed.text import kept_as
from recollect.model import Remembered, is_settled
from recollect.ports.store import RowFilter
from recollect.values import dataclass
from recollect.write.draft import content_hash
from recollect.write.likeness import (
    Arrival,
    Neighbourhood,
    arrivals_of,
    relink,
)
from recollect.write.link import MAX_AUTOMATIC
from recollect.write.replacement import row_to_write

if TYPE_CHECKING:
    from recollect.index.index import MemoryIndex
    from recollect.model import Memory
    from recollect.ports.embedder import Embedder
    from recollect.ports.store import Commit, NewCommit, Standing, Store, Waiting, Written
    from recollect.write.likeness import (
        IndexBefore,
    )
    from recollect.write.vectors import Embeddings

__all__ = ["Write", "fill_pending", "waiting_for_vectors"]

_RETRY_AT_ONCE = 32
_NO_NEIGHBOURS = Neighbourhood((), ())


@dataclass(frozen=True, slots=True)
class Write:
    """What a write of memories needs to know beside them; it happens inside one commit."""

    store: Store
    embedder: Embedder
    before: IndexBefore
    links: bool
    commit: Commit
    by: str

    def write(
        self, memories: Sequence[Memory], embedded: Embeddings, known: Mapping[str, Standing]
    ) -> tuple[Remembered, ...]:
        """Write memories of different ids; with `links`, link them to what is alike at their place.

        `known` is where those of them stand that exist. The vectors were made before the
        transaction, so the model is looked at again.
        """
        _check_model(self.store, self.commit, self.embedder, embedded)
        placed = _placed(self.store, memories, known)
        changed = [old.row_id for memory, old in _replaced(placed, known) if _differ(memory, old)]
        rows_to_relink = self.store.edges.full_lists_with(changed, MAX_AUTOMATIC)
        looks = self.links and embedded.dimension is not None
        index = self.before(self.commit) if looks or rows_to_relink else None
        self.store.edges.take_out(changed)
        written = self._rows(placed, known, embedded)
        arrivals = _arrivals(placed, known, written, embedded) if looks else []
        found = self._linked(arrivals, changed, rows_to_relink, index)
        return _reports(placed, written, embedded, found if looks else None)

    def _linked(
        self,
        arrivals: list[Arrival],
        changed: Sequence[int],
        rows_to_relink: Sequence[int],
        index: MemoryIndex | None,
    ) -> dict[str, Neighbourhood]:
        """Link those who come, and let those look around again who lost one of a full list."""
        if index is None:
            return {}
        come = {one.row_id for one in arrivals}
        again = arrivals_of([row for row in rows_to_relink if row not in come], index)
        everyone = [*arrivals, *again]
        neighbourhoods = relink(
            everyone, without=changed, index=index, store=self.store, commit=self.commit
        )
        return {one.pak_id: found for one, found in zip(everyone, neighbourhoods, strict=True)}

    def _rows(
        self,
        memories: Sequence[Memory],
        known: Mapping[str, Standing],
        embedded: Embeddings,
    ) -> list[Written]:
        wants_vector = self.embedder.dimension > 0 if embedded.error is None else True
        return self.store.memories.write(
            [
                row_to_write(
                    memory,
                    known.get(memory.pak_id),
                    vector=vector,
                    wants_vector=wants_vector,
                    by=self.by,
                )
                for memory, vector in zip(memories, embedded.vectors, strict=True)
            ]
        )


def waiting_for_vectors(
    store: Store, tenant: str | None, *, owner: str | None = None
) -> list[Waiting]:
    """Return some of a tenant that wait for a vector: as many as are filled in at once.

    Those of `owner` come first, and take no room from the others nor these from them: how many
    there are of one delays none of the other. Without a tenant they are of all.
    """
    others = store.vectors.waiting(_RETRY_AT_ONCE, tenant=tenant)
    if not others or tenant is None or owner is None:
        return others
    own = store.vectors.waiting(_RETRY_AT_ONCE, tenant=tenant, owner=owner)
    return list(dict.fromkeys([*own, *others]))


def fill_pending(
    waiting: Sequence[Waiting],
    embedded: Embeddings,
    *,
    look_again: Callable[[], Sequence[Waiting]],
    store: Store,
    embedder: Embedder,
    before: IndexBefore,
    links: bool,
    commit: NewCommit,
    and_then: Callable[[int], None] | None = None,
) -> int:
    """Give those who wait their vectors, and links; return how many got one.

    `look_again` gives who waits as the commit has begun; `and_then` is told how many, inside it.
    """
    with commit() as begun:
        _check_model(store, begun, embedder, embedded)
        # Somebody may have been faster, or have changed a text meanwhile.
        still = set(waiting).intersection(look_again())
        vectors = {
            one.row_id: vector
            for one, vector in zip(waiting, embedded.vectors, strict=True)
            if one in still
        }
        index = before(begun) if links and vectors else None
        store.vectors.put(vectors)
        if index is not None:
            arrivals = [
                Arrival(one.row_id, pak_id, one.place, vector)
                for pak_id, one in store.memories.standing(
                    RowFilter(row_ids=tuple(vectors))
                ).items()
                if one.settled and (vector := vectors[one.row_id]) is not None
            ]
            relink(arrivals, without=(), index=index, store=store, commit=begun)
        if and_then is not None:
            and_then(len(vectors))
    return len(vectors)


def _check_model(store: Store, commit: Commit, embedder: Embedder, embedded: Embeddings) -> None:
    """Note the model of the first vectors; refuse another one's, also if it changed just now."""
    state = commit.before
    if state.model_id is not None:
        check_model(ModelIdentity(state.model_id, state.dimension or 0), embedder)
    elif embedded.error is None:
        dimension = embedded.dimension or 0
        store.state.set_model(kept_as(embedder.model_id), dimension)


def _placed(
    store: Store, memories: Sequence[Memory], known: Mapping[str, Standing]
) -> list[Memory]:
    """Give memories of a thread their position in it, in the order they came.

    Who is in its thread already stays where it is; who comes from another one is the last.
    """
    next_position: dict[tuple[str, str], int] = {}
    placed = []
    for memory in memories:
        position = _kept_position(memory, known.get(memory.pak_id))
        if position is None and memory.thread is not None:
            thread = memory.place.tenant, memory.thread
            if thread not in next_position:
                next_position[thread] = store.memories.next_position(*thread)
            position = next_position[thread]
            next_position[thread] += 1
        placed.append(memory if position is None else replace(memory, position=position))
    return placed


def _kept_position(memory: Memory, old: Standing | None) -> int | None:
    """Return where a memory stood before, if it is still in that thread."""
    if old is None or memory.thread is None:
        return None
    here = memory.place.tenant, memory.project, memory.thread
    return old.position if here == (old.place.tenant, old.project, old.thread) else None


def _reports(
    memories: Sequence[Memory],
    written: Sequence[Written],
    embedded: Embeddings,
    neighbourhoods: Mapping[str, Neighbourhood] | None,
) -> tuple[Remembered, ...]:
    state: Literal["ready", "pending"] = "ready" if embedded.error is None else "pending"
    reports = []
    for memory, one in zip(memories, written, strict=True):
        report = Remembered(memory.pak_id, one.created, state, unread=_unread(memory))
        if neighbourhoods is not None:
            neighbourhood = neighbourhoods.get(memory.pak_id, _NO_NEIGHBOURS)
            report = replace(
                report, near_duplicates=neighbourhood.near_duplicates, linked=neighbourhood.linked
            )
        reports.append(report)
    return tuple(reports)


def _arrivals(
    memories: Sequence[Memory],
    known: Mapping[str, Standing],
    written: Sequence[Written],
    embedded: Embeddings,
) -> list[Arrival]:
    """Return those that look for likenesses; what waits for a moderator does not."""
    arrivals = []
    for memory, one, vector in zip(memories, written, embedded.vectors, strict=True):
        old = known.get(memory.pak_id)
        status = memory.status if old is None else old.status
        if vector is not None and status == "active":
            settled = is_settled(status, memory.validity, memory.risks)
            arrivals.append(Arrival(one.row_id, memory.pak_id, memory.place, vector, settled))
    return arrivals


def _unread(memory: Memory) -> tuple[str, ...]:
    """Return the fields that should tell a time and do not."""
    told = memory.occurred_at is None or day_number(memory.occurred_at) != NO_DAY
    return () if told else ("occurred_at",)


def _replaced(
    memories: Sequence[Memory], known: Mapping[str, Standing]
) -> Iterator[tuple[Memory, Standing]]:
    return ((one, known[one.pak_id]) for one in memories if one.pak_id in known)


def _differ(memory: Memory, old: Standing) -> bool:
    """Return whether a memory means something else now, or is somewhere else, or settled or not."""
    settled = is_settled(old.status, memory.validity, memory.risks)
    return (content_hash(memory.content), memory.title, memory.place, settled) != (
        old.content_hash,
        old.title,
        old.place,
        old.settled,
    )
