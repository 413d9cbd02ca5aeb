"""How an index takes over what changed in its store, and lets go of what is dead.

A store's changes and contents that nobody reads yet come in; these are changed in place, so that
they hold what the store does. This room must not answer questions, nor know who asks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.index.analysed import analysed
from recollect.index.courtesy import Pause, go_on
from recollect.index.lookup import digests
from recollect.index.threads import Threads
from recollect.model.memory import own_title
from recollect.ports.memories import IndexColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recollect.index.contents import Contents
    from recollect.ports.store import Changes

__all__ = ["apply_changes", "compact", "is_worth_compacting"]

# Rows taken over at a time, so that what is made of their texts on the way stays small.
_BATCH = 32768
_LEAST_DEAD = 1024


def apply_changes(changes: Changes, contents: Contents, pause: Pause = go_on) -> None:
    """Take over what changed; a vector of the wrong shape is refused before anything is."""
    rows = IndexColumns.of(changes.rows)
    contents.vectors.check_each(rows.vectors)
    if changes.to_come:
        contents.make_room(len(rows) + changes.to_come)
    _forget(changes.gone, contents)
    for start in range(0, len(rows), _BATCH):
        _take(rows[start : start + _BATCH], contents, pause)
    if changes.edges:
        _join(changes.edges, contents)


def is_worth_compacting(contents: Contents) -> bool:
    """Return whether so many slots are dead that dropping them pays."""
    return contents.size - contents.live > max(_LEAST_DEAD, contents.live // 4)


def compact(contents: Contents) -> None:
    """Drop the dead slots with all that they held, down to their words, and number anew."""
    alive = contents.columns["alive"]
    kept = np.flatnonzero(alive)
    moved = np.full(contents.size, -1, dtype=np.int32)
    moved[kept] = np.arange(len(kept))
    contents.by_row.compact(moved, alive)
    contents.by_pak.compact(moved, alive)
    contents.terms.compact(moved)
    contents.tags.compact(moved)
    contents.graph.compact(moved, kept)
    contents.pak_ids.compact(kept)
    contents.vectors.compact(kept)
    contents.columns.compact(kept)
    contents.threads = Threads()
    contents.name_anew()


def _forget(row_ids: Sequence[int], contents: Contents) -> None:
    if not row_ids:
        return
    slots = contents.slots_of_rows(row_ids)
    for slot in slots[slots >= 0].tolist():
        contents.graph.drop(slot)
        _kill(slot, contents)


def _kill(slot: int, contents: Contents) -> None:
    contents.columns.kill(slot)
    contents.live -= 1
    contents.live_terms -= int(contents.columns["length"][slot])


def _take(rows: IndexColumns, contents: Contents, pause: Pause) -> None:
    """Overwrite memories whose text and vector are as they were; put the others in new slots."""
    marked = _text_digests(rows, pause)
    known = contents.slots_of_rows(rows.row_ids)
    same = (known >= 0) & (_digests_at(known, contents) == marked)
    for place in np.flatnonzero(same).tolist():
        same[place] = contents.vectors.holds(int(known[place]), rows.vector_at(place))
    for place in np.flatnonzero(same).tolist():
        contents.columns.overwrite(int(known[place]), rows.memory_at(place))
        contents.columns.set_pending(int(known[place]), bool(rows.pending[place]))
    fresh = np.flatnonzero(~same)
    if len(fresh):
        _replace(known[fresh], rows.at(fresh.tolist()), marked[fresh], contents, pause)


def _replace(
    replaced: NDArray[np.int64],
    rows: IndexColumns,
    marked: NDArray[np.int64],
    contents: Contents,
    pause: Pause,
) -> None:
    """Append rows, each in place of the slot it was known at, or of -1."""
    known = np.flatnonzero(replaced >= 0).tolist()
    # The old die first: a lookup that is frozen on the way must not take them for living.
    for place in known:
        _kill(int(replaced[place]), contents)
    first = _append(rows, marked, contents, pause)
    for place in known:
        contents.graph.move(int(replaced[place]), first + place)


def _append(rows: IndexColumns, marked: NDArray[np.int64], contents: Contents, pause: Pause) -> int:
    """Put rows into new slots, in every part, and return the first of the slots."""
    said, pak_ids = rows.column("content"), rows.column("pak_id")
    titles = list(map(own_title, rows.column("title"), said))
    taken = analysed(said, titles, contents.lexicon, pause)
    pause()
    first = contents.columns.extend(
        rows, lengths=taken.lengths, digests=marked, words=taken.said, marks=taken.marks
    )
    alive = contents.columns["alive"]
    contents.pak_ids.extend(pak_ids)
    contents.by_row.extend(np.array(rows.row_ids, dtype=np.int64), first, alive)
    contents.by_pak.extend(digests(map(_octets, pak_ids), pause), first, alive)
    pause()
    contents.terms.extend_numbered(taken.terms, first)
    pause()
    contents.tags.extend([tags and dict.fromkeys(tags) for tags in rows.column("tags")], first)
    contents.vectors.extend(rows.vectors)
    contents.graph.extend(len(rows))
    contents.live += len(rows)
    contents.live_terms += int(taken.lengths.sum())
    return first


def _join(edges: Sequence[tuple[int, int, float]], contents: Contents) -> None:
    near, far, weights = (np.array(column) for column in zip(*edges, strict=True))
    near_slots, far_slots = contents.slots_of_rows(near), contents.slots_of_rows(far)
    known = (near_slots >= 0) & (far_slots >= 0)
    contents.graph.join(near_slots[known], far_slots[known], weights[known].astype(np.float64))


def _digests_at(slots: NDArray[np.int64], contents: Contents) -> NDArray[np.int64]:
    digests: NDArray[np.int64] = contents.columns["digest"]
    return digests.take(slots, mode="wrap") if len(digests) else np.zeros(len(slots), np.int64)


def _text_digests(rows: IndexColumns, pause: Pause) -> NDArray[np.int64]:
    """Return 64 bits each that change when anything does that postings or a memory's name hold."""
    fields = (rows.column(name) for name in ("pak_id", "title", "content", "tags"))
    # Each by itself, as bytes: of two signs of different width the wider one makes both wide.
    told = (
        _octets(f"{len(pak_id)} {len(title)} {len(content)} {tags!r}{pak_id}")
        + _octets(title)
        + _octets(content)
        for pak_id, title, content, tags in zip(*fields, strict=True)
    )
    return digests(told, pause)


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
