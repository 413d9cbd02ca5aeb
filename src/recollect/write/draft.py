"""From the arguments of `remember` to a Memory that may be stored.

In: whatever a caller passed, the place, the time. Out: a checked, frozen Memory with its identity,
title and decay, or `InvalidInput` that names the field. Nothing is written here.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from recollect import check
from recollect.dates import moment_of, read_moment
from recollect.errors import InvalidInput
from recollect.limits import COUNTS
from recollect.model import Memory, words_of
from recollect.model.plain import metadata_of
from recollect.policy.sanitizer import risks
from recollect.recall.score import decay_for

if TYPE_CHECKING:
    from recollect.model import Place

__all__ = [
    "ARGUMENTS",
    "PLACE",
    "TURN",
    "content_hash",
    "derived_ids",
    "derived_title",
    "draft",
    "earlier_id",
    "end_of",
    "is_derived",
    "time_to_live",
    "with_turns",
]

TITLE_CHARS = 80
_MOST_TURNS = 10**9
# A hundred years: whoever means longer means for ever.
_LONGEST = 3_155_760_000.0
_DERIVED = re.compile(r"pak_[0-9a-f]{32}")

# What a caller may say of a memory; the rest of its fields are the engine's.
_OURS = {"position", "created_at", "updated_at", "status", "decay", "reinforced"} | {
    "last_reinforced",
    "risks",
    "place",
    "superseded_by",
}
ARGUMENTS = tuple(field.name for field in fields(Memory) if field.name not in _OURS)
# What a caller may say of where it goes, and of which of several equal turns it is.
PLACE = ("scope", "team", "garden")
TURN = "turn"
# Two turns that are the same in these are equal; `place` is how an export says it.
_SAME_TURN = ("content", "thread", "speaker", "project", *PLACE, "place")
_REQUIRED_NAMES = ("category", "pak_type", "authority")
_OPTIONAL_NAMES = ("project", "topic", "source", "entity", "relation", "value", "thread", "speaker")


def draft(arguments: Mapping[str, Any], *, place: Place, now: str) -> Memory:
    """Return the Memory that these arguments of `remember` describe."""
    unknown = sorted(arguments.keys() - {*ARGUMENTS, TURN}, key=str)
    if unknown:
        raise InvalidInput(
            f"remember takes no {unknown[0]!r}.", hint=f"it takes {', '.join(ARGUMENTS)}."
        )
    content = check.filled_text("content", arguments.get("content"))
    tags = _tags(arguments.get("tags", ()))
    names = _names(arguments)
    valid_from, valid_until, ttl = _validity(arguments, now)
    memory = Memory(
        pak_id="",
        content=content,
        title=_title(arguments.get("title"), content),
        summary=check.text("summary", arguments.get("summary") or ""),
        tags=tags,
        confidence=_confidence(arguments.get("confidence")),
        occurred_at=_occurred(arguments.get("occurred_at")),
        valid_from=valid_from,
        valid_until=valid_until,
        ttl=ttl,
        metadata=metadata_of(arguments.get("metadata")),
        created_at=now,
        updated_at=now,
        decay=decay_for(tags, names["category"] or ""),
        place=place,
        **names,
    )
    return replace(
        memory,
        pak_id=_pak_id(arguments, memory),
        risks=risks(*dict.fromkeys(words_of(memory))),
    )


def with_turns(items: Iterable[Any]) -> Iterator[Any]:
    """Give equal turns of a thread that tell no time their numbers, the second of them 1.

    So they stay several, and the same items give the same again.
    """
    seen: Counter[bytes] = Counter()
    for item in items:
        turn = _turn(item)
        if turn is None:
            yield item
            continue
        yield {**item, TURN: seen[turn]} if turn in seen else item
        seen[turn] += 1


def _turn(item: object) -> bytes | None:
    """Return what makes an item equal to others, None if it is no turn or says which it is.

    There may be more turns than memory holds texts: a hash stands for what is equal.
    """
    if not isinstance(item, Mapping) or item.get("thread") is None:
        return None
    if any(item.get(name) is not None for name in ("occurred_at", TURN)):
        return None
    values = (item.get(name) for name in _SAME_TURN)
    same = repr([value if isinstance(value, str) else repr(value) for value in values])
    return hashlib.sha256(same.encode("utf-8", "surrogatepass")).digest()


def is_derived(pak_id: object) -> bool:
    """Return whether an id looks like those that are made from place and content."""
    return isinstance(pak_id, str) and _DERIVED.fullmatch(pak_id) is not None


def content_hash(content: str) -> str:
    """Return the hash that tells two bodies apart."""
    return hashlib.sha256(content.encode()).hexdigest()


def derived_ids(memory: Memory) -> tuple[str, ...]:
    """Return the ids that a memory may have got from its place and content."""
    earlier = _text_id(memory)
    return (earlier,) if memory.thread is None else (_turn_id(memory, 0), earlier)


def earlier_id(memory: Memory) -> str | None:
    """Return what the id of a turn was before ids told turns apart; None if that is all the same.

    Then equal turns were one, so only the first of them can be the one that is there.
    """
    if memory.thread is None or not is_derived(memory.pak_id):
        return None
    return _text_id(memory) if memory.pak_id == _turn_id(memory, 0) else None


def _title(given: Any, content: str) -> str:
    return derived_title(content) if given is None else check.name("title", given)


def _pak_id(arguments: Mapping[str, Any], memory: Memory) -> str:
    given, turn = arguments.get("pak_id"), arguments.get(TURN)
    number = 0 if turn is None else check.whole(TURN, turn, least=0, most=_MOST_TURNS)
    if given is not None:
        return check.name("pak_id", given)
    return _text_id(memory) if memory.thread is None else _turn_id(memory, number)


def _text_id(memory: Memory) -> str:
    return _id_of(*_where(memory), memory.content)


def _turn_id(memory: Memory, number: int) -> str:
    """Return the id of what somebody said at a time, or as the n-th that said it."""
    when = f"#{number}" if memory.occurred_at is None else _one_spelling(memory.occurred_at)
    # No tenant is called nothing, so this is no other text's id.
    return _id_of("", memory.thread, memory.speaker, when, *_where(memory), memory.content)


def _one_spelling(moment: str) -> str:
    at = check.instant(moment)
    return moment if at is None else at.astimezone(UTC).isoformat()


def _where(memory: Memory) -> tuple[str | None, ...]:
    place = memory.place
    return (place.tenant, place.owner, place.scope, place.team, place.garden, memory.project)


def _id_of(*parts: str | None) -> str:
    digest = hashlib.sha256("\x00".join(part or "" for part in parts).encode())
    return f"pak_{digest.hexdigest()[:32]}"


def derived_title(content: str) -> str:
    """Return the title of a text that nobody gave one: how it begins."""
    line = " ".join(content.split())
    if len(line) <= TITLE_CHARS:
        return line
    return line[:TITLE_CHARS].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput("tags must be a list of strings.", hint='write tags=["django"].')
    tags = tuple(dict.fromkeys(check.name("tag", tag) for tag in value))
    hint = "put what you search for into the text; keep tags for groups."
    check.at_most("tags", len(tags), COUNTS["tags of a memory"], hint=hint)
    return tuple(sorted(tags))


def _names(arguments: Mapping[str, Any]) -> dict[str, Any]:
    defaults = {"category": "knowledge", "pak_type": "memory", "authority": "user_approved"}
    return {
        **{name: _name_or(defaults[name], name, arguments) for name in _REQUIRED_NAMES},
        **{name: check.optional_name(name, arguments.get(name)) for name in _OPTIONAL_NAMES},
    }


def _name_or(default: str, name: str, arguments: Mapping[str, Any]) -> str:
    given = arguments.get(name)
    return default if given is None else check.name(name, given)


def _confidence(value: Any) -> float:
    return 1.0 if value is None else check.share("confidence", value, hint="1.0 is certain.")


def _moment(time: str) -> int:
    return check.microseconds(time) or 0


def _occurred(value: Any) -> str | None:
    """Return a time in one spelling, or as it is where nobody can tell which time is meant."""
    if value is None:
        return None
    if isinstance(value, str):
        text = check.name("occurred_at", value)
        return read_moment(text) or text
    moment = moment_of(value)
    if moment is None:
        raise InvalidInput(
            f"occurred_at must be a time, not {check.shown(value)}.",
            hint="pass a text like 2026-05-11, a date, a datetime, or seconds since 1970.",
        )
    return moment


def _validity(
    arguments: Mapping[str, Any], now: str
) -> tuple[str | None, str | None, float | None]:
    """Return from when to when a memory holds, and for how long: an end that is given is the first.

    What ends before it begins is refused.
    """
    start, end = (
        None if arguments.get(name) is None else check.time(name, arguments[name])
        for name in ("valid_from", "valid_until")
    )
    ttl = None if arguments.get("ttl") is None else time_to_live(arguments["ttl"])
    if end is None and ttl is not None:
        end = end_of(ttl, now)
    if start is not None and end is not None and _moment(end) <= _moment(start):
        raise InvalidInput(
            "valid_until is not after valid_from.", hint="a memory holds from the one to the other."
        )
    return start, end, ttl


def time_to_live(given: object) -> float:
    """Return for how many seconds a memory holds."""
    seconds = given.total_seconds() if isinstance(given, timedelta) else given
    hint = "write seconds, such as 3600, or a timedelta."
    return check.number("ttl", seconds, least=1.0, most=_LONGEST, hint=hint)


def end_of(ttl: float, now: str) -> str:
    """Return when something ends that holds for so many seconds from now on."""
    begun = check.instant(now) or datetime.min.replace(tzinfo=UTC)
    try:
        end = (begun + timedelta(seconds=ttl)).replace(tzinfo=None)
    except OverflowError:
        raise InvalidInput(
            f"{ttl:g} seconds after {now} there are no dates.", hint="leave ttl out."
        ) from None
    return f"{end.isoformat()}Z"
