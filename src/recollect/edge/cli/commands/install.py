"""`recollect install` and `uninstall`: memory for a client, and no trace of it afterwards.

In: the name of a client. Out: what is changed in its files, before and after it is done. How, is in
`recollect.edge.agents.setup`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.given import chosen_url
from recollect.edge.cli.options import Db, Json
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.edge.agents.clients import Client, Server
    from recollect.edge.agents.setup import Machine, Plan

__all__ = ["install", "uninstall"]

ClientName = Annotated[
    str,
    typer.Argument(
        metavar="CLIENT",
        help="claude-code, claude-desktop, codex, cursor, vscode, gemini, zed or windsurf.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and stop there.")]


def install(
    context: typer.Context,
    client: ClientName,
    dry_run: DryRun = False,
    hooks: Annotated[
        bool,
        typer.Option(
            "--hooks/--no-hooks", help="Show and keep without being asked, where a client can."
        ),
    ] = True,
    tools: Annotated[
        bool, typer.Option("--tools", help="Keep a line of each act of a tool, too.")
    ] = False,
    db: Db = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Give a client this memory: its server, and for Claude Code and Codex its hooks.

    Uses the client's own command where there is one, and else edits its file. A copy of what was
    there is kept; `recollect uninstall` gives it back. With --url the client's server asks yours.
    """
    from recollect.edge.agents.setup import apply, plan_install

    chosen, machine = _client(client), _machine()
    place = _place(db)
    plan = plan_install(chosen, _server(place), machine, hooks=hooks, tools=tools)
    copies = () if dry_run or plan.is_empty else apply(plan, machine)
    _show(context, plan, copies, is_dry=dry_run, kept_in=place if hooks else None)


def uninstall(
    context: typer.Context,
    client: ClientName,
    dry_run: DryRun = False,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Take this memory out of a client again: its files are what they were. Memories stay."""
    from recollect.edge.agents.setup import apply, plan_uninstall

    machine = _machine()
    plan = plan_uninstall(_client(client), machine)
    if not dry_run and not plan.is_empty:
        apply(plan, machine)
    _show(context, plan, (), is_dry=dry_run, kept_in=None)


def _client(name: str) -> Client:
    from recollect.edge.agents.clients import CLIENTS

    if name not in CLIENTS:
        raise InvalidInput(
            f"there is no client {name!r:.60} that we know.",
            hint=f"name one of {', '.join(CLIENTS)}.",
        )
    return CLIENTS[name]


def _machine() -> Machine:
    from recollect.edge.agents.options import state_folder
    from recollect.edge.agents.setup import Machine
    from recollect.settings import clients_folders

    return Machine(Path.home(), state_folder(), sys.platform, shutil.which, clients_folders())


def _place(db: str | None) -> str:
    """Return where the memory is: the address of a server, or a file."""
    from recollect.edge.cli.open_catalogue import file_of, is_url

    url = chosen_url()
    if url is not None and db is not None:
        raise InvalidInput("--db and --url name two memories.", hint="leave one of them out.")
    if url is not None:
        return url
    return str(db) if is_url(db) else str(file_of(db).absolute())


def _server(place: str) -> Server:
    from recollect.edge.agents.clients import Server
    from recollect.settings import own_variables

    script = shutil.which("recollect") or shutil.which(sys.argv[0])
    run = "from recollect.edge.cli import main; main()"
    command, before = (
        (str(Path(script).absolute()), ()) if script else (sys.executable, ("-c", run))
    )
    if chosen_url() is not None:
        return Server(command, (*before, "--url", place), (), own_variables())
    return Server(command, before, ("--db", place), own_variables())


def _show(
    context: typer.Context,
    plan: Plan,
    copies: tuple[Path, ...],
    *,
    is_dry: bool,
    kept_in: str | None,
) -> None:
    has_hooks = plan.client.hooks_file is not None and kept_in is not None
    told = {
        "client": plan.client.name,
        "dry_run": is_dry,
        "commands": [list(words) for words in plan.commands],
        "files": [str(one.path) for one in plan.changes],
        "copies": [str(one) for one in copies],
        "kept_in": kept_in if has_hooks else None,
    }

    def draw(console: Console) -> None:
        from recollect.edge.cli.views.install import draw_plan

        draw_plan(console, plan, copies, is_dry=is_dry, kept_in=kept_in if has_hooks else None)

    output.of(context).show(told, draw)
