"""Which verbs are tools, under which names, and which of their fields a model is told of.

In: the table of verbs. Out: rows of this door's own, a few of them listed by default. A tool takes
all fields of its verb, told or not; `usual` is what it is given where a caller says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.edge.verbs import VERBS, Field, Verb, by_name
from recollect.edge.verbs.answers import DETAIL
from recollect.errors import InvalidInput
from recollect.values import dataclass

__all__ = ["CHATGPT", "DEFAULT", "PROFILES", "TOOLS", "Tool", "profile", "tool_of"]

# How many tokens of whole texts a recall brings along, and how many memories a list.
TEXT_BUDGET = 600
LISTED = 20


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `told` are the fields that it lists, None for all; `advice` says when to use it."""

    name: str
    verb: Verb
    told: tuple[str, ...] | None = None
    usual: Mapping[str, Any] | None = None
    advice: str = ""
    takes_detail: bool = False

    @property
    def help(self) -> str:
        """What a model is told of it."""
        return f"{self.verb.help} {self.advice}".rstrip()

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that a model is told of, with this door's defaults."""
        known = {one.name: one for one in self.verb.fields}
        if self.takes_detail:
            known["detail"] = DETAIL
        names = tuple(known) if self.told is None else self.told
        return tuple(_as_usual(known[name], self.usual or {}) for name in names)


def _as_usual(field: Field, usual: Mapping[str, Any]) -> Field:
    if field.name not in usual:
        return field
    return Field(
        field.name,
        field.kind,
        field.help,
        usual[field.name],
        choices=field.choices,
        least=field.least,
        most=field.most,
    )


_TELLING = ("title", "tags", "project", "entity", "relation", "value", "source")
_WHEN = ("occurred_at", "valid_until")
_NARROWED = ("project", "tags", "thread", "speaker", "since", "until")

_DEFAULT = (
    Tool(
        "remember",
        by_name("remember"),
        ("content", *_TELLING, *_WHEN, "scope", "supersedes"),
        advice="One fact or decision each, in words that stand alone; no secrets.",
    ),
    Tool(
        "recall",
        by_name("recall"),
        ("query", "top_k", *_NARROWED, "entity", "min_match", "detail"),
        {"detail": "index", "text_budget": TEXT_BUDGET},
        "Call it before you answer from memory; get_memory shows a memory whole.",
    ),
    Tool(
        "frame",
        by_name("frame"),
        ("name", "query", "project", "tags", "token_budget", "min_match"),
        {"detail": "index"},
        "Frames: self, attention, task, evidence, or one of your own.",
        takes_detail=True,
    ),
    Tool(
        "explain",
        by_name("explain"),
        ("pak_id", "query", "frame", "project", "tags"),
        advice="Ask with the fields of the recall or frame that you wonder about.",
    ),
    Tool("get_memory", by_name("get"), ("pak_id",)),
    Tool(
        "list_memories",
        by_name("list"),
        (*_NARROWED, "order", "limit", "cursor", "counts"),
        {"detail": "index", "limit": LISTED},
        takes_detail=True,
    ),
    Tool(
        "update_memory",
        by_name("update"),
        ("pak_id", "content", *_TELLING, *_WHEN, "scope"),
    ),
    Tool(
        "forget",
        by_name("forget"),
        ("pak_id", "entity", "thread", "project", "tag", "dry_run"),
        advice="It cannot be undone: try dry_run first.",
    ),
)


def _all() -> tuple[Tool, ...]:
    """Return a tool for each verb: those of the default, with all their fields, then the others."""
    taken = {one.verb.name for one in _DEFAULT}
    listed = tuple(
        Tool(one.name, one.verb, None, one.usual, one.advice, one.takes_detail) for one in _DEFAULT
    )
    others = (Tool(verb.name.replace(".", "_"), verb) for verb in VERBS if verb.name not in taken)
    return (*listed, *others)


DEFAULT = tuple(one.name for one in _DEFAULT)
CHATGPT = ("search", "fetch")
_ALL = _all()
TOOLS: Mapping[str, Tool] = {one.name: one for one in _ALL}
PROFILES = ("default", "all", "chatgpt")
_BY_VERB = {one.verb.name: one.name for one in _ALL}


def profile(name: str) -> tuple[Tool, ...]:
    """Return the tools of a profile that are verbs."""
    if name not in PROFILES:
        raise InvalidInput(
            f"--tools is {', '.join(PROFILES[:-1])} or {PROFILES[-1]}, not {name!r:.60}.",
            hint="leave it out for the eight that an agent needs.",
        )
    return {"default": _DEFAULT, "all": _ALL, "chatgpt": ()}[name]


def tool_of(verb: str) -> str:
    """Return the name of the tool that does what a verb does."""
    return _BY_VERB[verb]
