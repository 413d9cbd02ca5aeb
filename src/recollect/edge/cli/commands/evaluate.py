"""`recollect eval …`: labelled questions in, how good recall is out.

In: files of questions. Out: calls of `recollect.evaluation`, which fills temporary stores through
`remember_many` and asks `recall`; a memory of yours is only read, and only if `--db` names it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import frames
from recollect.edge.cli.options import Embedder, Json
from recollect.errors import InvalidInput
from recollect.values import dataclass

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.evaluation import Task

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
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
Frame = Annotated[
    str,
    typer.Option(
        "--frame", metavar="NAME", help="The frame whose weights count.", autocompletion=frames
    ),
]
Now = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        help="Ask as of this time; without it, as of the newest text.",
        show_default=False,
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option(
        "--csv", metavar="FILE", help="Write a row for each question.", show_default=False
    ),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a report with plots.", show_default=False),
]
Misses = Annotated[
    int,
    typer.Option(
        "--misses", metavar="N", min=0, help="Show so many questions that were not answered."
    ),
]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What to measure with, and where to write it down."""

    k: list[int] | None
    frame: str
    now: str | None
    embedder: str | None
    per_question: Path | None
    csv: Path | None
    html: Path | None
    misses: int
    db: Path | None = None

    def check_writable(self) -> None:
        """Fail before the work and not after it."""
        for path in (self.per_question, self.csv, self.html):
            if path is not None and not _is_place_for_a_file(path.expanduser()):
                raise InvalidInput(
                    f"{path} is no place for a file.", hint="name a file in a folder that is there."
                )


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


@app.command(epilog="Example: recollect eval locomo data/locomo --html report.html")
def locomo(
    context: typer.Context,
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A folder of LoCoMo conversations, or one file."),
    ],
    k: K = None,
    frame: Frame = "evidence",
    now: Now = None,
    per_question: PerQuestion = None,
    csv: Csv = None,
    html: Html = None,
    misses: Misses = 5,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Measure on LoCoMo: long conversations, a store each, and questions with evidence."""
    from recollect.evaluation import load_locomo

    wanted = _Wanted(k, frame, now, embedder, per_question, csv, html, misses)
    _measure(output.of(context), lambda: load_locomo(folder.expanduser()), wanted)


@app.command(
    epilog="Example: recollect eval jsonl --db agent.db --queries asked.jsonl --qrels answers.tsv"
)
def jsonl(
    context: typer.Context,
    queries: Annotated[
        Path, typer.Option("--queries", metavar="FILE", help="A question a line: _id, text.")
    ],
    qrels: Annotated[
        Path,
        typer.Option(
            "--qrels", metavar="FILE", help="Which text answers which: query, text, grade by tabs."
        ),
    ],
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus",
            metavar="FILE",
            help="A text a line: _id, text, title.",
            show_default=False,
        ),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="PATH",
            help="Instead of a corpus: ask the memory that is there; it is only read.",
            show_default=False,
        ),
    ] = None,
    k: K = None,
    frame: Frame = "evidence",
    now: Now = None,
    per_question: PerQuestion = None,
    csv: Csv = None,
    html: Html = None,
    misses: Misses = 5,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Measure on questions of your own, in the layout of the BEIR collections."""
    from recollect.edge.cli import open_catalogue
    from recollect.evaluation import load_jsonl

    if (corpus is None) == (db is None):
        raise typer.BadParameter("name either a --corpus or a --db.", context)
    place = None
    if db is not None:
        open_catalogue.need_holder("an evaluation of a whole memory")
        place = open_catalogue.locate(db)
    paths = [path and path.expanduser() for path in (corpus, queries, qrels)]
    wanted = _Wanted(k, frame, now, embedder, per_question, csv, html, misses, place)
    _measure(
        output.of(context),
        lambda: load_jsonl(paths[0], queries.expanduser(), qrels.expanduser()),
        wanted,
    )


def _measure(out: output.Output, load: Callable[[], Task], wanted: _Wanted) -> None:
    from recollect import evaluation
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    wanted.check_writable()
    task = load()
    with out.progress("Remembering and asking", 1) as progress:
        done = evaluation.run(
            task,
            k=wanted.k or evaluation.DEFAULT_K,
            embedder=open_memory.embedder_for(wanted.embedder),
            frame=wanted.frame,
            now=wanted.now,
            db=wanted.db,
            progress=progress,
        )
    numbers, missed = evaluation.summarise(done), evaluation.misses(done)
    if wanted.per_question is not None:
        evaluation.write_outcomes(done, wanted.per_question.expanduser())
    if wanted.csv is not None:
        evaluation.write_csv(done, wanted.csv.expanduser())
    if wanted.html is not None:
        evaluation.write_report(done, numbers, wanted.html.expanduser())

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import evaluate as view

        console.print(view.summary(numbers))
        for line in view.missed(missed, most=wanted.misses):
            console.print(line)
        for path in (wanted.per_question, wanted.csv, wanted.html):
            if path is not None:
                console.print(view.written(path), soft_wrap=True)

    out.show(wire.evaluation(numbers, missed), draw)


def _compare(out: output.Output, first: Path, second: Path) -> None:
    from recollect import evaluation
    from recollect.edge import wire

    both = evaluation.compare(evaluation.read_outcomes(first), evaluation.read_outcomes(second))

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import evaluate as view

        console.print(view.comparison(both))
        for line in view.changed(both):
            console.print(line)

    out.show(wire.comparison(both), draw)


def _is_place_for_a_file(path: Path) -> bool:
    return not path.is_dir() and path.parent.is_dir()
