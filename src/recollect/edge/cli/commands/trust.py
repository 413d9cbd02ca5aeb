"""`recollect trust …`: how far the word of each source counts.

In: a source and a share. Out: calls of the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Embedder, Json, RequestId

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Say how far the word of each source counts."
)


@app.command("list", epilog="Example: recollect trust list")
def list_(
    context: typer.Context,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """List the sources that something was said about."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found = dict(memory.trust.list())

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import trust as view

        console.print(view.table(found) if found else "Nothing was said about any source.")

    output.of(context).show(wire.trusts(found), draw)


@app.command("set", epilog="Example: recollect trust set mail 0.3")
def set_(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Whose word it is.")],
    share: Annotated[
        float, typer.Argument(metavar="0-1", help="1 is full trust. Below 0.5 its facts wait.")
    ],
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Say how far a source is trusted; it counts at once for what is already here."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        memory.trust.set(source, share, request_id=request_id)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views.elements import plain

        console.print(f"What {plain(source)} says counts by {share:g} now.", soft_wrap=True)

    output.of(context).show(wire.trust(source, share), draw)
