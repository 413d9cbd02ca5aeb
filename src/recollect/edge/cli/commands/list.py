"""`recollect list`: what is remembered, newest first, a page at a time.

In: filters. Out: one call of the engine, drawn as a table or written for programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import projects
from recollect.edge.cli.complete import tags as tags_there
from recollect.edge.cli.options import (
    Db,
    Embedder,
    Filter,
    Json,
    Since,
    Speaker,
    Thread,
    Until,
    as_filter,
)

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
    tags: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            metavar="TAG",
            help="Only with this tag, or one starting so if it ends in %; may be given again.",
            autocompletion=tags_there,
            show_default=False,
        ),
    ] = None,
    since: Since = None,
    until: Until = None,
    thread: Thread = None,
    speaker: Speaker = None,
    filter_: Filter = None,
    order: Annotated[
        str,
        typer.Option("--order", metavar="ORDER", help="By updated, occurred (newest), or title."),
    ] = "updated",
    counts: Annotated[
        bool,
        typer.Option("--counts", help="How many there are of each project, tag, thread, speaker."),
    ] = False,
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

    narrowed: dict[str, Any] = {
        "project": project,
        "tags": tags,
        "since": since,
        "until": until,
        "thread": thread,
        "speaker": speaker,
        "order": order,
    }
    with open_memory.existing(db, embedder) as memory:
        page = memory.list(
            **narrowed,
            filter=as_filter(filter_),
            counts=counts,
            limit=limit,
            cursor=cursor,
        )
        there = memory.stats()["memories"]

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import list as view

        if not page.items:
            console.print(view.nothing(there))
            return
        console.print(view.table(page.items))
        if page.counts is not None:
            console.print(view.counts(page.counts))
        if page.next_cursor:
            options = {**narrowed, "filter": filter_, "limit": limit, "db": db}
            console.print(view.more(page.next_cursor, options), soft_wrap=True)

    output.of(context).show(wire.listing(page), draw)
