"""`recollect ingest`: facts from outside, each at what the word of its source is worth here.

In: a file of JSON, or the pipe. Out: one call of the engine, and what became of each fact.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.given import as_scope
from recollect.edge.cli.options import Db, Embedder, Json, RequestId
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["ingest"]

_PIPE = Path("-")


def ingest(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="[FILE]", help="The facts, each an object. A JSON list; - or nothing is stdin."
        ),
    ] = _PIPE,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="Whose word it is.", show_default=False),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            "--scope", metavar="SCOPE", help="How widely they are visible.", show_default=False
        ),
    ] = None,
    team: Annotated[
        str | None,
        typer.Option(
            "--team",
            metavar="NAME",
            help="Whose they are, with the scope team.",
            show_default=False,
        ),
    ] = None,
    garden: Annotated[
        str | None,
        typer.Option(
            "--garden", metavar="SLUG", help="The garden that they go into.", show_default=False
        ),
    ] = None,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Take in facts from outside; what is little trusted, and orders, wait in quarantine."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    if source is None:
        raise typer.BadParameter("name whose word it is: --source NAME.", context)
    facts = _read(file)
    with open_memory.new_or_existing(db, embedder) as memory:
        done = memory.ingest(
            facts,
            source=source,
            scope=as_scope(scope),
            team=team,
            garden=garden,
            request_id=request_id,
        )

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import ingest as view

        for line in view.lines(done):
            console.print(line, soft_wrap=True)

    output.of(context).show(wire.ingested(done), draw)


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == _PIPE else file.expanduser().read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{file} cannot be read: {error.strerror}.", hint="name a file with a JSON list."
        ) from error
