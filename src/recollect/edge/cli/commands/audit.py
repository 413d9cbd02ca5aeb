"""`recollect audit`: who did what to look after a memory, latest first.

In: how many, and where to go on. Out: one call of the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Embedder, Json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["audit"]


def audit(
    context: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="How many at the most. From 1 to 1000.")
    ] = 20,
    before: Annotated[
        int | None,
        typer.Option(
            "--before", metavar="NUMBER", help="Only acts with a lower number.", show_default=False
        ),
    ] = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Show who did what to look after this memory, latest first; no text is ever in it."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found = memory.audit(limit=limit, before=before)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import audit as view

        console.print(view.table(found) if found else "Nothing was noted yet.")

    output.of(context).show(wire.acts(found), draw)
