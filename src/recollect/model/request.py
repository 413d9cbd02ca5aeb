"""What the verbs are asked, as data: what may be asked, and nothing of who asks.

Frozen values, standard library only. The principal comes from the handle or the credential; a
body that brings one of its own is refused. Each field says in one place what it may be, so that a
new one is checked as soon as it is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from datetime import date
from typing import Any, Literal, get_args

from recollect import check
from recollect.errors import InvalidInput
from recollect.limits import COUNTS
from recollect.model.access import Scope, known_scope
from recollect.model.answer import MATCHES, Match
from recollect.model.filters import checked_filter
from recollect.model.frame import FrameDefinition
from recollect.model.memory import Memory
from recollect.values import dataclass

__all__ = [
    "BUDGET_MAX",
    "MOST_LISTED",
    "NOT_OF_FRAMES",
    "ON_CONFLICT",
    "ORDERS",
    "TOP_K_MAX",
    "ForgetRequest",
    "FrameRequest",
    "IngestRequest",
    "LinkRequest",
    "ListRequest",
    "OnConflict",
    "Order",
    "RecallRequest",
    "RememberRequest",
    "asked_of_waiting",
    "checked_query",
]

TOP_K_MAX = COUNTS["top_k"]
BUDGET_MAX = 10**9

# What becomes of memories that say another value of the same entity and relation.
OnConflict = Literal["report", "dispute", "supersede"]
ON_CONFLICT: tuple[OnConflict, ...] = get_args(OnConflict)

MOST_LISTED = 1000
# Recently written first, recently happened first, by title, and as the turns of a thread follow.
Order = Literal["updated", "occurred", "title", "turn"]
ORDERS: tuple[Order, ...] = get_args(Order)

_PATTERNS = "tags of a request, patterns and categories of a frame"

Check = Callable[[str, Any], Any]


def checked_query(name: str, value: object) -> str | None:
    """Return the question to look things up by, or None for a blank one."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return check.query(name, value)


def _share_or_none(name: str, value: object) -> float | None:
    hint = f"leave {name} out for the default."
    return None if value is None else check.share(name, value, hint=hint)


def _scope_or_none(_name: str, value: object) -> Scope | None:
    return None if value is None else known_scope(value)


def _top_k(name: str, value: object) -> int:
    return check.whole(name, value, most=TOP_K_MAX)


def _budget_or_none(name: str, value: object) -> int | None:
    return None if value is None else check.whole(name, value, most=BUDGET_MAX)


def _patterns(name: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(f"{name} must be a list of strings.", hint='write tags=["django"].')
    if not all(isinstance(tag, str) for tag in value):
        raise InvalidInput("each tag must be a string.", hint='write tags=["django"].')
    check.at_most(name, len(value), COUNTS[_PATTERNS])
    for tag in value:
        check.length("tag", tag)
    return tuple(value)


def _match_or_none(name: str, value: object) -> Match | None:
    if value is None or value in MATCHES:
        return value
    raise InvalidInput(
        f"{name} must be {', '.join(MATCHES[:-1])} or {MATCHES[-1]}, not {check.shown(value)}.",
        hint="leave it out to get what hardly matches too.",
    )


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false.", hint="leave it out for false.")
    return value


def _since(name: str, value: object) -> str | None:
    return None if value is None else check.edge_of_time(name, value, last=False)


def _until(name: str, value: object) -> str | None:
    return None if value is None else check.edge_of_time(name, value, last=True)


def _moment(name: str, value: object) -> str | None:
    if isinstance(value, str):
        check.length(name, value)
    return None if value is None else check.time_in_utc(name, value)


def _frame_name(_name: str, value: object) -> object:
    # Which frames there are depends on who asks; an unknown one is refused where they are kept.
    return value


def _is(
    check_value: Check,
    help_text: str,
    default: Any = None,
    *,
    of_frames: bool = True,
    most: int | None = None,
) -> Any:
    told = {"check": check_value, "help": help_text, "of_frames": of_frames, "most": most}
    return field(default=default, metadata=told)


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What is asked of `recall`. Everything but the query narrows.

    `since` and `until` are both included, and a day alone is all of it; a memory is from when it
    happened, or else from when it was written. `now` is the time that the answer is given at.
    What scores less than `min_score`, or matches the question less well than `min_match`, is left
    out, but for what a frame guarantees.
    With `refresh` what is returned and holds for a time holds for that long from now on.

    A result that says the same as a better one, in another form, waits until all others are taken.
    A `diversity` of 1 turns that off, as does asking for one entity; below 1, it is the share of
    relevance against novelty, and the lower it is, the further apart in meaning the results lie.
    """

    query: str | None = _is(checked_query, "The question, in plain words.")
    entity: str | None = _is(check.optional_name, "Only facts about this entity.")
    relation: str | None = _is(check.optional_name, "Only facts of this relation.")
    source: str | None = _is(check.optional_name, "Only what came from this source.")
    scope: Scope | None = _is(_scope_or_none, "Only this scope.")
    garden: str | None = _is(check.optional_name, "Only what is in this garden.")
    min_confidence: float | None = _is(_share_or_none, "Only what is at least so sure.")
    tags: Sequence[str] | None = _is(
        _patterns, "Only with one of these tags; a name that ends in % is a beginning."
    )
    project: str | None = _is(check.optional_text, "Only this project, and what lies below it.")
    top_k: int = _is(_top_k, "How many results at the most.", 5, most=TOP_K_MAX)
    token_budget: int | None = _is(
        _budget_or_none, "How many tokens the texts may have together.", most=BUDGET_MAX
    )
    diversity: float | None = _is(
        _share_or_none,
        "1: what says the same does not wait; the lower, the further apart results lie.",
        of_frames=False,
    )
    frame: str = _is(_frame_name, "The frame whose weights count.", "evidence", of_frames=False)
    include_quarantined: bool = _is(
        _flag, "For moderators: what waits for them, too.", default=False, of_frames=False
    )
    since: str | date | None = _is(
        _since, "Only what is from this time or later; a day alone is all of it."
    )
    until: str | date | None = _is(
        _until, "Only what is from this time or earlier; a day alone is all of it."
    )
    thread: str | None = _is(check.optional_name, "Only turns of this conversation.")
    speaker: str | None = _is(check.optional_name, "Only what this speaker said.")
    filter: Mapping[str, Any] | None = _is(
        checked_filter,
        "A condition on fields and metadata: eq ne gt gte lt lte in nin contains exists,"
        " joined by and, or, not.",
    )
    now: str | None = _is(_moment, "The time that the answer is given at.", of_frames=False)
    min_score: float | None = _is(_share_or_none, "Leave out what scores less.")
    min_match: Match | None = _is(_match_or_none, "Leave out what fits less well.")
    refresh: bool = _is(
        _flag, "Touch what is returned; it takes write.", default=False, of_frames=False
    )

    @classmethod
    def from_dict(cls, body: object) -> RecallRequest:
        """Build a request from a body that came from outside."""
        if not isinstance(body, Mapping):
            raise InvalidInput(
                f"a request is an object of fields, not {type(body).__name__}.",
                hint='{"query": "..."}',
            )
        known = [field.name for field in fields(cls)]
        unknown = sorted(str(name) for name in body if name not in known)
        if unknown:
            raise InvalidInput(
                f"a request has no field {unknown[0]!r:.80}.",
                hint=f"it has {', '.join(known)}; who asks is known from the credential.",
            )
        return cls(**{str(name): value for name, value in body.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; of the later fields those that were asked for."""
        given = {name: getattr(self, name) for name in self.__slots__}
        asked = {name for name, one in given.items() if one is not None and one is not False}
        return {name: given[name] for name in given if name in asked or name not in _LATER}

    def checked(self) -> RecallRequest:
        """Return the request with every value checked and normalised."""
        made = RecallRequest(
            **{
                name: otherwise
                if (given := getattr(self, name)) is default
                else check_value(name, given)
                for name, check_value, default, otherwise in _CHECKS
            }
        )
        if made.since is not None and made.until is not None and _ends_first(made):
            raise InvalidInput(
                f"until {made.until} is before since {made.since}.", hint="exchange the two."
            )
        return made


# An answer tells what was asked; to a question of old it says what it always said.
_LATER = frozenset(
    {
        *("since", "until", "thread", "speaker", "filter", "now", "min_score", "min_match"),
        "refresh",
    }
)


def _ends_first(request: RecallRequest) -> bool:
    ends = check.microseconds(request.until), check.microseconds(request.since)
    return (ends[0] or 0) < (ends[1] or 0)


# What a caller of a frame cannot ask for: the frame decides it, or is it.
NOT_OF_FRAMES = tuple(one.name for one in fields(RecallRequest) if not one.metadata["of_frames"])
# The name of each field, its check, its default, and what the check makes of that.
_CHECKS: tuple[tuple[str, Check, Any, Any], ...] = tuple(
    (one.name, one.metadata["check"], one.default, one.metadata["check"](one.name, one.default))
    for one in fields(RecallRequest)
)


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """What is asked of `frame`: a recall by this frame, its budget included."""

    frame: FrameDefinition
    asked: RecallRequest

    @property
    def query(self) -> str | None:
        """What it is asked."""
        return self.asked.query

    @property
    def token_budget(self) -> int:
        """How long its text may be."""
        return self.asked.token_budget or 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON: what was asked for, and nothing of the rest."""
        given = self.asked.to_dict()
        always = {name: given.pop(name) for name in ("query", "top_k", "token_budget")}
        plain = RecallRequest().to_dict() | {"tags": (), "frame": self.frame.name}
        more = {name: one for name, one in given.items() if one != plain.get(name)}
        return {"name": self.frame.name, **always, **more}


def asked_of_waiting(pak_id: str) -> RecallRequest:
    """Return what a moderator asks to read one memory that waits for judgement."""
    return RecallRequest(filter={"pak_id": pak_id}, include_quarantined=True, top_k=1)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """What is asked of `list`: what narrows a recall, in which order, and where to go on."""

    asked: RecallRequest
    order: Order = "updated"
    limit: int = 100
    cursor: str | None = None
    counts: bool = False

    def checked(self) -> ListRequest:
        """Return the request with every value checked and normalised."""
        if self.order not in ORDERS:
            raise InvalidInput(
                f"order must be {' or '.join(ORDERS)}, not {check.shown(self.order)}.",
                hint="leave order out for updated.",
            )
        return ListRequest(
            self.asked.checked(),
            self.order,
            check.whole("limit", self.limit, most=MOST_LISTED),
            self.cursor,
            _flag("counts", self.counts),
        )


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """What `remember` was asked to store, and the memory that comes of it."""

    arguments: Mapping[str, Any]
    memory: Memory
    supersedes: tuple[str, ...] = ()
    on_conflict: OnConflict = "report"


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What is asked of `forget`: ids, or all that is given of the rest; None is every scope.

    With `versions` what they superseded goes along, back to the first.
    """

    pak_ids: tuple[str, ...] = ()
    entity: str | None = None
    scope: Scope | None = None
    versions: bool = False
    thread: str | None = None
    project: str | None = None
    tag: str | None = None
    owner: str | None = None
    source: str | None = None
    since: str | date | None = None
    until: str | date | None = None
    filter: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """Two memories to join. `automatic`: nobody joined them by hand."""

    pak_id: str
    other: str
    weight: float = 1.0
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Facts from outside, as they came, and who sent them."""

    source: str
    facts: tuple[Any, ...]
