"""A memory as it was: what is kept of each version, and what tells two of them apart.

Frozen values, standard library only. What is derived from the rest, and what is counted of a
memory's use, is no part of a version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any

from recollect.check import is_share
from recollect.model.access import SCOPES, Place
from recollect.model.memory import Memory
from recollect.model.plain import metadata_from
from recollect.values import dataclass

__all__ = ["Version", "changed_fields", "kept_fields", "memory_of"]

_NOT_KEPT = frozenset(
    {"pak_id", "decay", "risks", "reinforced", "last_reinforced", "superseded_by"}
)
_KEPT = tuple(one for one in fields(Memory) if one.name not in _NOT_KEPT)
_REQUIRED = {one.name for one in _KEPT if one.default is MISSING and one.default_factory is MISSING}
# Whatever is written moves these; who reads does not see a position.
_MOVES = ("created_at", "updated_at", "position", "place")
_PLACE = tuple(one.name for one in fields(Place))
_STATUSES = ("active", "archived", "quarantined", "rejected")
_MAY_BE_MISSING = (str, type(None))


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a memory: who wrote it, when, and what it changed of the one before.

    `number` counts those that the asker may read, of this memory, from 1. `changed` names fields
    of the memory; of the first version, and where the one before is not to be read, it is empty.
    """

    pak_id: str
    number: int
    at: str
    by: str
    changed: tuple[str, ...]
    memory: Memory
    is_current: bool = False


def kept_fields(memory: Memory) -> dict[str, Any]:
    """Return what is kept of a memory that is replaced, as plain data."""
    kept = {one.name: getattr(memory, one.name) for one in _KEPT}
    plain = {"tags": list(memory.tags), "confidence": float(memory.confidence)}
    return {**kept, **plain, "place": asdict(memory.place)}


def changed_fields(before: Memory, after: Memory) -> tuple[str, ...]:
    """Return the names of what two versions of a memory say otherwise."""
    names = [one.name for one in _KEPT if one.name not in _MOVES]
    found = [name for name in names if getattr(before, name) != getattr(after, name)]
    places = [one for one in _PLACE if getattr(before.place, one) != getattr(after.place, one)]
    superseded = ["superseded_by"] if before.superseded_by != after.superseded_by else []
    return (*found, *places, *superseded)


def memory_of(pak_id: str, kept: object, *, superseded_by: str | None = None) -> Memory:
    """Return the memory that was kept; raise `ValueError` if it cannot be one."""
    if not isinstance(kept, Mapping):
        raise ValueError("a version that is no object of fields")
    given = {one.name: kept[one.name] for one in _KEPT if one.name in kept}
    if not given.keys() >= _REQUIRED:
        raise ValueError("a version without a text or a title")
    for name, value in given.items():
        if not _fits(name, value):
            raise ValueError(f"a version whose {name} no memory has")
    given["tags"] = tuple(given.get("tags", ()))
    given["metadata"] = metadata_from(given.get("metadata", {}))
    given["place"] = Place(**given["place"]) if "place" in given else Place()
    return Memory(pak_id=pak_id, superseded_by=superseded_by, **given)


def _fits(name: str, value: Any) -> bool:
    if name == "tags":
        return isinstance(value, list) and all(isinstance(tag, str) for tag in value)
    if name == "place":
        return _is_place(value)
    if name == "metadata":
        return isinstance(value, Mapping)
    if name == "ttl":
        return value is None or type(value) is float
    if name == "confidence":
        return type(value) is float and is_share(value)
    if name == "position":
        return value is None or type(value) is int
    if name == "status":
        return value in _STATUSES
    default = Memory.__dataclass_fields__[name].default
    return type(value) in (_MAY_BE_MISSING if default is None else (str,))


def _is_place(value: Any) -> bool:
    if not isinstance(value, Mapping) or set(value) != set(_PLACE) or value["scope"] not in SCOPES:
        return False
    texts = (value["tenant"], value["owner"])
    return all(type(one) is str for one in texts) and all(
        type(one) in _MAY_BE_MISSING for one in value.values()
    )
