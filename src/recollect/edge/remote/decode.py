"""Objects as they left through `wire`, made into the values they were, by the types of the model.

In: a type and plain data. Out: a value of that type. Names of fields come from the type alone. What
a newer server tells besides is passed over; what an older one does not tell has its default.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from recollect.model import Memory, PackageFlag, Principal, pak
from recollect.model.plain import PlainList, PlainObject
from recollect.policy import IssuedKey, KeyRow
from recollect.ports.edges import Dispute

__all__ = ["decode", "frozen", "issued_key", "key_row", "principal"]

Value = TypeVar("Value")
# Types that are named where they are not loaded.
_NAMES = {
    **vars(pak),
    "Dispute": Dispute,
    "Memory": Memory,
    "PackageFlag": PackageFlag,
    "Principal": Principal,
}
_UNIONS = (Union, types.UnionType)


def decode(kind: Any, told: Any) -> Any:
    """Return plain data as a value of a type."""
    if told is None:
        return None
    origin, inner = get_origin(kind), get_args(kind)
    if origin in _UNIONS:
        return decode(_only(inner), told)
    if origin is tuple or origin is Sequence:
        return tuple(decode(inner[0], one) for one in told)
    if origin is frozenset:
        return frozenset(told)
    if origin is dict:
        return {name: decode(inner[1], one) for name, one in told.items()}
    if origin is Mapping:
        return frozen(told)
    if is_dataclass(kind) or _is_named_tuple(kind):
        return _made(kind, told)
    return told


def frozen(told: Any) -> Any:
    """Return plain data that cannot be altered, in the order in which it came."""
    if isinstance(told, dict):
        return PlainObject((name, frozen(one)) for name, one in told.items())
    return PlainList(frozen(one) for one in told) if isinstance(told, list) else told


def principal(told: Mapping[str, Any]) -> Principal:
    """Return who somebody is, as `wire` tells it; its name is what the server knows it by."""
    made: Principal = decode(Principal, {**told, "id": told["principal"], "exact": True})
    return made


def key_row(told: Mapping[str, Any]) -> KeyRow:
    """Return a key without its digest, which no server tells."""
    whose = {**told, "id": told["principal"], "exact": True}
    made: KeyRow = decode(KeyRow, {**told, "principal": whose, "digest": ""})
    return made


def issued_key(told: Mapping[str, Any]) -> IssuedKey:
    """Return a new key with its secret."""
    return IssuedKey(told["secret"], key_row(told["key"]))


def _only(kinds: Sequence[Any]) -> Any:
    """Return what a union is besides nothing; where that is several, data stay as they are."""
    some = [one for one in kinds if one is not type(None)]
    return some[0] if len(some) == 1 else Any


def _made(kind: Any, told: Mapping[str, Any]) -> Any:
    return kind(
        **{
            name: decode(hint, told[name])
            for name, (hint, takes_none) in _fields(kind).items()
            # Nothing, where something must be, is nothing said.
            if name in told and (told[name] is not None or takes_none)
        }
    )


@functools.cache
def _fields(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Return the types of a type's fields, and whether each may be None."""
    hints = get_type_hints(kind, localns=_NAMES)
    names = [one.name for one in fields(kind)] if is_dataclass(kind) else list(kind._fields)
    return {name: (hints[name], _takes_none(kind, name, hints[name])) for name in names}


def _takes_none(kind: Any, name: str, hint: Any) -> bool:
    if hint is Any or get_origin(hint) is Literal:
        return True
    if get_origin(hint) in _UNIONS:
        return type(None) in get_args(hint)
    return is_dataclass(kind) and _has_no_default(kind, name)


def _has_no_default(kind: Any, name: str) -> bool:
    one = kind.__dataclass_fields__[name]
    return one.default is MISSING and one.default_factory is MISSING


def _is_named_tuple(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")
