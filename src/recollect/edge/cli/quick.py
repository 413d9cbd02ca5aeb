"""A plain recall, read from the arguments without the library that reads command lines.

In: the arguments of the process. Out: the options of `ask`, or None for what is not plain: other
commands, help, an option that is unknown, lacks its value or has a bad one. What is not plain is
read by `app`, whose words about mistakes are the only ones; a test holds the two to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Plain", "read"]

_COMMANDS = ("recall", "search")
_MOST_RESULTS = 1000


class Plain(NamedTuple):
    """A question and its options, each with a value."""

    options: Mapping[str, Any]
    as_json: bool


def _text(value: str) -> str:
    return value


def _number(value: str) -> float | None:
    return float(value) if value.isascii() and value.replace(".", "", 1).isdigit() else None


def _count(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() and int(value) else None


def _results(value: str) -> int | None:
    count = _count(value)
    return count if count is not None and count <= _MOST_RESULTS else None


def _match(value: str) -> str | None:
    return value if value in ("weak", "fair", "strong") else None


def _detail(value: str) -> str | None:
    return value if value in ("full", "index") else None


# How the value of each option is read; None: not plain. An option that is not here is not plain.
_TEXTS = (
    *("--frame", "--tag", "--project", "--entity", "--relation", "--source", "--scope", "--garden"),
    *("--since", "--until", "--thread", "--speaker", "--filter", "--now", "--db", "--embedder"),
)
_VALUES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(_TEXTS, _text),
    **dict.fromkeys(("--min-confidence", "--min-score", "--diversity"), _number),
    "--top-k": _results,
    **dict.fromkeys(("--budget", "--text-budget"), _count),
    "--detail": _detail,
    "--min-match": _match,
}
_SWITCHES = ("--signals", "--receipt", "--json", "--include-quarantined", "--refresh")
# What is not called as it is typed.
_CALLED = {"--tag": "tags", "--filter": "filter_", "--json": "as_json"}
_DEFAULTS = {"query": None, "frame": "evidence", "top_k": 5, "detail": "full", "text_budget": 0}


def _name(flag: str) -> str:
    return _CALLED.get(flag) or flag[2:].replace("-", "_")


def read(arguments: Sequence[str]) -> Plain | None:
    """Return the recall that the arguments ask for, None if it takes more to read them."""
    if not arguments or arguments[0] not in _COMMANDS:
        return None
    options: dict[str, Any] = {
        **{_name(flag): None for flag in _VALUES},
        **{_name(flag): False for flag in _SWITCHES},
        **_DEFAULTS,
    }
    rest = iter(arguments[1:])
    for word in rest:
        if not word.startswith("-"):
            options["query"] = [*(options["query"] or ()), word]
        elif not _take(word, rest, options):
            return None
    return Plain(options, options.pop("as_json"))


def _take(word: str, rest: Iterator[str], options: dict[str, Any]) -> bool:
    """Put one option, with its value from the rest if it has one, among the others."""
    if word in _SWITCHES:
        options[_name(word)] = True
        return True
    flag, is_joined, joined = word.partition("=")
    if flag not in _VALUES:
        return False
    given = joined if is_joined else next(rest, "-")
    value = None if given.startswith("-") else _VALUES[flag](given)
    if value is None:
        return False
    name = _name(flag)
    options[name] = [*(options[name] or ()), value] if name == "tags" else value
    return True
