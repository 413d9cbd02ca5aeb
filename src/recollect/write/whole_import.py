"""From the lines of a whole store to values that can be written, each of them checked.

In: an export, parsed. Out: memories, gardens, trust and all else as they were, or `InvalidInput`
that names the line. What is derived from a text is derived anew. Nothing is written here.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args

from recollect import check
from recollect.errors import InvalidInput
from recollect.hours import LAST_SECOND
from recollect.model import (
    Garden,
    Memory,
    Place,
    Principal,
    Status,
    known_scope,
    memory_of,
    words_of,
)
from recollect.model.pak import (
    PakAnchorEntry,
    PakRelationEntry,
    PakRow,
    ReasonCodeEntry,
    RiskFlagEntry,
)
from recollect.model.plain import metadata_of
from recollect.paks import validate
from recollect.policy.gardens import checked_role, checked_slug
from recollect.policy.sanitizer import risks
from recollect.ports.store import ClockState, KeptVersion
from recollect.ports.uses import MOST_LINK_USES
from recollect.recall.score import decay_for
from recollect.spool import Spool
from recollect.values import dataclass
from recollect.write.draft import content_hash, time_to_live
from recollect.write.transfer import COUNT_MAX, read_at
from recollect.write.whole_export import NAMING_FIELDS

if TYPE_CHECKING:
    from recollect.model import (
        Role,
    )
    from recollect.ports.store import Who
    from recollect.write.transfer import Export, Line

__all__ = [
    "Alike",
    "Hanging",
    "MemberRow",
    "RestoredMemory",
    "TrustRow",
    "UseRow",
    "WholeStore",
    "frame_owner",
    "memory_from",
    "read_whole",
]

_AS_IT_IS = "keep the lines of an export as they are."
_STATES = get_args(Status)

Value = TypeVar("Value")
Fields = Mapping[str, Any]


class MemberRow(NamedTuple):
    """Who is in which garden, as what."""

    tenant: str
    garden: str
    principal: str
    role: Role


class TrustRow(NamedTuple):
    """How far a tenant trusts a source."""

    tenant: str
    source: str
    trust: float


class Hanging(NamedTuple):
    """What hangs on an entry of the catalogue, and since when; an anchor has no time."""

    pak_id: str
    entry: ReasonCodeEntry | RiskFlagEntry | PakAnchorEntry | PakRelationEntry
    created_at: str | None


class Alike(NamedTuple):
    """One memory holds another for one of its most alike."""

    pak_id: str
    other: str
    closeness: float


class UseRow(NamedTuple):
    """A memory that a principal has used, or two that it was given together."""

    who: Who
    ends: tuple[str, ...]
    uses: int
    last: float = 0.0


@dataclass(frozen=True, slots=True)
class RestoredMemory:
    """A memory as it was, its entry of the catalogue, and whether it waited for a vector."""

    memory: Memory
    pak: PakRow
    pending: bool


@dataclass(frozen=True, slots=True)
class WholeStore:
    """What an export holds beside memories, links and disputes.

    `successors` says who replaced whom; what a frame may be is checked where frames are known, and
    whether a link was there to be used, by where that is said, where links are. `hanging` is by
    kind. There may be more of each than memory holds.
    """

    clock: ClockState
    gardens: Spool[Garden]
    members: Spool[MemberRow]
    trusts: Spool[TrustRow]
    frames: Spool[Line]
    paks: Spool[PakRow]
    successors: Mapping[str, str]
    hanging: Sequence[Spool[Hanging]]
    alike: Spool[Sequence[Alike]]
    uses: Spool[UseRow]
    link_uses: Spool[tuple[str, UseRow]]
    versions: Spool[tuple[str, Sequence[KeptVersion]]]


def read_whole(export: Export) -> WholeStore:
    """Return what an export of a whole store holds beside memories and joins."""
    lines = _by_kind(export.others)

    def each(kind: str, read: Callable[[Fields], Value]) -> Spool[Value]:
        return Spool(read_at(line, read) for line in lines[kind])

    known = _known_ids(export)
    gardens = each("garden", _garden)
    _need_known(export, known, {(one.tenant, one.slug) for one in gardens})
    clocks = [read_at(line, _clock) for line in lines["store"]]
    return WholeStore(
        clock=clocks[0] if clocks else ClockState(0.0, None),
        gardens=gardens,
        members=each("member", _member),
        trusts=each("trust", _trust),
        frames=lines["frame"],
        paks=each("pak", _pak),
        successors=dict(each("successor", lambda fields: (fields["pak_id"], fields["successor"]))),
        hanging=[each(kind, read) for kind, read in _HANGING.items()],
        alike=each("likeness", _alike),
        uses=each("use", _use),
        link_uses=Spool((line.where, read_at(line, _link_use)) for line in lines["link_use"]),
        versions=Spool(_by_memory(each("version", functools.partial(_version, known=known)))),
    )


def _by_kind(lines: Iterable[Line]) -> Mapping[str, Spool[Line]]:
    found: defaultdict[str, Spool[Line]] = defaultdict(Spool)
    for line in lines:
        found[line.kind].append(line)
    return found


def memory_from(fields: Fields) -> RestoredMemory:
    """Return the memory that a line describes."""
    listed = validate.listed("tags", fields.get("tags", ()))
    tags = tuple(check.filled_text("tag", tag, nul=True, limited=False) for tag in listed)
    category = _filled(fields, "category")
    memory = Memory(
        pak_id=_filled(fields, "pak_id"),
        content=_filled(fields, "content"),
        title=_filled(fields, "title"),
        summary=check.text("summary", fields.get("summary", ""), nul=True, limited=False),
        tags=tags,
        category=category,
        project=_optional(fields, "project"),
        topic=_optional(fields, "topic"),
        pak_type=_filled(fields, "pak_type"),
        source=_optional(fields, "source"),
        authority=_filled(fields, "authority"),
        entity=_optional(fields, "entity"),
        relation=_optional(fields, "relation"),
        value=_optional(fields, "value"),
        confidence=check.share("confidence", fields.get("confidence")),
        thread=_optional(fields, "thread"),
        position=_position(fields.get("position")),
        speaker=_optional(fields, "speaker"),
        occurred_at=_optional(fields, "occurred_at"),
        valid_from=None if fields.get("valid_from") is None else _time(fields, "valid_from"),
        valid_until=None if fields.get("valid_until") is None else _time(fields, "valid_until"),
        ttl=None if fields.get("ttl") is None else time_to_live(fields["ttl"]),
        metadata=metadata_of(fields.get("metadata")),
        created_at=_time(fields, "created_at"),
        updated_at=_time(fields, "updated_at"),
        status=_one_of("status", fields.get("status"), _STATES),
        decay=decay_for(tags, category),
        reinforced=check.whole("reinforced", fields.get("reinforced"), least=0, most=COUNT_MAX),
        last_reinforced=check.number("last_reinforced", fields.get("last_reinforced")),
        place=_place(fields.get("place")),
    )
    found = risks(*dict.fromkeys(words_of(memory)))
    pending = _one_of("pending", fields.get("pending"), (True, False))
    return RestoredMemory(replace(memory, risks=found), _entry(memory, fields), pending)


def frame_owner(fields: Fields) -> tuple[str, str | None]:
    """Return whose a frame is, and from which it was made."""
    return _principal(fields).tenant, _optional(fields, "extends")


def _entry(memory: Memory, fields: Fields) -> PakRow:
    """Return a memory's entry in the catalogue, which may have its own word for the source."""
    return PakRow(
        pak_id=memory.pak_id,
        pak_type=memory.pak_type,
        project=memory.project,
        topic=memory.topic,
        source_type=_filled({"source_type": memory.source or "user", **fields}, "source_type"),
        authority=memory.authority,
        title=memory.title,
        summary=memory.summary,
        content_hash=_filled(
            {"content_hash": content_hash(memory.content), **fields}, "content_hash"
        ),
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        superseded_by=None,
    )


def _pak(fields: Fields) -> PakRow:
    names = (*PakRow._fields[:9],)
    given = {name: fields.get(name) for name in names}
    row = validate.pak_row(given, _time(fields, "created_at"), limited=False)
    return row._replace(updated_at=_time(fields, "updated_at"))


def _garden(fields: Fields) -> Garden:
    return Garden(
        tenant=_principal(fields).tenant,
        slug=checked_slug(fields.get("slug")),
        name=check.text("name", fields.get("name"), limited=False),
        scope=known_scope(fields.get("scope")),
        team=_optional(fields, "team"),
        tier=check.share("tier", fields.get("tier")),
        created_at=_time(fields, "created_at"),
    )


def _member(fields: Fields) -> MemberRow:
    who = _principal(fields, "principal")
    return MemberRow(who.tenant, fields["garden"], who.id, checked_role(fields.get("role")))


def _trust(fields: Fields) -> TrustRow:
    share = check.share("trust", fields.get("trust"))
    return TrustRow(_principal(fields).tenant, _filled(fields, "source"), share)


def _clock(fields: Fields) -> ClockState:
    seen_at = fields.get("seen_at")
    return ClockState(
        check.number("active_hours", fields.get("active_hours"), least=0),
        None if seen_at is None else check.number("seen_at", seen_at, least=0, most=LAST_SECOND),
    )


def _reason(fields: Fields) -> Hanging:
    given = ReasonCodeEntry(fields.get("reason_code", ""), fields.get("weight", -1))
    (entry,) = validate.reason_codes([given], strict=False)
    return Hanging(fields["pak_id"], entry, _time(fields, "created_at"))


def _flag(fields: Fields) -> Hanging:
    given = RiskFlagEntry(fields.get("risk_flag", ""), fields.get("severity", ""))
    (entry,) = validate.risk_flags([given], strict=False)
    return Hanging(fields["pak_id"], entry, _time(fields, "created_at"))


def _anchor(fields: Fields) -> Hanging:
    names = ("anchor_id", "source_path", "anchor_kind")
    (entry,) = validate.anchors([PakAnchorEntry(*(fields.get(name, "") for name in names))])
    return Hanging(fields["pak_id"], entry, None)


def _relation(fields: Fields) -> Hanging:
    given = PakRelationEntry(fields["related_pak_id"], fields.get("relation_type", ""))
    (entry,) = validate.relations([given])
    return Hanging(fields["pak_id"], entry, _time(fields, "created_at"))


_HANGING = {"reason": _reason, "flag": _flag, "anchor": _anchor, "relation": _relation}


def _alike(fields: Fields) -> list[Alike]:
    return [
        Alike(fields["pak_id"], other, check.number("closeness", closeness))
        for other, closeness in fields["others"].items()
    ]


def _use(fields: Fields) -> UseRow:
    who = _principal(fields, "principal")
    uses = check.whole("reinforced", fields.get("reinforced"), least=0, most=COUNT_MAX)
    last = check.number("last_reinforced", fields.get("last_reinforced"))
    return UseRow((who.tenant, who.id), (fields["pak_id"],), uses, last)


def _link_use(fields: Fields) -> UseRow:
    who = _principal(fields, "principal")
    uses = check.whole("uses", fields.get("uses"), least=1, most=MOST_LINK_USES)
    return UseRow((who.tenant, who.id), (fields["pak_id"], fields["other"]), uses)


def _version(fields: Fields, *, known: Collection[str]) -> tuple[str, KeptVersion]:
    """Return a version, and of which memory; of the one that stands, who wrote it."""
    kept, successor = fields.get("fields"), _optional(fields, "superseded_by")
    if successor is not None and successor not in known:
        raise InvalidInput(
            f"it was superseded by {successor!r:.80}, which is not in the export.",
            hint="keep the lines of an export together, as they are.",
        )
    memory = None
    if kept is not None:
        try:
            was = memory_of(fields["pak_id"], kept, superseded_by=successor)
        except ValueError as error:
            raise InvalidInput(f"it holds {error}.", hint=_AS_IT_IS) from error
        created_at = check.time("created_at", was.created_at)
        updated_at = check.time("updated_at", was.updated_at)
        memory = replace(was, created_at=created_at, updated_at=updated_at)
    number = check.whole("number", fields.get("number"), least=1, most=COUNT_MAX)
    by = check.filled_text("by", fields.get("by"), limited=False)
    return fields["pak_id"], KeptVersion(number, _time(fields, "at"), by, memory)


def _by_memory(
    versions: Iterable[tuple[str, KeptVersion]],
) -> Iterator[tuple[str, Sequence[KeptVersion]]]:
    """Yield the versions of each memory: they stand together and in order, the latest at last."""
    done: set[str] = set()
    for pak_id, told in groupby(versions, key=itemgetter(0)):
        some = [one for _, one in told]
        numbers = [one.number for one in some]
        is_ordered = pak_id not in done and numbers == sorted(set(numbers))
        if not is_ordered or some[-1].memory is not None:
            raise InvalidInput(
                f"the versions of {pak_id!r:.80} are not in order, or not all there.",
                hint=_AS_IT_IS,
            )
        done.add(pak_id)
        # One that stood when it was exported, and was replaced before the next, is not known.
        yield pak_id, [*(one for one in some[:-1] if one.memory is not None), some[-1]]


def _known_ids(export: Export) -> set[str]:
    """Return the ids that lines may name, each of which there is once."""
    known: set[str] = set()
    for line in chain(export.memories, (one for one in export.others if one.kind == "pak")):
        pak_id = read_at(line, lambda fields: _filled(fields, "pak_id"))
        if pak_id in known:
            raise InvalidInput(
                f"{line.where}: there is a memory {pak_id!r:.80} before it.",
                hint="keep the lines of an export as they are.",
            )
        known.add(pak_id)
    return known


def _need_known(export: Export, ids: Collection[str], gardens: Collection[tuple[str, str]]) -> None:
    """Refuse what names a memory or a garden that is not in the export."""
    for line in export.others:
        names = _named(line)
        known = all(isinstance(name, str) for name in names)
        if known and line.kind == "member":
            known = tuple(names) in gardens
        elif known:
            known = all(name in ids for name in names)
        if not known:
            raise InvalidInput(
                f"{line.where} names what is not in the export.",
                hint="keep the lines of an export together, as they are.",
            )


def _named(line: Line) -> list[Any]:
    if line.kind == "member":
        return [line.fields.get("tenant"), line.fields.get("garden")]
    if line.kind == "likeness":
        others = line.fields.get("others")
        return [line.fields.get("pak_id"), *(others if isinstance(others, Mapping) else [None])]
    for kind, names in NAMING_FIELDS.items():
        if kind == line.kind:
            return [line.fields.get(name) for name in names]
    return []


def _place(value: object) -> Place:
    if not isinstance(value, Mapping):
        raise InvalidInput(
            f"place is an object of fields, not {check.shown(value)}.",
            hint="keep the lines of an export as they are.",
        )
    who = _principal(value, "owner")
    return Place(
        who.tenant,
        who.id,
        known_scope(value.get("scope")),
        _optional(value, "team"),
        _optional(value, "garden"),
    )


def _principal(fields: Fields, name: str | None = None) -> Principal:
    """Return whom a line names; what is no name of a tenant or a principal is refused."""
    tenant, who = fields.get("tenant"), "local" if name is None else fields.get(name)
    return Principal(tenant, who, exact=True)  # type: ignore[arg-type]


def _filled(fields: Fields, name: str) -> str:
    return check.filled_text(name, fields.get(name), nul=True, limited=False)


def _optional(fields: Fields, name: str) -> str | None:
    return check.optional_text(name, fields.get(name), nul=True, limited=False)


def _time(fields: Fields, name: str) -> str:
    return check.time(name, fields.get(name))


def _position(value: object) -> int | None:
    return None if value is None else check.whole("position", value, least=0, most=COUNT_MAX)


def _one_of(field: str, value: object, known: tuple[Value, ...]) -> Value:
    for one in known:
        if value is one or (isinstance(value, str) and value == one):
            return one
    raise InvalidInput(
        f"{field} does not take {check.shown(value)}.",
        hint=f"{field} is one of {', '.join(map(str, known))}.",
    )
