"""`recollect paks …`: look into the catalogue, check it, mend it.

In: options of the command line. Out: calls of the catalogue, and their answers through the voice.
Nothing here decides anything about a Pak.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import voice
from recollect.edge.cli.options import Db, Json

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.paks import CheckReport, PakListResult

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Look into the catalogue of Paks: what is known, why it matters, what to be careful of.",
)

Project = Annotated[
    str | None,
    typer.Option(
        "--project", metavar="NAME", help="Only Paks of this project.", show_default=False
    ),
]
Type = Annotated[
    str | None,
    typer.Option("--type", metavar="NAME", help="Only Paks of this type.", show_default=False),
]
Limit = Annotated[
    int, typer.Option("--limit", min=1, max=100, metavar="N", help="At most this many Paks, 1-100.")
]


@app.command("list", epilog="Example: recollect paks list --project payments --limit 10")
def list_(
    context: typer.Context,
    db: Db = None,
    project: Project = None,
    pak_type: Type = None,
    limit: Limit = 20,
    cursor: Annotated[
        str | None,
        typer.Option(
            "--cursor",
            metavar="TOKEN",
            help="Go on where a page ended: its next cursor.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,  # noqa: ARG001 - its callback tells the voice
) -> None:
    """List Paks, newest first, a page at a time."""
    from recollect.edge import wire
    from recollect.edge.cli import catalogue
    from recollect.paks import PakListFilters

    with catalogue.reading(db) as store:
        page = store.list_paks(PakListFilters(project, pak_type, limit, cursor))
        flags = catalogue.flags_of(store, page.items)

    def draw(console: Console) -> None:
        from recollect.edge.cli import drawing

        if not page.items:
            console.print("No Paks match.")
            return
        console.print(drawing.paks(page.items, flags))
        if page.next_cursor:
            console.print("More: " + _next(page, db, project, pak_type), soft_wrap=True)

    voice.of(context).say(wire.page(page, flags), draw)


@app.command(epilog="Example: recollect paks show payments-double-charge")
def show(
    context: typer.Context,
    pak_id: Annotated[str, typer.Argument(metavar="PAK_ID", help="The id of the Pak.")],
    db: Db = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Show everything about one Pak: risk flags, reason codes, fields, anchors, relations."""
    from recollect.edge import wire
    from recollect.edge.cli import catalogue

    with catalogue.reading(db) as store:
        known = catalogue.dossier(store, pak_id)

    def draw(console: Console) -> None:
        from recollect.edge.cli import drawing

        console.print(drawing.card(known))

    voice.of(context).say(wire.dossier(known), draw)


@app.command(epilog="Example: recollect paks search refund twice --project payments")
def search(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="What to look for, as plain words of any kind."),
    ],
    db: Db = None,
    project: Project = None,
    pak_type: Type = None,
    limit: Limit = 10,
    match_all: Annotated[
        bool, typer.Option("--all", help="Find only Paks that hold all of the words.")
    ] = False,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Find Paks by the words of their title and summary, best match first."""
    from recollect.edge import wire
    from recollect.edge.cli import catalogue

    with catalogue.reading(db) as store:
        found = store.search(
            " ".join(words),
            project=project,
            pak_type=pak_type,
            limit=limit,
            match="all" if match_all else "any",
        )
        flags = catalogue.flags_of(store, [hit.pak for hit in found])

    def draw(console: Console) -> None:
        from recollect.edge.cli import drawing

        console.print(drawing.hits(found, flags) if found else "No Paks match.")

    voice.of(context).say(wire.hits(found, flags), draw)


@app.command(epilog="Example: recollect paks check --db recall.db && echo all is well")
def check(
    context: typer.Context,
    db: Db = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Look for damage, dangling references and a stale full-text table; exit 1 if there is any."""
    from recollect.edge import wire
    from recollect.edge.cli import catalogue

    with catalogue.reading(db) as store:
        report = store.check()
        place = str(store.path)

    def draw(console: Console) -> None:
        _draw_check(console, report, place)

    voice.of(context).say(wire.check(report), draw)
    if not report.ok:
        raise typer.Exit(1)


@app.command(epilog="Example: recollect paks repair --db recall.db")
def repair(
    context: typer.Context,
    db: Db = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Bring an older catalogue up to date and rebuild its full-text table; say what was done."""
    from recollect.edge import wire
    from recollect.edge.cli import mending

    done = mending.mend(db)

    def draw(console: Console) -> None:
        mending.draw(console, done)
        _draw_check(console, done.after, done.place)

    answer: wire.Object = {
        "ok": done.after.ok,
        "upgraded": done.upgraded,
        "removed": done.removed,
        "added": done.added,
        "problems_before": list(done.before),
        "problems_after": list(done.after.problems),
    }
    voice.of(context).say(answer, draw)
    if not done.after.ok:
        raise typer.Exit(1)


def _next(page: PakListResult, db: Path | None, project: str | None, pak_type: str | None) -> str:
    """Return the command that shows the page after this one."""
    import shlex

    options = {
        "--db": None if db is None else str(db),
        "--project": project,
        "--type": pak_type,
        "--limit": str(page.limit),
        "--cursor": page.next_cursor,
    }
    given = [part for name, value in options.items() if value is not None for part in (name, value)]
    return shlex.join(["recollect", "paks", "list", *given])


def _draw_check(console: Console, report: CheckReport, place: str) -> None:
    from recollect.edge.cli import drawing

    console.print(drawing.verdict(report, place), soft_wrap=True)
    drawing.problems(console, report.problems)
    if not report.ok:
        console.print(f"Try: recollect paks repair --db {place}", soft_wrap=True)
