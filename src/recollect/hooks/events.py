"""The events a hook can listen to: for each its deadline, its payload, and what may be changed.

In: what a verb is about to do or did, or a hook's delta. Out: frozen payloads, ready for JSON. A
`namespace` is a Pak's project, "" for none; `k` is top_k. A delta is checked field by field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, ClassVar, TypeVar

from recollect import check
from recollect.errors import InvalidInput

__all__ = [
    "PAYLOADS",
    "EventClass",
    "HookEvent",
    "Payload",
    "PostForget",
    "PostFrame",
    "PostLink",
    "PostRecall",
    "PostRemember",
    "PreForget",
    "PreFrame",
    "PreIngest",
    "PreLink",
    "PreRecall",
    "PreRemember",
    "PreSelect",
    "RecallExpandQuery",
]

Check = Callable[[str, object], Any]
P = TypeVar("P", bound="Payload")

_LARGEST = 10**18


class EventClass(Enum):
    """How long a whole chain may take, in seconds."""

    HOT_PATH = 0.050
    READ = 2.0
    WRITE = 5.0


class HookEvent(StrEnum):
    """What a hook can listen to."""

    PRE_RECALL_EXPAND = "pre_recall_expand"
    PRE_RECALL = "pre_recall"
    POST_RECALL = "post_recall"
    PRE_FRAME = "pre_frame"
    POST_FRAME = "post_frame"
    PRE_SELECT = "pre_select"
    PRE_REMEMBER = "pre_remember"
    POST_REMEMBER = "post_remember"
    PRE_FORGET = "pre_forget"
    POST_FORGET = "post_forget"
    PRE_LINK = "pre_link"
    POST_LINK = "post_link"
    PRE_INGEST = "pre_ingest"

    @property
    def event_class(self) -> EventClass:
        """The class that sets the deadline of the event's chain."""
        if self is HookEvent.PRE_RECALL_EXPAND:
            return EventClass.HOT_PATH
        reads = ("recall", "frame", "select")
        return EventClass.READ if self.endswith(reads) else EventClass.WRITE

    @property
    def deadline_s(self) -> float:
        """What the event's whole chain may take."""
        return _DEADLINES_S[self]

    @property
    def is_recall(self) -> bool:
        """Whether it is on the way of a recall, where a process a call costs too much."""
        return "recall" in self


_DEADLINES_S = {event: event.event_class.value for event in HookEvent}


def _text(field: str, value: object) -> str:
    # Half a surrogate pair, as from a broken JSON source, must not hurt.
    mended = value.encode(errors="replace").decode() if isinstance(value, str) else value
    return check.text(field, mended, nul=True)


def _count(field: str, value: object) -> int | None:
    count = check.whole(field, value, least=-_LARGEST, most=_LARGEST)
    return count if count > 0 else None


def _tags(field: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(tag, str) for tag in value):
        raise InvalidInput(f"{field} must be a list of texts.")
    return tuple(value)


def _facts(field: str, value: object) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, dict) for one in value):
        raise InvalidInput(f"{field} must be a list of objects.")
    return tuple(value)


@dataclass(frozen=True, slots=True)
class Payload:
    """What an event tells a hook. `changes` says which fields a delta may set, and how."""

    event: ClassVar[HookEvent]
    changes: ClassVar[Mapping[str, Check]] = {}
    also_called: ClassVar[Mapping[str, str]] = {}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        names: tuple[str, ...] = self.__slots__
        return {name: getattr(self, name) for name in names}

    @classmethod
    def delta(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a hook's delta under our names and checked; ValueError says what is wrong.

        None changes nothing, nor does a number of results that is not positive.
        """
        found: dict[str, Any] = {}
        for name, value in given.items():
            field = cls.also_called.get(name, name)
            if field not in cls.changes:
                raise ValueError(f"{cls.event} has no {name!r} that a hook may change")
            if field != name and field in given:
                continue
            try:
                checked = None if value is None else cls.changes[field](name, value)
            except InvalidInput as error:
                raise ValueError(error.message.removesuffix(".")) from None
            if checked is not None:
                found[field] = checked
        return found

    def within(self, delta: Mapping[str, Any], k_max: int) -> dict[str, Any]:
        """Return a checked delta so that it asks for no more than the caller did.

        A hook may look elsewhere and for more results, up to `k_max`; it may not drop the caller's
        namespace, nor raise its budget.
        """
        kept = dict(delta)
        if kept.get("namespace") == "" and getattr(self, "namespace", ""):
            raise ValueError("the caller's namespace cannot be dropped")
        if "k" in kept:
            kept["k"] = min(kept["k"], k_max)
        budget = getattr(self, "token_budget", None)
        if budget is not None and "token_budget" in kept:
            kept["token_budget"] = min(kept["token_budget"], budget)
        return kept

    def changed(self: P, delta: Mapping[str, Any]) -> P:
        """Return the payload with a checked delta laid over it."""
        return type(self)(**{**self.to_dict(), **delta})


@dataclass(frozen=True, slots=True)
class RecallExpandQuery(Payload):
    """A recall before anything else: the question, where to look, how many."""

    event = HookEvent.PRE_RECALL_EXPAND
    changes = {"query": _text, "namespace": _text, "k": _count}  # noqa: RUF012 - typed in Payload
    also_called = {"content": "query", "priority": "k"}  # noqa: RUF012

    query: str
    namespace: str
    k: int


@dataclass(frozen=True, slots=True)
class PreRecall(Payload):
    """A recall as it is about to run, filters included."""

    event = HookEvent.PRE_RECALL
    changes = {  # noqa: RUF012
        "query": _text,
        "namespace": _text,
        "k": _count,
        "token_budget": _count,
        "tags": _tags,
    }

    query: str
    namespace: str
    k: int
    frame: str
    token_budget: int | None = None
    tags: tuple[str, ...] = ()
    entity: str | None = None
    relation: str | None = None
    source: str | None = None
    scope: str | None = None
    garden: str | None = None
    min_confidence: float | None = None

    def within(self, delta: Mapping[str, Any], k_max: int) -> dict[str, Any]:
        """Return a checked delta that asks for no more than the caller did, tags included."""
        wanted = set(delta.get("tags", self.tags))
        if self.tags and not (wanted and wanted <= set(self.tags)):
            raise ValueError("tags must be among those of the caller, at least one")
        return Payload.within(self, delta, k_max)


@dataclass(frozen=True, slots=True)
class PostRecall(Payload):
    """A recall that was answered."""

    event = HookEvent.POST_RECALL

    query: str
    namespace: str
    k: int
    pak_ids: tuple[str, ...]
    tokens_used: int
    truncated: bool
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreFrame(Payload):
    """A frame that is about to be rendered."""

    event = HookEvent.PRE_FRAME
    changes = {"query": _text, "k": _count, "token_budget": _count}  # noqa: RUF012

    name: str
    query: str
    k: int
    token_budget: int


@dataclass(frozen=True, slots=True)
class PostFrame(Payload):
    """A frame that was rendered."""

    event = HookEvent.POST_FRAME

    name: str
    query: str
    pak_ids: tuple[str, ...]
    tokens_used: int
    cached: bool
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreSelect(Payload):
    """A selection that is about to run."""

    event = HookEvent.PRE_SELECT
    changes = {  # noqa: RUF012
        "query": _text,
        "namespace": _text,
        "k": _count,
        "token_budget": _count,
    }

    query: str
    namespace: str
    k: int
    token_budget: int | None = None
    pak_type: str | None = None


@dataclass(frozen=True, slots=True)
class PreRemember(Payload):
    """A text that is about to be stored."""

    event = HookEvent.PRE_REMEMBER
    changes = {  # noqa: RUF012
        "content": _text,
        "namespace": _text,
        "title": _text,
        "summary": _text,
        "tags": _tags,
        "category": _text,
        "topic": _text,
        "entity": _text,
        "relation": _text,
        "value": _text,
        "confidence": check.share,
    }

    content: str
    namespace: str = ""
    pak_id: str | None = None
    title: str | None = None
    summary: str = ""
    tags: tuple[str, ...] = ()
    category: str = "knowledge"
    topic: str | None = None
    pak_type: str = "memory"
    source: str | None = None
    entity: str | None = None
    relation: str | None = None
    value: str | None = None
    confidence: float = 1.0
    thread: str | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class PostRemember(Payload):
    """A text that was stored."""

    event = HookEvent.POST_REMEMBER

    pak_id: str
    namespace: str
    created: bool
    state: str


@dataclass(frozen=True, slots=True)
class PreForget(Payload):
    """Paks, or all about an entity, that are about to be erased."""

    event = HookEvent.PRE_FORGET

    pak_ids: tuple[str, ...] = ()
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class PostForget(Payload):
    """What was erased."""

    event = HookEvent.POST_FORGET

    pak_ids: tuple[str, ...] = ()
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class PreLink(Payload):
    """Two Paks that are about to be joined."""

    event = HookEvent.PRE_LINK
    changes = {"weight": check.positive_share}  # noqa: RUF012

    pak_id: str
    other: str
    weight: float


@dataclass(frozen=True, slots=True)
class PostLink(Payload):
    """Two Paks that were joined."""

    event = HookEvent.POST_LINK

    pak_id: str
    other: str
    weight: float


@dataclass(frozen=True, slots=True)
class PreIngest(Payload):
    """Facts from outside that are about to be taken in."""

    event = HookEvent.PRE_INGEST
    changes = {"facts": _facts}  # noqa: RUF012

    source: str
    facts: tuple[Mapping[str, Any], ...]


PAYLOADS: Mapping[HookEvent, type[Payload]] = {
    payload.event: payload
    for payload in (
        RecallExpandQuery,
        PreRecall,
        PostRecall,
        PreFrame,
        PostFrame,
        PreSelect,
        PreRemember,
        PostRemember,
        PreForget,
        PostForget,
        PreLink,
        PostLink,
        PreIngest,
    )
}
