"""Values ready to be stored, with everything filled in that a test does not care about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recollect.embed.quantise import quantise
from recollect.model import Memory
from recollect.ports.store import NewMemory
from recollect.write.draft import content_hash
from recollect.write.replacement import entry_of

__all__ = ["NOW", "new_memory"]

NOW = "2026-01-01T00:00:00Z"


def new_memory(
    pak_id: str,
    content: str = "",
    *,
    vector: Sequence[float] | None = None,
    pending: bool = False,
    **fields: Any,
) -> NewMemory:
    """Return a memory to write; other fields of `Memory` may be given by name."""
    text = content or f"the text of {pak_id}"
    plain = Memory(pak_id, text, text[:80], created_at=NOW, updated_at=NOW)
    memory = replace(plain, **fields)
    quantised = None if vector is None else quantise(np.asarray(vector, np.float32))
    return NewMemory(memory, entry_of(memory, content_hash(text)), quantised, pending)
