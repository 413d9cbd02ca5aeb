"""Frozen values at the price of a class: what fills, compares and shows one is made when needed.

In: a class with annotated fields. Out: what the standard library's `dataclass` makes of it, to
`fields`, `replace`, `asdict`, `pickle` and `match` too; type checkers see that one. It compiles
six functions for each class, used or not, which was a sixth of a recall from the shell (ADR-0048).
A field of one may be made when it is first read. This room must not know any value.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from sys import modules
from typing import TYPE_CHECKING, Any, TypeVar, cast

__all__ = ["as_plain", "as_told", "dataclass", "later", "made_when_read"]

_set = object.__setattr__
_FIELDS = "__dataclass_fields__"
# What a class has of its own, and its copy with slots has not.
_OF_ONE_CLASS = ("__dict__", "__weakref__")
# To compile what fills a value takes as long as to fill some fifty of them by hand.
_BY_HAND = 16


class _ByFactory:
    """Stands for what a factory makes where nothing was given."""

    def __repr__(self) -> str:
        return "<factory>"


class _OnFirstUse:
    """An attribute of a class that is made when it is first asked for, and stays."""

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        made = self._make(self._owner)
        setattr(self._owner, self._name, made)
        return made.__get__(instance, owner) if callable(made) else made


class _Init(_OnFirstUse):
    """An `__init__` that is compiled once it pays: many a command makes few of most values."""

    def __init__(
        self,
        names: Iterable[str],
        defaults: Mapping[str, Any],
        factories: Mapping[str, Callable[[], Any]],
    ) -> None:
        super().__init__(_init)
        self._names, self._defaults, self._factories = tuple(names), defaults, factories
        self._by_hand = _BY_HAND

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None or not self._by_hand:
            return super().__get__(instance, owner)
        self._by_hand -= 1
        return partial(self._fill, instance)

    def _fill(self, instance: Any, /, *given: Any, **named: Any) -> None:
        in_order = self._names[: len(given)]
        values = {**self._defaults, **dict(zip(in_order, given, strict=False)), **named}
        for name, make in self._factories.items():
            if name not in values:
                values[name] = make()
        is_sound = len(in_order) == len(given) and named.keys().isdisjoint(in_order)
        if not is_sound or len(values) != len(self._names) or values.keys() != {*self._names}:
            # It will refuse, in the words of every Python function.
            super().__get__(instance)(*given, **named)
            return
        for name in self._names:
            _set(instance, name, values[name])
        if hasattr(instance, "__post_init__"):
            instance.__post_init__()


def _dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, kw_only: bool = False
) -> Callable[[type], type]:
    if not (frozen and slots):
        return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, kw_only=kw_only)
    return partial(_value, eq=eq, kw_only=kw_only)


def _value(cls: type, *, eq: bool, kw_only: bool) -> type:
    """Return the copy of a class that has slots and is frozen; methods of its own stay."""
    types = get_annotations(cls)
    if any("ClassVar" in str(one) or "InitVar" in str(one) for one in types.values()):
        raise TypeError(f"{cls.__name__} has annotated names that are no fields")
    own = {name: held for name, held in cls.__dict__.items() if name not in _OF_ONE_CLASS}
    given = {name: own.pop(name) for name in types if name in own}
    if own.get("__hash__", cls) is None:
        del own["__hash__"]  # Python's, of a class that says when two are equal
    bases = cls.__mro__[1:]
    inherited = {name for base in bases for name in base.__dict__.get("__slots__", ())}
    made = {
        "__slots__": tuple(name for name in types if name not in inherited),
        "__dataclass_params__": _OnFirstUse(partial(_params, eq=eq, kw_only=kw_only)),
        "__match_args__": _OnFirstUse(_match_args),
        "__init__": _OnFirstUse(_init),
        "__repr__": _OnFirstUse(_repr),
        _FIELDS: _OnFirstUse(partial(_fields, types=types, given=given, kw_only=kw_only)),
    }
    if eq:
        made |= {"__eq__": _OnFirstUse(_eq), "__hash__": _OnFirstUse(_hash)}
    described = {name: one for name, one in given.items() if isinstance(one, Field)}
    is_simple = not kw_only and all(map(_is_filled_plainly, described.values()))
    if is_simple and not any(_FIELDS in base.__dict__ for base in bases):
        made["__init__"] = _Init(types, _defaults(given), _factories(described))
    copy = type(cls)(cls.__name__, cls.__bases__, {**_ALL_HAVE, **made, **own})
    copy.__qualname__ = cls.__qualname__
    return copy


def _is_filled_plainly(field: Field[Any]) -> bool:
    return field.init and field.kw_only in (MISSING, False)


def _defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    values = {n: one.default if isinstance(one, Field) else one for n, one in given.items()}
    return {name: one for name, one in values.items() if one is not MISSING}


def _factories(described: Mapping[str, Field[Any]]) -> dict[str, Callable[[], Any]]:
    made = {name: one.default_factory for name, one in described.items()}
    return {name: one for name, one in made.items() if one is not MISSING}


def _fields(
    cls: type, *, types: Mapping[str, Any], given: Mapping[str, Any], kw_only: bool
) -> dict[str, Field[Any]]:
    """Return a value's fields, inherited ones first, as the standard library describes them."""
    alone = {"__module__": cls.__module__, "__doc__": cls.__doc__ or "-", "__annotations__": types}
    described: Any = type(cls.__name__, (), {**alone, **given})
    describe = partial(dataclasses.dataclass, init=False, repr=False, eq=False, match_args=False)
    describe(described, kw_only=kw_only)
    found: dict[str, Field[Any]] = {}
    for one in (*reversed(cls.__mro__[1:]), described):
        found |= getattr(one, _FIELDS, {})
    return found


def _params(_: type, *, eq: bool, kw_only: bool) -> Any:
    """Return what the standard library asks a class that another one inherits from."""
    made: Any = dataclasses.make_dataclass("_", (), frozen=True, eq=eq, kw_only=kw_only)
    return made.__dataclass_params__


def _init(cls: Any) -> Any:
    """Compile what fills an instance: a parameter and a line for each field."""
    fields = cls.__dataclass_fields__.values()
    taken = [_parameter(field) for field in fields if field.init and not field.kw_only]
    by_name = [_parameter(field) for field in fields if field.init and field.kw_only]
    parameters = ", ".join(["self", *taken, *(["*", *by_name] if by_name else [])])
    lines = [f"_put_{field.name}(self, {_filled(field)})" for field in fields if _filled(field)]
    lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    known = {"_unset": _ByFactory()} | {
        f"_default_{field.name}": field.default if _is_plain(field) else field.default_factory
        for field in fields
    }
    # What fills a slot, found once: to look it up by its name takes longer than to fill it.
    known |= {f"_put_{field.name}": getattr(cls, field.name).__set__ for field in fields}
    source = f"def make({', '.join(known)}):\n def __init__({parameters}):\n  "
    source += "\n  ".join(lines or ["pass"]) + "\n return __init__"
    made: dict[str, Any] = {}
    exec(source, modules[cls.__module__].__dict__, made)  # noqa: S102 - of names of fields alone
    init = made["make"](**known)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {field.name: field.type for field in fields if field.init}
    init.__annotations__["return"] = None
    return init


def _is_plain(field: Field[Any]) -> bool:
    return field.default_factory is MISSING


def _parameter(field: Field[Any]) -> str:
    """Write how `__init__` takes a field."""
    if not _is_plain(field):
        return f"{field.name}=_unset"
    return field.name if field.default is MISSING else f"{field.name}=_default_{field.name}"


def _filled(field: Field[Any]) -> str | None:
    """Write what `__init__` puts into a field; None if that is left to `__post_init__`."""
    name, default = field.name, f"_default_{field.name}"
    if not _is_plain(field):
        return f"{default}() if {name} is _unset else {name}" if field.init else f"{default}()"
    if field.init:
        return name
    return None if field.default is MISSING else default


def _match_args(cls: Any) -> tuple[str, ...]:
    fields = cls.__dataclass_fields__.values()
    return tuple(field.name for field in fields if field.init and not field.kw_only)


def _repr(cls: Any) -> Any:
    names = [field.name for field in cls.__dataclass_fields__.values() if field.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _eq(cls: Any) -> Any:
    held = _held(field.name for field in cls.__dataclass_fields__.values() if field.compare)

    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        return held(self) == held(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(cls: Any) -> Any:
    held = _held(
        field.name
        for field in cls.__dataclass_fields__.values()
        if (field.compare if field.hash is None else field.hash)
    )

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(held(self))

    return __hash__


def _held(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads the fields of these names as a tuple."""
    several = tuple(names)
    if len(several) > 1:
        return attrgetter(*several)
    return lambda value: tuple(getattr(value, name) for name in several)


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    # Who inherits without being a value may have attributes beside the fields.
    if name in self.__dataclass_fields__ or not hasattr(self, "__dict__"):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    _set(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if name in self.__dataclass_fields__ or not hasattr(self, "__dict__"):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _take_state(self: Any, state: Iterable[Any]) -> None:
    for name, held in zip(self.__dataclass_fields__, state, strict=True):
        _set(self, name, held)


_ALL_HAVE = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,
    "__setstate__": _take_state,
    "__replace__": dataclasses.replace,
}

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass


Made = TypeVar("Made")


class _Later:
    """Stands in a field for what it makes when that is read."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


class _WhenRead:
    """A field over a slot: what comes `later` is made by whoever first reads it, and stays."""

    def __init__(self, slot: Any) -> None:
        self.slot = slot

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        held = self.slot.__get__(instance)
        if type(held) is _Later:
            held = held.make()
            self.slot.__set__(instance, held)
        return held

    def __set__(self, instance: object, value: object) -> None:
        self.slot.__set__(instance, value)


def made_when_read(*names: str) -> Callable[[Made], Made]:
    """Let these fields of a value take what is made `later`."""

    def mark(cls: Made) -> Made:
        for name in names:
            setattr(cls, name, _WhenRead(getattr(cls, name)))
        return cls

    return mark


def later(make: Callable[[], Made]) -> Made:
    """Return what stands for a field that is `made_when_read`: nearly nobody reads them all.

    It may be made by any thread, more than once, and much later: always the same must come of it.
    """
    return cast("Made", _Later(make))


def as_told(value: object, name: str) -> Any:
    """Return what a field that is `made_when_read` holds, to hand it on without making it."""
    return getattr(type(value), name).slot.__get__(value)


_LEAVES = frozenset((str, int, float, bool, bytes, type(None)))
_Parts = Callable[[Any], tuple[Any, ...]]
_PARTS_OF: dict[type, tuple[tuple[str, ...], _Parts] | None] = {}


def as_plain(value: Any) -> Any:
    """Return what the standard library's `asdict` gives, at a fraction of its price.

    Nearly all that values hold is text, numbers and None, which need no copy and no call; and which
    fields a class has is looked up once.
    """
    kind = type(value)
    if kind in _LEAVES:
        return value
    if kind is tuple:
        return tuple(_plain_parts(value))
    if kind is list:
        return _plain_parts(value)
    if kind is dict:
        return dict(zip(_plain_parts(value), _plain_parts(value.values()), strict=True))
    parts = _parts_of(kind)
    if parts is None:
        return _rarely(value)
    names, get = parts
    return dict(zip(names, _plain_parts(get(value)), strict=True))


def _plain_parts(parts: Iterable[Any]) -> list[Any]:
    return [one if type(one) in _LEAVES else as_plain(one) for one in parts]


def _parts_of(kind: type) -> tuple[tuple[str, ...], _Parts] | None:
    """Return the names of a value's fields, and what gives all of them at once."""
    if kind not in _PARTS_OF:
        names = _names_of(kind)
        _PARTS_OF[kind] = None if names is None else (names, _getting(names))
    return _PARTS_OF[kind]


def _names_of(kind: type) -> tuple[str, ...] | None:
    is_one = dataclasses.is_dataclass(kind)
    return tuple(one.name for one in dataclasses.fields(kind)) if is_one else None


def _getting(names: tuple[str, ...]) -> _Parts:
    # A getter of one name gives no tuple, and there is none of no name.
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _rarely(value: Any) -> Any:
    """Copy what is neither plain nor one of ours."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(as_plain, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(as_plain, value))
    return copy.deepcopy(value)
