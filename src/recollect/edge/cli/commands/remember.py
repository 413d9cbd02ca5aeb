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
from recollect.edge.cli.complete import ids
from recollect.edge.cli.given import as_metadata, as_seconds
from recollect.edge.cli.options import (
    Authority,
    Category,
    Confidence,
    Db,
    Embedder,
    FromSource,
    Garden,
    Json,
    Metadata,
    NewProject,
    NewTags,
    Now,
    OccurredAt,
    OfEntity,
    OfRelation,
    OfThread,
    PakType,
    RequestId,
    SaidBy,
    Scope,
    Summary,
    Team,
    Title,
    Topic,
    Ttl,
    ValidFrom,
    ValidUntil,
    Value,
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
            help="What to remember. - or nothing reads it from stdin.",
            show_default=False,
        ),
    ] = None,
    tags: NewTags = None,
    project: NewProject = None,
    category: Category = None,
    title: Title = None,
    summary: Summary = None,
    topic: Topic = None,
    pak_type: PakType = None,
    authority: Authority = None,
    confidence: Confidence = None,
    thread: OfThread = None,
    speaker: SaidBy = None,
    occurred_at: OccurredAt = None,
    turn: Annotated[
        int | None,
        typer.Option(
            "--turn",
            metavar="N",
            help="Which of several equal turns of a thread it is.",
            show_default=False,
        ),
    ] = None,
    entity: OfEntity = None,
    relation: OfRelation = None,
    value: Value = None,
    on_conflict: Annotated[
        str,
        typer.Option(
            "--on-conflict",
            metavar="WHAT",
            help="What becomes of another value of the same entity and relation. It is report,"
            " dispute or supersede.",
        ),
    ] = "report",
    supersedes: Annotated[
        list[str] | None,
        typer.Option(
            "--supersedes",
            metavar="PAK_ID",
            help="Whose place it takes in answers. The beginning of an id will do; may be given"
            " again.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    ttl: Ttl = None,
    metadata: Metadata = None,
    source: FromSource = None,
    pak_id: Annotated[
        str | None,
        typer.Option(
            "--pak-id", metavar="ID", help="An id of your own. By it you replace it later."
        ),
    ] = None,
    scope: Scope = None,
    team: Team = None,
    garden: Garden = None,
    jsonl: Annotated[
        Path | None,
        typer.Option(
            "--jsonl",
            metavar="FILE",
            help="Remember every line of this file, each a JSON string or object; - is stdin.",
        ),
    ] = None,
    now: Now = None,
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
        "summary": summary,
        "topic": topic,
        "pak_type": pak_type,
        "authority": authority,
        "confidence": confidence,
        "thread": thread,
        "speaker": speaker,
        "occurred_at": occurred_at,
        "turn": turn,
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
        lines = list(_lines(jsonl, given))
        _many(output.of(context), lines, {"now": now, "request_id": request_id}, db, embedder)
    else:
        _one(
            output.of(context),
            {"content": _text(words), **given, "now": now, "request_id": request_id},
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
    out: output.Output, items: list[Any], how: dict[str, Any], db: str | None, spec: str | None
) -> None:
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    started = open_memory.will_start(db)
    with (
        open_memory.new_or_existing(db, spec) as memory,
        out.progress("Remembering", len(items)) as progress,
    ):
        done = memory.remember_many(items, progress=progress, **how)
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
