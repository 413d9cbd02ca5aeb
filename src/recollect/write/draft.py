"""From the arguments of `remember` to a Memory that may be stored.

In: whatever a caller passed, the place, the time. Out: a checked, frozen Memory with its identity,
title and decay, or `InvalidInput` that names the field. Nothing is written here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from recollect import check
from recollect.dates import read_moment
from recollect.errors import InvalidInput
from recollect.limits import COUNTS
from recollect.model import Memory, Place, words_of
from recollect.policy.sanitizer import risks
from recollect.recall.score import decay_for

__all__ = ["ARGUMENTS", "content_hash", "derived_id", "draft", "is_derived"]

TITLE_CHARS = 80
_DERIVED = re.compile(r"pak_[0-9a-f]{32}")

# What a caller may say of a memory; the rest of its fields are the engine's.
_OURS = {"position", "created_at", "updated_at", "status", "decay", "reinforced"} | {
    "last_reinforced",
    "risks",
    "place",
}
ARGUMENTS = tuple(field.name for field in fields(Memory) if field.name not in _OURS)
_REQUIRED_NAMES = ("category", "pak_type", "authority")
_OPTIONAL_NAMES = ("project", "topic", "source", "entity", "relation", "value", "thread", "speaker")


def draft(arguments: Mapping[str, Any], *, place: Place, now: str) -> Memory:
    """Return the Memory that these arguments of `remember` describe."""
    unknown = sorted(arguments.keys() - set(ARGUMENTS), key=str)
    if unknown:
        raise InvalidInput(
            f"remember takes no {unknown[0]!r}.", hint=f"it takes {', '.join(ARGUMENTS)}."
        )
    content = check.filled_text("content", arguments.get("content"))
    tags = _tags(arguments.get("tags", ()))
    names = _names(arguments)
    memory = Memory(
        pak_id=_pak_id(arguments.get("pak_id"), content, place, names["project"]),
        content=content,
        title=_title(arguments.get("title"), content),
        summary=check.text("summary", arguments.get("summary") or ""),
        tags=tags,
        confidence=check.share(
            "confidence", arguments.get("confidence", 1.0), hint="1.0 is certain."
        ),
        occurred_at=_occurred(arguments.get("occurred_at")),
        valid_until=_ends(arguments.get("valid_until")),
        created_at=now,
        updated_at=now,
        decay=decay_for(tags, names["category"] or ""),
        place=place,
        **names,
    )
    found = risks(*dict.fromkeys(words_of(memory)))
    return replace(memory, risks=found) if found else memory


def is_derived(pak_id: object) -> bool:
    """Return whether an id looks like those that are made from place and content."""
    return isinstance(pak_id, str) and _DERIVED.fullmatch(pak_id) is not None


def content_hash(content: str) -> str:
    """Return the hash that tells two bodies apart."""
    return hashlib.sha256(content.encode()).hexdigest()


def derived_id(memory: Memory) -> str:
    """Return the id that a memory would get from its place and content."""
    return _pak_id(None, memory.content, memory.place, memory.project)


def _pak_id(given: Any, content: str, place: Place, project: str | None) -> str:
    if given is not None:
        return check.name("pak_id", given)
    parts = (place.tenant, place.owner, place.scope, place.team, place.garden, project, content)
    digest = hashlib.sha256("\x00".join(part or "" for part in parts).encode())
    return f"pak_{digest.hexdigest()[:32]}"


def _title(given: Any, content: str) -> str:
    if given is not None:
        return check.name("title", given)
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
        **{name: check.name(name, arguments.get(name, defaults[name])) for name in _REQUIRED_NAMES},
        **{name: check.optional_name(name, arguments.get(name)) for name in _OPTIONAL_NAMES},
    }


def _occurred(value: Any) -> str | None:
    """Return a time in one spelling, or as it is where nobody can tell which time is meant."""
    if value is None:
        return None
    text = check.name("occurred_at", value)
    return read_moment(text) or text


def _ends(value: Any) -> str | None:
    return None if value is None else check.time("valid_until", value)
