"""What a tool takes and gives, as JSON Schema in as few words as it takes.

In: a tool. Out: schemas that cost a model little: types, choices, bounds and a sentence a field;
answers one level deep. What a value may be beyond that, the engine says, in words.
"""

from __future__ import annotations

from typing import Any

from recollect.edge.mcp.tools import Tool
from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.edge.verbs.shapes import Schema, Schemas, schema_of

__all__ = ["described", "hints", "input_schema", "output_schema"]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_OBJECTS: Schema = {"type": "array", "items": {"type": "object"}}
_KINDS: dict[str, Schema] = {
    "text": _TEXT,
    "time": _TEXT,
    "moment": _TEXT,
    "seconds": {"type": "number"},
    "number": {"type": "number"},
    "whole": {"type": "integer"},
    "flag": {"type": "boolean"},
    "texts": _TEXTS,
    "text_or_texts": {"anyOf": [_TEXT, _TEXTS]},
    "object": {"type": "object"},
    "numbers": {"type": "object"},
    "items": {"type": "array", "items": {"anyOf": [_TEXT, {"type": "object"}]}},
    "facts": _OBJECTS,
    "lines": _TEXTS,
}
# A bound that nobody comes near tells a model nothing.
_FAR = 10_000


def described(tool: Tool) -> dict[str, Any]:
    """Return a tool as `tools/list` tells it."""
    return {
        "name": tool.name,
        "description": tool.help,
        "inputSchema": input_schema(tool),
        "outputSchema": output_schema(tool),
        "annotations": hints(tool),
    }


def hints(tool: Tool) -> dict[str, bool]:
    """Return what a client may let happen without asking."""
    verb = tool.verb
    return {
        "readOnlyHint": verb.effect == "reads",
        "destructiveHint": verb.effect == "destroys",
        "idempotentHint": verb.effect == "reads" or verb.is_idempotent,
        "openWorldHint": False,
    }


def input_schema(tool: Tool) -> Schema:
    """Return what a tool takes, as far as a model is told."""
    made: Schema = {
        "type": "object",
        "properties": {one.name: _field(one) for one in tool.fields},
    }
    required = [one.name for one in tool.fields if one.default is REQUIRED]
    return made | ({"required": required} if required else {})


def _field(field: Field) -> Schema:
    made = dict(_KINDS[field.kind])
    if field.choices:
        made["enum"] = list(field.choices)
    if made.get("type") in ("integer", "number"):
        bounds = {"minimum": field.least, "maximum": field.most}
        made |= {name: limit for name, limit in bounds.items() if _tells(limit)}
    made["description"] = field.help
    if field.default not in (None, REQUIRED, False, (), "", 0):
        made["default"] = field.default
    return made


def _tells(limit: float | None) -> bool:
    return limit is not None and limit <= _FAR


def output_schema(tool: Tool) -> Schema:
    """Return what a tool gives: its own fields by type, and nothing of what is inside of them."""
    if tool.verb.answer is str:
        return {"type": "object", "properties": {"lines": _TEXTS}, "required": ["lines"]}
    parts: Schemas = {}
    return _flat(schema_of(tool.verb.answer, parts), parts)


def _flat(schema: Schema, parts: Schemas) -> Schema:
    """Return an object's schema with its properties by type alone."""
    properties, required = _members(schema, parts)
    flat = {name: _shallow(one, parts) for name, one in properties.items()}
    made: Schema = {"type": "object", "properties": flat}
    return made | ({"required": required} if required else {})


def _members(schema: Schema, parts: Schemas) -> tuple[dict[str, Schema], list[str]]:
    """Return the properties of an object, and those that each of its forms has."""
    if "$ref" in schema:
        return _members(parts[schema["$ref"].rpartition("/")[2]], parts)
    forms = schema.get("anyOf") or schema.get("allOf")
    if forms is None:
        return schema.get("properties", {}), list(schema.get("required", ()))
    members = [_members(one, parts) for one in forms]
    properties = {name: one for found, _ in reversed(members) for name, one in found.items()}
    if "allOf" in schema:
        return properties, [name for _, needed in members for name in needed]
    return properties, [name for name in members[0][1] if all(name in n for _, n in members)]


def _shallow(schema: Schema, parts: Schemas) -> Schema:
    """Return the type of a property; one that may be null is one of two, for all dialects."""
    if "$ref" in schema or "allOf" in schema:
        return {"type": "object"}
    if "enum" in schema:
        return {"type": "string"}
    kinds = schema.get("type")
    several = kinds if isinstance(kinds, list) else ()
    either = schema.get("anyOf") or [{"type": one} for one in several]
    if either:
        return {"anyOf": [_shallow(one, parts) for one in either]}
    if kinds == "array":
        inner = _shallow(schema["items"], parts)
        return {"type": "array", "items": inner} if inner else {"type": "array"}
    return {"type": kinds} if kinds else {}
