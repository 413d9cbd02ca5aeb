"""Facts from outside: checked one by one, worth no more than we trust their source.

In: items as a peer sent them, our trust in it, the time. Out: drafts to remember, or what is wrong
with an item. A peer brings no score, no time to come, no orders, no guarantees, and no confidence
above our trust.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from recollect import check
from recollect.dates import moment_of
from recollect.errors import InvalidInput
from recollect.index.columns import epoch_microseconds
from recollect.limits import COUNTS
from recollect.model import EXTERNAL, INSTRUCTION
from recollect.policy.permit import is_of_self
from recollect.policy.trust import is_low
from recollect.policy.view import QUARANTINED, REJECTED
from recollect.values import dataclass
from recollect.write.draft import draft

if TYPE_CHECKING:
    from recollect.model import Memory, Place
    from recollect.ports.store import Standing

__all__ = ["Outside", "admitted", "fact_from", "items_of", "turned_away"]

_TAKEN = (
    "content",
    "title",
    "summary",
    "tags",
    "category",
    "project",
    "topic",
    "entity",
    "relation",
    "value",
    "confidence",
    "thread",
    "speaker",
    "occurred_at",
    "valid_until",
    "metadata",
)
# Said by every peer and decided by none: when a fact was stored and changed is known here.
_PASSED_OVER = ("pak_id", "source", "created_at", "updated_at")


@dataclass(frozen=True, slots=True)
class Outside:
    """Where facts come from, how far that is trusted, where they go and when."""

    source: str
    trust: float
    place: Place
    now: str


def items_of(payload: object) -> list[object]:
    """Return the items of a payload: a list of objects, or the same as JSON text."""
    if isinstance(payload, str | bytes):
        payload = _parsed(payload)
    if isinstance(payload, Mapping) or not isinstance(payload, Iterable):
        raise InvalidInput(
            f"facts come as a list of objects, not as {type(payload).__name__}.",
            hint='[{"content": "..."}]',
        )
    # One more than may be is enough to see: an iterator may have no end.
    items = list(islice(payload, COUNTS["facts of an ingest"] + 1))
    check.at_most(
        "facts", len(items), COUNTS["facts of an ingest"], hint="send them in several calls."
    )
    return items


def fact_from(item: object, outside: Outside) -> Memory:
    """Return the Memory that an item describes, at what it is worth here."""
    fields = _fields(item)
    fields["content"] = _content(fields)
    if _is_to_come(fields.get("occurred_at"), outside.now):
        fields["occurred_at"] = outside.now
    memory = draft(
        {**fields, "source": outside.source},
        place=outside.place,
        now=outside.now,
    )
    held = is_low(outside.trust) or bool(_claim(memory))
    return replace(
        memory,
        pak_id=_pak_id(memory, outside),
        authority=EXTERNAL,
        status=QUARANTINED if held else "active",
    )


def admitted(memory: Memory, known: Standing | None) -> Memory | None:
    """Return what to write of a fact, given what is known of it; None if that stays as it is.

    What a moderator turned away is not asked about again; what waits for one stays as it can be
    looked at; and who is little trusted does not change what a moderator let in.
    """
    if known is None:
        return memory
    if known.status == REJECTED:
        raise turned_away()
    return None if QUARANTINED in (known.status, memory.status) else memory


def turned_away() -> InvalidInput:
    """Return what is said of a fact that a moderator rejected before."""
    return InvalidInput(
        "this fact was turned away here.", hint="leave it out; a moderator decided so."
    )


def _is_to_come(occurred: object, now: str) -> bool:
    moment = moment_of(occurred) or (occurred if isinstance(occurred, str) else None)
    return moment is not None and epoch_microseconds(moment) > epoch_microseconds(now)


def _parsed(text: str | bytes) -> object:
    check.length("payload", text)
    try:
        parsed: object = json.loads(text)
    except RecursionError:
        raise InvalidInput(
            "the payload is nested too deeply.", hint="a fact is a flat object of fields."
        ) from None
    except (ValueError, UnicodeError) as error:
        raise InvalidInput(f"the payload is not JSON: {error}.", hint="send a list.") from None
    return parsed


def _fields(item: object) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        raise InvalidInput(
            f"a fact is an object of fields, not {type(item).__name__}.", hint='{"content": "..."}'
        )
    for name in item:
        if name == "score":
            raise InvalidInput(
                "a fact from outside carries no score.", hint="scores are made here; leave it out."
            )
        if name not in _TAKEN and name not in _PASSED_OVER:
            raise InvalidInput(
                f"a fact has no field {str(name)!r:.80}.", hint=f"it has {', '.join(_TAKEN)}."
            )
    return {name: item[name] for name in _TAKEN if item.get(name) is not None}


def _content(fields: Mapping[str, Any]) -> Any:
    if "content" in fields:
        return fields["content"]
    parts = [fields.get(name) for name in ("entity", "relation", "value")]
    if all(isinstance(part, str) for part in parts):
        return " ".join(str(part) for part in parts)
    raise InvalidInput(
        "a fact has a content, or an entity, a relation and a value.", hint='{"content": "..."}'
    )


def _claim(memory: Memory) -> str:
    """Return what a fact claims to be beyond a fact: an order, or a guarantee; "" for neither."""
    if memory.category == INSTRUCTION:
        return INSTRUCTION
    return "guarantee" if any(map(is_of_self, memory.tags)) else ""


def _pak_id(memory: Memory, outside: Outside) -> str:
    """Return an id that also names the source: nobody's word becomes our own by being equal."""
    # What claims more is never the fact that has the same words: it has to be judged by itself.
    named = f"{outside.source}\x00{memory.pak_id}\x00{_claim(memory)}"
    digest = hashlib.sha256(named.encode())
    return f"pak_{digest.hexdigest()[:32]}"
