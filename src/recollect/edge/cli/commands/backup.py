"""`recollect backup` and `recollect restore`: all of a database as one file, and back.

In: a file. Out: one call of the engine each, and what it reports. Nothing is written over but by
`restore --replace`, which keeps what was there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Embedder, Json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["backup", "restore"]


def backup(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to; a file that is not there yet.")
    ],
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Copy all of the database to a new file, while others go on, and look whether it is whole.

    The copy is a database: open it with --db, or bring it back with `recollect restore`.
    """
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    out = output.of(context)
    with (
        open_memory.existing(db, embedder) as memory,
        out.progress("Backing up", 1) as progress,
    ):
        done = memory.backup(file.expanduser(), progress=progress)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views.elements import count_of, plain

        console.print(
            f"Backed up {count_of(done.memories, 'memory', 'memories')} to {plain(str(file))}"
            f" ({_size(done.size)}, revision {done.revision:,}). It was read again and is whole.",
            soft_wrap=True,
        )

    out.show(wire.backed_up(done), draw)


def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup; it stays as it is.")],
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Replace the database that is there; it is kept under another name."
        ),
    ] = False,
    db: Db = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Make a database of a backup: at a new place, or with --replace in the place of another.

    A database that somebody has open is not replaced.
    """
    from recollect.edge import wire
    from recollect.edge.cli import open_catalogue
    from recollect.engine import restore as restored

    open_catalogue.need_holder("a restore")
    out, place = output.of(context), open_catalogue.writable(db)
    with out.progress("Restoring", 1) as progress:
        done = restored(file.expanduser(), place, replace=replace, progress=progress)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views.elements import count_of, plain

        told = count_of(done.memories, "memory", "memories")
        console.print(f"Restored {told} to {plain(done.path)}.", soft_wrap=True)
        if done.aside is not None:
            console.print(f"What was there is kept as {plain(done.aside)}.", soft_wrap=True)

    out.show(wire.restored(done), draw)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"
