"""What an event tells a hook, and what the hook may change of it.

In: the dataclass that a verb is asked by, or that says what it did. Out: its `Shape`, payloads with
plain values under the names that hooks use, and deltas of which every field is of its kind. Since a
shape is read off the dataclass, a field that a request gains reaches hooks without a word here.
Whether a value can be had is for the verb to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from operator import attrgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from recollect.hooks.failure import Failure, HookFailed
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.hooks.events import HookEvent
    from recollect.model import Principal

__all__ = ["OBJECT", "PRINCIPAL", "Field", "Kind", "Payload", "Shape", "kind_of"]

# Under this name each payload says who asks. It is read off the credential, and no hook changes it.
PRINCIPAL = "principal"

# What the engine calls by another name. A namespace is the project; "" is none.
_NAMES = {"project": "namespace", "top_k": "k", "limit": "k", "text": "query"}
_NONE = {"query": "", "namespace": ""}


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value is: in words, by a test, and what stands for none."""

    words: str
    fits: Callable[[object], bool]
    none: Any = None


TEXT = Kind("a text", lambda value: isinstance(value, str))
WHOLE = Kind("a whole number", lambda value: type(value) is int, 0)
NUMBER = Kind("a number", lambda value: type(value) in (int, float))
TRUTH = Kind("true or false", lambda value: type(value) is bool, False)
OBJECT = Kind("an object", lambda value: isinstance(value, Mapping), {})
TEXTS = Kind("a list of texts", lambda value: _is_list_of(str, value), ())
OBJECTS = Kind("a list of objects", lambda value: _is_list_of(Mapping, value), ())
_PLAIN = {str: TEXT, int: WHOLE, float: NUMBER, bool: TRUTH, Literal: TEXT, Mapping: OBJECT}


def _is_list_of(kind: type, value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, kind) for one in value)


def kind_of(hint: Any) -> Kind:
    """Return the kind of a field by its annotation; None is left out of account."""
    if get_origin(hint) in (Union, UnionType):
        hint = next(one for one in get_args(hint) if one is not NoneType)
    origin = get_origin(hint) or hint
    if origin in (tuple, Sequence):
        return TEXTS if get_args(hint)[0] is str else OBJECTS
    return _PLAIN[origin]


@dataclass(frozen=True, slots=True)
class Field:
    """Where a value of a payload is found, and what kind it is of."""

    attribute: str
    kind: Kind
    read: Callable[[object], Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """What every payload of an event holds, by name, and which of it a hook may change.

    `narrows` are lists that may lose entries of the caller's but gain none.
    """

    event: HookEvent
    fields: Mapping[str, Field]
    changes: tuple[str, ...] = ()
    narrows: tuple[str, ...] = ()
    also_called: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        event: HookEvent,
        described: type[Any],
        *,
        only: Sequence[str] | None = None,
        without: Sequence[str] = (),
        also: Mapping[str, str] | None = None,
        **given: Any,
    ) -> Shape:
        """Read a shape off a dataclass: all its fields or some, and texts that a path leads to."""
        hints = get_type_hints(described)
        shown = [one.name for one in fields(described)] if only is None else only
        names = [name for name in shown if name not in without]
        found = {
            _NAMES.get(name, name): Field(name, kind_of(hints[name]), attrgetter(name))
            for name in names
        }
        paths = {name: Field(path, TEXT, attrgetter(path)) for name, path in (also or {}).items()}
        return cls(event, {**paths, **found}, **given)

    def payload(self, described: object, who: Principal | None = None) -> Payload:
        """Return what hooks are told of a value, and whose request it is, if anybody's."""
        values = {name: one.read(described) for name, one in self.fields.items()}
        if who is not None:
            values[PRINCIPAL] = {"tenant": who.tenant, "id": who.id}
        for name, none in _NONE.items():
            if name in values and values[name] is None:
                values[name] = none
        return Payload(self, values)

    def delta(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a hook's delta under our names, each value of its kind.

        None changes nothing, nor does a number of results that is not positive.
        """
        found: dict[str, Any] = {}
        for name, value in given.items():
            ours = self.also_called.get(name, name)
            if ours not in self.changes:
                raise _wrong(f"{self.event} has no {name!r} that a hook may change")
            if value is None or (ours != name and ours in given):
                continue
            kind = self.fields[ours].kind
            if not kind.fits(value):
                raise _wrong(f"{name} must be {kind.words}")
            if ours != "k" or value > 0:
                found[ours] = tuple(value) if isinstance(value, list) else value
        return found

    def arguments(self, delta: Mapping[str, Any]) -> dict[str, Any]:
        """Return a delta under the names that the engine uses."""
        renamed = {self.fields[name].attribute: value for name, value in delta.items()}
        return {**renamed, **({"project": None} if renamed.get("project") == "" else {})}


@dataclass(frozen=True, slots=True)
class Payload:
    """What an event tells a hook: plain values by name, ready for JSON."""

    shape: Shape
    values: Mapping[str, Any]

    @property
    def event(self) -> HookEvent:
        """The event that tells it."""
        return self.shape.event

    @property
    def namespace(self) -> str:
        """The project that it is about, "" for none."""
        return str(self.values.get("namespace", ""))

    def changed(self, delta: Mapping[str, Any]) -> Payload:
        """Return the payload with a delta laid over it."""
        return Payload(self.shape, {**self.values, **delta})

    def within(self, delta: Mapping[str, Any], k_max: int) -> dict[str, Any]:
        """Return a delta so that it asks for no more than this, which is what the caller asked.

        A hook may look elsewhere and for more results, up to `k_max`; it may not drop the caller's
        namespace or tags, nor raise its budget.
        """
        kept = dict(delta)
        if self.namespace and kept.get("namespace") == "":
            raise _wrong("the caller's namespace cannot be dropped")
        for name in self.shape.narrows:
            mine, wanted = set(self.values[name] or ()), set(kept.get(name, ()))
            if mine and name in kept and not (wanted and wanted <= mine):
                raise _wrong(f"{name} must be among those of the caller, at least one")
        if "k" in kept:
            kept["k"] = min(kept["k"], k_max)
        budget = self.values.get("token_budget")
        if budget is not None and "token_budget" in kept:
            kept["token_budget"] = min(kept["token_budget"], budget)
        return kept


def _wrong(problem: str) -> HookFailed:
    return HookFailed(Failure.BAD_REPLY, f"delta: {problem}")
