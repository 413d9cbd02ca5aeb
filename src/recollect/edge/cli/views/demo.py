"""What `recollect demo` shows a newcomer: headings, the commands to type, answers, prompts.

In: the engine's values. Out: lines on a console, drawn as the other commands draw theirs.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from recollect.edge.cli.views import recall
from recollect.edge.cli.views.elements import plain
from recollect.model import FrameResult, RecallResponse

__all__ = ["command", "draw_answer", "draw_prompt", "draw_what_next", "heading", "introduction"]


def introduction(console: Console) -> None:
    """Say what this is about."""
    console.print(
        "An agent learns things. Recollect keeps them in one file, finds those that\n"
        "answer a question, says why, and writes the text that goes into the prompt.\n"
        "Here is what the team of a small web shop for tea and teapots has learnt."
    )


def draw_answer(console: Console, answer: RecallResponse, took_ms: float) -> None:
    """Show an answer, what was left out of it, and how long it took."""
    console.print(recall.results(answer))
    for note in recall.notes(answer.degraded, answer.dropped, answer.meta):
        console.print(note)
    console.print(Text(f"Answered in {took_ms:.1f} ms.", style="dim"))


def draw_prompt(console: Console, result: FrameResult) -> None:
    """Show the text of a frame in a box."""
    size = f"{result.tokens_used} of {result.token_budget:,} tokens"
    console.print(Panel(Text(plain(result.text)), box=box.ROUNDED, subtitle=size))


def draw_what_next(console: Console, db: Path, *, kept: bool) -> None:
    """Name what to try next."""
    heading(console, "Your turn")
    # From a fresh clone the command is in .venv/bin, where the shell does not look.
    recollect = "recollect" if shutil.which("recollect") else shlex.quote(sys.argv[0])
    place = shlex.quote(str(db))
    if not kept:
        command(console, f"{recollect} demo --keep {place}")
    command(console, f"{recollect} remember 'The kiln is booked until May.' --db {place}")
    command(console, f"{recollect} recall 'when is the kiln free?' --top-k 1 --db {place}")
    command(console, f"{recollect} --help")
    console.print(
        "\nEach memory is also in the catalogue, with reason codes and risk flags:", style="bold"
    )
    command(console, f"{recollect} paks show payments-card-rules --db {place}")


def heading(console: Console, text: str) -> None:
    """Begin another part."""
    console.print(Text(f"\n{text}", style="bold cyan"))


def command(console: Console, line: str) -> None:
    """Show a command as it would be typed."""
    console.print(Text.assemble(("$ ", "dim"), (line, "green")), soft_wrap=True)
