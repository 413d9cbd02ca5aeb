"""A memory as the engine knows it: text, provenance, place, life.

Frozen values, standard library only. `Memory` is what a store keeps and what an answer shows;
`Remembered` is what a write reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from operator import attrgetter
from typing import Any, Literal

from recollect.model.access import LOCAL, Place
from recollect.model.plain import NO_METADATA, texts_in
from recollect.normalise import normalise
from recollect.values import dataclass

__all__ = [
    "EXTERNAL",
    "INSTRUCTION",
    "WRITTEN",
    "Memory",
    "Remembered",
    "Status",
    "embedded_text",
    "is_settled",
    "is_within",
    "name_key",
    "own_title",
    "without_silent",
    "words_of",
]


# The category of memories that tell a model what to do: a channel of its own.
INSTRUCTION = "instruction"


Status = Literal["active", "archived", "quarantined", "rejected"]
# The authority of what came from outside: it counts as far as we trust its source.
EXTERNAL = "external"


# The fields of a memory, besides its tags, that hold what somebody wrote.
WRITTEN = (
    "content",
    "title",
    "summary",
    "category",
    "project",
    "topic",
    "source",
    "entity",
    "relation",
    "value",
    "thread",
    "speaker",
    "occurred_at",
)


_written = attrgetter(*WRITTEN)


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory with everything the engine keeps about it.

    Times of the calendar are ISO-8601 text in UTC, but for an `occurred_at` that nobody could read;
    `last_reinforced` counts active hours. `risks` names the shapes of injection found in the text.
    `ttl` is for how many seconds it holds when it is written or touched; `valid_until` is the end
    that this came to. `metadata` is what else somebody said of it, a JSON object that cannot be
    altered. `position` orders the turns of a thread; it is not shown to readers, since a gap in it
    would tell of a turn that one may not read. `superseded_by` names its successor, to who may read
    that: then answers leave it out.
    """

    pak_id: str
    content: str
    title: str
    summary: str = ""
    tags: tuple[str, ...] = ()
    category: str = "knowledge"
    project: str | None = None
    topic: str | None = None
    pak_type: str = "memory"
    source: str | None = None
    authority: str = "user_approved"
    entity: str | None = None
    relation: str | None = None
    value: str | None = None
    confidence: float = 1.0
    thread: str | None = None
    position: int | None = None
    speaker: str | None = None
    occurred_at: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    ttl: float | None = None
    metadata: Mapping[str, Any] = NO_METADATA
    created_at: str = ""
    updated_at: str = ""
    status: Status = "active"
    decay: float = 0.01
    reinforced: int = 0
    last_reinforced: float = 0.0
    risks: tuple[str, ...] = ()
    superseded_by: str | None = None
    place: Place = LOCAL

    @property
    def validity(self) -> tuple[str | None, str | None]:
        """From when to when it is true; None where nobody said."""
        return self.valid_from, self.valid_until


@dataclass(frozen=True, slots=True)
class Remembered:
    """What `remember` did.

    `near_duplicates` is None when nobody looked: automatic links are off, or there is no vector.
    `unread` names fields that were kept as they are because nobody could read a time in them.
    Where the text was there before, `kept` names the fields that stayed as they were since nobody
    said anything of them, and `changed` those that are new. `conflicts` names what says another
    value of the same entity and relation, as far as the writer may read it; of these, and of what
    was named, `superseded` and `disputed` are since. `meta` says which hooks had a part in it.
    """

    pak_id: str
    created: bool
    state: Literal["ready", "pending"]
    near_duplicates: tuple[str, ...] | None = None
    linked: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict, hash=False)


def words_of(memory: Memory) -> tuple[str, ...]:
    """Return everything in a memory that somebody wrote and a reader is shown."""
    said = texts_in(memory.metadata) if memory.metadata else ()
    return (*filter(None, _written(memory)), *memory.tags, *said)


# Fields that came later, with what says nothing in them.
_SILENT: Mapping[str, Any] = {"ttl": None, "metadata": {}}


def without_silent(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a memory as plain data: of the later ones those that say something.

    So an answer about memories that have none of them is what it always was.
    """
    for name, silent in _SILENT.items():
        if fields.get(name) == silent:
            fields.pop(name, None)
    return fields


def own_title(title: str, content: str) -> str:
    """Return a title; "" if it is cut from the content's own beginning and says nothing twice."""
    return "" if content.startswith(title.rstrip("\u2026. ")) else title


def embedded_text(title: str, content: str, *, with_title: bool) -> str:
    """Return the text whose vector stands for a memory."""
    said = own_title(title, content) if with_title else ""
    return f"{said}\n{content}" if said else content


def is_settled(
    status: str, validity: tuple[str | None, str | None], risks: tuple[str, ...]
) -> bool:
    """Return whether everybody who reads a memory's place reads it from now on: it may be linked.

    What begins or ends, or looks like an injection, would leave a gap in others' lists when it is
    hidden.
    """
    return status == "active" and validity == (None, None) and not risks


def is_within(project: str | None, path: str) -> bool:
    """Return whether a project is one, or lies below it: names of whole segments are compared."""
    if project is None:
        return False
    above = path.rstrip("/")
    return project in (path, above) or (bool(path) and project.startswith(f"{above}/"))


def name_key(name: str) -> str:
    """Return the form in which two spellings of a name are one."""
    return " ".join(normalise("NFKC", name).casefold().split())
