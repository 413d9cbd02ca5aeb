r"""Templates of one's own: a format string, checked before it is kept.

In: a text such as "## Notes\n- {speaker} on {day}: {content}". Out: how an item begins, and a
function that fills in the rest. The last line is one item, the lines before it are the heading. A
field is a plain name out of a list; nothing can be reached through it, and whatever is filled in
stays inside its item as with the templates that are always there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from string import Formatter
from types import MappingProxyType
from typing import NamedTuple

from recollect import check
from recollect.dates import NO_DAY, day_number
from recollect.errors import InvalidInput
from recollect.model import ScoredBlock
from recollect.values import dataclass

__all__ = ["FIELDS", "OwnTemplate", "is_own", "one_line", "origin", "own_template"]

_CONTENT, _NUMBER = "content", "number"
_DAY_CHARS = len("2023-05-08")


def one_line(text: str | None) -> str:
    """Return a text without anything that could end its line."""
    return " ".join((text or "").split())


def _day(block: ScoredBlock) -> str:
    """Return the day of a memory, or what was written where nobody could read it."""
    occurred_at = block.memory.occurred_at
    if day_number(occurred_at) == NO_DAY:
        return one_line(occurred_at)
    return (occurred_at or "")[:_DAY_CHARS]


def origin(block: ScoredBlock) -> str:
    """Return who said it and on which day, as far as that is known, in brackets."""
    if not block.memory.speaker and not block.memory.occurred_at:
        return ""
    parts = (one_line(block.memory.speaker), _day(block))
    said = ", ".join(part for part in parts if part)
    return f"({said}) " if said else ""


def _of_memory(name: str) -> Callable[[ScoredBlock], str]:
    return lambda block: one_line(getattr(block.memory, name))


_PLAIN = (
    *("pak_id", "title", "speaker", "occurred_at", "thread", "project", "topic", "category"),
    *("source", "entity", "relation", "value"),
)
FIELDS: Mapping[str, Callable[[ScoredBlock], str]] = MappingProxyType(
    {
        _CONTENT: lambda block: block.content.strip(),
        "origin": origin,
        "day": _day,
        "tags": lambda block: one_line(", ".join(block.memory.tags)),
        **{name: _of_memory(name) for name in _PLAIN},
    }
)
_HINT = (
    'write "## Notes\\n- {speaker} on {day}: {content}"; fields are '
    f"{', '.join((_NUMBER, *FIELDS))}."
)


@dataclass(frozen=True, slots=True)
class OwnTemplate:
    """A heading, how the item of a number begins, and the text of a block."""

    heading: str
    marker: Callable[[int], str]
    text: Callable[[ScoredBlock], str]


def is_own(template: object) -> bool:
    """Return whether this is a format string, and not the name of a template."""
    return isinstance(template, str) and "{" in template


@lru_cache(maxsize=256)
def own_template(template: str) -> OwnTemplate:
    """Return what a format string says, or refuse it with what is wrong."""
    check.length("template", check.text("template", template))
    *heading, item = (_parts(line) for line in template.splitlines())
    if any(part.is_field for line in heading for part in line):
        raise _wrong("the lines above the last are a heading, and take no field")
    names = [part.text for part in item if part.is_field]
    if names.count(_CONTENT) != 1:
        raise _wrong("its last line shows {content} once")
    first = next(n for n, part in enumerate(item) if part.is_field and part.text != _NUMBER)
    marker, rest = item[:first], item[first:]
    if any(part.is_field and part.text == _NUMBER for part in rest):
        raise _wrong("{number} stands before all other fields")
    if not "".join(part.text for part in marker if not part.is_field).strip():
        raise _wrong("an item begins with a sign of its own, such as '- '")
    return OwnTemplate(
        "\n".join("".join(part.text for part in line) for line in heading),
        lambda number: "".join(str(number) if one.is_field else one.text for one in marker),
        lambda block: "".join(FIELDS[o.text](block) if o.is_field else o.text for o in rest),
    )


class _Part(NamedTuple):
    """A field by its name, or what stands between fields as it is."""

    text: str
    is_field: bool


def _parts(line: str) -> list[_Part]:
    try:
        parsed = list(Formatter().parse(line))
    except ValueError as error:
        raise _wrong(f"{error}; a brace that is meant is written twice") from None
    parts: list[_Part] = []
    for literal, name, spec, conversion in parsed:
        parts.append(_Part(literal, is_field=False))
        if name is None:
            continue
        if name not in FIELDS and name != _NUMBER:
            raise _wrong(f"there is no field {check.shown(name)}")
        if spec or conversion:
            raise _wrong(f"{{{name}}} is filled in as it is, without : and !")
        parts.append(_Part(name, is_field=True))
    return parts


def _wrong(problem: str) -> InvalidInput:
    return InvalidInput(f"this is no template: {problem}.", hint=_HINT)
