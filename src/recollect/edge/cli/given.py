"""What was typed, as the engine takes it; and what was typed before the command.

In: words, JSON and lengths of time as strings. Out: values for a verb's arguments. Nothing here
knows the library that reads the command line: a plain recall is read without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from recollect.errors import InvalidInput
from recollect.settings import default_opening

if TYPE_CHECKING:
    from recollect.model import Role, Scope

__all__ = [
    "Chosen",
    "as_filter",
    "as_metadata",
    "as_question",
    "as_role",
    "as_scope",
    "as_seconds",
    "as_weights",
    "chosen_key",
    "chosen_url",
    "wants_read_only",
]

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class Chosen:
    """What stands before a command: one of them a process."""

    read_only = False
    key: str | None = None
    url: str | None = None


def chosen_key() -> str | None:
    """Return the key that says who acts, by the option or by `RECOLLECT_KEY`; None: the holder."""
    return Chosen.key or default_opening().key


def chosen_url() -> str | None:
    """Return the server to ask in place of a file, by the option or by `RECOLLECT_URL`."""
    return Chosen.url or default_opening().url


def wants_read_only() -> bool:
    """Return whether nothing may be written: by the option, or by `RECOLLECT_READ_ONLY`."""
    return Chosen.read_only or default_opening().read_only


def as_filter(given: str | None) -> Any:
    """Return a filter that was written as JSON, None for none."""
    return _as_json("--filter", given, """write '{"metadata.stars": {"gte": 4}}'.""")


def as_metadata(given: str | None) -> Any:
    """Return metadata that was written as JSON, None for none."""
    return _as_json("--metadata", given, """write '{"stars": 4, "by": {"name": "Ann"}}'.""")


def as_weights(given: str | None) -> Any:
    """Return what reason codes add, written as JSON, None for what is usual."""
    return _as_json("--weights", given, """write '{"mandatory": 1, "user_pinned": 0.5}'.""")


def _as_json(option: str, given: str | None, hint: str) -> Any:
    if given is None:
        return None
    import json

    try:
        return json.loads(given)
    except ValueError as error:
        raise InvalidInput(f"{option} is no JSON: {error}.", hint=hint) from error


def as_seconds(given: str | None, option: str = "--ttl") -> float | None:
    """Return a length of time in seconds: a number with one of s, m, h, d and w behind it."""
    if given is None:
        return None
    number, unit = given.strip()[:-1], given.strip()[-1:].lower()
    try:
        return float(number) * _SECONDS[unit]
    except (KeyError, ValueError):
        raise InvalidInput(
            f"{option} {given!r} is no length of time.", hint="write 90s, 30m, 12h, 30d or 2w."
        ) from None


def as_scope(given: str | None) -> Scope | None:
    """Return a scope as it was typed; the engine says whether there is such a one."""
    return cast("Scope | None", given)


def as_role(given: str) -> Role:
    """Return a role as it was typed; the engine says whether there is such a one."""
    return cast("Role", given)


def as_question(query: list[str] | None) -> str | None:
    """Return the words of a query as one question, None for none."""
    return " ".join(query or ()).strip() or None
