"""`recollect pak inspect`: everything about one Pak, from the catalogue and from the engine.

In: an id. Out: one call of the engine, drawn as a card with the loudest warnings first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Embedder, Json, PakId

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Look at one Pak from all sides."
)


@app.callback()
def _pak() -> None:
    """Look at one Pak from all sides."""


@app.command(epilog="Example: recollect pak inspect payments-double-charge")
def inspect(
    context: typer.Context,
    pak_id: PakId,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Show everything about one Pak: text, provenance, codes, flags, links, disputes, uses."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found = memory.inspect(open_memory.whole_id(memory, pak_id))
        if found is None:
            raise open_memory.unknown(pak_id)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import pak as view

        console.print(view.card(found))

    output.of(context).show(wire.inspection(found), draw)
