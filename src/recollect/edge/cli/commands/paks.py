"""`recollect paks …`: look into the catalogue, check it, mend it.

In: options of the command line. Out: calls of the catalogue, and their answers to the output.
Nothing here decides anything about a Pak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Json
from recollect.errors import NotACatalogue, StoreDamaged, StoreOutdated

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.edge import wire
    from recollect.paks import PakListResult

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
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
    int, typer.Option("--limit", metavar="N", help="How many at the most. From 1 to 100.")
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
            help="Where the page before ended.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """List Paks, newest first, a page at a time."""
    from recollect.edge import wire
    from recollect.edge.cli import open_catalogue
    from recollect.paks import PakListFilters

    wanted = PakListFilters(project, pak_type, limit, cursor)
    page, flags = open_catalogue.page_of(db, wanted)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import paks as view

        if not page.items:
            console.print("No Paks match.")
            return
        console.print(view.paks(page.items, flags))
        if page.next_cursor:
            console.print("More: " + _next(page, db, project, pak_type), soft_wrap=True)

    output.of(context).show(wire.page(page, flags), draw)


@app.command(epilog="Example: recollect paks show payments-double-charge")
def show(
    context: typer.Context,
    pak_id: Annotated[
        str,
        typer.Argument(metavar="PAK_ID", help="The id of a memory. The beginning of one will do."),
    ],
    db: Db = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Show everything about one Pak: risk flags, reason codes, fields, anchors, relations."""
    from recollect.edge import wire
    from recollect.edge.cli import open_catalogue

    known = open_catalogue.dossier_of(db, pak_id)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import paks as view

        console.print(view.card(known))

    output.of(context).show(wire.dossier(known), draw)


@app.command(epilog="Example: recollect paks search refund twice --project payments")
def search(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="What to look for, as plain words."),
    ],
    db: Db = None,
    project: Project = None,
    pak_type: Type = None,
    limit: Limit = 10,
    match_all: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Whether any of the words is enough, or all must be there. It is any unless told.",
        ),
    ] = False,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Find Paks by the words of their title and summary, best match first."""
    from recollect.edge import wire
    from recollect.edge.cli import open_catalogue

    found, flags = open_catalogue.hits_of(
        db,
        " ".join(words),
        project=project,
        pak_type=pak_type,
        limit=limit,
        match="all" if match_all else "any",
    )

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import paks as view

        console.print(view.hits(found, flags) if found else "No Paks match.")

    output.of(context).show(wire.hits(found, flags), draw)


@app.command(epilog="Example: recollect paks check --db recall.db && echo all is well")
def check(
    context: typer.Context,
    db: Db = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Look for damage, dangling references and a stale full-text table; exit 1 if there is any."""
    from recollect.edge import wire
    from recollect.edge.cli import open_catalogue

    with open_catalogue.reading(db) as store:
        report = store.check()
        place = str(store.path)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import paks as view

        view.draw_check(console, report, place)

    output.of(context).show(wire.check(report), draw)
    if not report.ok:
        raise typer.Exit(1)


@app.command(epilog="Example: recollect paks repair --db recall.db")
def repair(
    context: typer.Context,
    db: Db = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Bring an older catalogue up to date and rebuild its full-text table; say what was done."""
    from recollect.edge.cli import open_catalogue

    before, upgraded = _look(db)
    # Opening for writing may itself bring an older catalogue up to date: hence the look before.
    with open_catalogue.writing(db) as store:
        done, after, place = store.repair(), store.check(), str(store.path)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import paks as view

        view.draw_repair(console, done, before=before, upgraded=upgraded)
        view.draw_check(console, after, place)

    answer: wire.Object = {
        "ok": after.ok,
        "upgraded": upgraded,
        "removed": done.removed,
        "added": done.added,
        "problems_before": list(before),
        "problems_after": list(after.problems),
    }
    output.of(context).show(answer, draw)
    if not after.ok:
        raise typer.Exit(1)


def _look(db: str | None) -> tuple[tuple[str, ...], bool]:
    """Return what is wrong, and whether the schema is of an older release."""
    from recollect.edge.cli import open_catalogue

    try:
        with open_catalogue.reading(db) as store:
            return store.check().problems, False
    except StoreOutdated as error:
        return (error.message,), True
    except NotACatalogue:
        raise
    except StoreDamaged as error:
        return (error.message,), False


def _next(page: PakListResult, db: str | None, project: str | None, pak_type: str | None) -> str:
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
