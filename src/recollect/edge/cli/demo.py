"""`recollect demo`: the command itself; the story it tells is in `story`.

In: nothing, or a path where the database shall stay. Out: a database that is gone afterwards,
unless it was asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recollect.errors import InvalidInput

__all__ = ["demo"]


def demo(
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="PATH",
            help="Leave the demo's database at this path, to look around in it afterwards.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """See it work in a few seconds, with the memories of a small web shop's team."""
    from tempfile import TemporaryDirectory

    from recollect.edge.cli import story

    if keep is not None:
        story.tell(_new(keep.expanduser()), kept=True)
        return
    with TemporaryDirectory(prefix="recollect-") as folder:
        story.tell(Path(folder) / "shop.db", kept=False)


def _new(path: Path) -> Path:
    if path.exists():
        raise InvalidInput(
            f"{path} is there already, and the demo writes only into a new file.",
            hint="choose another path for --keep.",
        )
    return path
