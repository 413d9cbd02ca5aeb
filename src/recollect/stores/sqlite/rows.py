"""Between `Memory` values and rows of the two tables that hold them.

In: values, or rows in the order of `MEMORY_COLUMNS`. Out: the other. No SQL is run here.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.model import Memory, Place, name_key
from recollect.ports.store import NewMemory

__all__ = [
    "MEMORY_COLUMNS",
    "OWN_COLUMNS",
    "SHOWN_COLUMNS",
    "from_row",
    "own_values",
    "pak_values",
    "place_of",
    "to_vector",
    "vector_bytes",
]

# The order of Memory's fields; `place` is five columns.
_FROM_PAKS = {"pak_id", "title", "summary", "project", "topic", "pak_type", "authority"} | {
    "created_at",
    "updated_at",
}
_PLACE = ("tenant", "owner", "scope", "team", "garden")
_FIELDS = tuple(name for name in Memory.__dataclass_fields__ if name != "place")

MEMORY_COLUMNS = ", ".join(
    f"{'paks' if name in _FROM_PAKS else 'memories'}.{name}" for name in (*_FIELDS, *_PLACE)
)

# For readers: where a turn stands in its thread would tell of turns that one may not read.
SHOWN_COLUMNS = MEMORY_COLUMNS.replace("memories.position", "NULL")

# What `memories` keeps of a Pak, in the order of `own_values`.
OWN_COLUMNS = (
    "pak_id",
    *(name for name in _FIELDS if name not in _FROM_PAKS),
    *_PLACE,
    "entity_key",
    "value_key",
    "pending",
)
_OWN_FIELDS = tuple(name for name in _FIELDS if name not in _FROM_PAKS)
_TAGS = _FIELDS.index("tags")
_RISKS = _FIELDS.index("risks")


def from_row(row: tuple[Any, ...]) -> Memory:
    """Build a Memory from a row of `MEMORY_COLUMNS`."""
    fields = list(row[: len(_FIELDS)])
    fields[_TAGS] = () if fields[_TAGS] == "[]" else tuple(json.loads(fields[_TAGS]))
    fields[_RISKS] = tuple(fields[_RISKS].split(",")) if fields[_RISKS] else ()
    fields.append(_place(*row[len(_FIELDS) : len(_FIELDS) + len(_PLACE)]))
    return Memory(*fields)


def place_of(parts: tuple[Any, ...]) -> Place:
    """Return a place from its five columns."""
    return _place(*parts)


@lru_cache
def _place(*parts: str | None) -> Place:
    return Place(*parts)  # type: ignore[arg-type]


def own_values(new: NewMemory) -> tuple[Any, ...]:
    """Return the values of `OWN_COLUMNS`."""
    memory = new.memory
    values = [getattr(memory, name) for name in _OWN_FIELDS]
    values[_OWN_FIELDS.index("tags")] = json.dumps(memory.tags, ensure_ascii=False)
    values[_OWN_FIELDS.index("risks")] = ",".join(memory.risks)
    place = memory.place
    return (
        memory.pak_id,
        *values,
        place.tenant,
        place.owner,
        place.scope,
        place.team,
        place.garden,
        None if memory.entity is None else name_key(memory.entity),
        None if memory.value is None else name_key(memory.value),
        new.pending,
    )


def pak_values(new: NewMemory) -> dict[str, Any]:
    """Return the arguments of the catalogue's upsert."""
    memory = new.memory
    return {
        "pak_id": memory.pak_id,
        "pak_type": memory.pak_type,
        "source_type": memory.source or "user",
        "authority": memory.authority,
        "title": memory.title,
        "content_hash": new.content_hash,
        "summary": memory.summary,
        "project": memory.project,
        "topic": memory.topic,
    }


def vector_bytes(vector: NDArray[np.int8] | None) -> bytes | None:
    """Return a vector as the store keeps it."""
    return None if vector is None else vector.tobytes()


def to_vector(data: bytes | None) -> NDArray[np.int8] | None:
    """Return a stored vector; it shares the bytes and cannot be written to."""
    return None if data is None else np.frombuffer(data, dtype=np.int8)
