"""Remember: text, vector, catalogue entry and links in one transaction.

In: drafted memories, a store, an embedder, and an index to find likenesses in. Out: `Remembered`,
one a memory, once everything is durable. An embedder that fails makes a memory pending, not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recollect.dates import NO_DAY, day_number
from recollect.embed import EmbedderError, ModelIdentity, check_model
from recollect.index.columns import epoch_microseconds
from recollect.index.index import MemoryIndex
from recollect.index.selection import Selection, Where
from recollect.model import Memory, Place, Remembered
from recollect.ports.embedder import Embedder
from recollect.ports.store import ClockState, MemoryStore, NewMemory, Standing, Written
from recollect.recall.sight import AtPlace
from recollect.write.draft import content_hash
from recollect.write.link import SIMILAR, AutomaticEdges, Likeness, near_duplicates
from recollect.write.vectors import Embedded, embed

__all__ = ["Batch", "fill_pending", "link_late", "remember"]

_RETRY_AT_ONCE = 32
_FEW = 4
# More than the ten that can be linked, so that near-duplicates are all reported.
_LIKELY = 64


@dataclass(frozen=True, slots=True)
class Batch:
    """What was done, and what the embedder complained of while doing it."""

    remembered: tuple[Remembered, ...]
    error: EmbedderError | None


def remember(
    memories: Sequence[Memory],
    *,
    store: MemoryStore,
    embedder: Embedder,
    index: MemoryIndex | None,
    clock: ClockState,
    now: str,
    may_replace: Callable[[str, Standing], None] | None = None,
) -> Batch:
    """Write memories; with an index, look for likenesses at the same place and link to them.

    Of several with one id the last counts; the report on the first says whether it is new.
    `may_replace` is asked about each Pak that exists, and raises if it must stay as it is.
    """
    latest = {memory.pak_id: memory for memory in memories}
    batch = _write(
        list(latest.values()), store, embedder, index, clock, now, may_replace or (lambda *_: None)
    )
    report = dict(zip(latest, batch.remembered, strict=True))
    remembered = []
    for memory in memories:
        remembered.append(report[memory.pak_id])
        report[memory.pak_id] = replace(remembered[-1], created=False)
    return Batch(tuple(remembered), batch.error)


def _write(
    memories: Sequence[Memory],
    store: MemoryStore,
    embedder: Embedder,
    index: MemoryIndex | None,
    clock: ClockState,
    now: str,
    may_replace: Callable[[str, Standing], None],
) -> Batch:
    embedded = _embedded(store, embedder, memories)
    with store.transaction():
        _check_model(store, embedder, embedded)
        is_behind = index is not None and store.state().revision != index.revision + 1
        placed = _placed(store, memories)
        before = store.standing(memory.pak_id for memory in placed)
        for pak_id, standing in before.items():
            may_replace(pak_id, standing)
        wants_vector = embedder.dimension > 0 if embedded.error is None else True
        written = store.write(
            [
                NewMemory(
                    memory, content_hash(memory.content), vector, wants_vector and vector is None
                )
                for memory, vector in zip(placed, embedded.vectors, strict=True)
            ],
            now=now,
        )
        store.set_clock(clock)
        same = [
            (old := before.get(memory.pak_id)) is not None
            and (old.content_hash, old.place) == (content_hash(memory.content), memory.place)
            for memory in placed
        ]
        if index is None or embedded.dimension is None:
            return Batch(_unlinked(placed, written, embedded), embedded.error)
        spots = [_spot(memory, before.get(memory.pak_id), now) for memory in placed]
        found = _likenesses(spots, written, embedded, index, now)
        if is_behind:
            found = _still_there(found, store)
        linked = _linked([memory.pak_id for memory in placed], written, same, found, store)
        return Batch(
            tuple(
                replace(one, unread=_unread(memory))
                for one, memory in zip(linked, placed, strict=True)
            ),
            None,
        )


def fill_pending(
    store: MemoryStore, embedder: Embedder, *, index: MemoryIndex | None, now: str
) -> int:
    """Give a few of the Paks that wait for a vector one, and links; return how many got it."""
    waiting = store.pending(_RETRY_AT_ONCE)
    if not waiting:
        return 0
    dimension = store.state().dimension
    embedded = embed(embedder, [text for _, text in waiting], dimension=dimension)
    if embedded.dimension is None:
        return 0
    with store.transaction():
        _check_model(store, embedder, embedded)
        # Another process may have been faster, or have changed a text meanwhile.
        still = set(waiting).intersection(store.pending(len(waiting)))
        chosen = [number for number, one in enumerate(waiting) if one in still]
        vectors = [embedded.vectors[number] for number in chosen]
        pak_ids = [waiting[number][0] for number in chosen]
        store.set_vectors(dict(zip(pak_ids, vectors, strict=True)))
        if index is not None and chosen:
            _link_late(pak_ids, vectors, index, store, now)
    return len(chosen)


def link_late(pak_ids: Sequence[str], *, index: MemoryIndex, store: MemoryStore, now: str) -> None:
    """Link Paks that could not be when they were written; their vectors are in the index."""
    vectors = index.vectors(index.slots_of(pak_ids))
    with store.transaction():
        _link_late(pak_ids, list(vectors), index, store, now)


def _link_late(
    pak_ids: Sequence[str],
    vectors: Sequence[NDArray[np.int8] | None],
    index: MemoryIndex,
    store: MemoryStore,
    now: str,
) -> None:
    standing = store.standing(pak_ids)
    written = [Written(standing[pak_id].row_id, created=True) for pak_id in pak_ids]
    spots = [
        _Spot(pak_id, standing[pak_id].place, standing[pak_id].status == "active")
        for pak_id in pak_ids
    ]
    found = _still_there(_likenesses(spots, written, Embedded(vectors), index, now), store)
    _linked(pak_ids, written, [False] * len(pak_ids), found, store)


def _embedded(store: MemoryStore, embedder: Embedder, memories: Sequence[Memory]) -> Embedded:
    texts = [memory.content for memory in memories]
    embedded = embed(embedder, texts, dimension=store.state().dimension)
    if embedded.dimension == 0:
        return Embedded([None] * len(memories))
    return embedded


def _check_model(store: MemoryStore, embedder: Embedder, embedded: Embedded) -> None:
    """Note the model of the first vectors; refuse another one's, also if it changed just now."""
    state = store.state()
    if state.model_id is not None:
        check_model(ModelIdentity(state.model_id, state.dimension or 0), embedder)
    elif embedded.error is None:
        store.set_model(embedder.model_id, embedded.dimension or 0)


def _placed(store: MemoryStore, memories: Sequence[Memory]) -> list[Memory]:
    """Give memories of a thread their position in it, in the order they came."""
    next_position: dict[str, int] = {}
    placed = []
    for memory in memories:
        if memory.thread is not None:
            position = next_position.get(memory.thread)
            if position is None:
                position = store.next_position(memory.thread)
            next_position[memory.thread] = position + 1
            memory = replace(memory, position=position)
        placed.append(memory)
    return placed


def _unlinked(
    memories: Sequence[Memory], written: Sequence[Written], embedded: Embedded
) -> tuple[Remembered, ...]:
    state: Literal["ready", "pending"] = "ready" if embedded.error is None else "pending"
    return tuple(
        Remembered(memory.pak_id, one.created, state, unread=_unread(memory))
        for memory, one in zip(memories, written, strict=True)
    )


def _linked(
    pak_ids: Sequence[str],
    written: Sequence[Written],
    same: Sequence[bool],
    found: Sequence[Sequence[Likeness]],
    store: MemoryStore,
) -> tuple[Remembered, ...]:
    touched = {like.row_id for likes in found for like in likes}
    touched |= {one.row_id for one in written}
    edges = AutomaticEdges(store.edges(sorted(touched)))
    remembered = []
    for pak_id, one, unchanged, likes in zip(pak_ids, written, same, found, strict=True):
        if not one.created and not unchanged:
            edges.drop_all(one.row_id)
        joined = [] if unchanged else edges.join(one.row_id, likes)
        remembered.append(
            Remembered(
                pak_id=pak_id,
                created=one.created,
                state="ready",
                near_duplicates=near_duplicates(likes),
                linked=tuple(like.pak_id for like in joined),
            )
        )
    store.put_edges(edges.changed.values())
    return tuple(remembered)


def _unread(memory: Memory) -> tuple[str, ...]:
    """Return the fields that should tell a time and do not."""
    told = memory.occurred_at is None or day_number(memory.occurred_at) != NO_DAY
    return () if told else ("occurred_at",)


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a new Pak lies. One that nobody reads yet is linked to nothing."""

    pak_id: str
    place: Place
    is_open: bool


def _spot(memory: Memory, before: Standing | None, now: str) -> _Spot:
    status = memory.status if before is None else before.status
    ends = memory.valid_until
    has_ended = ends is not None and epoch_microseconds(ends) <= epoch_microseconds(now)
    return _Spot(memory.pak_id, memory.place, status == "active" and not has_ended)


def _likenesses(
    spots: Sequence[_Spot],
    written: Sequence[Written],
    embedded: Embedded,
    index: MemoryIndex,
    now: str,
) -> list[list[Likeness]]:
    """Find, for each new memory, what at its place is like it: the old, and those before it."""
    found: list[list[Likeness]] = [[] for _ in spots]
    new = {one.row_id for one in written}
    for place in dict.fromkeys(spot.place for spot in spots):
        vectors = {
            n: vector
            for n, (spot, vector) in enumerate(zip(spots, embedded.vectors, strict=True))
            if spot.place == place and spot.is_open and vector is not None
        }
        if not vectors:
            continue
        here, matrix = list(vectors), np.stack(list(vectors.values()))
        olds = _among_old(matrix, index, AtPlace(place), now)
        for n, old, earlier in zip(here, olds, _among_new(matrix), strict=True):
            found[n] += [like for like in old if like.row_id not in new]
            for number, cosine in earlier:
                other = here[number]
                if written[other].row_id != written[n].row_id:
                    found[n].append(Likeness(written[other].row_id, spots[other].pak_id, cosine))
    return found


def _still_there(found: Sequence[Sequence[Likeness]], store: MemoryStore) -> list[list[Likeness]]:
    """Leave out what another process deleted since the index last looked."""
    rows = store.row_ids({like.pak_id for likes in found for like in likes})
    return [[like for like in likes if rows.get(like.pak_id) == like.row_id] for likes in found]


def _among_old(
    vectors: NDArray[np.int8], index: MemoryIndex, place: AtPlace, now: str
) -> list[list[Likeness]]:
    found: list[list[Likeness]] = [[] for _ in vectors]
    if index.dimension != vectors.shape[1]:
        return found  # the first vectors of a new store have nothing to be like
    row_ids = index.column("row_id")
    still_valid = Where(valid_at=epoch_microseconds(now) / 1e6)
    here = index.select(still_valid, view=place)
    for number, slot, pak_id, cosine in _similar(vectors, index, here):
        found[number].append(Likeness(int(row_ids[slot]), pak_id, round(cosine, 9)))
    return found


def _similar(
    vectors: NDArray[np.int8], index: MemoryIndex, place: Selection
) -> Iterator[tuple[int, int, str, float]]:
    if len(vectors) <= _FEW:
        # One search by sign bits is cheaper than a product with every row.
        for number, vector in enumerate(vectors):
            near = index.nearest(vector, place, _LIKELY)
            alike = near.cosines >= SIMILAR
            slots, cosines = near.slots[alike], near.cosines[alike]
            pak_ids = index.pak_ids(slots)
            yield from zip([number] * len(slots), slots, pak_ids, cosines.tolist(), strict=True)
        return
    for pairs in index.cosines_against(vectors, place.slots, SIMILAR):
        pak_ids = index.pak_ids(pairs.slots)
        yield from zip(
            pairs.queries.tolist(), pairs.slots, pak_ids, pairs.cosines.tolist(), strict=True
        )


def _among_new(vectors: NDArray[np.int8]) -> list[list[tuple[int, float]]]:
    if len(vectors) == 1:
        return [[]]
    numbers = vectors.astype(np.float32)
    lengths = np.sqrt(np.maximum((numbers.astype(np.float64) ** 2).sum(axis=1), 1.0))
    cosines = (numbers @ numbers.T).astype(np.float64) / lengths[:, None] / lengths[None, :]
    return [
        [(int(j), round(float(cosines[i, j]), 9)) for j in np.nonzero(cosines[i, :i] >= SIMILAR)[0]]
        for i in range(len(vectors))
    ]
