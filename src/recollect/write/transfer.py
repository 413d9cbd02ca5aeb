"""Memories as JSON lines: out of one store, into another.

In: memories and links that a principal may read, or lines that came from such an export. Out:
lines, or drafts to remember. A line is one object with a `kind`: memory, link or dispute.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from recollect import check
from recollect.errors import InvalidInput
from recollect.index.index import MemoryIndex
from recollect.model import LinkRequest, Memory
from recollect.recall.sight import Sight
from recollect.write.draft import ARGUMENTS

__all__ = [
    "Export",
    "Join",
    "Line",
    "arguments",
    "exported",
    "joined",
    "read",
    "restored",
    "reweighed",
]

KINDS = ("memory", "link", "dispute")
_AT_ONCE = 512
_NOT_EXPORTED = ("position", "decay", "risks", "last_reinforced")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an export, with its number for complaints."""

    number: int
    kind: str
    fields: Mapping[str, Any]

    @property
    def where(self) -> str:
        """Where it stands, for complaints."""
        return f"line {self.number}"


@dataclass(frozen=True, slots=True)
class Export:
    """The lines of an export: memories, and what joins them."""

    memories: tuple[Line, ...]
    joins: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """Two memories that a line joins, by the ids that they have here; a link or a dispute."""

    where: str
    kind: str
    ends: tuple[str, str]
    weight: float
    automatic: bool
    note: str

    def as_request(self) -> LinkRequest:
        """Return what is asked of `link`."""
        return LinkRequest(*self.ends, self.weight, self.automatic)


def exported(look: Callable[[], Sight]) -> Iterator[list[str]]:
    """Yield what may be read, in parts: memories oldest first, then what joins them.

    `look` is asked anew for each part, so that what was forgotten meanwhile is not in it.
    """
    pak_ids = look().oldest_first()
    for start in range(0, len(pak_ids), _AT_ONCE):
        # As it was claimed: whoever takes it in trusts in its own way.
        as_claimed = replace(look(), trusts=None)
        found = as_claimed.memories(pak_ids[start : start + _AT_ONCE])
        yield [_line("memory", _shown(memory)) for memory in found.values()]
    sight = look()
    yield [
        _line("link", {"pak_id": low, "other": high, "weight": weight, "automatic": automatic})
        for low, high, weight, automatic in _links(sight, sight.index)
    ]
    yield [
        _line("dispute", {"pak_id": one.first, "other": one.second, "note": one.note})
        for one in sight.disputes()
    ]


def _shown(memory: Memory) -> dict[str, Any]:
    return {name: v for name, v in asdict(memory).items() if name not in _NOT_EXPORTED}


def _parsed_lines(lines: Iterable[str]) -> Iterator[Line]:
    """Yield the lines of an export; what is not one is refused with its number."""
    for number, text in enumerate(lines, 1):
        if text.strip():
            yield _parsed(number, text)


def arguments(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `remember` in a line of an export."""
    place = _place(fields)
    given = {name: fields[name] for name in ARGUMENTS if fields.get(name) is not None}
    return {**given, **{name: place.get(name) for name in ("scope", "team", "garden")}}


def restored(memory: Memory, fields: Mapping[str, Any], *, faithful: bool) -> Memory:
    """Return an imported memory; a faithful one has its owner, its state and its uses back."""
    if not faithful:
        return memory
    owner = _place(fields).get("owner")
    uses = fields.get("reinforced")
    return replace(
        memory,
        place=replace(memory.place, owner=owner) if isinstance(owner, str) else memory.place,
        reinforced=uses if isinstance(uses, int) and uses >= 0 else 0,
        status="archived" if fields.get("status") == "archived" else "active",
    )


def _place(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    place = fields.get("place")
    if place is not None and not isinstance(place, Mapping):
        raise InvalidInput(
            f"place is an object of fields, not {type(place).__name__}.", hint="leave it out."
        )
    return place or {}


def read(lines: Iterable[str]) -> Export:
    """Return the lines of an export by what they hold."""
    found = list(_parsed_lines(lines))
    return Export(
        tuple(line for line in found if line.kind == "memory"),
        tuple(line for line in found if line.kind != "memory"),
    )


def joined(export: Export, pak_ids: Sequence[str]) -> list[Join]:
    """Return what joins the memories of an export, which are called `pak_ids` here."""
    named = zip(export.memories, pak_ids, strict=True)
    now_called = {str(line.fields.get("pak_id")): pak_id for line, pak_id in named}
    return [_join(line, now_called) for line in export.joins]


def reweighed(joins: Iterable[Join], links: Iterable[LinkRequest]) -> list[Join]:
    """Return joins of which the links, one after the other, have the weights of these."""
    weights = iter(links)
    return [
        replace(join, weight=next(weights).weight) if join.kind == "link" else join
        for join in joins
    ]


def _join(line: Line, now_called: Mapping[str, str]) -> Join:
    """Return what a line joins; it must be right before anything is written."""
    ends = [now_called.get(str(line.fields.get(end))) for end in ("pak_id", "other")]
    first, second = ends
    if first is None or second is None or first == second:
        raise InvalidInput(
            f"line {line.number} joins what is not among the memories.",
            hint="keep the lines of an export together, as they are.",
        )
    weight = check.positive_share(f"line {line.number}: weight", line.fields.get("weight", 1.0))
    note = check.text(f"line {line.number}: note", line.fields.get("note", ""))
    automatic = line.fields.get("automatic") is True
    return Join(line.where, line.kind, (first, second), weight, automatic, note)


def _links(sight: Sight, index: MemoryIndex) -> list[tuple[str, str, float, bool]]:
    selection = sight.select()
    slots = selection.slots
    rows = dict(zip(index.column("row_id")[slots].tolist(), index.pak_ids(slots), strict=True))
    return sorted(
        (*sorted((rows[edge.low], rows[edge.high])), edge.weight, edge.automatic)
        for edge in sight.store.edges.touching(rows)
        if edge.low in rows and edge.high in rows
    )


def _line(kind: str, fields: Mapping[str, Any]) -> str:
    return json.dumps({"kind": kind, **fields}, ensure_ascii=False, sort_keys=True)


def _parsed(number: int, text: object) -> Line:
    fields: object = None
    with suppress(ValueError, RecursionError):
        fields = json.loads(text) if isinstance(text, str | bytes) else None
    if not isinstance(fields, dict) or fields.get("kind") not in KINDS:
        raise InvalidInput(
            f"line {number} is not a line of an export.",
            hint='each line is an object with a "kind": memory, link or dispute.',
        )
    return Line(number, fields.pop("kind"), fields)
