"""What a field of a request may be, as data: its name, kind, limits and a sentence of help.

In: a row of the table of verbs. Out: a JSON Schema for whoever documents it, and the value that a
text stands for where a door has nothing but texts, such as the query of a URL. What is not of its
kind is refused here; whether a value of its kind is good, the engine says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from recollect.check import shown
from recollect.errors import InvalidInput
from recollect.limits import COUNTS, most_characters
from recollect.values import dataclass

__all__ = ["REQUIRED", "Field", "Kind", "from_texts", "object_schema"]

Kind = Literal[
    "text",  # any text
    "time",  # a text with a date or a time in it
    "moment",  # a date or a time: a text, or seconds since 1970
    "seconds",  # a length of time
    "number",  # with or without a fraction
    "whole",  # a whole number
    "flag",  # true or false
    "texts",  # a list of texts
    "text_or_texts",  # one, or a list of them
    "object",  # values by name
    "numbers",  # numbers by name
    "items",  # a list of texts or objects
    "facts",  # a list of objects
    "lines",  # a stream: a JSON object a line
]


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = _Required()

# What a list may be long at most, where nothing else is said.
_MOST_ITEMS = 10_000
_TAGS = COUNTS["tags of a memory"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a request. Without a `default` it must be there; None is nothing said."""

    name: str
    kind: Kind
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    example: Any = None

    @property
    def is_required(self) -> bool:
        """Whether a request without it is none."""
        return self.default is REQUIRED

    @property
    def takes_null(self) -> bool:
        """Whether null may stand for nothing."""
        return self.default is None

    def check(self, value: object) -> None:
        """Refuse what is not of its kind; what such a value may be, the engine says."""
        if value is None and self.takes_null:
            return
        if not isinstance(value, _TYPES.get(self.kind, object)):
            raise InvalidInput(
                f"{self.name} must be {_NAMES[self.kind]}, not {shown(value)}.", hint=self.help
            )
        if self.kind in ("texts", "text_or_texts") and isinstance(value, list):
            for one in value:
                if not isinstance(one, str):
                    raise InvalidInput(
                        f"{self.name} holds {shown(one)}, which is no text.", hint=self.help
                    )

    def schema(self) -> dict[str, Any]:
        """Return what it may be, as JSON Schema."""
        made = self._plain_schema()
        if self.takes_null:
            made = _or_null(made)
        described = {**made, "description": self.help}
        if self.default not in (None, REQUIRED):
            described["default"] = self.default
        if self.example is not None:
            described["examples"] = [self.example]
        return described

    def _plain_schema(self) -> dict[str, Any]:
        text: dict[str, Any] = {"type": "string", "maxLength": most_characters(self.name)}
        many = {"type": "array", "items": text, "maxItems": int(self.most or _TAGS)}
        match self.kind:
            case "text" | "time":
                return text | ({"enum": list(self.choices)} if self.choices else {})
            case "moment":
                return {"anyOf": [text, {"type": "number"}]}
            case "seconds" | "number":
                return {"type": "number", **self._bounds()}
            case "whole":
                return {"type": "integer", **self._bounds()}
            case "flag":
                return {"type": "boolean"}
            case "texts":
                return many
            case "text_or_texts":
                return {"anyOf": [text, many]}
            case "object":
                return {"type": "object"}
            case "numbers":
                return {"type": "object", "additionalProperties": {"type": "number"}}
            case "items":
                either = {"anyOf": [{"type": "string"}, {"type": "object"}]}
                return {"type": "array", "items": either, "maxItems": int(self.most or _MOST_ITEMS)}
            case "facts":
                return {"type": "array", "items": {"type": "object"}, "maxItems": _MOST_ITEMS}
            case "lines":
                return {"type": "string"}

    def _bounds(self) -> dict[str, float]:
        given = {"minimum": self.least, "maximum": self.most}
        return {name: limit for name, limit in given.items() if limit is not None}


def object_schema(fields: Sequence[Field]) -> dict[str, Any]:
    """Return what a request with these fields is, as JSON Schema; it has no others."""
    made: dict[str, Any] = {
        "type": "object",
        "properties": {one.name: one.schema() for one in fields},
        "additionalProperties": False,
    }
    required = [one.name for one in fields if one.is_required]
    return made | ({"required": required} if required else {})


def from_texts(fields: Sequence[Field], given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the values that texts stand for, by the kinds of their fields.

    What has no such field is passed on as it is, for `checked` to refuse.
    """
    known = {one.name: one for one in fields}
    return {
        name: _from_texts(known[name], texts) if name in known else list(texts)
        for name, texts in given.items()
    }


def _from_texts(field: Field, texts: Sequence[str]) -> Any:
    if field.kind in ("texts", "text_or_texts"):
        return list(texts)
    if len(texts) != 1:
        raise InvalidInput(f"{field.name} is given more than once.", hint="give it once.")
    return _from_text(field, texts[0])


def _from_text(field: Field, text: str) -> Any:
    readers = {"number": _number, "seconds": _number, "whole": _whole, "flag": _flag}
    value: Any = text
    if field.kind in readers:
        value = readers[field.kind](text)
    elif field.kind in ("object", "numbers"):
        value = _json_object(text)
    if value is None:
        raise InvalidInput(
            f"{field.name} cannot be read: {text!r:.60}.", hint=f"it is {_NAMES[field.kind]}."
        )
    return value


# What a value must be, as far as its kind goes; numbers are checked where their bounds are known.
_TYPES: Mapping[str, Any] = {
    "text": str,
    "time": str,
    "moment": str | int | float,
    "flag": bool,
    "texts": list | tuple,
    "text_or_texts": str | list | tuple,
    "object": Mapping,
    "numbers": Mapping,
    "items": list | tuple,
    "facts": list | tuple,
}
_NAMES = {
    "text": "a text",
    "time": "a time, as a text",
    "moment": "a time, as a text or in seconds since 1970",
    "texts": "a list of texts",
    "text_or_texts": "a text or a list of texts",
    "items": "a list",
    "facts": "a list",
    "number": "a number",
    "seconds": "a number of seconds",
    "whole": "a whole number",
    "flag": "true or false",
    "object": "a JSON object",
    "numbers": "a JSON object of numbers",
}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None


def _flag(text: str) -> bool | None:
    return {"true": True, "false": False, "1": True, "0": False}.get(text)


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    made = {**schema, "type": [schema["type"], "null"]}
    if "enum" in made:
        made["enum"] = [*made["enum"], None]
    return made
