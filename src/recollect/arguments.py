"""What callers of the engine may ask: each check names what it refuses and says what to do.

In: whatever was passed. Out: the value to use, or `InvalidInput`. Nothing is read or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect import check
from recollect.errors import InvalidInput
from recollect.limits import COUNTS
from recollect.model import (
    ON_CONFLICT,
    ForgetRequest,
    Principal,
    RecallRequest,
    known_scope,
)
from recollect.model.filters import checked_filter, parse_filter
from recollect.model.request import BUDGET_MAX, MOST_LISTED, TOP_K_MAX, checked_query

if TYPE_CHECKING:
    from recollect.model import (
        FrameRequest,
        LinkRequest,
        OnConflict,
    )
    from recollect.model.filters import Filter

__all__ = [
    "BUDGET_MAX",
    "FUTURE_SECONDS",
    "MOST_LISTED",
    "TOP_K_MAX",
    "days",
    "file",
    "filter_tree",
    "forgettable",
    "frame",
    "lasting",
    "link",
    "listed",
    "name",
    "needed_file",
    "of_item",
    "on_conflict",
    "one_of",
    "past",
    "patience",
    "positive",
    "principal",
    "query",
    "recall",
    "superseded",
    "top_k",
    "weight",
]

# A caller's clock may run ahead of ours by this much; more is a mistake.
FUTURE_SECONDS = 24 * 3600


def of_item(item: object) -> Mapping[str, Any]:
    """Return an item of `remember_many` as arguments of `remember`."""
    if isinstance(item, str):
        return {"content": item}
    if isinstance(item, Mapping):
        return item
    raise InvalidInput(
        f"an item must be a text or a mapping, not {type(item).__name__}.",
        hint='write "a text" or {"content": "a text", "project": "shop"}.',
    )


def listed(items: object) -> Iterable[object]:
    """Return the items of `remember_many`."""
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput(
            f"items must be a list of memories, not {type(items).__name__}.",
            hint="use remember() for one.",
        )
    return items


def recall(request: object) -> RecallRequest:
    """Return a request with every value checked and normalised, before anything is read."""
    if not isinstance(request, RecallRequest):
        raise InvalidInput(
            f"a request is a RecallRequest, not {type(request).__name__}.",
            hint="RecallRequest.from_dict builds one from plain data.",
        )
    return request.checked()


def frame(request: FrameRequest) -> FrameRequest:
    """Return what is asked of a frame with every value checked and normalised."""
    positive("token_budget", request.asked.token_budget, BUDGET_MAX)
    return replace(request, asked=request.asked.checked())


def link(request: LinkRequest) -> LinkRequest:
    """Return two memories to join, with a weight that their link may have."""
    return replace(request, weight=weight(request.weight))


def top_k(value: object) -> int:
    """Return how many results are asked for."""
    return positive("top_k", value, TOP_K_MAX)


def principal(value: object) -> Principal:
    """Return who asks."""
    if not isinstance(value, Principal):
        raise InvalidInput(
            f"a principal is a Principal, not {type(value).__name__}.",
            hint='from recollect.policy import Principal; Principal(tenant="acme", id="ann")',
        )
    return value


def file(field: str, value: object) -> Path | None:
    """Return a path, None for none."""
    if value is None or isinstance(value, Path):
        return value
    if isinstance(value, str) and value:
        return Path(value).expanduser()
    raise InvalidInput(f"{field} must be a path, not {value!r:.60}.", hint="leave it out for none.")


def needed_file(field: str, value: object) -> Path:
    """Return a path; there must be one."""
    path = file(field, value)
    if path is None:
        raise InvalidInput(f"{field} is missing.", hint="name a file.")
    return path


def one_of(field: str, value: object, known: Sequence[str]) -> None:
    """Refuse a word that is none of those known."""
    if value not in known:
        raise InvalidInput(
            f"{field} must be {' or '.join(known)}, not {value!r:.60}.",
            hint=f"leave {field} out for {known[0]}.",
        )


def on_conflict(value: object) -> OnConflict:
    """Return what becomes of memories that say another value."""
    one_of("on_conflict", value, ON_CONFLICT)
    return next(known for known in ON_CONFLICT if known == value)


def superseded(value: object) -> tuple[str, ...]:
    """Return the ids of what a memory supersedes: none, one, or a list of them."""
    if value is None:
        return ()
    ids = [value] if isinstance(value, str) else value
    if isinstance(ids, Mapping) or not isinstance(ids, Iterable):
        raise InvalidInput(
            "supersedes must be an id, or a list of ids.", hint="name what gives way by its id."
        )
    named = tuple(dict.fromkeys(name("supersedes", one) for one in ids))
    check.at_most("supersedes", len(named), COUNTS["ids of a forget"])
    return named


def name(field: str, value: object) -> str:
    """Return a name that must be given."""
    if value is None:
        raise InvalidInput(f"{field} must be given.", hint=f'{field}="..."')
    return check.filled_text(field, value)


def weight(value: object) -> float:
    """Return the weight of a link."""
    return check.positive_share("weight", value, hint="1.0 is strongest.")


def forgettable(
    pak_id: object,
    scope: object,
    window: Mapping[str, Any],
    chosen: Mapping[str, object],
) -> ForgetRequest:
    """Return what to forget: ids, or what fulfils all that was chosen, within a window of time.

    At least one of these is given, and not both: nobody erases everything by leaving a word out.
    """
    given: dict[str, Any] = {field: value for field, value in chosen.items() if value is not None}
    is_narrowed = bool(given) or any(end is not None for end in window.values())
    if (pak_id is None) == (not given) or (pak_id is not None and is_narrowed):
        known = ", ".join(chosen)
        raise InvalidInput(
            f"forget takes a pak_id, or some of {known}; since and until narrow the latter.",
            hint='forget("...") or forget(entity="...").',
        )
    asked = RecallRequest(**window, filter=given.pop("filter", None)).checked()
    named: dict[str, Any] = {field: name(field, value) for field, value in given.items()}
    return ForgetRequest(
        pak_ids=tuple(_ids(pak_id)) if pak_id is not None else (),
        scope=None if scope is None else known_scope(scope),
        since=asked.since,
        until=asked.until,
        filter=asked.filter,
        **named,
    )


def _ids(given: object) -> list[str]:
    ids = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    check.at_most("ids", len(ids), COUNTS["ids of a forget"])
    return [one for one in ids if isinstance(one, str) and check.is_id(one)]


def filter_tree(given: object) -> Filter | None:
    """Return a filter as it is looked up, None for none."""
    checked = checked_filter("filter", given)
    return None if checked is None else parse_filter(checked)


def query(text: object) -> str | None:
    """Return the query to run, or None for a blank one."""
    return checked_query("query", text)


def patience(field: str, value: object) -> float:
    """Return for how many seconds to wait: none to a day."""
    return check.number(field, value, least=0.0, most=86_400.0, hint="pass seconds, such as 5.0.")


def days(field: str, value: object) -> float:
    """Return a number of days: none to a thousand years."""
    return check.number(field, value, least=0.0, most=365_250.0, hint="pass days, such as 365.")


def lasting(field: str, value: object) -> float:
    """Return for how many days something is kept: some, to a thousand years."""
    hint = "pass days, such as 30."
    return check.number(field, value, least=1 / 86_400, most=365_250.0, hint=hint)


def positive(field: str, value: object, most: int) -> int:
    """Return a whole number within bounds."""
    return check.whole(field, value, most=most)


def past(now: object, seconds: float) -> str:
    """Return a caller's time as it is stored; it must be in UTC and not ahead of the clock."""
    stamp = check.time_in_utc("now", now)
    if (check.microseconds(stamp) or 0) > (seconds + FUTURE_SECONDS) * 1_000_000:
        raise InvalidInput(
            f"now is {now}, more than a day ahead of the clock.",
            hint="check the clock of the machine that sent it, or leave now out.",
        )
    return stamp
