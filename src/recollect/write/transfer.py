"""Memories as JSON lines: out of one store, into another.

In: memories and links that a principal may read, or lines that came from such an export. Out:
lines, or drafts to remember. A line is one object with a `kind`: memory, link or dispute; those of
a whole store have more kinds (`whole_export`, `whole_import`). The format is in ADR-0027.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from recollect import check
from recollect.errors import InvalidInput
from recollect.model import LinkRequest, Principal
from recollect.model.memory import without_silent
from recollect.ports.store import RECORD_KINDS
from recollect.spool import Spool
from recollect.values import dataclass
from recollect.write import draft
from recollect.write.draft import ARGUMENTS, TURN

if TYPE_CHECKING:
    from recollect.index.index import MemoryIndex
    from recollect.model import Memory
    from recollect.model.filters import Filter
    from recollect.recall.sight import Sight

__all__ = [
    "COUNT_MAX",
    "EVERYTHING",
    "VERSION",
    "Export",
    "Join",
    "Line",
    "Part",
    "Tally",
    "arguments",
    "as_line",
    "body_of",
    "exported",
    "joined",
    "last_use",
    "left_out",
    "read",
    "read_at",
    "restored",
    "reweighed",
]

Value = TypeVar("Value")

VERSION = 2
EVERYTHING = "everything"
# The largest whole number that is exact everywhere; a store can still count on from it.
COUNT_MAX = 2**53
_JOINS = ("link", "dispute")
_SUCCESSOR = "successor"
# What says something about the export, and nothing to keep.
_REMARKS = ("export", "end", "left_out")
_COMMON = ("memory", *_JOINS, _SUCCESSOR, "left_out")
_KINDS = frozenset({"store", *RECORD_KINDS, *_REMARKS})
_AT_ONCE = 512
_NOT_EXPORTED = ("position", "decay", "risks", "superseded_by")
_AS_IT_IS = "keep the lines of an export together, as they are."


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
    """The lines of an export: memories, what joins them, and what else a whole store holds.

    They may be more than memory holds, and are walked over as often as need be.
    """

    memories: Spool[Line]
    joins: Spool[Line]
    others: Spool[Line]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Join:
    """Two memories that a line joins, by the ids that they have here.

    It is a link, a dispute, or a succession: then the second took the place of the first.
    """

    where: str
    kind: str
    ends: tuple[str, str]
    weight: float
    automatic: bool
    note: str
    is_open: bool = True
    created_at: str | None = None

    def as_request(self) -> LinkRequest:
        """Return what is asked of `link`."""
        return LinkRequest(*self.ends, self.weight, self.automatic)


class Part(NamedTuple):
    """Some lines of an export, all of one kind; of memories, how many are of each tenant."""

    kind: str
    lines: list[str]
    tenants: Mapping[str, int] = MappingProxyType({})


def exported(look: Callable[[], Sight], tree: Filter | None = None) -> Iterator[Part]:
    """Yield what may be read, in parts: memories as they were stored, then what joins them.

    With a filter, those that fulfil it. `look` is asked anew for each part, so that what was
    forgotten meanwhile is not in it.
    """
    pak_ids = look().as_stored(tree)
    told: set[str] = set()
    successors: dict[str, str] = {}
    for start in range(0, len(pak_ids), _AT_ONCE):
        # As it was claimed: whoever takes it in trusts in its own way.
        as_claimed = replace(look(), trusts=None)
        found = as_claimed.memories(pak_ids[start : start + _AT_ONCE])
        told.update(found)
        named = {one.pak_id: one.superseded_by for one in found.values()}
        successors |= {pak_id: one for pak_id, one in named.items() if one is not None}
        yield Part(
            "memory",
            [as_line("memory", _shown(memory)) for memory in found.values()],
            Counter(memory.place.tenant for memory in found.values()),
        )
    sight = look()
    # What was stored since the first part joins nothing: its own line is not there.
    links = [
        as_line("link", {"pak_id": low, "other": high, "weight": weight, "automatic": automatic})
        for low, high, weight, automatic in _links(sight, sight.index)
        if low in told and high in told
    ]
    yield Part("link", links)
    disputes = [
        as_line("dispute", {"pak_id": one.first, "other": one.second, "note": one.note})
        for one in look().disputes()
        if one.first in told and one.second in told
    ]
    yield Part("dispute", disputes)
    succession = [
        as_line(_SUCCESSOR, {"pak_id": pak_id, "successor": successor})
        for pak_id, successor in sorted(successors.items())
        if successor in told
    ]
    yield Part(_SUCCESSOR, succession)


def _shown(memory: Memory) -> dict[str, Any]:
    fields = {name: v for name, v in asdict(memory).items() if name not in _NOT_EXPORTED}
    return without_silent(fields)


def _parsed_lines(lines: object) -> Iterator[Line]:
    """Yield the lines of an export; what is not one is refused with its number."""
    if isinstance(lines, str | bytes | Mapping) or not isinstance(lines, Iterable):
        raise InvalidInput(
            f"an export comes as its lines, not as {check.shown(lines)}.",
            hint="pass a list of lines, or an open file.",
        )
    for number, text in enumerate(lines, 1):
        if not isinstance(text, str | bytes) or text.strip():
            yield _parsed(number, text)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many records of each kind, and how many memories of each tenant."""

    kinds: Mapping[str, int]
    tenants: Mapping[str, int]


def left_out(there: Tally, told: Tally) -> list[str]:
    """Return the line that says how much of a store an export does not hold; none if it does.

    Who is alike is found anew by whoever takes it in.
    """
    counts = _missing(there.kinds, told.kinds)
    counts.pop("likeness", None)
    tenants = _missing(there.tenants, told.tenants)
    return [as_line("left_out", {"counts": counts, "tenants": tenants})] if counts else []


def _missing(there: Mapping[str, int], told: Mapping[str, int]) -> dict[str, int]:
    missing = {name: there[name] - told.get(name, 0) for name in there}
    return {name: count for name, count in missing.items() if count > 0}


def with_turns(export: Export) -> Iterator[Line]:
    """Yield the memories of an export, equal turns with their numbers."""
    numbered = draft.with_turns(line.fields for line in export.memories)
    for line, fields in zip(export.memories, numbered, strict=True):
        yield replace(line, fields=fields)


def arguments(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `remember` in a line of an export."""
    place = _place(fields)
    given = {name: fields[name] for name in (*ARGUMENTS, TURN) if fields.get(name) is not None}
    return {**given, **{name: place.get(name) for name in ("scope", "team", "garden")}}


def restored(memory: Memory, fields: Mapping[str, Any], *, last_use: float) -> Memory:
    """Return an imported memory with its owner, its times, its state and its uses back.

    `last_use` is the active hour at which any memory of the export was last used. Hours of another
    store are not ours: how long before that this one was, stands in `last_reinforced`.
    """
    owner = _place(fields).get("owner")
    place = memory.place
    if owner is not None:
        place = replace(place, owner=Principal(place.tenant, owner, exact=True).id)
    uses, used_at = fields.get("reinforced", 0), fields.get("last_reinforced", last_use)
    is_archived = memory.status == "active" and fields.get("status") == "archived"
    return replace(
        memory,
        place=place,
        created_at=_past(fields, "created_at", memory.created_at),
        updated_at=_past(fields, "updated_at", memory.updated_at),
        reinforced=check.whole("reinforced", uses, least=0, most=COUNT_MAX),
        last_reinforced=min(0.0, check.number("last_reinforced", used_at) - last_use),
        status="archived" if is_archived else memory.status,
    )


def last_use(export: Export) -> float:
    """Return the latest active hour at which a memory of an export was used."""
    hours = (line.fields.get("last_reinforced") for line in export.memories)
    return max((one for one in hours if check.is_number(one) and isfinite(one)), default=0.0)


def _past(fields: Mapping[str, Any], name: str, now: str) -> str:
    """Return a time of a line, which is not to come; without one it is now."""
    given = fields.get(name)
    return now if given is None else min(now, check.time_in_utc(name, given))


def _place(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    place = fields.get("place")
    if place is not None and not isinstance(place, Mapping):
        raise InvalidInput(
            f"place is an object of fields, not {type(place).__name__}.", hint="leave it out."
        )
    return place or {}


def read(lines: Iterable[str]) -> Export:
    """Return the lines of an export by what they hold."""
    memories, joins, others = Spool[Line](), Spool[Line](), Spool[Line]()
    ends = _Ends()
    for line in _parsed_lines(lines):
        ends.see(line)
        if line.kind == "memory":
            memories.append(line)
        elif line.kind in (_JOINS if ends.begins_whole else (*_JOINS, _SUCCESSOR)):
            joins.append(line)
        elif line.kind not in _REMARKS:
            others.append(line)
    return Export(memories, joins, others, ends.are_of_a_whole_store())


def body_of(export: Export) -> Iterator[str]:
    """Yield all that an export says as the text of JSON: by that two are told apart."""
    for before, part in (("[", export.memories), (", ", export.joins), (", ", export.others)):
        yield f"{before}["
        for number, line in enumerate(part):
            said = json.dumps([line.kind, line.fields], sort_keys=True)
            yield said if number == 0 else f", {said}"
        yield "]"
    yield "]"


class _Ends:
    """What an export begins and ends with, and what is not at its place in it."""

    def __init__(self) -> None:
        self._count = 0
        self._first: Line | None = None
        self._last: Line | None = None
        self._another: Line | None = None
        self._uncommon: Line | None = None

    @property
    def begins_whole(self) -> bool:
        """Whether it begins as an export of a whole store does."""
        return self._first is not None and self._first.kind == "export"

    def see(self, line: Line) -> None:
        """Look at the next line."""
        if self._first is None:
            self._first = line
        elif line.kind == "export" and self._another is None:
            self._another = line
        if self._uncommon is None and line.kind not in _COMMON:
            self._uncommon = line
        self._last = line
        self._count += 1

    def are_of_a_whole_store(self) -> bool:
        """Return whether the lines are an export of a whole store, and all of it."""
        if self._another is not None:
            raise InvalidInput(
                f"{self._another.where} begins another export.", hint="import one at a time."
            )
        if self._first is None or self._last is None or not self.begins_whole:
            self._need_common_kinds()
            return False
        _need_readable(self._first)
        if self._last.kind != "end" or self._last.fields.get("lines") != self._count - 1:
            raise InvalidInput(
                f"the export is cut off: {self._last.where} is not the end that it should have.",
                hint="export again; a part of a whole store is not imported.",
            )
        return True

    def _need_common_kinds(self) -> None:
        if self._uncommon is not None:
            raise InvalidInput(
                f"{self._uncommon.where} is of an export of a whole store, which begins otherwise.",
                hint=_AS_IT_IS,
            )


def _need_readable(first: Line) -> None:
    version = first.fields.get("version")
    is_known = isinstance(version, int) and version <= VERSION
    if not is_known or first.fields.get("holds") != EVERYTHING:
        raise InvalidInput(
            f"{first.where} says that this is an export of version {check.shown(version)};"
            f" this release reads up to {VERSION}.",
            hint="import it with the release that wrote it, or a newer one.",
        )


def read_at(line: Line, read: Callable[[Mapping[str, Any]], Value]) -> Value:
    """Return what is read off a line; what is wrong with it is told with its number."""
    try:
        return read(line.fields)
    except InvalidInput as error:
        raise InvalidInput(f"{line.where}: {error.message}", hint=error.hint) from error


def joined(export: Export, pak_ids: Iterable[str]) -> Iterator[Join]:
    """Yield what joins the memories of an export, which are called `pak_ids` here."""
    named = zip(export.memories, pak_ids, strict=True)
    now_called = {str(line.fields.get("pak_id")): pak_id for line, pak_id in named}
    # A whole store comes back as it was, by whoever opened it.
    return (_join(line, now_called, limited=not export.is_whole) for line in export.joins)


def renamed(joins: Iterable[Join], names: Mapping[str, str]) -> Iterator[Join]:
    """Yield joins of memories that turned out to be there already, by the names they have."""
    return (replace(join, ends=(names[join.ends[0]], names[join.ends[1]])) for join in joins)


def reweighed(joins: Iterable[Join], links: Iterable[LinkRequest]) -> Iterator[Join]:
    """Yield joins of which the links, one after the other, have the weights of these."""
    weights = iter(links)
    for join in joins:
        yield replace(join, weight=next(weights).weight) if join.kind == "link" else join


def _join(line: Line, now_called: Mapping[str, str], *, limited: bool) -> Join:
    """Return what a line joins; it must be right before anything is written."""
    names = ("pak_id", _SUCCESSOR if line.kind == _SUCCESSOR else "other")
    ends = [now_called.get(str(line.fields.get(end))) for end in names]
    first, second = ends
    if first is None or second is None or first == second:
        raise InvalidInput(
            f"line {line.number} joins what is not among the memories.", hint=_AS_IT_IS
        )
    ends_here = (first, second)
    return read_at(
        line,
        lambda fields: Join(
            where=line.where,
            kind=line.kind,
            ends=ends_here,
            weight=check.positive_share("weight", fields.get("weight", 1.0)),
            automatic=fields.get("automatic") is True,
            note=check.text("note", fields.get("note", ""), limited=limited),
            is_open=fields.get("is_open") is not False,
            created_at=None
            if fields.get("created_at") is None
            else check.time("created_at", fields["created_at"]),
        ),
    )


def _links(sight: Sight, index: MemoryIndex) -> list[tuple[str, str, float, bool]]:
    selection = sight.select()
    slots = selection.slots
    rows = dict(zip(index.column("row_id")[slots].tolist(), index.pak_ids(slots), strict=True))
    return sorted(
        (*sorted((rows[edge.low], rows[edge.high])), sight.weight(edge), edge.automatic)
        for edge in sight.store.edges.touching(rows)
        if edge.low in rows and edge.high in rows
    )


def as_line(kind: str, fields: Mapping[str, Any]) -> str:
    """Return a line of an export, in the one spelling that it has."""
    return json.dumps({"kind": kind, **fields}, ensure_ascii=False, sort_keys=True)


def _parsed(number: int, text: object) -> Line:
    fields: object = None
    with suppress(ValueError, RecursionError):
        fields = json.loads(text) if isinstance(text, str | bytes) else None
    kind = fields.get("kind") if isinstance(fields, dict) else None
    if not isinstance(fields, dict) or not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidInput(
            f"line {number} is not a line of an export.",
            hint='each line is an object with a "kind": memory, link or dispute.',
        )
    del fields["kind"]
    return Line(number, kind, fields)
