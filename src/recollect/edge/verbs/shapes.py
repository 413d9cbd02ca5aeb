"""What an answer is, as JSON Schema, made from the types that answers are.

In: a type of the model, a shape of types by name, or several of which it is one. Out: a schema, and
the named parts that it refers to. Answers may get more fields later, so none says that there are no
others.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from recollect.model import Dropped, FrameResult, Ingested, Memory, RecallResponse, Remembered, pak
from recollect.ports.edges import Dispute

__all__ = ["Schema", "Schemas", "named_parts", "schema_of"]

Schema = dict[str, Any]
Schemas = dict[str, Schema]

_PLAIN: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
# Types that are named where they are not loaded.
_NAMES = {**vars(pak), "Dispute": Dispute, "Memory": Memory}
# What is not in each of them: it came later, or only some have it.
_SOMETIMES: Mapping[type, frozenset[str]] = {
    Dropped: frozenset({"count"}),
    Memory: frozenset({"ttl", "metadata"}),
    Remembered: frozenset({"meta"}),
    FrameResult: frozenset({"meta", "recall_id"}),
    Ingested: frozenset({"meta"}),
}
# What is there beside the fields, since it follows from them.
_MORE: Mapping[type, Mapping[str, Any]] = {
    RecallResponse: {"match": str | None, "recall_id": str},
    FrameResult: {"empty_because": str},
}


def schema_of(shape: Any, parts: Schemas) -> Schema:
    """Return what an answer is; the types that it names are put into `parts`."""
    if isinstance(shape, Mapping):
        return _object(shape, parts)
    if isinstance(shape, tuple):
        return {"anyOf": [schema_of(one, parts) for one in shape]}
    if isinstance(shape, list):
        return {"type": "array", "items": schema_of(shape[0], parts)}
    if shape is None or shape is type(None):
        return {"type": "null"}
    if shape in _PLAIN:
        return {"type": _PLAIN[shape]}
    if shape is Any or shape is object:
        return {}
    origin = get_origin(shape)
    if origin is not None:
        return _generic(origin, get_args(shape), parts)
    if is_dataclass(shape) or _is_named_tuple(shape):
        return _part(shape, parts)
    if isinstance(shape, type) and issubclass(shape, Mapping):
        return {"type": "object"}
    raise TypeError(f"no schema for {shape!r}")


def named_parts(shapes: Sequence[Any]) -> Schemas:
    """Return the schemas of all types that answers are made of, by name."""
    parts: Schemas = {}
    for shape in shapes:
        schema_of(shape, parts)
    return dict(sorted(parts.items()))


def _object(shape: Mapping[str, Any], parts: Schemas) -> Schema:
    """Return an object of these; what has no name of its own is spread out in it."""
    own = {name: schema_of(one, parts) for name, one in shape.items() if name}
    made: Schema = {"type": "object", "properties": own, "required": list(own)}
    if "" in shape:
        return {"allOf": [schema_of(shape[""], parts), made]}
    return made


def _generic(origin: Any, arguments: tuple[Any, ...], parts: Schemas) -> Schema:
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return _either([schema_of(one, parts) for one in arguments])
    if issubclass(origin, Mapping):
        values = schema_of(arguments[1], parts)
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if issubclass(origin, tuple | list | frozenset) or origin is Sequence:
        return {"type": "array", "items": schema_of(arguments[0], parts)}
    raise TypeError(f"no schema for {origin!r}")


def _either(schemas: list[Schema]) -> Schema:
    if len(schemas) == 2 and {"type": "null"} in schemas:
        other = next(one for one in schemas if one != {"type": "null"})
        if set(other) == {"type"}:
            return {"type": [other["type"], "null"]}
    return {"anyOf": schemas}


def _part(shape: Any, parts: Schemas) -> Schema:
    name = shape.__name__
    if name not in parts:
        parts[name] = {}  # named before it is made: a type may hold others of its kind
        hints = get_type_hints(shape, localns=_NAMES)
        own = [one.name for one in fields(shape)] if is_dataclass(shape) else list(shape._fields)
        shown = {one: schema_of(hints[one], parts) for one in own}
        more = {one: schema_of(kind, parts) for one, kind in _MORE.get(shape, {}).items()}
        optional = _SOMETIMES.get(shape, frozenset())
        parts[name] = {
            "type": "object",
            "description": (shape.__doc__ or "").partition("\n")[0],
            "properties": shown | more,
            "required": [one for one in own if one not in optional],
        }
    return {"$ref": f"#/components/schemas/{name}"}


def _is_named_tuple(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, tuple) and hasattr(shape, "_fields")
