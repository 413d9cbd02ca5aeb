"""`recollect frame`: the text of a prompt.

In: a frame's name, a question, options. Out: one call of the engine. The prompt's text goes to
stdout alone; what there is to say about it goes to stderr.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import frames, projects
from recollect.edge.cli.complete import tags as tags_there
from recollect.edge.cli.options import (
    Budget,
    Db,
    Embedder,
    Filter,
    Json,
    MinMatch,
    MinScore,
    Query,
    ReceiptOfIt,
    Since,
    Speaker,
    Thread,
    TopK,
    Until,
    as_filter,
    as_question,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["frame"]


def frame(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="self, attention, task, …", autocompletion=frames)
    ],
    query: Query = None,
    top_k: TopK = 5,
    budget: Budget = None,
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
    project: Annotated[
        str | None,
        typer.Option(
            "--project", metavar="NAME", help="Only of this project.", autocompletion=projects
        ),
    ] = None,
    min_score: MinScore = None,
    min_match: MinMatch = None,
    since: Since = None,
    until: Until = None,
    thread: Thread = None,
    speaker: Speaker = None,
    filter_: Filter = None,
    receipt: ReceiptOfIt = False,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
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
            tags=tags,
            project=project,
            min_score=min_score,
            min_match=min_match,
            since=since,
            until=until,
            thread=thread,
            speaker=speaker,
            filter=as_filter(filter_),
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
