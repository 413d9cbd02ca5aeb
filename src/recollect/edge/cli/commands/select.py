"""`recollect select`: which Paks, and why.

In: words and options. Out: one call of the engine, drawn for people or written for programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Budget, Db, Embedder, Json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Days", "Exclude", "Limit", "Now", "Superseded", "Type", "select"]

Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        help="Take in the Paks of this project, and raise them.",
        show_default=False,
    ),
]
Type = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="NAME",
        help="Take in the Paks of this type, and raise them.",
        show_default=False,
    ),
]
Limit = Annotated[int, typer.Option("--limit", min=1, metavar="N", help="At most this many Paks.")]
Days = Annotated[
    float,
    typer.Option("--days", min=0, metavar="N", help="How many days back a Pak is still recent."),
]
Exclude = Annotated[
    Literal["penalty", "skip"],
    typer.Option("--exclude", help="What an exclude code does: count against a Pak, or bar it."),
]
Superseded = Annotated[bool, typer.Option("--superseded", help="Select among superseded Paks too.")]
Now = Annotated[
    str | None,
    typer.Option(
        "--now", metavar="TIME", help="Select as of this time, in UTC.", show_default=False
    ),
]

Syntax = Annotated[
    Literal["plain", "fts5"],
    typer.Option("--syntax", help="Read the text as plain words, or as an FTS5 expression."),
]


def select(
    context: typer.Context,
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT...]",
            help="What to look for, as plain words; without text and filters, the newest Paks.",
            show_default=False,
        ),
    ] = None,
    project: Project = None,
    pak_type: Type = None,
    limit: Limit = 25,
    budget: Budget = None,
    days: Days = 30,
    exclude: Exclude = "penalty",
    superseded: Superseded = False,
    now: Now = None,
    syntax: Syntax = "plain",
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Select Paks by words, filters, age and reason codes, with every part of each score."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory
    from recollect.recall.select import SelectQuery

    query = SelectQuery(
        " ".join(text or ()),
        project=project,
        pak_type=pak_type,
        recency_window_days=days,
        limit=limit,
        token_budget=budget,
        now=now,
        exclude=exclude,
        include_superseded=superseded,
        syntax=syntax,
    )
    with open_memory.existing(db, embedder) as memory:
        result = memory.select(query)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import recall
        from recollect.edge.cli.views import select as view

        for line in view.blocks(result):
            console.print(line, soft_wrap=True)
        nothing = recall.refusal(result.meta) or "No Pak was selected."
        console.print(view.scores(result) if result.scores else nothing)
        for line in view.flags(result.flags):
            console.print(line)
        degraded = result.meta.get("degraded", ())
        for note in recall.notes(degraded, result.dropped, result.meta):
            console.print(note)

    output.of(context).show(wire.selection(result), draw)
