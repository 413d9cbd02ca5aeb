"""JSON with comments, edited in place: what is not touched keeps its bytes.

In: a text, a path, and a value. Out: the text with that value set or taken out. Comments,
trailing commas, indentation and line ends stay as they are. The text is scanned, never written
anew; what is no such JSON is refused with the number of its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from recollect.errors import InvalidInput
from recollect.values import dataclass

__all__ = ["Jsonc", "append", "parse", "remove", "set_value"]

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_INDENT = re.compile(r"\n([ \t]+)\S")
_LINE_END = re.compile(r"\A[ \t]*\r?\n")
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object, or item of a list: where it stands, and what it is."""

    key: str | None
    start: int
    value: Jsonc
    end: int


@dataclass(frozen=True, slots=True)
class Jsonc:
    """A value and where it stands in its text; of objects and lists, their members."""

    start: int
    end: int
    kind: str
    plain: Any = None
    members: tuple[Member, ...] = ()

    def value(self) -> Any:
        """Return the value as plain data."""
        if self.kind == "object":
            return {str(one.key): one.value.value() for one in self.members}
        if self.kind == "list":
            return [one.value.value() for one in self.members]
        return self.plain

    def member(self, key: str) -> Member | None:
        """Return the last member of this name, which is the one that counts."""
        return next((one for one in reversed(self.members) if one.key == key), None)


def parse(text: str) -> Jsonc:
    """Return what a text says; whoever wrote nothing wrote an empty object."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return Jsonc(start, start, "nothing")
    found = _value(text, start, 0)
    rest = _skip(text, found.end)
    if rest != len(text):
        raise _wrong(text, rest)
    return found


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value at a path of keys; what leads there is made."""
    holder, rest = _walk(text, path)
    if holder.kind == "nothing":
        end = _line_end(text)
        made = _dumped(_nested(path, value), "", _unit(text), end)
        said = f"{text.rstrip()}{end}" if text.strip() else ""
        return f"{said}{made}{end}"
    if rest:
        _need(holder, "object", path[: len(path) - len(rest)])
        return _added(text, holder, rest[0], _nested(rest[1:], value))
    if holder.value() == value:
        return text
    new = _dumped(value, _indent_at(text, holder.start), _unit(text), _line_end(text))
    return text[: holder.start] + new + text[holder.end :]


def append(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with one more item in the list at a path, which is made if it is missing."""
    holder, rest = _walk(text, path)
    if rest or holder.kind == "nothing":
        return set_value(text, path, [value])
    _need(holder, "list", path)
    return _added(text, holder, None, value)


def remove(text: str, path: Sequence[str | int]) -> str:
    """Return the text without the value at a path; one that is not there is no matter.

    A number in the path is the place of an item in a list.
    """
    holder = parse(text)
    for key in path[:-1]:
        member = _member(holder, key)
        if member is None:
            return text
        holder = member.value
    member = _member(holder, path[-1])
    return text if member is None else _without(text, holder, member)


def _member(holder: Jsonc, key: str | int) -> Member | None:
    if isinstance(key, str):
        return holder.member(key) if holder.kind == "object" else None
    is_there = holder.kind == "list" and key < len(holder.members)
    return holder.members[key] if is_there else None


def _walk(text: str, path: Sequence[str]) -> tuple[Jsonc, Sequence[str]]:
    """Return the value that a path leads to, or the last there is, and what of the path is left."""
    holder = parse(text)
    for depth, key in enumerate(path):
        member = holder.member(key) if holder.kind == "object" else None
        if member is None:
            return holder, path[depth:]
        holder = member.value
    return holder, ()


def _without(text: str, holder: Jsonc, member: Member) -> str:
    """Cut a member with its comma: the one behind it, else the one before."""
    place = holder.members.index(member)
    after = _skip(text, member.end)
    has_comma = after < len(text) and text[after] == ","
    if len(holder.members) == 1:
        return _emptied(text, holder, member, after + 1 if has_comma else member.end)
    if has_comma:
        begin = _line_start(text, member.start)
        end = _line_rest(text, after + 1)
        if begin < member.start and end > after + 1:
            return text[:begin] + text[end:]
        return text[: member.start] + text[after + 1 :].lstrip(" \t")
    before = holder.members[place - 1]
    return text[: before.end] + text[member.end :]


def _emptied(text: str, holder: Jsonc, member: Member, behind: int) -> str:
    """Cut the only member: all that is between the brackets, but for comments."""
    begin, end = holder.start + 1, holder.end - 1
    before, rest = text[begin : member.start].rstrip(" \t"), text[behind:end]
    if not before.strip() and not rest.strip():
        return text[:begin] + text[end:]
    if before.endswith("\n"):
        rest = _LINE_END.sub("", rest, count=1)
    return text[:begin] + before + rest + text[end:]


def _line_start(text: str, at: int) -> int:
    """Return where a line begins if nothing but spaces stands before a place, else the place."""
    begin = at
    while begin > 0 and text[begin - 1] in " \t":
        begin -= 1
    return begin if begin == 0 or text[begin - 1] == "\n" else at


def _line_rest(text: str, at: int) -> int:
    """Return where the next line begins if nothing but spaces stands between, else the place."""
    end = at
    while end < len(text) and text[end] in " \t\r":
        end += 1
    return end + 1 if end < len(text) and text[end] == "\n" else at


def _added(text: str, holder: Jsonc, key: str | None, value: Any) -> str:
    """Return the text with one more member at the end of an object or a list."""
    end, unit = _line_end(text), _unit(text)
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    outer = _indent_at(text, holder.start)
    if not holder.members:
        inner = outer + unit
        inside = text[holder.start + 1 : holder.end - 1]
        kept = inside.rstrip() if inside.strip() else ""
        made = f"{kept}{end}{inner}{name}{_dumped(value, inner, unit, end)}{end}{outer}"
        return text[: holder.start + 1] + made + text[holder.end - 1 :]
    last = holder.members[-1]
    is_spread = "\n" in text[holder.start : holder.members[0].start]
    inner = _indent_at(text, holder.members[0].start) if is_spread else ""
    made = name + _dumped(value, inner, unit if is_spread else "", end)
    gap = f"{end}{inner}" if is_spread else " "
    after = _skip(text, last.end)
    if text[after] == ",":
        return f"{text[: after + 1]}{gap}{made},{text[after + 1 :]}"
    return f"{text[: last.end]},{gap}{made}{text[last.end :]}"


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _dumped(value: Any, indent: str, unit: str, end: str) -> str:
    if not unit:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return f"{end}{indent}".join(lines)


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, at: int) -> str:
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))].lstrip("\ufeff")


def _need(found: Jsonc, kind: str, path: Sequence[str]) -> None:
    if found.kind != kind:
        where = ".".join(path) or "the file"
        raise InvalidInput(
            f"{where} holds {_described(found)} where an {kind} is expected.".replace(
                "an l", "a l"
            ),
            hint="put it right by hand; nothing was changed.",
        )


def _described(found: Jsonc) -> str:
    return f"a {found.kind}" if found.kind in ("list", "object") else json.dumps(found.plain)[:60]


def _value(text: str, at: int, depth: int) -> Jsonc:
    if depth > _DEEPEST:
        raise _wrong(text, at)
    sign = text[at : at + 1]
    if sign == "{":
        return _members(text, at, depth, is_object=True)
    if sign == "[":
        return _members(text, at, depth, is_object=False)
    found = _STRING.match(text, at) if sign == '"' else _PLAIN.match(text, at)
    if found is None:
        raise _wrong(text, at)
    try:
        return Jsonc(at, found.end(), "plain", json.loads(found[0]))
    except ValueError:
        raise _wrong(text, at) from None


def _members(text: str, start: int, depth: int, *, is_object: bool) -> Jsonc:
    close, members = ("}" if is_object else "]"), []
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        begin, key = at, None
        if is_object:
            key, at = _key(text, at)
        value = _value(text, at, depth + 1)
        members.append(Member(key, begin, value, value.end))
        at = _skip(text, value.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise _wrong(text, at)
    return Jsonc(start, at + 1, "object" if is_object else "list", None, tuple(members))


def _key(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    after = _skip(text, found.end()) if found is not None else at
    if found is None or text[after : after + 1] != ":":
        raise _wrong(text, at)
    return json.loads(found[0]), _skip(text, after + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _wrong(text: str, at: int) -> InvalidInput:
    line = text.count("\n", 0, at) + 1
    return InvalidInput(
        f"it is no JSON: line {line} cannot be read.",
        hint="put it right by hand; nothing was changed.",
    )
