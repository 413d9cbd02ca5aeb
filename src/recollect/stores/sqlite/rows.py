"""Between `Memory` values and rows of the two tables that hold them.

In: values, or rows in the order of a tuple of columns that stands here. Out: the other. No SQL is
run here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recollect.model import SCOPES, Memory, Place, name_key
from recollect.model.plain import NO_METADATA, metadata_from, metadata_text
from recollect.policy.view import HELD_BACK, HIDDEN_FIELDS
from recollect.ports.memories import IndexColumns, Indexed, IndexRow, Standing
from recollect.stores.sqlite.legible import STATUSES, RowShape
from recollect.stores.sqlite.seals import vector_seal

if TYPE_CHECKING:
    from recollect.model.plain import PlainObject
    from recollect.ports.memories import NewMemory

__all__ = [
    "INDEX_COLUMNS",
    "INDEX_OWN",
    "INDEX_ROW_ID",
    "OWN_COLUMNS",
    "SHOWN_COLUMNS",
    "STANDING_COLUMNS",
    "STANDING_VALUES",
    "STOOD",
    "WHOLE_COLUMNS",
    "as_columns",
    "fact_columns",
    "fact_row",
    "fact_tables",
    "from_row",
    "index_columns",
    "index_row",
    "own_values",
    "place_of",
    "sealed_vector",
    "standing",
    "standing_values",
    "whole_from_row",
]

# The order of Memory's fields; `place` is five columns.
_FROM_PAKS = {"pak_id", "title", "summary", "project", "topic", "pak_type", "authority"} | {
    "created_at",
    "updated_at",
    "superseded_by",
}
_PLACE = ("tenant", "owner", "scope", "team", "garden")
# Fields that are found however they are spelt: beside each is a column with its key.
_FOLDED = ("entity", "relation", "value", "source")
_FIELDS = tuple(name for name in Memory.__dataclass_fields__ if name != "place")
_TAGS, _METADATA, _RISKS = map(_FIELDS.index, ("tags", "metadata", "risks"))


def _column(name: str) -> str:
    return f"{'paks' if name in _FROM_PAKS else 'memories'}.{name}"


def _columns(*names: str) -> str:
    return ", ".join(map(_column, names))


# All that is known, in the order of Memory's fields.
WHOLE_COLUMNS = _columns(*_FIELDS, *_PLACE)

# What a reader gets, in the order of Memory's fields; a hidden one is never read.
SHOWN_COLUMNS = ", ".join(
    "NULL" if name in HIDDEN_FIELDS else _column(name) for name in (*_FIELDS, *_PLACE)
)

# The plain fields of Indexed, the others, and what an IndexRow has beside; the vector comes last.
_PLAIN = len(Indexed._fields) - len(("tags", "risks", "place"))
_INDEXED_NAMES = (*Indexed._fields[:-1], *_PLACE, "row_id", "pending")
INDEX_COLUMNS = tuple(map(_column, _INDEXED_NAMES))
INDEX_ROW_ID = _INDEXED_NAMES.index("row_id")
# What two memories hardly ever have in common.
INDEX_OWN = tuple(map(_INDEXED_NAMES.index, ("pak_id", "content", "title", "row_id")))
_WHOLE = RowShape((*_FIELDS, *_PLACE))
_SHOWN = RowShape((*_FIELDS, *_PLACE), hidden=HIDDEN_FIELDS)
_INDEXED = RowShape((*_INDEXED_NAMES, "vector"))

# What `memories` keeps of a memory, in the order of `own_values`.
OWN_COLUMNS = (
    "pak_id",
    *(name for name in _FIELDS if name not in _FROM_PAKS),
    *_PLACE,
    *(f"{name}_key" for name in _FOLDED),
    "pending",
)
# What a writer must know; which of the two vectors is asked after is for the query to say.
STANDING_COLUMNS = (
    "row_id, content_hash, status, valid_until, risks, position, reinforced, last_reinforced,"
    " superseded_by, {vector} IS NOT NULL, tenant, owner, scope, team, garden, thread, project,"
    " valid_from, title, memories.pak_id"
)
_STANDING = RowShape(
    (
        *("row_id", "content_hash", "status", "valid_until", "risks", "position", "reinforced"),
        *("last_reinforced", "superseded_by", "pending", *_PLACE, "thread", "project"),
        *("valid_from", "title", "pak_id"),
    )
)
# Where a memory stood, in the order of `place_of`.
STOOD = ", ".join((*_PLACE, "status"))
STANDING_VALUES = (*_PLACE, "status", "reinforced", "last_reinforced")
_OWN_FIELDS = tuple(name for name in _FIELDS if name not in _FROM_PAKS)
# What filters may ask for.
_FACTS = frozenset((*_FIELDS, *_PLACE))


def from_row(row: Sequence[Any]) -> Memory:
    """Build a Memory from a row of `SHOWN_COLUMNS`; raise `ValueError` if it cannot be one."""
    _SHOWN.check(row)
    return _memory(row)


def whole_from_row(row: Sequence[Any]) -> Memory:
    """Build a Memory from a row of `WHOLE_COLUMNS`; raise `ValueError` if it cannot be one."""
    _WHOLE.check(row)
    return _memory(row)


def _memory(row: Sequence[Any]) -> Memory:
    values = list(row[: len(_FIELDS)])
    values[_TAGS] = _tags(values[_TAGS])
    values[_METADATA] = _metadata(values[_METADATA])
    values[_RISKS] = _risks(values[_RISKS])
    values.append(_place(*row[len(_FIELDS) : len(_FIELDS) + len(_PLACE)]))
    # In the order of the fields, of which the place is the last: by name it takes twice as long.
    return Memory(*values)


def index_row(row: Sequence[Any]) -> IndexRow:
    """Build what an index learns of a memory from a row of `INDEX_COLUMNS` and its vector.

    Raise `ValueError` if it cannot be one.
    """
    _INDEXED.check(row)
    tags, risks, *place, row_id, pending, vector = row[_PLAIN:]
    pak = Indexed._make((*row[:_PLAIN], _tags(tags), _risks(risks), _place(*place)))
    return IndexRow(row_id, pak, _to_vector(vector), bool(pending))


def as_columns(found: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return rows, of which there are some, as columns."""
    # By strides: to zip them would make an iterator a row, which the collector looks through.
    values, width = list(chain.from_iterable(found)), len(found[0])
    return [values[place::width] for place in range(width)]


def index_columns(columns: Sequence[Sequence[Any]], *, known: Collection[int] = ()) -> IndexColumns:
    """Build the same of many such rows; raise `ValueError` if one of them cannot be one.

    Of columns at `known` places all values are the same.
    """
    looked_at = [column[:1] if place in known else column for place, column in enumerate(columns)]
    if not _INDEXED.fits_all(looked_at):
        raise ValueError("a row that can be no memory")
    tags, risks, *place, row_ids, pending, vectors = columns[_PLAIN:]
    if all(map(_is_one, place)):
        places = [_place(*(column[0] for column in place))] * len(row_ids)
    else:
        places = list(map(_place, *place))
    made = [_each(_tags, tags), _each(_risks, risks), places]
    return IndexColumns(row_ids, [*columns[:_PLAIN], *made], vectors, pending)


def _each(make: Callable[[Any], Any], stored: Sequence[Any]) -> list[Any]:
    """Return what is made of each value; of two that are the same it is made once."""
    if _is_one(stored):
        return [make(stored[0])] * len(stored)
    made = {value: make(value) for value in set(stored)}
    return [made[value] for value in stored]


def _is_one(stored: Sequence[Any]) -> bool:
    return stored.count(stored[0]) == len(stored)


def fact_columns(names: Sequence[str]) -> str:
    """Return columns to select the values of some fields from; a name of nothing is refused."""
    if unknown := [name for name in names if name not in _FACTS]:
        raise ValueError(f"a memory has no {unknown[0]!r:.60}")
    return _columns(*names)


def fact_tables(names: Sequence[str]) -> str:
    """Return where the values of some fields stand; the catalogue only if one does there."""
    return "memories" if _FROM_PAKS.isdisjoint(names) else "memories JOIN paks USING (pak_id)"


def fact_row(names: Sequence[str], row: Sequence[Any]) -> tuple[Any, ...]:
    """Return the row id and the values of fields; None for one that cannot be a value."""
    return (row[0], *(map(_fact, names, row[1:])))


def _fact(name: str, stored: Any) -> Any:
    if stored is None and name == "metadata":
        return NO_METADATA
    if type(stored) is not str:
        return None
    if name not in _PARSED:
        return stored
    try:
        return _PARSED[name](stored)
    except (ValueError, RecursionError):
        return None


def standing(row: Sequence[Any]) -> Standing:
    """Build what a writer must know of a memory from a row of `STANDING_COLUMNS`.

    Raise `ValueError` if it cannot be one.
    """
    _STANDING.check(row)
    return Standing(
        row_id=row[0],
        content_hash=row[1],
        place=_place(*row[10:15]),
        status=row[2],
        valid_from=row[17],
        valid_until=row[3],
        risks=_risks(row[4]),
        thread=row[15],
        project=row[16],
        position=row[5],
        reinforced=row[6],
        last_reinforced=row[7],
        superseded_by=row[8],
        has_vector=bool(row[9]),
        title=row[18],
    )


def place_of(copy: Sequence[Any], stood: Sequence[Any] | None) -> Place | None:
    """Return where a memory stood by its second copy; None if it was held back, or nobody knows.

    Both are in the order of `STOOD`. What cannot be read in the row speaks for nothing; what can,
    and says something else, may be right.
    """
    if stood is None or not _stood(copy) or copy[-1] in HELD_BACK:
        return None
    for number, (one, other) in enumerate(zip(stood, copy, strict=True)):
        if one != other and _stood((*copy[:number], one, *copy[number + 1 :])):
            return None
    return _place(*copy[:-1])


def _stood(values: Sequence[Any]) -> bool:
    """Return whether values can say where a memory stands."""
    texts = (*values[:3], values[-1])
    return (
        all(type(value) is str for value in texts)
        and all(value is None or type(value) is str for value in values[3:5])
        and values[2] in SCOPES
        and values[-1] in STATUSES
    )


def standing_values(one: Standing) -> tuple[Any, ...]:
    """Return the values of `STANDING_VALUES`."""
    place = one.place
    return (
        *(place.tenant, place.owner, place.scope, place.team, place.garden),
        *(one.status, one.reinforced, one.last_reinforced),
    )


def _tags(stored: str) -> tuple[str, ...]:
    if stored == "[]":
        return ()
    tags = json.loads(stored)
    if type(tags) is not list or not all(type(tag) is str for tag in tags):
        raise ValueError("tags that are no list of texts")
    return tuple(tags)


def _metadata(stored: str | None) -> PlainObject:
    return NO_METADATA if stored is None else metadata_from(stored)


def _risks(stored: str) -> tuple[str, ...]:
    return tuple(stored.split(",")) if stored else ()


# How fields that are kept as text are read by those who only look at them.
_PARSED: dict[str, Callable[[str], Any]] = {
    "tags": _tags,
    "metadata": json.loads,
    "risks": _risks,
}


@lru_cache
def _place(*parts: str | None) -> Place:
    return Place(*parts)  # type: ignore[arg-type]


def own_values(new: NewMemory) -> tuple[Any, ...]:
    """Return the values of `OWN_COLUMNS`."""
    memory = new.memory
    values = [getattr(memory, name) for name in _OWN_FIELDS]
    values[_OWN_FIELDS.index("tags")] = json.dumps(memory.tags, ensure_ascii=False)
    values[_OWN_FIELDS.index("risks")] = ",".join(memory.risks)
    # Without any, a row is what it was before there was such a thing.
    said = memory.metadata
    values[_OWN_FIELDS.index("metadata")] = metadata_text(said) if said else None
    place = memory.place
    return (
        memory.pak_id,
        *values,
        place.tenant,
        place.owner,
        place.scope,
        place.team,
        place.garden,
        *(
            None if (name := getattr(memory, field)) is None else name_key(name)
            for field in _FOLDED
        ),
        new.pending,
    )


def sealed_vector(vector: NDArray[np.int8] | None) -> tuple[bytes | None, int | None]:
    """Return a vector as the store keeps it, and its seal."""
    data = None if vector is None else vector.tobytes()
    return data, vector_seal(data)


def _to_vector(data: bytes | None) -> NDArray[np.int8] | None:
    """Return a stored vector; it shares the bytes and cannot be written to."""
    return None if data is None else np.frombuffer(data, dtype=np.int8)
