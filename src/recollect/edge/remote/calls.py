"""Each call of a remote memory, described once: its verb, what it sends, how the answer is read.

In: the arguments of a method of `Recollect`, by name. Out: steps to carry out, and the value that
the method returns. Paths, methods and fields come from the table of verbs, values of the model from
`decode`: what stands here is where a method and its verb are not quite the same.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any
from urllib.parse import quote

from recollect.edge import verbs
from recollect.edge.remote.decode import decode, issued_key, key_row, principal
from recollect.edge.remote.exchange import Sent, Steps, delivered
from recollect.edge.verbs import Verb
from recollect.errors import (
    InvalidInput,
    NotAllowed,
    RecollectError,
    UnknownKey,
    UnknownPak,
    UnknownReceipt,
)
from recollect.model import (
    Explanation,
    Forgotten,
    FrameDefinition,
    FrameResult,
    Garden,
    Ingested,
    Member,
    Memory,
    Principal,
    RecallRequest,
    RecallResponse,
    Receipt,
    ReceiptPage,
    Remembered,
    Version,
)
from recollect.model.pak import PakRow, ReasonCodeEntry, RiskFlagEntry
from recollect.policy.trust import UNKNOWN_SOURCE
from recollect.ports.access import Act
from recollect.ports.edges import Dispute
from recollect.recall.inspect import Inspection
from recollect.recall.listing import MemoryPage
from recollect.recall.select import SelectQuery, SelectResult
from recollect.values import dataclass
from recollect.verbs.catalogue import CatalogueHit, CataloguePage, CatalogueRow
from recollect.verbs.quarantine import Held

__all__ = ["CALLS", "Described", "Given", "exported", "given_to", "request_of"]

Given = dict[str, Any]
Told = dict[str, Any]
_IDEMPOTENCY = "idempotency-key"
_LINES = "application/x-ndjson"


def _as_it_is(given: Given) -> Given:
    return given


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """A call: the verb, how its answer is read, what it is given where that is not the arguments.

    `instead`: an error of the verb's that the method answers with a value.
    """

    verb: str
    read: Callable[[Told, Given], Any]
    fields: Callable[[Given], Given] = _as_it_is
    instead: tuple[type[RecollectError], Any] | None = None

    def steps(self, given: Given, *, retries: int) -> Steps[Any]:
        """Carry it out."""
        progress = given.pop("progress", None)
        fields = self.fields(dict(given))
        request = request_of(verbs.by_name(self.verb), fields)
        try:
            told = yield from delivered(request, retries=retries)
        except RecollectError as error:
            if self.instead is None or not isinstance(error, self.instead[0]):
                raise
            return self.instead[1]
        answer = self.read(told, given)
        if progress is not None:
            progress(len(answer), len(answer))
        return answer


def given_to(signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Given:
    """Return what was passed to a method, by name; what was not is left out."""
    bound = signature.bind(None, *args, **kwargs)
    named = list(bound.arguments.items())[1:]
    kinds = {name: one.kind for name, one in signature.parameters.items()}
    given: Given = {}
    for name, value in named:
        is_more = kinds[name] is inspect.Parameter.VAR_KEYWORD
        given |= value if is_more else {name: value}
    return given


def request_of(verb: Verb, fields: Given) -> Sent:
    """Return the request that asks for a verb; a write is sent under a name."""
    name = fields.pop("request_id", None)
    headers: tuple[tuple[str, str], ...] = ()
    if name is not None or (verb.repeats and not _is_rehearsal(fields)):
        headers = ((_IDEMPOTENCY, name if isinstance(name, str) else _new_name(name)),)
    lines = fields.pop("lines", None)
    path, rest = _path(verb, fields)
    # What is read as it is sent cannot be sent twice.
    can_repeat = lines is None or isinstance(lines, Collection)
    return Sent(
        verb.route.method,
        path,
        query=() if verb.route.has_body else tuple(_query(rest)),
        body=_body(rest) if verb.route.has_body and lines is None else None,
        lines=lines,
        headers=headers if lines is None else (*headers, ("content-type", _LINES)),
        repeats=can_repeat and (verb.effect == "reads" or bool(headers)),
    )


def _new_name(given: object) -> str:
    if given is not None:
        raise InvalidInput(f"request_id must be text, not {given!r:.60}.", hint="write a name.")
    return secrets.token_hex(16)


def _is_rehearsal(fields: Given) -> bool:
    return bool(fields.get("dry_run"))


def _path(verb: Verb, fields: Given) -> tuple[str, Given]:
    path, rest = verb.route.path, dict(fields)
    for one in verb.fields:
        if not verb.route.in_path(one):
            continue
        value = rest.pop(one.name, None)
        if not isinstance(value, str) or not value:
            raise InvalidInput(f"{one.name} must be a text, not {value!r:.60}.", hint=one.help)
        path = path.replace("{" + one.name + "}", _segment(value))
    return path, rest


def _segment(value: str) -> str:
    """Return a name as one part of a path; whole dots would be taken for a way up."""
    escaped = quote(value, safe="", errors="surrogatepass")
    return escaped.replace(".", "%2E") if set(value) == {"."} else escaped


def _query(fields: Given) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        plain = _plain(name, value)
        many = plain if isinstance(plain, list) else [plain]
        for one in many:
            if one is not None:
                yield name, one if isinstance(one, str) else json.dumps(one)


def _body(fields: Given) -> bytes:
    plain = {name: _plain(name, value) for name, value in fields.items()}
    return json.dumps(plain, separators=(",", ":")).encode("ascii")


def _plain(name: str, value: Any) -> Any:
    """Return an argument as JSON has it."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {str(key): _plain(name, one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain(name, dataclasses.asdict(value))
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [_plain(name, one) for one in value]
    raise InvalidInput(
        f"{name} holds {type(value).__name__}, which no request can.",
        hint="texts, numbers, true, false, none, lists, and objects of these by name.",
    )


def _without(*names: str) -> Callable[[Given], Given]:
    return lambda given: {name: one for name, one in given.items() if name not in names}


def _whole(kind: Any) -> Callable[[Told, Given], Any]:
    return lambda told, _: decode(kind, told)


def _part(name: str, kind: Any = Any) -> Callable[[Told, Given], Any]:
    return lambda told, _: decode(kind, told[name])


def _first(name: str, kind: Any) -> Callable[[Told, Given], Any]:
    return lambda told, _: decode(kind, told[name][0])


def _nothing(_: Told, __: Given) -> None:
    return None


def _done(_: Told, __: Given) -> bool:
    return True


def _said(request: Any) -> Given:
    """Return the fields of a request that came as data, but for those that say nothing new."""
    usual = type(request)()
    return {
        one.name: value
        for one in dataclasses.fields(request)
        if not _is_same(value := getattr(request, one.name), getattr(usual, one.name))
    }


def _is_same(value: object, usual: object) -> bool:
    """Return whether two values are written alike: 30 and 30.0 are not."""
    return value == usual and type(value) is type(usual)


def _asked(given: Given) -> Given:
    request = given["request"]
    if not isinstance(request, RecallRequest):
        raise InvalidInput(
            f"request must be a RecallRequest, not {type(request).__name__}.",
            hint="recall takes its fields as arguments.",
        )
    return _said(request)


def _selected(given: Given) -> Given:
    query = given["query"]
    if not isinstance(query, SelectQuery):
        raise InvalidInput(
            f"query must be a SelectQuery, not {type(query).__name__}.",
            hint="a selection has a type of its own.",
        )
    return _said(query)


def _explained(given: Given) -> Given:
    query = given.pop("query", None)
    if isinstance(query, SelectQuery):
        return {"pak_id": given["pak_id"], "select": _said(query)}
    if not isinstance(query, RecallRequest):
        return {**given, **({} if query is None else {"query": query})}
    asked, frame = _said(query), given.get("frame")
    if "frame" in asked:
        asked["recall_frame"] = asked.pop("frame")
    named = {} if frame is None else {"frame": frame}
    return {"pak_id": given["pak_id"], **asked, **named}


def _facts(given: Given) -> Given:
    from recollect.write.ingest import items_of

    return {**given, "items": items_of(given["items"])}


def _trust_of(told: Told, given: Given) -> float:
    share: float = told["trust"].get(given["source"], UNKNOWN_SOURCE)
    return share


def _catalogue_page(told: Told, _: Given) -> CataloguePage:
    rows = tuple(CatalogueRow(*_row(one)) for one in told["items"])
    return CataloguePage(rows, told["next_cursor"], told["limit"])


def _catalogue_hits(told: Told, _: Given) -> tuple[CatalogueHit, ...]:
    return tuple(CatalogueHit(*_row(one["pak"]), one["score"]) for one in told["hits"])


def _row(told: Told) -> tuple[PakRow, tuple[RiskFlagEntry, ...]]:
    return decode(PakRow, told), decode(tuple[RiskFlagEntry, ...], told["risk_flags"])


def _codes(given: Given) -> Given:
    return _entries(given, "codes", "reason_codes")


def _flags(given: Given) -> Given:
    return _entries(given, "flags", "risk_flags")


def _entries(given: Given, name: str, field: str) -> Given:
    """Return what is given with codes or flags as they are sent: objects, or names alone."""
    listed = [one._asdict() if hasattr(one, "_asdict") else one for one in given.pop(name)]
    return {**given, field: listed}


def _new_key(given: Given) -> Given:
    who = given.pop("principal")
    if not isinstance(who, Principal):
        raise InvalidInput("principal must be a Principal.", hint="name its tenant and its id.")
    whose = {"principal": who.id, "teams": who.teams, "permissions": who.permissions}
    return {**given, **whose}


class _KeyOfOurs(Described):
    """Makes a key, once it is known to be for the tenant of whoever asks."""

    __slots__ = ()

    def steps(self, given: Given, *, retries: int) -> Steps[Any]:
        """Ask who asks; then make the key."""
        wanted = given.get("principal")
        if isinstance(wanted, Principal):
            me = yield from CALLS["me"].steps({}, retries=retries)
            if me.tenant != wanted.tenant:
                raise NotAllowed(
                    f"{me.id} makes no keys for another tenant.", hint="leave the tenant out."
                )
        made = yield from Described.steps(self, given, retries=retries)
        return made


def exported(given: Given) -> Sent:
    """Return the request for an export of what whoever asks may read."""
    if given.get("everything") or given.get("principal") is not None:
        raise NotAllowed(
            "a server exports what whoever asks may read.",
            hint="`recollect export --everything` beside the file exports all of it.",
        )
    chosen = given.get("filter")
    return request_of(verbs.by_name("export"), {} if chosen is None else {"filter": chosen})


_NO_PAK = (UnknownPak, False)
_FRAME = _part("frame", FrameDefinition)

# By the name of the method; that of a room stands before it.
CALLS: Mapping[str, Described] = {
    "remember": Described("remember", _whole(Remembered)),
    "remember_many": Described("remember_many", _part("items", Sequence[Remembered])),
    "update": Described("update", _whole(Remembered)),
    "supersede": Described("supersede", _nothing),
    "history": Described("history", _part("versions", Sequence[Version]), instead=(UnknownPak, ())),
    "recall": Described("recall", _whole(RecallResponse)),
    "respond": Described("recall", _whole(RecallResponse), _asked),
    "frame": Described("frame", _whole(FrameResult)),
    "preview": Described("preview", _whole(FrameResult)),
    "select": Described("select", _whole(SelectResult), _selected),
    "explain": Described("explain", _whole(Explanation), _explained),
    "why": Described("why", _whole(Receipt), instead=(UnknownReceipt, None)),
    "receipts": Described("receipts", _whole(ReceiptPage)),
    "get": Described("get", _part("memory", Memory), instead=(UnknownPak, None)),
    "ids": Described("ids", _part("ids", tuple[str, ...])),
    "inspect": Described("inspect", _whole(Inspection), instead=(UnknownPak, None)),
    "list": Described("list", _whole(MemoryPage)),
    "link": Described("link", _nothing),
    "dispute": Described("dispute", _nothing),
    "resolve": Described("resolve", _part("resolved")),
    "disputes": Described("disputes", _part("disputes", Sequence[Dispute])),
    "forget": Described("forget", _whole(Forgotten)),
    "archive": Described("archive", _part("changed"), instead=_NO_PAK),
    "unarchive": Described("unarchive", _part("changed"), instead=_NO_PAK),
    "touch": Described("touch", _part("touched"), instead=_NO_PAK),
    "tidy": Described("tidy", _whole(Forgotten)),
    "ingest": Described("ingest", _whole(Ingested), _facts),
    "import_": Described("import", _part("items", Sequence[Remembered])),
    "audit": Described("audit", _part("acts", Sequence[Act])),
    "retry_pending": Described("retry_pending", _part("embedded")),
    "stats": Described("stats", lambda told, _: told),
    "me": Described("me", lambda told, _: principal(told)),
    "frames.register": Described("frames.register", _FRAME),
    "frames.update": Described("frames.update", _FRAME),
    "frames.list": Described("frames.list", _part("frames", tuple[FrameDefinition, ...])),
    "frames.get": Described("frames.get", _FRAME),
    "frames.extends": Described("frames.get", lambda told, _: told["frame"]["extends"]),
    "frames.delete": Described("frames.delete", _nothing),
    "frames.invalidate": Described("frames.invalidate", _nothing),
    "gardens.create": Described("gardens.create", _first("gardens", Garden)),
    "gardens.update": Described("gardens.update", _first("gardens", Garden)),
    "gardens.delete": Described("gardens.delete", _part("memories")),
    "gardens.list": Described("gardens.list", _part("gardens", tuple[Garden, ...])),
    "gardens.members": Described("gardens.members", _part("members", tuple[Member, ...])),
    "gardens.add": Described("gardens.add", _first("members", Member)),
    "gardens.remove": Described("gardens.remove", _part("removed")),
    "quarantine.list": Described("quarantine.list", _part("waiting", tuple[Held, ...])),
    "quarantine.promote": Described("quarantine.promote", _nothing),
    "quarantine.reject": Described("quarantine.reject", _nothing),
    "keys.create": _KeyOfOurs("keys.create", lambda told, _: issued_key(told), _new_key),
    "keys.list": Described(
        "keys.list", lambda told, _: tuple(map(key_row, told["keys"])), _without("tenant")
    ),
    "keys.revoke": Described("keys.revoke", _done, _without("tenant"), (UnknownKey, False)),
    "catalogue.list": Described("paks.list", _catalogue_page),
    "catalogue.get": Described("inspect", _whole(Inspection), instead=(UnknownPak, None)),
    "catalogue.search": Described("paks.search", _catalogue_hits),
    "catalogue.set_reason_codes": Described(
        "paks.set_reason_codes", _part("reason_codes", tuple[ReasonCodeEntry, ...]), _codes
    ),
    "catalogue.set_risk_flags": Described(
        "paks.set_risk_flags", _part("risk_flags", tuple[RiskFlagEntry, ...]), _flags
    ),
    "trust.set": Described("trust.set", _nothing),
    "trust.of": Described("trust.list", _trust_of, _without("source")),
    "trust.list": Described("trust.list", _part("trust", Mapping[str, float])),
}
