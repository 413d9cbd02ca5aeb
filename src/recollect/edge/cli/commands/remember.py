"""`recollect remember`: one text from the command line or stdin, or many from a file.

In: words, options, lines of JSON. Out: calls of the engine, and what it reports. The options of a
single text are the defaults of every line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import ids, projects
from recollect.edge.cli.complete import tags as tags_there
from recollect.edge.cli.options import (
    Db,
    Embedder,
    Garden,
    Json,
    Metadata,
    RequestId,
    Scope,
    ValidFrom,
    ValidUntil,
    as_metadata,
    as_seconds,
)
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["remember"]

_STDIN = "-"


def remember(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT...]",
            help="What to remember; - or nothing reads it from stdin.",
            show_default=False,
        ),
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            metavar="TAG",
            help="A tag; may be given again.",
            autocompletion=tags_there,
            show_default=False,
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            metavar="NAME",
            help="The project it belongs to.",
            autocompletion=projects,
        ),
    ] = None,
    category: Annotated[
        str | None,
        typer.Option("--category", metavar="NAME", help="The kind of memory: knowledge if new."),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", help="A title; otherwise the text's beginning."),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option("--confidence", metavar="0-1", help="How sure you are of it: 1 if new."),
    ] = None,
    thread: Annotated[
        str | None,
        typer.Option("--thread", metavar="NAME", help="The conversation it is part of."),
    ] = None,
    speaker: Annotated[
        str | None, typer.Option("--speaker", metavar="NAME", help="Who said it.")
    ] = None,
    occurred_at: Annotated[
        str | None,
        typer.Option("--occurred-at", metavar="TIME", help="When it happened: 8 May 2023."),
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option("--entity", metavar="NAME", help="What the fact is about: Ann."),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", metavar="NAME", help="What of it: lives in."),
    ] = None,
    value: Annotated[
        str | None,
        typer.Option("--value", metavar="TEXT", help="And what that is: Berlin."),
    ] = None,
    on_conflict: Annotated[
        str,
        typer.Option(
            "--on-conflict",
            metavar="WHAT",
            help="If another value is known: report it, dispute it, or supersede it.",
        ),
    ] = "report",
    supersedes: Annotated[
        list[str] | None,
        typer.Option(
            "--supersedes",
            metavar="PAK_ID",
            help="Whose place it takes in answers, or how that id begins; may be given again.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    ttl: Annotated[
        str | None,
        typer.Option(
            "--ttl",
            metavar="TIME",
            help="How long it holds: 90s, 30m, 12h, 30d or 2w.",
            show_default=False,
        ),
    ] = None,
    metadata: Metadata = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="Where it came from.")
    ] = None,
    pak_id: Annotated[
        str | None,
        typer.Option("--pak-id", metavar="ID", help="An id of your own, to replace it later."),
    ] = None,
    scope: Scope = None,
    team: Annotated[
        str | None,
        typer.Option("--team", metavar="NAME", help="Whose it is, with --scope team."),
    ] = None,
    garden: Garden = None,
    jsonl: Annotated[
        Path | None,
        typer.Option(
            "--jsonl",
            metavar="FILE",
            help="Remember every line of this file, each a JSON string or object; - is stdin.",
        ),
    ] = None,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Store a text, durably; the same text in the same project is stored once."""
    given = {
        "tags": tags or [],
        "project": project,
        "category": category,
        "title": title,
        "confidence": confidence,
        "thread": thread,
        "speaker": speaker,
        "occurred_at": occurred_at,
        "entity": entity,
        "relation": relation,
        "value": value,
        "on_conflict": on_conflict,
        "supersedes": supersedes or None,
        "valid_from": valid_from,
        "valid_until": valid_until,
        "ttl": as_seconds(ttl),
        "metadata": as_metadata(metadata),
        "source": source,
        "pak_id": pak_id,
        "scope": scope,
        "team": team,
        "garden": garden,
    }
    if jsonl is not None:
        if words or title is not None or pak_id is not None or supersedes:
            raise typer.BadParameter(
                "it goes with no TEXT, --title, --pak-id or --supersedes.", context
            )
        _many(output.of(context), list(_lines(jsonl, given)), request_id, db, embedder)
    else:
        _one(
            output.of(context),
            {"content": _text(words), **given, "request_id": request_id},
            db,
            embedder,
        )


def _one(out: output.Output, item: dict[str, Any], db: str | None, spec: str | None) -> None:
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    started = open_memory.will_start(db)
    with open_memory.new_or_existing(db, spec) as memory:
        item["supersedes"] = [open_memory.whole_id(memory, one) for one in item["supersedes"] or ()]
        done = memory.remember(**item)
        complaint = memory.stats().get("embedder_error")

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import remember as view

        view.draw_started(console, started)
        view.draw_one(console, done, complaint)

    out.show(wire.remembered(done), draw)


def _many(
    out: output.Output, items: list[Any], request_id: str | None, db: str | None, spec: str | None
) -> None:
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    started = open_memory.will_start(db)
    with (
        open_memory.new_or_existing(db, spec) as memory,
        out.progress("Remembering", len(items)) as progress,
    ):
        done = memory.remember_many(items, progress=progress, request_id=request_id)
        complaint = memory.stats().get("embedder_error")
    tally = wire.batch(done)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import remember as view

        view.draw_started(console, started)
        view.draw_many(
            console,
            len(done),
            created=tally["created"],
            pending=tally["pending"],
            complaint=complaint,
        )

    out.show(tally, draw)


def _text(words: list[str] | None) -> str:
    if words and words != [_STDIN]:
        return " ".join(words)
    if sys.stdin is None or (not words and sys.stdin.isatty()):
        raise InvalidInput(
            "There is no text to remember.",
            hint="type it after `recollect remember`, or send it through a pipe.",
        )
    return _decoded(sys.stdin.buffer.read(), "stdin").rstrip("\r\n")


def _lines(path: Path, given: dict[str, Any]) -> Iterator[Any]:
    """Yield an item for each line that is not blank; what a line says goes before `given`."""
    name = "stdin" if str(path) == _STDIN else str(path)
    for number, line in enumerate(_decoded(_read(path), name).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError as error:
            raise InvalidInput(
                f"Line {number} of {name} is no JSON: {error}.",
                hint='each line is "a text" or {"content": "a text", "tags": ["shop"]}.',
            ) from error
        if isinstance(item, str):
            item = {"content": item}
        if not isinstance(item, dict):
            raise InvalidInput(
                f"Line {number} of {name} is neither a text nor an object.",
                hint='each line is "a text" or {"content": "a text", "tags": ["shop"]}.',
            )
        yield {**given, **item}


def _read(path: Path) -> bytes:
    if str(path) == _STDIN:
        return sys.stdin.buffer.read()
    try:
        return path.expanduser().read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}.", hint="check the path after --jsonl."
        ) from error


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name} is not UTF-8: byte {error.start} cannot be read.",
            hint="convert it first, for example with `iconv -t UTF-8`.",
        ) from error
