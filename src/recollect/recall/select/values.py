"""What a selection takes and gives back: `SelectQuery` in, `SelectResult` out.

Frozen values. `checked` refuses what cannot be asked and fills in the time; after it a query says
all that there is to know besides the store. `to_dict` of a result is plain data for JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from recollect import check
from recollect.errors import InvalidInput
from recollect.limits import COUNTS
from recollect.model import Dropped
from recollect.paks.expression import parse
from recollect.paks.registry import REASON_WEIGHTS
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import PackageFlag
    from recollect.model.pak import RiskFlagEntry

__all__ = [
    "LOUDNESS",
    "MOST_DAYS",
    "Exclude",
    "LazyDropped",
    "Score",
    "SelectQuery",
    "SelectResult",
    "Syntax",
    "checked",
    "loudest_first",
    "moment",
]

Exclude = Literal["penalty", "skip"]
Syntax = Literal["plain", "fts5"]

LOUDNESS = ("block", "warn", "info")
_MOST = 10**9
# Longer than all that is ever written down; a time before it still fits its type.
MOST_DAYS = 10**7
# A thousand of these add up to a number.
_HEAVIEST = 1e100


@dataclass(frozen=True, slots=True)
class SelectQuery:
    """What to select, and how to weigh it.

    `text` is any text of up to 100,000 characters. `project` and `pak_type` bring in the Paks that
    equal all that is given of the two, and raise each Pak that equals either; they keep out nothing
    that the text finds. `now` is an ISO-8601 time in UTC, or a datetime that knows its offset.
    """

    text: str = ""
    project: str | None = None
    pak_type: str | None = None
    recency_window_days: float = 30
    limit: int = 25
    token_budget: int | None = None
    now: str | datetime | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: REASON_WEIGHTS)
    exclude: Exclude = "penalty"
    include_superseded: bool = False
    syntax: Syntax = "plain"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; `weights` and `syntax` only if they are unusual."""
        shown = {name: getattr(self, name) for name in self.__slots__ if name != "weights"}
        if self.syntax == "plain":
            del shown["syntax"]
        if isinstance(self.now, datetime):
            shown["now"] = self.now.isoformat()
        own = None if self.weights == REASON_WEIGHTS else dict(sorted(self.weights.items()))
        return {**shown, "weights": own}


@dataclass(frozen=True, slots=True)
class Score:
    """One Pak that was picked.

    `parts` names every contribution; added up in their order they are the score. Risk flags and
    severities are those of the Pak and of the copies that were collapsed into it; `why` says of
    which copy, if the Pak itself does not carry them.
    """

    pak_id: str
    score: float
    risk_severities: frozenset[str] = frozenset()
    why: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    risk_flags: tuple[RiskFlagEntry, ...] = ()
    title: str = ""
    tokens: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON, the loudest severity first."""
        return {
            "pak_id": self.pak_id,
            "score": self.score,
            "risk_severities": list(loudest_first(self.risk_severities)),
            "why": list(self.why),
            "parts": dict(self.parts),
            "risk_flags": [entry._asdict() for entry in self.risk_flags],
            "title": self.title,
            "tokens": self.tokens,
        }


@dataclass(frozen=True, slots=True)
class SelectResult:
    """What was picked, best first; what was left out, stage by stage; and what to know about both.

    `query` is the query as it was run, with its time. `flags` describe the package as a whole.
    `meta` says which hooks had a part in it.
    """

    scores: tuple[Score, ...]
    dropped: Sequence[Dropped]
    generated_at: str
    query: SelectQuery
    flags: tuple[PackageFlag, ...] = ()
    tokens_used: int = 0
    meta: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "scores": [score.to_dict() for score in self.scores],
            "dropped": [
                {"pak_id": one.pak_id, "stage": one.stage, "reason": one.reason}
                for one in self.dropped
            ],
            "generated_at": self.generated_at,
            "query": self.query.to_dict(),
            "flags": [asdict(flag) for flag in self.flags],
            "tokens_used": self.tokens_used,
            **({"meta": dict(self.meta)} if self.meta else {}),
        }


class LazyDropped(Sequence[Dropped]):
    """Dropped Paks, made when somebody looks: a query may cut ten thousand to return ten."""

    __slots__ = ("_count", "_made", "_make")

    def __init__(self, count: int, make: Callable[[], tuple[Dropped, ...]]) -> None:
        self._count = count
        self._make: Callable[[], tuple[Dropped, ...]] | None = make
        self._made: tuple[Dropped, ...] = ()

    def _all(self) -> tuple[Dropped, ...]:
        if self._make is not None:
            self._made, self._make = self._make(), None
        return self._made

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Dropped: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Dropped, ...]: ...
    def __getitem__(self, index: int | slice) -> Dropped | tuple[Dropped, ...]:
        return self._all()[index]

    def __iter__(self) -> Iterator[Dropped]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazyDropped | tuple | list):
            return self._all() == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[type[tuple[Dropped, ...]], tuple[tuple[Dropped, ...]]]:
        return tuple, (self._all(),)


def loudest_first(severities: frozenset[str] | Sequence[str]) -> tuple[str, ...]:
    """Return severities in the order in which people must see them."""
    return tuple(severity for severity in LOUDNESS if severity in severities)


def checked(query: SelectQuery, now: str) -> SelectQuery:
    """Return the query to run: refused if it cannot be asked, dated `now` if it has no time."""
    if not isinstance(query, SelectQuery):
        raise InvalidInput(
            f"query must be a SelectQuery, not {type(query).__name__}.",
            hint="write SelectQuery(text='redis queue', project='shop').",
        )
    _check_words(query)
    _check_numbers(query)
    if query.exclude not in get_args(Exclude):
        raise InvalidInput(
            f"exclude must be penalty or skip, not {query.exclude!r}.",
            hint="penalty lowers the score of a Pak with an exclude code; skip leaves it out.",
        )
    _check_syntax(query)
    asked_at: object = now if query.now is None else query.now
    if isinstance(asked_at, datetime) and asked_at.utcoffset() is not None:
        asked_at = _in_utc(asked_at)
    if not isinstance(asked_at, str) or moment(asked_at) is None:
        raise InvalidInput(
            f"now must be an ISO-8601 time in UTC, not {check.shown(query.now)}.",
            hint="write it like 2026-05-11T12:00:00Z.",
        )
    return replace(query, text=check.query("text", query.text), now=asked_at)


def _in_utc(at: datetime) -> str | None:
    try:
        return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:  # its offset takes it out of the calendar
        return None


def moment(text: str) -> int | None:
    """Return a time as microseconds since 1970, or None if it is not one; UTC unless it says."""
    return check.microseconds(text)


def _check_words(query: SelectQuery) -> None:
    check.query("text", query.text)
    check.optional_text("project", query.project, nul=True)
    check.optional_text("pak_type", query.pak_type, nul=True)


def _check_syntax(query: SelectQuery) -> None:
    if query.syntax not in get_args(Syntax):
        raise InvalidInput(
            f"syntax must be plain or fts5, not {query.syntax!r}.",
            hint="plain reads any text as words; fts5 reads phrases, AND, OR, NOT, NEAR, prefixes.",
        )
    if query.syntax == "fts5" and query.text.strip():
        # Which words a text has is for the catalogue to say; whether it is well formed is not.
        parse(query.text, lambda text: (text,))


def _check_numbers(query: SelectQuery) -> None:
    check.whole("limit", query.limit, most=_MOST)
    if query.token_budget is not None:
        check.whole("token_budget", query.token_budget, most=_MOST)
    hint = "with 0 days no Pak is recent."
    check.number(
        "recency_window_days", query.recency_window_days, least=0, most=MOST_DAYS, hint=hint
    )
    if not isinstance(query.weights, Mapping):
        raise InvalidInput(
            f"weights must map reason codes to numbers, not {type(query.weights).__name__}.",
            hint="pass your own literal, like {**REASON_WEIGHTS, 'user_pinned': 2.0}.",
        )
    check.at_most("weights", len(query.weights), COUNTS["weights of a selection"])
    for code, weight in query.weights.items():
        check.text("reason_code", code, nul=True)
        hint = "every weight is a finite number; negative ones lower the score."
        named = f"the weight of {check.shown(code)} in weights"
        check.number(named, weight, least=-_HEAVIEST, most=_HEAVIEST, hint=hint)
