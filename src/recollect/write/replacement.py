"""What a memory keeps when it is written again.

In: the memory as it was drafted, and where the old one stands. Out: the row to write, whole, so
that a store only has to keep it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.model import Memory
from recollect.model.pak import PakRow
from recollect.ports.store import NewMemory, Standing
from recollect.write.draft import content_hash

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["row_to_write"]


def row_to_write(
    memory: Memory,
    old: Standing | None,
    *,
    vector: NDArray[np.int8] | None,
    wants_vector: bool,
    now: str,
) -> NewMemory:
    """Return the row of a memory; what an old one has lived through stays.

    A memory whose times are others than `now` was written elsewhere, and keeps them.
    """
    digest, lacks_vector = content_hash(memory.content), wants_vector and vector is None
    if old is None:
        pak = _entry(memory, digest, None, now)
        return NewMemory(memory, digest, vector, lacks_vector, pak=pak)
    # The same text has the same meaning: an embedder that is down does not cost it its vector.
    same_text = digest == old.content_hash
    return NewMemory(
        replace(
            memory,
            position=old.position,
            status=old.status,
            reinforced=old.reinforced,
            last_reinforced=old.last_reinforced,
        ),
        digest,
        vector,
        pending=lacks_vector and not (same_text and old.has_vector),
        superseded_by=old.superseded_by,
        same_text=same_text,
        pak=_entry(memory, digest, old.superseded_by, now),
    )


def _entry(memory: Memory, digest: str, superseded_by: str | None, now: str) -> PakRow | None:
    """Return a memory's entry in the catalogue, if its times are its own."""
    if memory.created_at == now == memory.updated_at:
        return None
    return PakRow(
        pak_id=memory.pak_id,
        pak_type=memory.pak_type,
        project=memory.project,
        topic=memory.topic,
        source_type=memory.source or "user",
        authority=memory.authority,
        title=memory.title,
        summary=memory.summary,
        content_hash=digest,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        superseded_by=superseded_by,
    )
