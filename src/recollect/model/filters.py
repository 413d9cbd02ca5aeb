"""The one language of filters: conditions on fields and metadata, joined by and, or and not.

In: an object as it came from a caller. Out: the same, checked and frozen; and a tree of conditions
that can be compared and hashed. What a value is like is said here once, as a key that sorts: both
what is stored and what is asked for become one. Which memories fulfil a tree is for the index to
say; no text of a caller becomes part of a query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast, get_args

from recollect import check
from recollect.errors import InvalidInput
from recollect.limits import COUNTS
from recollect.model.memory import name_key
from recollect.model.plain import PlainObject, frozen
from recollect.values import dataclass

__all__ = [
    "FIELDS",
    "METADATA",
    "WHEN",
    "AllOf",
    "AnyOf",
    "Condition",
    "FieldKind",
    "Filter",
    "Key",
    "NoneOf",
    "Operator",
    "all_of",
    "checked_filter",
    "conditions_in",
    "has_ended",
    "is_called",
    "is_in_project",
    "is_tagged",
    "key_of",
    "key_of_field",
    "parse_filter",
    "within",
]

Operator = Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains", "exists"]
FieldKind = Literal["text", "name", "time", "texts"]
# How a value sorts: what it is, then its worth; of a list also what is in it.
Key: TypeAlias = tuple[Any, ...]

METADATA = "metadata"
# When a memory is from: when it happened, or else when it was written.
WHEN = "when"
# Names are the same however they are spelt; times are compared as moments.
FIELDS: Mapping[str, FieldKind] = {
    **dict.fromkeys(("pak_id", "title", "category", "project", "topic", "pak_type"), "text"),
    **dict.fromkeys(("authority", "thread", "status", "owner", "scope", "team", "garden"), "text"),
    **dict.fromkeys(("source", "entity", "relation", "value", "speaker"), "name"),
    **dict.fromkeys(("occurred_at", "created_at", "updated_at", "valid_until", WHEN), "time"),
    "tags": "texts",
    "risks": "texts",
}

_OPERATORS = frozenset(get_args(Operator))
_ORDERED = ("gt", "gte", "lt", "lte")
_NULL, _TRUTH, _NUMBER, _TEXT, _LIST, _OBJECT = range(6)
# Names joined by dots; a backslash takes the meaning from whatever follows it.
_NAME = r"(?:[^.\\]|\\.)+"
_PARTS, _PATH = re.compile(_NAME, re.DOTALL), re.compile(rf"{_NAME}(?:\.{_NAME})*", re.DOTALL)
_JOINTS = ("and", "or", "not")
_LIKE_THIS = 'write {"thread": "t1"} or {"metadata.price": {"gte": 10}}, joined by and, or, not.'
_CONDITIONS = "conditions of a filter"


@dataclass(frozen=True, slots=True)
class Condition:
    """What one value must be like. `path` is a field, or metadata and the names that lead there."""

    path: tuple[str, ...]
    operator: Operator
    operands: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these hold; of none, that is so."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """This does not hold."""

    part: Filter


Filter: TypeAlias = Condition | AllOf | AnyOf | NoneOf


def checked_filter(name: str, given: object) -> PlainObject | None:
    """Return a filter as it was asked for, frozen; None for none."""
    if given is None:
        return None
    made = _object(frozen(name, given))
    parse_filter(made)
    return made


def parse_filter(given: Mapping[str, Any]) -> Filter:
    """Return the tree of a filter whose values are frozen."""
    left = iter(range(COUNTS[_CONDITIONS]))
    return _parsed(given, left)


def within(since: object, until: object) -> Filter | None:
    """Return the condition that a memory is from a stretch of time, both ends included."""
    ends: tuple[tuple[Operator, object], ...] = (("gte", since), ("lte", until))
    asked = [
        Condition((WHEN,), operator, (_time(operator, at),))
        for operator, at in ends
        if at is not None
    ]
    return all_of(asked)


def is_called(field: str, name: str | None) -> Filter | None:
    """Return the condition that a field is this, None for any."""
    key = key_of_field(field, name)
    return None if key is None else Condition((field,), "eq", (key,))


def is_in_project(path: str | None) -> Filter | None:
    """Return the condition that a project is this path or lies below it, None for any."""
    if path is None:
        return None
    above = path.rstrip("/")
    # What begins with the path and a slash lies between that and the next character after it.
    below = AllOf(
        (
            Condition(("project",), "gte", ((_TEXT, f"{above}/"),)),
            Condition(("project",), "lt", ((_TEXT, f"{above}0"),)),
        )
    )
    return AnyOf((Condition(("project",), "in", ((_TEXT, above), (_TEXT, path))), below))


def is_tagged(tag: str | None) -> Filter | None:
    """Return the condition that one of the tags is this, None for any."""
    return None if tag is None else Condition(("tags",), "contains", ((_TEXT, tag),))


def has_ended(now: str) -> Filter:
    """Return the condition that a memory does not hold any more."""
    return Condition(("valid_until",), "lte", (_time("lte", now),))


def all_of(parts: Sequence[Filter | None]) -> Filter | None:
    """Return what holds if all of these do; None if nothing is asked for."""
    known = tuple(part for part in parts if part is not None)
    if not known:
        return None
    return known[0] if len(known) == 1 else AllOf(known)


def conditions_in(tree: Filter) -> Iterator[Condition]:
    """Yield the conditions of a tree, from left to right."""
    if isinstance(tree, Condition):
        yield tree
    else:
        for part in (tree.part,) if isinstance(tree, NoneOf) else tree.parts:
            yield from conditions_in(part)


def key_of(value: object) -> Key:
    """Return how a JSON value is compared: 1 is 1.0 and is not true, a list is as it is written."""
    if value is None:
        return (_NULL,)
    if isinstance(value, bool):
        return _TRUTH, value
    if isinstance(value, str):
        return _TEXT, value
    if isinstance(value, Mapping):
        return _OBJECT, _written(value)
    if isinstance(value, list | tuple):
        return _LIST, _written(value), frozenset(map(key_of, value))
    return _NUMBER, value


def key_of_field(name: str, value: object) -> Key | None:
    """Return how the value of a field is compared; None if there is none, or no time in it."""
    kind = FIELDS[name]
    if value is None:
        return None
    if kind == "texts":
        # In one order, whatever that of the field is: a list of an operand has it too.
        return key_of(sorted(value) if isinstance(value, list | tuple) else value)
    if not isinstance(value, str):
        return None
    if kind == "name":
        return _TEXT, name_key(value)
    if kind == "time":
        moment = check.microseconds(value)
        return None if moment is None else (_NUMBER, moment)
    return _TEXT, value


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _parsed(given: object, left: Iterator[int]) -> Filter:
    parts = [_part(name, asked, left) for name, asked in _object(given).items()]
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _part(name: str, asked: object, left: Iterator[int]) -> Filter:
    if name == "not":
        return NoneOf(_parsed(asked, left))
    if name in _JOINTS:
        if not isinstance(asked, list) or not asked:
            raise InvalidInput(
                f"{name} takes a list of filters, not {check.shown(asked)}.", hint=_LIKE_THIS
            )
        parts = tuple(_parsed(one, left) for one in asked)
        return AllOf(parts) if name == "and" else AnyOf(parts)
    path = _path(name)
    if not isinstance(asked, Mapping):
        return _condition(path, "eq", asked, left)
    if not asked:
        raise InvalidInput(f"nothing is asked of {name!r:.60}.", hint=_LIKE_THIS)
    conditions = [_condition(path, operator, operand, left) for operator, operand in asked.items()]
    return conditions[0] if len(conditions) == 1 else AllOf(tuple(conditions))


def _path(name: str) -> tuple[str, ...]:
    """Return where a value is found; a dot that belongs to a name is written as \\."""
    if name in FIELDS:
        return (name,)
    path = tuple(re.sub(r"\\(.)", r"\1", part) for part in _PARTS.findall(name)) or (name,)
    if path[0] == METADATA and len(path) > 1 and _PATH.fullmatch(name):
        return path
    known = ", ".join(sorted(FIELDS))
    raise InvalidInput(
        f"a filter has no field {name!r:.60}.",
        hint=f"it has {known}, and metadata.<name>; operators stand in an object after the field.",
    )


def _condition(
    path: tuple[str, ...], operator: str, operand: object, left: Iterator[int]
) -> Condition:
    if next(left, None) is None:
        most = COUNTS[_CONDITIONS]
        raise InvalidInput(
            f"a filter has too many conditions; the most is {most:,}.",
            hint="ask with in for one of many values.",
        )
    if operator not in _OPERATORS:
        raise InvalidInput(
            f"a filter has no operator {operator!r:.60}.",
            hint=f"it has {', '.join(get_args(Operator))}.",
        )
    known = cast("Operator", operator)
    return Condition(path, known, _operands(path, known, operand))


def _operands(path: tuple[str, ...], operator: Operator, operand: object) -> tuple[Key, ...]:
    if operator == "exists":
        if not isinstance(operand, bool):
            raise _wrong(operator, "true or false", operand)
        return (key_of(operand),)
    if operator in ("in", "nin"):
        if not isinstance(operand, list):
            raise _wrong(operator, "a list of values", operand)
        return tuple(sorted({_operand(path, operator, one) for one in operand}))
    key = _operand(path, operator, operand)
    if operator in _ORDERED and key[0] not in (_NUMBER, _TEXT):
        raise _wrong(operator, "a number or a text", operand)
    return (key,)


def _operand(path: tuple[str, ...], operator: Operator, operand: object) -> Key:
    """Return the key of what a value is compared with; of a field it is of the field's kind."""
    if path[0] == METADATA:
        return key_of(operand)
    kind = FIELDS[path[0]]
    if kind == "texts" and operator != "contains":
        if not isinstance(operand, list) or not all(isinstance(one, str) for one in operand):
            raise _wrong(operator, f"a list of {path[0]}", operand, use="contains for one of them")
        return key_of(sorted(set(operand)))
    if not isinstance(operand, str):
        raise _wrong(operator, "a text", operand, use="exists to ask whether there is one")
    if kind == "time":
        if operator == "contains":
            raise _wrong(operator, "something other than a time", path[0], use="gte and lte")
        return _time(operator, operand)
    return (_TEXT, operand) if kind == "texts" else key_of_field(path[0], operand) or (_NULL,)


def _time(operator: Operator, operand: object) -> Key:
    """Return the moment that a time is compared with; after a day is after all of it."""
    at = check.edge_of_time(operator, operand, last=operator in ("lte", "gt"))
    return _NUMBER, check.microseconds(at)


def _wrong(operator: str, wanted: str, operand: object, *, use: str = "") -> InvalidInput:
    return InvalidInput(
        f"{operator} takes {wanted} here, not {check.shown(operand)}.",
        hint=f"use {use}." if use else _LIKE_THIS,
    )


def _object(given: object) -> PlainObject:
    if not isinstance(given, PlainObject) or not given:
        raise InvalidInput(
            f"a filter is an object of conditions, not {check.shown(given)}.", hint=_LIKE_THIS
        )
    return given
