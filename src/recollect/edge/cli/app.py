"""The command `recollect`: its commands put together, and the one place that reports an error.

In: the arguments of the process. Out: an exit code. 0 is well, 1 is an error or a problem found,
2 is a command that was typed wrongly.
"""

from __future__ import annotations

import io
import logging
import sys
from typing import Annotated

import typer

from recollect import __version__
from recollect.edge.cli.commands import (
    backup,
    demo,
    evaluate,
    explain,
    frame,
    frames,
    hooks,
    keys,
    memories,
    pak,
    paks,
    recall,
    remember,
    select,
    transfer,
    upkeep,
)
from recollect.edge.cli.options import ReadOnly
from recollect.edge.cli.output import Output
from recollect.errors import RecollectError
from recollect.settings import check_platform

__all__ = ["app", "main"]

app = typer.Typer(
    name="recollect",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The recall engine for AI agents: one file, no LLM, and a reason for every answer.",
    epilog="New here? Type: recollect demo",
)
_COMMANDS = (
    (demo.demo, "recollect demo --keep shop.db"),
    (remember.remember, 'recollect remember "Deploys happen before noon." --tag deploys'),
    (recall.recall, 'recollect recall "when do we deploy?" --top-k 3'),
    (frame.frame, 'recollect frame task "ship the release" --budget 800'),
    (select.select, "recollect select card payment --project payments --limit 5"),
    (explain.explain, 'recollect explain payments-double-charge --for "charged twice?"'),
    (memories.get, "recollect get payments-double-charge"),
    (memories.forget, "recollect forget payments-double-charge"),
    (memories.archive, "recollect archive payments-double-charge"),
    (memories.unarchive, "recollect unarchive payments-double-charge"),
    (memories.link, "recollect link payments-retry-limit payments-idempotency --weight 0.8"),
    (memories.dispute, "recollect dispute storefront-spa-trial storefront-server-pages"),
    (memories.resolve, "recollect resolve storefront-spa-trial storefront-server-pages"),
    (transfer.export, "recollect export agent.jsonl"),
    (transfer.import_, "recollect import agent.jsonl --db copy.db"),
    (backup.backup, "recollect backup monday.db"),
    (backup.restore, "recollect restore monday.db --db agent.db --replace"),
    (upkeep.stats, "recollect stats --json"),
    (upkeep.check, "recollect check && echo all is well"),
    (upkeep.repair, "recollect repair && recollect check"),
    (upkeep.reindex, "recollect reindex"),
    (upkeep.reembed, "recollect reembed openai:text-embedding-3-small"),
)
for _command, _example in _COMMANDS:
    app.command(_command.__name__.rstrip("_"), epilog=f"Example: {_example}")(_command)
app.add_typer(frames.app, name="frames")
app.add_typer(hooks.app, name="hooks")
app.add_typer(keys.app, name="keys")
app.add_typer(paks.app, name="paks")
app.add_typer(pak.app, name="pak")
app.add_typer(evaluate.app, name="eval")


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A title that the terminal cannot spell is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # What was replaced is the answer's to say; the log is for programs that ask for it.
    logging.getLogger("recollect").addHandler(logging.NullHandler())
    out = Output()
    try:
        check_platform()
        app(prog_name="recollect", obj=out)
    except RecollectError as error:
        out.report(error)
        sys.exit(1)


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
) -> None:
    """Hold the options that come before a command."""
