"""`recollect select` and `recollect explain`: which Paks, and why, and why not.

In: words and options. Out: one call of the engine, drawn for people or written for programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from recollect.edge.cli import voice
from recollect.edge.cli.options import Budget, Db, Embedder, Json, PakId, TopK

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["explain", "select"]

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
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback tells the voice
) -> None:
    """Select Paks by words, filters, age and reason codes, with every part of each score."""
    from recollect.edge import wire
    from recollect.edge.cli import memory as opening
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
    )
    with opening.existing(db, embedder) as memory:
        result = memory.select(query)

    def draw(console: Console) -> None:
        from recollect.edge.cli import answers, selections

        for line in selections.blocks(result):
            console.print(line, soft_wrap=True)
        nothing = answers.refusal(result.meta) or "No Pak was selected."
        console.print(selections.scores(result) if result.scores else nothing)
        for line in selections.flags(result.flags):
            console.print(line)
        degraded = result.meta.get("degraded", ())
        for note in answers.notes(degraded, result.dropped, result.meta):
            console.print(note)

    voice.of(context).say(wire.selection(result), draw)


def explain(
    context: typer.Context,
    pak_id: PakId,
    question: Annotated[
        str | None,
        typer.Option("--for", metavar="TEXT", help="The question.", show_default=False),
    ] = None,
    frame: Annotated[
        str | None,
        typer.Option(
            "--frame", metavar="NAME", help="Explain this frame's text.", show_default=False
        ),
    ] = None,
    selecting: Annotated[
        bool, typer.Option("--select", help="Explain a selection instead of a recall.")
    ] = False,
    top_k: TopK = 5,
    budget: Budget = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            metavar="NAME",
            help="The recall's only project, or the one that the selection takes in and raises.",
            show_default=False,
        ),
    ] = None,
    pak_type: Type = None,
    limit: Limit = 25,
    days: Days = 30,
    exclude: Exclude = "penalty",
    superseded: Superseded = False,
    now: Now = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Say why a Pak is in an answer, or the first stage that left it out.

    Without --frame and --select, the answer is that of a recall.
    """
    from recollect.edge import wire
    from recollect.edge.cli import memory as opening
    from recollect.model import RecallRequest
    from recollect.recall.select import SelectQuery

    query: str | RecallRequest | SelectQuery | None = question
    if selecting:
        query = SelectQuery(
            question or "",
            project=project,
            pak_type=pak_type,
            recency_window_days=days,
            limit=limit,
            token_budget=budget,
            now=now,
            exclude=exclude,
            include_superseded=superseded,
        )
    elif frame is None:
        query = RecallRequest(question, top_k=top_k, token_budget=budget, project=project)
    with opening.existing(db, embedder) as memory:
        told = memory.explain(pak_id, query, frame=frame, top_k=top_k, token_budget=budget)

    def draw(console: Console) -> None:
        from recollect.edge.cli import selections

        console.print(selections.explanation(told))

    voice.of(context).say(wire.explanation(told), draw)
