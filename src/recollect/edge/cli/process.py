"""The process `recollect`: its streams, its exit code, and the one place that reports an error.

In: the arguments of the process. Out: an exit code. 0 is well, 1 is an error or a problem found,
2 is a command that was typed wrongly. A plain recall is answered without the library that reads
command lines, which takes as long to load as the answer takes to find.
"""

from __future__ import annotations

import gc
import io
import logging
import os
import sys

from recollect.edge.cli import quick
from recollect.edge.cli.output import Listening, Output
from recollect.errors import RecollectError
from recollect.settings import check_platform, default_hooks_path

__all__ = ["main"]

# What a shell reports of a program that a closed pipe, or a person, ended.
_BROKEN_PIPE, _INTERRUPTED = 128 + 13, 128 + 2
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
    out = Listening.out = Output()
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
        # A hook may have a question to the person at the terminal, which the other way puts.
        plain = quick.read(sys.argv[1:]) if default_hooks_path() is None else None
        if plain is not None:
            _ask(out, plain)
        else:
            from recollect.edge.cli.app import app

            app(prog_name="recollect", obj=out, standalone_mode=True)
    except RecollectError as error:
        out.report(error)
        sys.exit(1)
    finally:
        sys.stdout.flush()


def _ask(out: Output, question: quick.Plain) -> None:
    from recollect.edge.cli.ask import ask

    out.as_json = question.as_json
    try:
        ask(out, **question.options)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
