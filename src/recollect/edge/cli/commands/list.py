"""`recollect list`: what is remembered, newest first, a page at a time.

In: filters. Out: one call of the engine, drawn as a table or written for programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import projects
from recollect.edge.cli.options import Db, Embedder, Json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["list_"]


def list_(
    context: typer.Context,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            metavar="NAME",
            help="Only memories of this project.",
            autocompletion=projects,
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, metavar="N", help="At most this many.")
    ] = 20,
    cursor: Annotated[
        str | None,
        typer.Option(
            "--cursor", metavar="TOKEN", help="Go on where a page ended.", show_default=False
        ),
    ] = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """List what is remembered, newest first."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        page = memory.list(project=project, limit=limit, cursor=cursor)
        there = memory.stats()["memories"]

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import list as view

        if not page.items:
            console.print(view.nothing(there))
            return
        console.print(view.table(page.items))
        if page.next_cursor:
            options = {"--db": db, "--project": project, "--limit": str(limit)}
            console.print(view.more(page.next_cursor, options), soft_wrap=True)

    output.of(context).show(wire.listing(page), draw)
