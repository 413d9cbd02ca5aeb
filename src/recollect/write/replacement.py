"""What a memory keeps when it is written again.

In: the memory as it was drafted, and where the old one stands. Out: the row to write, whole, so
that a store only has to keep it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.model.pak import PakRow
from recollect.ports.store import NewMemory
from recollect.write.draft import content_hash

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.model import Memory
    from recollect.ports.store import Standing

__all__ = ["entry_of", "row_to_write"]


def row_to_write(
    memory: Memory,
    old: Standing | None,
    *,
    vector: NDArray[np.int8] | None,
    wants_vector: bool,
    by: str,
) -> NewMemory:
    """Return the row of a memory that `by` writes; what an old one has lived through stays."""
    digest, lacks_vector = content_hash(memory.content), wants_vector and vector is None
    if old is None:
        return NewMemory(memory, entry_of(memory, digest), vector, lacks_vector)
    # The same text has the same meaning: an embedder that is down does not cost it its vector.
    same_text = digest == old.content_hash and memory.title == old.title
    return NewMemory(
        replace(
            memory,
            status=old.status,
            reinforced=old.reinforced,
            last_reinforced=old.last_reinforced,
        ),
        entry_of(memory, digest, old.superseded_by),
        vector,
        pending=lacks_vector and not (same_text and old.has_vector),
        same_text=same_text,
        by=by,
    )


def entry_of(memory: Memory, digest: str, superseded_by: str | None = None) -> PakRow:
    """Return a memory's entry in the catalogue; `digest` is the hash of its text."""
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
