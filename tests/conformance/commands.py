"""How a verb with its fields is written at a shell, as data; what cannot be, with the reason.

In: a verb and what is given to it. Out: the words of a command and what is sent through its pipe. A
field is the option of its name (`option_of`) unless a row here says otherwise, so a field that is
added to a verb and forgotten at the shell has no option, which `tests/house/test_commands.py` sees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.edge.cli.hints import option_of
from recollect.edge.verbs import Verb

Words = list[str]
Written = Callable[[Any], Words]


def one(option: str) -> Written:
    """An option and its value."""
    return lambda value: [option, value if isinstance(value, str) else json.dumps(value)]


def each(option: str) -> Written:
    """An option that may be given again."""
    return lambda values: [
        word
        for value in ([values] if isinstance(values, str) else values)
        for word in (option, value)
    ]


def flag(option: str) -> Written:
    """An option that says that it is so."""
    return lambda value: [option] if value else []


def _weights(value: Mapping[str, float]) -> Words:
    named = ("similarity", "confidence", "recency", "centrality", "reinforcement")
    return ["--weights", *(str(value[name]) for name in named)]


def _filters(value: Mapping[str, Any]) -> Words:
    window = value.get("search_window_hours", 0)
    return [
        *each("--tag-pattern")(value.get("tag_patterns", ())),
        *each("--category")(value.get("categories", ())),
        *([] if window == 0 else ["--window", "none" if window is None else str(window)]),
    ]


def _cache(value: Mapping[str, Any] | None) -> Words:
    if value is None:
        return ["--cache-ttl", "none"]
    seconds = value.get("ttl_seconds")
    return [
        *([] if seconds is None else ["--cache-ttl", str(seconds)]),
        *each("--cache-event")(value.get("invalidate_on", ())),
    ]


def _selection(value: Mapping[str, Any]) -> Words:
    words = ["--select"]
    for name, part in value.items():
        words += one("--for" if name == "text" else option_of(name))(part)
    return words


@dataclass(frozen=True)
class Form:
    """A command: its words, the fields that stand in it without a name, what is written otherwise.

    `piped` is the field that comes through the pipe; `added` is what the answer has beside.
    """

    words: str
    bare: tuple[str, ...] = ()
    otherwise: Mapping[str, tuple[tuple[str, ...], Written]] = field(default_factory=dict)
    piped: str | None = None
    added: tuple[str, ...] = ()


_FRAME = {
    "weights": (("--weights",), _weights),
    "filters": (("--tag-pattern", "--category", "--window"), _filters),
    "cache": (("--cache-ttl", "--cache-event"), _cache),
}
_TTL = {"ttl": (("--ttl",), lambda seconds: ["--ttl", f"{seconds}s"])}
_FOR = {"query": (("--for",), one("--for"))}
FORMS: Mapping[str, Form] = {
    "remember": Form("remember", ("content",), _TTL),
    "remember_many": Form("remember --jsonl -", piped="items"),
    "list": Form("list"),
    "get": Form("get", ("pak_id",)),
    "update": Form("update", ("pak_id", "content"), _TTL),
    "history": Form("history", ("pak_id",)),
    "inspect": Form("pak inspect", ("pak_id",)),
    "supersede": Form("supersede", ("pak_id", "new")),
    "archive": Form("archive", ("pak_id",)),
    "unarchive": Form("unarchive", ("pak_id",)),
    "touch": Form("touch", ("pak_id",)),
    "forget": Form("forget", ("pak_id",)),
    "forget_one": Form("forget", ("pak_id",)),
    "link": Form("link", ("pak_id", "other")),
    "dispute": Form("dispute", ("pak_id", "other")),
    "resolve": Form("resolve", ("pak_id", "other")),
    "recall": Form("recall", ("query",)),
    "frame": Form("frame", ("name", "query")),
    "select": Form("select", ("text",)),
    "explain": Form("explain", ("pak_id",), {**_FOR, "select": (("--select",), _selection)}),
    "why": Form("why", ("recall_id",)),
    "receipts": Form("receipts"),
    "paks.list": Form("paks list"),
    "paks.search": Form(
        "paks search",
        ("text",),
        {"match": (("--all",), lambda value: flag("--all")(value == "all"))},
    ),
    "paks.get": Form("paks show", ("pak_id",)),
    "frames.list": Form("frames list"),
    "frames.get": Form("frames show", ("name",)),
    "frames.register": Form("frames register", ("name",), _FRAME),
    "frames.update": Form("frames update", ("name",), _FRAME),
    "frames.delete": Form("frames delete", ("name",)),
    "gardens.list": Form("gardens list"),
    "gardens.create": Form("gardens create", ("slug",)),
    "gardens.update": Form("gardens update", ("slug",)),
    "gardens.delete": Form("gardens delete", ("slug",)),
    "gardens.members": Form("gardens members", ("slug",)),
    "gardens.add": Form("gardens add", ("slug", "principal")),
    "gardens.remove": Form("gardens remove", ("slug", "principal")),
    "quarantine.list": Form("quarantine list"),
    "quarantine.promote": Form("quarantine promote", ("pak_id",)),
    "quarantine.reject": Form("quarantine reject", ("pak_id",)),
    "trust.list": Form("trust list"),
    "trust.set": Form("trust set", ("source", "trust")),
    "keys.list": Form("keys list"),
    "keys.create": Form(
        "keys create",
        (),
        {"permissions": (("--permissions",), lambda value: ["--permissions", ",".join(value)])},
    ),
    "keys.revoke": Form("keys revoke", ("prefix",)),
    "audit": Form("audit"),
    "ingest": Form("ingest", piped="items"),
    "export": Form("export"),
    "import": Form("import -", piped="lines"),
    "tidy": Form("tidy"),
    # Whoever runs a command is told which file it was that was counted.
    "stats": Form("stats", added=("db",)),
}
# Verbs that have no command of their own.
NO_COMMAND: Mapping[str, str] = {
    "ids": "a beginning of an id is understood wherever an id is taken, and shells complete it",
    "preview": "pages try recipes by it; at a shell, `frames update` and `frame`",
    "disputes": "`recall` marks what is disputed, and `pak inspect` names with what",
    "paks.set_reason_codes": "codes are set by programs, which know the registry",
    "paks.set_risk_flags": "flags are set by programs, which know the registry",
    "frames.invalidate": "a cache is in the process that answers; a command's is gone when it ends",
    "retry_pending": "the next `remember` does it, and says what waits",
    "me": "who runs a command holds the file, or has chosen the key",
}
# Where a shell has another default: as much as fits on a screen.
OWN_DEFAULTS: Mapping[tuple[str, str], Any] = {
    ("list", "limit"): 20,
    ("receipts", "limit"): 20,
    ("audit", "limit"): 20,
    ("paks.list", "limit"): 20,
    ("paks.search", "limit"): 10,
}
_WRONGLY = "what a command does not have is typed wrongly: its usage is shown, with exit code 2"
# Cases that cannot be typed, by verb and what is given. They are asked of the library in between,
# so that what comes after them is told of the same store.
UNTOLD: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("remember", {"content": "x", "colour": "green"}, _WRONGLY),
    ("remember", {}, "without a text, it is read from the pipe"),
    ("recall", {"query": "kiln", "detail": "half"}, _WRONGLY),
    ("explain", {"pak_id": "visitors", "select": {"colour": 1}}, _WRONGLY),
    ("forget", {}, _WRONGLY),
    (
        "frames.update",
        {
            "name": "own",
            "weights": {
                "similarity": 0.5,
                "confidence": 0.2,
                "recency": 0.1,
                "centrality": 0.1,
                "reinforcement": 0.1,
            },
            "filters": {"search_window_hours": None},
            "guarantees": [],
            "template": "task",
            "token_budget": 90,
            "cache": None,
            "request_id": "f1",
        },
        "a list that is empty from now on cannot be typed: what is not given stays",
    ),
)


def why_not(case: Mapping[str, Any]) -> str | None:
    """Return why a case cannot be typed, None if it can."""
    verb, given = case["verb"], case["given"]
    if verb in NO_COMMAND:
        return NO_COMMAND[verb]
    return next((why for name, one, why in UNTOLD if (name, one) == (verb, given)), None)


def typed(verb: Verb, given: Mapping[str, Any]) -> tuple[Words, str]:
    """Return the words of a command, and what is sent through its pipe."""
    form, rest = FORMS[verb.name], dict(given)
    pipe = _piped(form, rest.pop(form.piped)) if form.piped in rest else ""
    bare = [rest.pop(name) for name in form.bare if name in rest]
    words = form.words.split()
    if verb.name == "supersede" and "new" not in given:
        words.append("--undo")
    for known in verb.fields:
        if (verb.name, known.name) in OWN_DEFAULTS:
            rest.setdefault(known.name, known.default)
    kinds = {known.name: known.kind for known in verb.fields}
    for name, value in rest.items():
        if name in form.otherwise:
            words += form.otherwise[name][1](value)
        else:
            words += _plain(kinds[name])(option_of(name))(value)
    texts = [text for value in bare for text in (value if isinstance(value, list) else [value])]
    return [*words, "--json", "--", *map(str, texts)], pipe


def _plain(kind: str) -> Callable[[str], Written]:
    if kind == "flag":
        return flag
    return each if kind in ("texts", "text_or_texts") else one


def _piped(form: Form, value: list[Any]) -> str:
    if form.words == "ingest":
        return json.dumps(value)
    lines = value if form.piped == "lines" else [json.dumps(item) for item in value]
    return "".join(f"{line}\n" for line in lines)
