"""How an index takes over what changed in its store, and lets go of what is dead.

A store's changes and contents that nobody reads yet come in; these are changed in place, so that
they hold what the store does. This room must not answer questions, nor know who asks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.index.analyse import text_marks, words
from recollect.index.german import is_german
from recollect.index.lookup import digest, words_digest
from recollect.index.threads import Threads
from recollect.model.memory import own_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recollect.index.contents import Contents
    from recollect.ports.store import Changes, Indexable, IndexRow

__all__ = ["apply_changes", "compact", "is_worth_compacting"]

# Rows taken over at a time, so that what is made of their texts on the way stays small.
_BATCH = 8192
_LEAST_DEAD = 1024


def apply_changes(changes: Changes, contents: Contents) -> None:
    """Take over what changed; a vector of the wrong shape is refused before anything is."""
    rows = list({row.row_id: row for row in changes.rows}.values())
    for row in rows:
        if row.vector is not None:
            contents.vectors.check(row.vector)
    _forget(changes.gone, contents)
    for start in range(0, len(rows), _BATCH):
        _take(rows[start : start + _BATCH], contents)
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


def _take(rows: Sequence[IndexRow], contents: Contents) -> None:
    """Overwrite memories whose text and vector are as they were; put the others in new slots."""
    digests = [_text_digest(row.memory) for row in rows]
    known = contents.slots_of_rows([row.row_id for row in rows])
    same = (known >= 0) & (_digests_at(known, contents) == digests)
    for place in np.flatnonzero(same).tolist():
        same[place] = contents.vectors.holds(int(known[place]), rows[place].vector)
    for place in np.flatnonzero(same).tolist():
        _overwrite(int(known[place]), rows[place], contents)
    fresh = np.flatnonzero(~same).tolist()
    if fresh:
        _replace(
            known[fresh].tolist(), [rows[p] for p in fresh], [digests[p] for p in fresh], contents
        )


def _overwrite(slot: int, row: IndexRow, contents: Contents) -> None:
    contents.columns.overwrite(slot, row.memory)
    contents.columns.set_pending(slot, row.pending)


def _replace(
    replaced: Sequence[int],
    rows: Sequence[IndexRow],
    digests: Sequence[int],
    contents: Contents,
) -> None:
    """Append rows, each in place of the slot it was known at, or of -1."""
    # The old die first: a lookup that is frozen on the way must not take them for living.
    for slot in replaced:
        if slot >= 0:
            _kill(slot, contents)
    for new, old in enumerate(replaced, _append(rows, digests, contents)):
        if old >= 0:
            contents.graph.move(old, new)


def _append(rows: Sequence[IndexRow], digests: Sequence[int], contents: Contents) -> int:
    """Put rows into new slots, in every part, and return the first of the slots."""
    memories = [row.memory for row in rows]
    row_ids = [row.row_id for row in rows]
    pak_ids = [memory.pak_id for memory in memories]
    lexicon = contents.lexicon
    said = [words(memory.content) for memory in memories]
    titles = [own_title(memory.title, memory.content) for memory in memories]
    written = [
        [*words(title), *own] if title else own for title, own in zip(titles, said, strict=True)
    ]
    texts = [lexicon.numbers(each) for each in written]
    lengths = [len(numbers) for numbers in texts]
    german = [is_german(each) for each in written]
    first = contents.columns.extend(
        memories,
        row_ids=row_ids,
        lengths=lengths,
        digests=digests,
        words=[words_digest(own) for own in said],
        marks=[
            text_marks(
                memory.content, tells_time=lexicon.tells_time(numbers), is_german=speaks_german
            )
            for memory, numbers, speaks_german in zip(memories, texts, german, strict=True)
        ],
        pending=[row.pending for row in rows],
    )
    # A German text is held under its German stems too; it is no longer for that.
    for numbers, each, speaks_german in zip(texts, written, german, strict=True):
        if speaks_german:
            numbers.extend(lexicon.german(each))
    alive = contents.columns["alive"]
    contents.pak_ids.extend(pak_ids)
    contents.by_row.extend(row_ids, first, alive)
    contents.by_pak.extend([digest(pak_id) for pak_id in pak_ids], first, alive)
    contents.terms.extend_numbered(texts, first)
    contents.tags.extend([dict.fromkeys(memory.tags) for memory in memories], first)
    contents.vectors.extend([row.vector for row in rows])
    contents.graph.extend(len(rows))
    contents.live += len(rows)
    contents.live_terms += sum(lengths)
    return first


def _join(edges: Sequence[tuple[int, int, float]], contents: Contents) -> None:
    near, far, weights = (np.array(column) for column in zip(*edges, strict=True))
    near_slots, far_slots = contents.slots_of_rows(near), contents.slots_of_rows(far)
    known = (near_slots >= 0) & (far_slots >= 0)
    contents.graph.join(near_slots[known], far_slots[known], weights[known].astype(np.float64))


def _digests_at(slots: NDArray[np.int64], contents: Contents) -> NDArray[np.int64]:
    digests: NDArray[np.int64] = contents.columns["digest"]
    return digests.take(slots, mode="wrap") if len(digests) else np.zeros(len(slots), np.int64)


def _text_digest(memory: Indexable) -> int:
    """Return 64 bits that change when anything does that postings or the memory's name hold."""
    pak_id, title, content = memory.pak_id, memory.title, memory.content
    bounds = f"{len(pak_id)} {len(title)} {len(content)} {memory.tags!r}"
    return digest(f"{bounds}{pak_id}{title}{content}")
