"""JSON values that cannot be altered: what a memory carries as metadata, what a filter is made of.

In: whatever was passed. Out: the same values, checked and frozen, keys in order, so that an answer
that is kept may be handed out; or `InvalidInput`. The work is bounded by the limits, whatever a
value refers to: one that holds itself is too deep, one that holds another many times too large.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeAlias

from recollect import check
from recollect.errors import InvalidInput
from recollect.limits import COUNTS

__all__ = [
    "NO_METADATA",
    "PlainList",
    "PlainObject",
    "frozen",
    "metadata_from",
    "metadata_of",
    "metadata_text",
    "texts_in",
    "with_texts",
]

# The largest whole number that is exact everywhere.
_LARGEST = 2**53
_VALUES, _DEPTH = "values of a metadata or filter", "levels of a metadata or filter"
_CHARACTERS = "characters of a metadata as JSON"

Counter: TypeAlias = Iterator[int]


def _no_change(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError(f"a {type(self).__name__} cannot be changed; make a dict or list of it first.")


class PlainObject(dict[str, Any]):
    """A JSON object that cannot be altered."""

    __slots__ = ()
    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _no_change
    __ior__ = _no_change

    def __hash__(self) -> int:  # type: ignore[override]
        # Values that are equal may be written in two ways; names are not.
        return hash(tuple(sorted(self)))

    def __reduce__(self) -> tuple[type[PlainObject], tuple[dict[str, Any]]]:
        return PlainObject, (dict(self),)

    def __deepcopy__(self, _: object) -> PlainObject:
        # Nobody can alter it, nor what is in it: an answer holds one for each memory.
        return self


class PlainList(list[Any]):
    """A JSON array that cannot be altered."""

    __slots__ = ()
    __setitem__ = __delitem__ = append = extend = insert = pop = remove = clear = _no_change
    reverse = sort = _no_change
    __iadd__ = __imul__ = _no_change

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(len(self))

    def __reduce__(self) -> tuple[type[PlainList], tuple[list[Any]]]:
        return PlainList, (list(self),)

    def __deepcopy__(self, _: object) -> PlainList:
        return self


NO_METADATA = PlainObject()


def metadata_of(given: object) -> PlainObject:
    """Return what a caller says of a memory beside its fields: a JSON object within the limits."""
    if given is None:
        return NO_METADATA
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"metadata must be an object of values by name, not {check.shown(given)}.",
            hint='write metadata={"ticket": 42}.',
        )
    made = frozen("metadata", given)
    written = len(metadata_text(made))
    check.at_most("characters of metadata", written, COUNTS[_CHARACTERS], hint=_SMALLER)
    return made if isinstance(made, PlainObject) and made else NO_METADATA


def metadata_text(metadata: Mapping[str, Any]) -> str:
    """Return metadata as a store keeps it: JSON in one spelling."""
    return json.dumps(metadata, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def metadata_from(stored: str | Mapping[str, Any]) -> PlainObject:
    """Return metadata as it was kept, as JSON or read; raise `ValueError` if it was not."""
    if not stored or stored == "{}":
        return NO_METADATA
    try:
        made = frozen("metadata", json.loads(stored) if isinstance(stored, str) else stored)
    except (InvalidInput, RecursionError) as error:
        raise ValueError("metadata that no memory has") from error
    if not isinstance(made, PlainObject):
        raise ValueError("metadata that is no object")
    return made


def frozen(field: str, given: object) -> Any:
    """Return a JSON value, checked and frozen."""
    return _frozen(field, given, 0, iter(range(COUNTS[_VALUES])))


def texts_in(value: object) -> Iterator[str]:
    """Yield the keys and texts in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield name
            yield from texts_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one)


def with_texts(value: Any, changed: Callable[[str], str]) -> Any:
    """Return a frozen JSON value with each key and text changed."""
    if isinstance(value, str):
        return changed(value)
    if isinstance(value, Mapping):
        pairs = ((changed(name), with_texts(one, changed)) for name, one in value.items())
        return PlainObject(sorted(pairs, key=lambda pair: pair[0]))
    if isinstance(value, list):
        return PlainList(with_texts(one, changed) for one in value)
    return value


_SMALLER = "keep what is large in the content, or in a place of its own."


def _frozen(field: str, value: object, depth: int, left: Counter) -> Any:
    if next(left, None) is None:
        raise _too("many values", field, COUNTS[_VALUES])
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return check.text(field, value)
    if isinstance(value, int | float):
        return _number(field, value)
    kind = _kind(value)
    if kind is None:
        raise InvalidInput(
            f"{field} holds {check.shown(value)}, which is no JSON value.",
            hint="texts, numbers, true, false, none, lists, and objects of these by name.",
        )
    if depth == COUNTS[_DEPTH]:
        raise _too("many levels", field, COUNTS[_DEPTH])
    if kind == "list":
        return PlainList(_frozen(field, one, depth + 1, left) for one in value)  # type: ignore[attr-defined]
    return PlainObject(
        (name, _frozen(field, value[name], depth + 1, left))  # type: ignore[index]
        for name in _names(field, value)
    )


def _kind(value: object) -> Literal["list", "object"] | None:
    if isinstance(value, Mapping):
        return "object"
    is_list = isinstance(value, Sequence) and not isinstance(value, bytes | bytearray)
    return "list" if is_list else None


def _names(field: str, value: object) -> list[str]:
    given = list(value)  # type: ignore[call-overload]
    if len(given) > COUNTS[_VALUES]:
        raise _too("many values", field, COUNTS[_VALUES])
    return sorted(check.text(f"a name in {field}", name) for name in given)


def _number(field: str, value: float) -> float:
    # A NaN fails the comparison too, and a whole number of any size passes through it unharmed.
    if isinstance(value, int):
        fits = -_LARGEST <= value <= _LARGEST
    else:
        fits = float("-inf") < value < float("inf")
    if not fits:
        raise InvalidInput(
            f"{field} holds {check.shown(value)}, which is no number that is exact everywhere.",
            hint="write it as a text.",
        )
    return value


def _too(what: str, field: str, most: int) -> InvalidInput:
    return InvalidInput(f"{field} has too {what}; the most is {most:,}.", hint=_SMALLER)
