"""What becomes of a text that is stored again: no field of it is lost.

In: memories as they were drafted, with the fields that somebody named, and the same ones as they
were stored before. Out: the memories to write, and what was kept and what changed. Pure; whether
somebody may store them is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from recollect import check
from recollect.model import Memory, words_of
from recollect.policy.sanitizer import risks
from recollect.recall.score import decay_for
from recollect.values import dataclass
from recollect.write.draft import ARGUMENTS, PLACE, earlier_id

if TYPE_CHECKING:
    from recollect.model import Memory

__all__ = ["Again", "Stated", "again", "named_in", "one_each", "recognised"]

# Two memories of one id and text may differ in these, and in their tags.
_FIELDS = (*(name for name in ARGUMENTS if name not in ("pak_id", "content", "tags")), "place")
_COMPARED = tuple(one.name for one in fields(Memory) if one.name in {*_FIELDS, "tags"})
# For how long it holds, and until when that is: who says one says both.
_END = frozenset({"ttl", "valid_until"})
_TURN = ("thread", "speaker", "occurred_at")


@dataclass(frozen=True, slots=True)
class Stated:
    """A memory to store, and which of its fields were named; None: it says everything itself."""

    memory: Memory
    named: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """A memory that was there: as it is written now, what it kept, and what was changed."""

    memory: Memory
    kept: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def named_in(arguments: Mapping[str, Any]) -> frozenset[str]:
    """Return what a caller said something of; nothing is said by None, by no tags or no text."""
    return frozenset(
        name
        for name, value in arguments.items()
        if value is not None and value not in ("", (), [], {})
    )


def one_each(stated: Sequence[Stated]) -> list[Stated]:
    """Return one for each id: of equal texts with what either said, else the last."""
    latest: dict[str, Stated] = {}
    for one in stated:
        before = latest.get(one.memory.pak_id, one)
        is_same = before.memory.content == one.memory.content
        latest[one.memory.pak_id] = _both(before, one) if is_same else one
    return list(latest.values())


def recognised(stated: Iterable[Stated], earlier: Mapping[str, Memory]) -> list[Stated]:
    """Return turns under the ids that they have in this store from before, if it is them."""
    return [_by_earlier_id(one, earlier) for one in stated]


def again(stated: Stated, earlier: Memory) -> Again:
    """Return a memory as it is written over an earlier one.

    Of the same text, what nobody named stays as it was; another text takes the place of the whole.
    """
    memory, named = stated.memory, stated.named
    if named is None:
        return Again(memory)
    if memory.content != earlier.content:
        return Again(memory, changed=("content", *_unlike(memory, earlier)))
    if named.intersection(PLACE):
        named |= {"place"}
    if named.intersection(_END):
        named |= _END
    values = {
        name: getattr(earlier, name)
        for name in _FIELDS
        if name not in named
        and not (name in _END and _has_ended(earlier.valid_until, memory.updated_at))
    }
    values["tags"] = tuple(sorted({*earlier.tags, *memory.tags}))
    merged = _whole(replace(memory, **values))
    return Again(merged, kept=_unlike(merged, memory), changed=_unlike(merged, earlier))


def _unlike(one: Memory, other: Memory) -> tuple[str, ...]:
    """Return the fields, in the order that memories have them, in which two of them differ."""
    return tuple(name for name in _COMPARED if getattr(one, name) != getattr(other, name))


def _both(before: Stated, now: Stated) -> Stated:
    if before is now or before.named is None or now.named is None:
        return now
    return Stated(again(now, before.memory).memory, before.named | now.named)


def _by_earlier_id(stated: Stated, earlier: Mapping[str, Memory]) -> Stated:
    memory = stated.memory
    name = None if memory.pak_id in earlier else earlier_id(memory)
    before = None if name is None else earlier.get(name)
    if before is None or any(getattr(before, of) != getattr(memory, of) for of in _TURN):
        return stated
    return replace(stated, memory=replace(memory, pak_id=before.pak_id))


def _has_ended(value: str | None, now: str) -> bool:
    """Return whether an old end cannot stay: who stores a text again wants it to be read."""
    end, moment = check.instant(value), check.instant(now)
    return end is not None and moment is not None and end <= moment


def _whole(memory: Memory) -> Memory:
    """Return a memory with what follows from its fields."""
    found = risks(*dict.fromkeys(words_of(memory)))
    return replace(memory, decay=decay_for(memory.tags, memory.category), risks=found)
