"""`recollect list`: what is remembered, newest first, a page at a time.

In: filters. Out: one call of the engine, drawn as a table or written for programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.edge.cli import output
from recollect.edge.cli.given import as_filter
from recollect.edge.cli.options import (
    NARROWING,
    Cursor,
    Db,
    Embedder,
    Json,
    Limit,
    taking,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["list_"]


@taking(NARROWING)
def list_(
    context: typer.Context,
    order: Annotated[
        str,
        typer.Option(
            "--order",
            metavar="ORDER",
            help="By what they are ordered. It is updated, occurred, title or turn.",
        ),
    ] = "updated",
    counts: Annotated[
        bool,
        typer.Option("--counts", help="Count them, by project, tag, thread and so on."),
    ] = False,
    limit: Limit = 20,
    cursor: Cursor = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
    **narrowed: Any,
) -> None:
    """List what is remembered, newest first."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    filter_, narrowed["order"] = narrowed.pop("filter_"), order
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
