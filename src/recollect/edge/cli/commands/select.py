"""`recollect select`: which Paks, and why.

In: words and options. Out: one call of the engine, drawn for people or written for programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from recollect.edge.cli import output
from recollect.edge.cli.given import as_weights
from recollect.edge.cli.options import Budget, Db, Embedder, Json, Now

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.recall.select import SelectQuery

__all__ = [
    "Days",
    "Exclude",
    "Limit",
    "Superseded",
    "Syntax",
    "Type",
    "Weights",
    "select",
    "selection",
]

Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        help="Raises what is of this project.",
        show_default=False,
    ),
]
Type = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="NAME",
        help="Raises what is of this type.",
        show_default=False,
    ),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="How many at the most.")]
Days = Annotated[
    float,
    typer.Option("--days", metavar="N", help="For how many days a change counts."),
]
Exclude = Annotated[
    Literal["penalty", "skip"],
    typer.Option("--exclude", help="What a reason to leave it out does: lower a score, or skip."),
]
Superseded = Annotated[bool, typer.Option("--superseded", help="Take what has a successor too.")]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="JSON",
        help="What a reason code adds, by code; without it, as is usual. Such as"
        " '{\"mandatory\": 1}'.",
        show_default=False,
    ),
]
Syntax = Annotated[
    Literal["plain", "fts5"],
    typer.Option("--syntax", help="plain words, or fts5: phrases, AND, OR, NOT, prefix*, NEAR."),
]


def select(
    context: typer.Context,
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT...]",
            help="Words to look for in titles and summaries. Without text and filters: the newest"
            " Paks.",
            show_default=False,
        ),
    ] = None,
    project: Project = None,
    pak_type: Type = None,
    limit: Limit = 25,
    budget: Budget = None,
    days: Days = 30,
    weights: Weights = None,
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

    query = selection(
        text=" ".join(text or ()),
        project=project,
        pak_type=pak_type,
        recency_window_days=days,
        limit=limit,
        token_budget=budget,
        now=now,
        weights=as_weights(weights),
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


def selection(**given: Any) -> SelectQuery:
    """Return what is asked of a selection; what is not said is as usual."""
    from recollect.recall.select import SelectQuery

    days = given["recency_window_days"]
    # As it was typed: an answer repeats the question, and 30 is not 30.0 there.
    given["recency_window_days"] = int(days) if days.is_integer() else days
    return SelectQuery(**{name: value for name, value in given.items() if value is not None})
