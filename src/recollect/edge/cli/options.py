"""Options that mean the same wherever they stand: the database, JSON, the embedder, a budget, ids.

In: nothing. Out: annotated types for the parameters of commands. What an option does is said by
the command that takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import ids
from recollect.errors import InvalidInput
from recollect.settings import default_opening

if TYPE_CHECKING:
    from recollect.model import Role
    from recollect.model import Scope as ScopeName

__all__ = [
    "Budget",
    "Db",
    "Embedder",
    "Filter",
    "Garden",
    "Json",
    "Key",
    "Metadata",
    "MinMatch",
    "MinScore",
    "PakId",
    "Query",
    "ReadOnly",
    "ReceiptOfIt",
    "RequestId",
    "Scope",
    "Since",
    "Speaker",
    "Thread",
    "TopK",
    "Until",
    "Url",
    "ValidFrom",
    "ValidUntil",
    "as_filter",
    "as_metadata",
    "as_question",
    "as_role",
    "as_scope",
    "as_seconds",
    "chosen_key",
    "chosen_url",
    "wants_read_only",
]

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="PATH",
        help="The database: a file, sqlite:///file or memory://. Without it: the one that"
        " RECOLLECT_DB names, or the one under ~/.recollect.",
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        callback=output.switch_to_json,
        is_eager=True,
        help="Answer with one JSON object, errors included.",
    ),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="SPEC",
        help="static, none, minilm, onnx:FOLDER, openai:MODEL or fastembed:MODEL. Without it:"
        " RECOLLECT_EMBEDDER, or the memory's own.",
        show_default=False,
    ),
]
TopK = Annotated[
    int, typer.Option("--top-k", min=1, max=1000, metavar="N", help="At most this many, 1-1000.")
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        min=1,
        metavar="TOKENS",
        help="At most this many tokens of prompt text.",
        show_default=False,
    ),
]
PakId = Annotated[
    str,
    typer.Argument(
        metavar="PAK_ID", help="The id of the memory, or how it begins.", autocompletion=ids
    ),
]
Scope = Annotated[
    str | None,
    typer.Option("--scope", metavar="SCOPE", help="local, team, company or public."),
]
Garden = Annotated[
    str | None,
    typer.Option("--garden", metavar="SLUG", help="A garden that you are in."),
]
Query = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[QUERY...]",
        help="The question; without one, what matters most by the frame's other weights.",
        show_default=False,
    ),
]


Since = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="TIME", help="Only what is from then or later.", show_default=False
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until", metavar="TIME", help="Only what is from then or before.", show_default=False
    ),
]
Thread = Annotated[
    str | None,
    typer.Option("--thread", metavar="NAME", help="Only of this conversation.", show_default=False),
]
Speaker = Annotated[
    str | None,
    typer.Option("--speaker", metavar="NAME", help="Only what this one said.", show_default=False),
]
Filter = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="JSON",
        help='Only what fulfils it: \'{"metadata.stars": {"gte": 4}}\'.',
        show_default=False,
    ),
]

MinMatch = Annotated[
    Literal["weak", "fair", "strong"] | None,
    typer.Option("--min-match", help="Only what fits at least so well.", show_default=False),
]
MinScore = Annotated[
    float | None,
    typer.Option(
        "--min-score", metavar="0-1", help="Only what scores at least so much.", show_default=False
    ),
]
Metadata = Annotated[
    str | None,
    typer.Option(
        "--metadata",
        metavar="JSON",
        help="Whatever else is known of it: '{\"stars\": 4}'.",
        show_default=False,
    ),
]
ValidFrom = Annotated[
    str | None,
    typer.Option(
        "--valid-from", metavar="TIME", help="From when it holds: 2026-05-11.", show_default=False
    ),
]
ValidUntil = Annotated[
    str | None,
    typer.Option("--valid-until", metavar="TIME", help="Until when it holds.", show_default=False),
]


class _Chosen:
    """What stands before a command: one of them a process."""

    read_only = False
    key: str | None = None
    url: str | None = None


def _choose_read_only(wanted: bool) -> None:
    _Chosen.read_only = wanted


def _choose_key(given: str | None) -> None:
    _Chosen.key = given


def _choose_url(given: str | None) -> None:
    _Chosen.url = given


RequestId = Annotated[
    str | None,
    typer.Option(
        "--request-id",
        metavar="NAME",
        help="A name for this request: sent again within a day, it is done once.",
        show_default=False,
    ),
]
ReceiptOfIt = Annotated[
    bool,
    typer.Option("--receipt", help="Keep a receipt of the answer; RECOLLECT_RECEIPTS=1 does so."),
]
ReadOnly = Annotated[
    bool,
    typer.Option(
        "--read-only",
        callback=_choose_read_only,
        help="Open the database for reading; commands that write refuse.",
    ),
]


Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="SECRET",
        callback=_choose_key,
        help="Act as the principal of this key. RECOLLECT_KEY does the same, and is not in the list"
        " of processes.",
        show_default=False,
    ),
]


Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        callback=_choose_url,
        help="Ask the server at this address, or at unix:PATH, in place of a file. RECOLLECT_URL"
        " does the same; --key says who asks.",
        show_default=False,
    ),
]


def chosen_key() -> str | None:
    """Return the key that says who acts, by the option or by `RECOLLECT_KEY`; None: the holder."""
    return _Chosen.key or default_opening().key


def chosen_url() -> str | None:
    """Return the server to ask in place of a file, by the option or by `RECOLLECT_URL`."""
    return _Chosen.url or default_opening().url


def wants_read_only() -> bool:
    """Return whether nothing may be written: by the option, or by `RECOLLECT_READ_ONLY`."""
    return _Chosen.read_only or default_opening().read_only


def as_filter(given: str | None) -> Any:
    """Return a filter that was written as JSON, None for none."""
    return _as_json("--filter", given, """write '{"metadata.stars": {"gte": 4}}'.""")


def as_metadata(given: str | None) -> Any:
    """Return metadata that was written as JSON, None for none."""
    return _as_json("--metadata", given, """write '{"stars": 4, "by": {"name": "Ann"}}'.""")


def _as_json(option: str, given: str | None, hint: str) -> Any:
    if given is None:
        return None
    import json

    try:
        return json.loads(given)
    except ValueError as error:
        raise InvalidInput(f"{option} is no JSON: {error}.", hint=hint) from error


def as_seconds(given: str | None) -> float | None:
    """Return a length of time in seconds: a number with one of s, m, h, d and w behind it."""
    if given is None:
        return None
    number, unit = given.strip()[:-1], given.strip()[-1:].lower()
    try:
        return float(number) * _SECONDS[unit]
    except (KeyError, ValueError):
        raise InvalidInput(
            f"--ttl {given!r} is no length of time.", hint="write 90s, 30m, 12h, 30d or 2w."
        ) from None


def as_scope(given: str | None) -> ScopeName | None:
    """Return a scope as it was typed; the engine says whether there is such a one."""
    return cast("ScopeName | None", given)


def as_role(given: str) -> Role:
    """Return a role as it was typed; the engine says whether there is such a one."""
    return cast("Role", given)


def as_question(query: list[str] | None) -> str | None:
    """Return the words of a query as one question, None for none."""
    return " ".join(query or ()).strip() or None
