"""`recollect explain`: why a memory is in an answer, or why not.

In: an id, and the question that was asked. Out: one call of the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.commands.select import Days, Exclude, Limit, Now, Superseded, Syntax, Type
from recollect.edge.cli.options import Budget, Db, Embedder, Json, PakId, TopK

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["explain"]


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
    syntax: Syntax = "plain",
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Say why a memory is in an answer, or the first stage that left it out.

    Without --frame and --select, the answer is that of a recall.
    """
    from recollect.edge import wire
    from recollect.edge.cli import open_memory
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
            syntax=syntax,
        )
    elif frame is None:
        query = RecallRequest(question, top_k=top_k, token_budget=budget, project=project)
    with open_memory.existing(db, embedder) as memory:
        pak_id = open_memory.whole_id(memory, pak_id)
        told = memory.explain(pak_id, query, frame=frame, top_k=top_k, token_budget=budget)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import explain as view

        console.print(view.explanation(told))

    output.of(context).show(wire.explanation(told), draw)
