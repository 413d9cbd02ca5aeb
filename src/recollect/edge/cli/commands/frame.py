"""`recollect frame`: the text of a prompt.

In: a frame's name, a question, options. Out: one call of the engine. The prompt's text goes to
stdout alone; what there is to say about it goes to stderr.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import frames
from recollect.edge.cli.given import as_filter, as_question
from recollect.edge.cli.options import (
    OF_ANSWERS,
    Budget,
    Db,
    Embedder,
    Json,
    Query,
    ReceiptOfIt,
    TopK,
    taking,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["frame"]


@taking(OF_ANSWERS)
def frame(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The name of the frame. Such as self, attention, task.",
            autocompletion=frames,
        ),
    ],
    query: Query = None,
    top_k: TopK = 5,
    budget: Budget = None,
    receipt: ReceiptOfIt = False,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
    **narrowed: Any,
) -> None:
    """Print the text of a frame for a prompt, and count the use of what is in it."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder, receipts=receipt) as memory:
        result = memory.frame(
            name,
            as_question(query),
            top_k=top_k,
            token_budget=budget,
            filter=as_filter(narrowed.pop("filter_")),
            **narrowed,
        )

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import frame as view
        from recollect.edge.cli.views.elements import plain
        from recollect.edge.cli.views.select import flags

        if result.text:
            # A program gets the text as it is; a terminal must not obey what was stored.
            shown = plain(result.text) if console.is_terminal else result.text
            sys.stdout.write(shown + "\n")
            sys.stdout.flush()
        warnings = [flag for flag in result.flags if flag.severity != "info"]
        for note in (*view.notes(result), *flags(warnings)):
            output.console(stderr=True).print(note)

    output.of(context).show(wire.framed(result), draw)
