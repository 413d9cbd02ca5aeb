"""`recollect recall`: a question in, memories out.

In: words and options. Out: one call of the engine, drawn for people or written for programs.
"""

from __future__ import annotations

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
    Garden,
    Json,
    MinMatch,
    MinScore,
    Query,
    ReceiptOfIt,
    Scope,
    Since,
    Speaker,
    Thread,
    TopK,
    Until,
    as_filter,
    as_question,
    as_scope,
)

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.edge import wire

__all__ = ["recall"]


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
    tags: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            metavar="TAG",
            help="Only memories with this tag, or one starting so if it ends in %; may be given"
            " again.",
            autocompletion=tags_there,
            show_default=False,
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            metavar="NAME",
            help="Only memories of this project.",
            autocompletion=projects,
        ),
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option("--entity", metavar="NAME", help="Only facts about this."),
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", metavar="NAME", help="Only facts of this relation."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="Only what came from here.")
    ] = None,
    scope: Scope = None,
    garden: Garden = None,
    min_confidence: Annotated[
        float | None,
        typer.Option("--min-confidence", metavar="0-1", help="Only what is at least so sure."),
    ] = None,
    min_score: MinScore = None,
    min_match: MinMatch = None,
    since: Since = None,
    until: Until = None,
    thread: Thread = None,
    speaker: Speaker = None,
    filter_: Filter = None,
    now: Annotated[
        str | None,
        typer.Option("--now", metavar="TIME", help="Ask as of this time.", show_default=False),
    ] = None,
    signals: Annotated[
        bool, typer.Option("--signals", help="Show what each score is made of.")
    ] = False,
    receipt: ReceiptOfIt = False,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Find what answers a question, best first, with the reasons; changes no memory."""
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder, receipts=receipt) as memory:
        answer = memory.recall(
            as_question(query),
            frame=frame,
            top_k=top_k,
            token_budget=budget,
            tags=tags,
            project=project,
            entity=entity,
            relation=relation,
            source=source,
            scope=as_scope(scope),
            garden=garden,
            min_confidence=min_confidence,
            min_score=min_score,
            min_match=min_match,
            since=since,
            until=until,
            thread=thread,
            speaker=speaker,
            filter=as_filter(filter_),
            now=now,
        )
        weights = memory.frames.get(frame).weights
        stored = 0 if answer.results else memory.stats()["memories"]

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import recall as view

        if view.is_all_weak(answer):
            console.print(view.CLOSEST)
        if not answer.results:
            console.print(view.nothing(answer, stored))
        elif signals:
            used = weights if as_question(query) else weights.renormalized_without_similarity()
            for result in answer.results:
                console.print(view.signal_parts(result, used))
        else:
            console.print(view.results(answer))
        if answer.instructions:
            console.print(view.instructions(answer))
        for note in view.notes(answer.degraded, answer.dropped, answer.meta):
            console.print(note)
        if receipt and "receipt" not in answer.degraded:
            console.print(view.kept(answer.recall_id))

    def told() -> wire.Object:
        from recollect.edge import wire

        return wire.answer(answer)

    def piped(columns: int) -> str | None:
        from recollect.edge.cli.views.piped import recalled

        return None if signals or receipt else recalled(answer, columns)

    output.of(context).show(told, draw, piped=piped)
