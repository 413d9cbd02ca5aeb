"""`recollect quarantine …`: facts that wait for a moderator.

In: ids. Out: calls of the engine. What a waiting fact says is shown to nobody here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Embedder, Json, PakId, RequestId

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.engine import Recollect

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Judge facts that wait for a moderator."
)


@app.command("list", epilog="Example: recollect quarantine list")
def list_(
    context: typer.Context,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """List what waits, oldest first; what it says is not shown."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found = memory.quarantine.list()

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import quarantine as view

        console.print(view.table(found) if found else "Nothing waits.")

    output.of(context).show(wire.held(found), draw)


@app.command(epilog="Example: recollect quarantine promote mail-3f9c")
def promote(
    context: typer.Context,
    pak_id: PakId,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Make a waiting fact a memory like any other."""
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        name = _waiting(memory, pak_id)
        memory.quarantine.promote(name, request_id=request_id)
    _tell(context, "promoted", name, f"{name} is a memory like any other now.")


@app.command(epilog="Example: recollect quarantine reject mail-3f9c")
def reject(
    context: typer.Context,
    pak_id: PakId,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Turn a waiting fact away for good."""
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        name = _waiting(memory, pak_id)
        memory.quarantine.reject(name, request_id=request_id)
    _tell(context, "rejected", name, f"{name} was turned away.")


def _waiting(memory: Recollect, given: str) -> str:
    from recollect.edge.cli.open_memory import SHORTEST_BEGINNING, chosen

    if len(given) < SHORTEST_BEGINNING:
        return given
    names = [one.pak_id for one in memory.quarantine.list()]
    return chosen(given, [name for name in names if name.startswith(given)])


def _tell(context: typer.Context, done: str, name: str, sentence: str) -> None:
    from recollect.edge import wire

    def draw(console: Console) -> None:
        from recollect.edge.cli.views.elements import plain

        console.print(plain(sentence), soft_wrap=True)

    output.of(context).show(wire.judged(done, name), draw)
