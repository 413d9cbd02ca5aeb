"""`recollect recall` and `recollect frame`: a question in, memories or the text of a prompt out.

In: words and options. Out: one call of the engine, drawn for people or written for programs. A
prompt's text goes to stdout alone; what there is to say about it goes to stderr.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import voice
from recollect.edge.cli.options import Budget, Db, Embedder, Garden, Json, Scope, TopK

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["frame", "recall"]

Query = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[QUERY...]",
        help="The question; without one, what matters most by the frame's other weights.",
        show_default=False,
    ),
]


def recall(
    context: typer.Context,
    query: Query = None,
    frame: Annotated[
        str, typer.Option("--frame", metavar="NAME", help="The frame whose weights count.")
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
            show_default=False,
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="NAME", help="Only memories of this project."),
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
    signals: Annotated[
        bool, typer.Option("--signals", help="Show what each score is made of.")
    ] = False,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback tells the voice
) -> None:
    """Find what answers a question, best first, with the reasons; changes no memory."""
    from recollect.edge import wire
    from recollect.edge.cli import memory as opening

    with opening.existing(db, embedder) as memory:
        answer = memory.recall(
            _joined(query),
            frame=frame,
            top_k=top_k,
            token_budget=budget,
            tags=tags,
            project=project,
            entity=entity,
            relation=relation,
            source=source,
            scope=scope,
            garden=garden,
            min_confidence=min_confidence,
        )
        weights = memory.frames.get(frame).weights
        stored = memory.stats()["memories"]

    def draw(console: Console) -> None:
        from recollect.edge.cli import answers

        if not answer.results:
            console.print(answers.nothing(answer, stored))
        elif signals:
            used = weights if _joined(query) else weights.renormalized_without_similarity()
            for result in answer.results:
                console.print(answers.makings(result, used))
        else:
            console.print(answers.results(answer))
        if answer.instructions:
            console.print(answers.instructions(answer))
        for note in answers.notes(answer.degraded, answer.dropped, answer.meta):
            console.print(note)

    voice.of(context).say(wire.answer(answer), draw)


def frame(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="self, attention, task, …")],
    query: Query = None,
    top_k: TopK = 5,
    budget: Budget = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Print the text of a frame for a prompt, and count the use of what is in it."""
    from recollect.edge import wire
    from recollect.edge.cli import memory as opening

    with opening.existing(db, embedder) as memory:
        result = memory.frame(name, _joined(query), top_k=top_k, token_budget=budget)

    def draw(console: Console) -> None:
        from recollect.edge.cli import answers, drawing, selections

        if result.text:
            # A program gets the text as it is; a terminal must not obey what was stored.
            shown = drawing.plain(result.text) if console.is_terminal else result.text
            sys.stdout.write(shown + "\n")
            sys.stdout.flush()
        warnings = [flag for flag in result.flags if flag.severity != "info"]
        for note in (*answers.frame_notes(result), *selections.flags(warnings)):
            voice.console(stderr=True).print(note)

    voice.of(context).say(wire.framed(result), draw)


def _joined(query: list[str] | None) -> str | None:
    return " ".join(query or ()).strip() or None
