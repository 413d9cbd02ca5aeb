"""The commands of `recollect` put together, with the options that come before each.

In: the arguments of the process. Out: the command that they name, run; a wrong word or option ends
with exit code 2.
"""

from __future__ import annotations

from typing import Annotated

import typer

from recollect import __version__
from recollect.edge.cli.options import Key, ReadOnly, Url
from recollect.edge.cli.words import Words

__all__ = ["app"]

app = typer.Typer(
    name="recollect",
    cls=Words,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The recall engine for AI agents: one file, no LLM, and a reason for every answer.",
    epilog="New here? Type: recollect demo. The same by other words: search is recall, show is"
    " get, rm is forget.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recollect {__version__}")
        raise typer.Exit


@app.callback()
def _recollect(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    read_only: ReadOnly = False,
    key: Key = None,
    url: Url = None,
) -> None:
    """Hold the options that come before a command."""
