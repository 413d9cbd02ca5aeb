"""Between `Memory` values and rows of the two tables that hold them.

In: values, or rows in the order of `MEMORY_COLUMNS` or `INDEX_COLUMNS`. Out: the other. No SQL is
run here.
"""

from __future__ import annotations

import json
from dataclasses import make_dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recollect.model import Memory, Place, name_key
from recollect.ports.store import Indexed, IndexRow, NewMemory

__all__ = [
    "INDEX_COLUMNS",
    "MEMORY_COLUMNS",
    "OWN_COLUMNS",
    "SHOWN_COLUMNS",
    "from_row",
    "index_row",
    "own_values",
    "pak_values",
    "place_of",
    "vector_bytes",
]

# The order of Memory's fields; `place` is five columns.
_FROM_PAKS = {"pak_id", "title", "summary", "project", "topic", "pak_type", "authority"} | {
    "created_at",
    "updated_at",
}
_PLACE = ("tenant", "owner", "scope", "team", "garden")
_FIELDS = tuple(name for name in Memory.__dataclass_fields__ if name != "place")


def _columns(*names: str) -> str:
    return ", ".join(f"{'paks' if name in _FROM_PAKS else 'memories'}.{name}" for name in names)


MEMORY_COLUMNS = _columns(*_FIELDS, *_PLACE)

# For readers: where a turn stands in its thread would tell of turns that one may not read.
SHOWN_COLUMNS = MEMORY_COLUMNS.replace("memories.position", "NULL")

# The plain fields of Indexed, the others, and what an IndexRow has beside; the vector comes last.
_PLAIN = len(Indexed._fields) - len(("tags", "risks", "place"))
INDEX_COLUMNS = _columns(*Indexed._fields[:-1], *_PLACE, "row_id", "pending")

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
# What becomes a Memory once it is filled, for it has the same slots. A frozen class is filled by a
# call for each of its fields, which takes ten times as long.
_Unfrozen = make_dataclass("_Unfrozen", Memory.__slots__, slots=True)
_TAGS = _FIELDS.index("tags")
_RISKS = _FIELDS.index("risks")


def from_row(row: tuple[Any, ...]) -> Memory:
    """Build a Memory from a row of `MEMORY_COLUMNS`."""
    fields = list(row[: len(_FIELDS)])
    fields[_TAGS] = _tags(fields[_TAGS])
    fields[_RISKS] = _risks(fields[_RISKS])
    fields.append(_place(*row[len(_FIELDS) : len(_FIELDS) + len(_PLACE)]))
    filled: Any = _Unfrozen(*fields)
    filled.__class__ = Memory
    return cast("Memory", filled)


def index_row(row: tuple[Any, ...]) -> IndexRow:
    """Build what an index learns of a Pak from a row of `INDEX_COLUMNS` and its vector."""
    tags, risks, *place, row_id, pending, vector = row[_PLAIN:]
    pak = Indexed._make((*row[:_PLAIN], _tags(tags), _risks(risks), _place(*place)))
    return IndexRow(row_id, pak, _to_vector(vector), bool(pending))


def place_of(parts: tuple[Any, ...]) -> Place:
    """Return a place from its five columns."""
    return _place(*parts)


def _tags(stored: str) -> tuple[str, ...]:
    return () if stored == "[]" else tuple(json.loads(stored))


def _risks(stored: str) -> tuple[str, ...]:
    return tuple(stored.split(",")) if stored else ()


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


def _to_vector(data: bytes | None) -> NDArray[np.int8] | None:
    """Return a stored vector; it shares the bytes and cannot be written to."""
    return None if data is None else np.frombuffer(data, dtype=np.int8)
