"""`recollect receipts`: what was asked and answered, latest first, a page at a time.

In: how many, and where to go on. Out: one call of the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Cursor, Db, Embedder, Json, Limit

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["receipts"]


def receipts(
    context: typer.Context,
    limit: Limit = 20,
    cursor: Cursor = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """List receipts of answers, latest first."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        page = memory.receipts(limit=limit, cursor=cursor)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import receipts as view

        console.print(view.table(page.items) if page.items else view.NOTHING)
        if page.next_cursor:
            console.print(view.more(page.next_cursor, limit, db), soft_wrap=True)

    output.of(context).show(wire.receipts(page), draw)
