"""`recollect recall`: a question in, memories out.

In: words and options, all that there are. Out: what `ask` takes. A plain question comes there by
`quick.py`, without this module.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from recollect.edge.cli import output
from recollect.edge.cli.ask import ask
from recollect.edge.cli.complete import frames
from recollect.edge.cli.options import (
    OF_RECALLS,
    Budget,
    Db,
    Embedder,
    Json,
    Query,
    ReceiptOfIt,
    TopK,
    taking,
)

__all__ = ["recall"]


@taking(OF_RECALLS)
def recall(
    context: typer.Context,
    query: Query = None,
    frame: Annotated[
        str,
        typer.Option(
            "--frame",
            metavar="NAME",
            help="The frame whose weights count.",
            autocompletion=frames,
        ),
    ] = "evidence",
    top_k: TopK = 5,
    budget: Budget = None,
    detail: Annotated[
        Literal["full", "index"],
        typer.Option(
            "--detail",
            help="full: each memory whole. index: its id, score, title and first words; then get"
            " it. With --json.",
        ),
    ] = "full",
    text_budget: Annotated[
        int,
        typer.Option(
            "--text-budget",
            metavar="TOKENS",
            help="With index: the whole texts of the best beside it, up to so many tokens.",
        ),
    ] = 0,
    signals: Annotated[
        bool, typer.Option("--signals", help="Show what each score is made of.")
    ] = False,
    receipt: ReceiptOfIt = False,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
    **narrowed: Any,
) -> None:
    """Find what answers a question, best first, with the reasons; changes no memory."""
    ask(
        output.of(context),
        query=query,
        frame=frame,
        top_k=top_k,
        budget=budget,
        detail=detail,
        text_budget=text_budget,
        signals=signals,
        receipt=receipt,
        db=db,
        embedder=embedder,
        **narrowed,
    )
