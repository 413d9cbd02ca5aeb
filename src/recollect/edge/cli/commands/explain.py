"""`recollect explain`: why a memory is in an answer, or why not.

In: an id, and the question that was asked. Out: one call of the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.edge.cli import output
from recollect.edge.cli.commands.select import (
    Days,
    Exclude,
    Limit,
    Superseded,
    Syntax,
    Type,
    Weights,
    selection,
)
from recollect.edge.cli.complete import frames
from recollect.edge.cli.given import as_filter, as_weights
from recollect.edge.cli.options import (
    OF_RECALLS,
    Budget,
    Db,
    Embedder,
    Json,
    PakId,
    TopK,
    taking,
)

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.recall.select import SelectQuery

__all__ = ["explain"]


@taking(OF_RECALLS)
def explain(
    context: typer.Context,
    pak_id: PakId,
    question: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="TEXT", help="The question, in plain words.", show_default=False
        ),
    ] = None,
    frame: Annotated[
        str | None,
        typer.Option(
            "--frame",
            metavar="NAME",
            help="Ask as this frame does; without it, as recall does.",
            autocompletion=frames,
            show_default=False,
        ),
    ] = None,
    recall_frame: Annotated[
        str,
        typer.Option(
            "--recall-frame",
            metavar="NAME",
            help="The frame whose weights count in a recall.",
            autocompletion=frames,
        ),
    ] = "evidence",
    selecting: Annotated[
        bool,
        typer.Option(
            "--select", help="Ask as select does, with these fields of it. They are options, too."
        ),
    ] = False,
    top_k: TopK = 5,
    budget: Budget = None,
    pak_type: Type = None,
    limit: Limit = 25,
    days: Days = 30,
    weights: Weights = None,
    exclude: Exclude = "penalty",
    superseded: Superseded = False,
    syntax: Syntax = "plain",
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
    **narrowed: Any,
) -> None:
    """Say why a memory is in an answer, or the first stage that left it out.

    Without --frame and --select, the answer is that of a recall.
    """
    from recollect.edge import wire
    from recollect.edge.cli import open_memory
    from recollect.model import RecallRequest

    query: RecallRequest | SelectQuery
    if selecting:
        query = selection(
            text=question,
            project=narrowed["project"],
            pak_type=pak_type,
            recency_window_days=days,
            limit=limit,
            token_budget=budget,
            now=narrowed["now"],
            weights=as_weights(weights),
            exclude=exclude,
            include_superseded=superseded,
            syntax=syntax,
        )
    else:
        asked = {"query": question, "frame": recall_frame, "top_k": top_k, "token_budget": budget}
        asked["filter"] = as_filter(narrowed.pop("filter_"))
        query = RecallRequest.from_dict({**asked, **narrowed})
    with open_memory.existing(db, embedder) as memory:
        pak_id = open_memory.whole_id(memory, pak_id)
        told = memory.explain(pak_id, query, frame=frame)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import explain as view

        console.print(view.explanation(told))

    output.of(context).show(wire.explanation(told), draw)
