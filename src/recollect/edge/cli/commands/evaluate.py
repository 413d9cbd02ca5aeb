"""`recollect eval …`: labelled questions in, how good recall is out.

In: files of questions. Out: calls of `recollect.evaluation`, which fills temporary stores through
`remember_many` and asks `recall`; no memory of yours is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Embedder, Json
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.evaluation import Task

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    invoke_without_command=True,
    help="Measure how well recall finds what answers a question, on questions with known answers.",
    epilog="Example: recollect eval --compare before.json after.json",
)

K = Annotated[
    list[int] | None,
    typer.Option(
        "--k",
        metavar="N",
        min=1,
        max=1000,
        help="Look at the first so many results; may be given again. 5, 10 and 20 unless told; 10"
        " is always among them.",
        show_default=False,
    ),
]
PerQuestion = Annotated[
    Path | None,
    typer.Option(
        "--per-question",
        metavar="FILE",
        help="Write every question's answer and metrics to this file, for --compare.",
        show_default=False,
    ),
]


@app.callback()
def _eval(
    context: typer.Context,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--compare",
            metavar="A.json B.json",
            help="Compare two files of --per-question, question by question.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    if compare is not None:
        if context.invoked_subcommand is not None:
            raise typer.BadParameter("--compare goes with no command behind it.", context)
        _compare(output.of(context), *compare)
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(epilog="Example: recollect eval locomo data/locomo --per-question before.json")
def locomo(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A folder of LoCoMo conversations, or one file."),
    ],
    k: K = None,
    per_question: PerQuestion = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Measure on LoCoMo: long conversations, a store each, and questions with evidence."""
    from recollect.evaluation import load_locomo

    _measure(
        output.of(context), lambda: load_locomo(folder.expanduser()), k, per_question, embedder
    )


@app.command(
    epilog="Example: recollect eval jsonl --corpus notes.jsonl --queries asked.jsonl --qrels"
    " answers.tsv"
)
def jsonl(
    context: typer.Context,
    corpus: Annotated[
        Path, typer.Option("--corpus", metavar="FILE", help="A text a line: _id, text, title.")
    ],
    queries: Annotated[
        Path, typer.Option("--queries", metavar="FILE", help="A question a line: _id, text.")
    ],
    qrels: Annotated[
        Path,
        typer.Option(
            "--qrels", metavar="FILE", help="Which text answers which: query, text, grade by tabs."
        ),
    ],
    k: K = None,
    per_question: PerQuestion = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Measure on questions of your own, in the layout of the BEIR collections."""
    from recollect.evaluation import load_jsonl

    paths = [path.expanduser() for path in (corpus, queries, qrels)]
    _measure(output.of(context), lambda: load_jsonl(*paths), k, per_question, embedder)


def _measure(
    out: output.Output,
    load: Callable[[], Task],
    k: list[int] | None,
    per_question: Path | None,
    embedder: str | None,
) -> None:
    from recollect import evaluation
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    _check_writable(per_question)
    task = load()
    with out.progress("Remembering and asking", 1) as progress:
        done = evaluation.run(
            task,
            k=k or evaluation.DEFAULT_K,
            embedder=open_memory.embedder_for(embedder),
            progress=progress,
        )
    if per_question is not None:
        evaluation.write_outcomes(done, per_question.expanduser())
    numbers = evaluation.summarise(done)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import evaluate as view

        console.print(view.summary(numbers))

    out.show(wire.evaluation(numbers), draw)


def _compare(out: output.Output, first: Path, second: Path) -> None:
    from recollect import evaluation
    from recollect.edge import wire

    both = evaluation.compare(evaluation.read_outcomes(first), evaluation.read_outcomes(second))

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import evaluate as view

        console.print(view.comparison(both))

    out.show(wire.comparison(both), draw)


def _check_writable(path: Path | None) -> None:
    """Fail before the work and not after it."""
    if path is not None and (path.expanduser().is_dir() or not path.expanduser().parent.is_dir()):
        raise InvalidInput(
            f"{path} is no place for a file.", hint="name a file in a folder that is there."
        )
