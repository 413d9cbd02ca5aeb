"""The command `recollect`: its commands put together, and the one place that reports an error.

In: the arguments of the process. Out: an exit code. 0 is well, 1 is an error or a problem found,
2 is a command that was typed wrongly.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import sys
from typing import Annotated

import typer

from recollect import __version__
from recollect.edge.cli.options import Key, ReadOnly, Url
from recollect.edge.cli.output import Output
from recollect.edge.cli.words import Words
from recollect.errors import RecollectError
from recollect.settings import check_platform

__all__ = ["app", "main"]

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
# What a shell reports of a program that a closed pipe ended.
_BROKEN_PIPE = 128 + 13
# After so many new objects the collector looks for those that hold each other.
_SELDOM = 50_000


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A title that the terminal cannot spell is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # What was replaced is the answer's to say; the log is for programs that ask for it.
    logging.getLogger("recollect").addHandler(logging.NullHandler())
    # A command is over before there is much to collect; looking for it took a tenth of a recall.
    gc.set_threshold(_SELDOM)
    out = Output()
    try:
        _run(out)
    except BrokenPipeError:
        # Whoever read has enough. What is still in the buffer must not fail once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_BROKEN_PIPE)
    finally:
        # What is left goes with the process; nobody need look through it once more.
        gc.freeze()


def _run(out: Output) -> None:
    try:
        check_platform()
        app(prog_name="recollect", obj=out, standalone_mode=True)
    except RecollectError as error:
        out.report(error)
        sys.exit(1)
    finally:
        sys.stdout.flush()


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
