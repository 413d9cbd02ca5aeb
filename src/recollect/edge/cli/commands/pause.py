"""`recollect pause` and `resume`: for a while nothing is kept of what coding agents hear and say.

In: for how long. Out: until when. What was said in a pause stays out when a transcript of it is
read later.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.given import as_seconds
from recollect.edge.cli.options import Json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["pause", "resume"]


def pause(
    context: typer.Context,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="TIME",
            help="How long: 30m, 2h, 1d. Without it: until `recollect resume`.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Keep and show nothing in coding agents, for a while or until `recollect resume`."""
    from recollect.edge.agents import pauses
    from recollect.edge.agents.options import state_folder
    from recollect.hours import iso

    now, seconds = time.time(), as_seconds(for_, "--for")
    span = pauses.start(state_folder(), now, None if seconds is None else now + seconds)
    until = None if span.until is None else iso(span.until)

    def draw(console: Console) -> None:
        end = "until you run `recollect resume`" if until is None else f"until {until}"
        console.print(f"Paused {end}: hooks keep nothing and show nothing.")

    output.of(context).show({"paused": True, "until": until}, draw)


def resume(
    context: typer.Context,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """End a pause."""
    from recollect.edge.agents import pauses
    from recollect.edge.agents.options import state_folder

    was_paused = pauses.resume(state_folder(), time.time())

    def draw(console: Console) -> None:
        said = "Resumed." if was_paused else "There was no pause."
        console.print(f"{said} What was said in a pause stays out.")

    output.of(context).show({"paused": False, "was_paused": was_paused}, draw)
