"""`recollect doctor`: whether coding agents have this memory, and what their hooks did last.

In: a client, or none for all. Out: what was found; exit code 1 if something is wrong.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Json
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["doctor"]


def doctor(
    context: typer.Context,
    client: Annotated[
        str | None,
        typer.Argument(metavar="[CLIENT]", help="One client; without it, all.", show_default=False),
    ] = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Say for each client: set up, connects, when hooks fired last, what was shown last.

    Exit code 1 if a client that is set up does not connect, or its file cannot be read.
    """
    from recollect.edge.agents import pauses
    from recollect.edge.agents.clients import CLIENTS
    from recollect.edge.agents.doctor import examine
    from recollect.edge.agents.log import NAME
    from recollect.edge.agents.options import state_folder
    from recollect.edge.agents.setup import Machine
    from recollect.settings import clients_folders
    from recollect.values import as_plain

    if client is not None and client not in CLIENTS:
        raise InvalidInput(
            f"there is no client {client!r:.60} that we know.",
            hint=f"name one of {', '.join(CLIENTS)}.",
        )
    machine = Machine(Path.home(), state_folder(), sys.platform, shutil.which, clients_folders())
    found = examine(CLIENTS if client is None else (client,), machine)
    is_paused = pauses.paused_since(machine.state, time.time()) is not None
    told = {
        "clients": [as_plain(one) for one in found],
        "paused": is_paused,
        "log": str(machine.state / NAME),
    }

    def draw(console: Console) -> None:
        from recollect.edge.cli.views.doctor import draw_findings

        draw_findings(console, found, is_paused=is_paused)

    output.of(context).show(told, draw)
    if not all(one.is_well for one in found):
        raise typer.Exit(1)
