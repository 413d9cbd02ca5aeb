"""The story that `recollect demo` tells: remember, recall, why, and the text of three prompts.

In: a path for a new database. Out: text for a newcomer, made with the real engine, the sample
memories of `recollect.samples`, and the drawings that the other commands use.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from time import perf_counter

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from recollect.edge.cli import answers, voice
from recollect.edge.cli.drawing import plain
from recollect.edge.cli.shop import fill
from recollect.engine import Recollect

__all__ = ["tell"]

_PROBLEM = "Card payment timed out: send it again?"
_CHOICE = "app or server-rendered pages?"
_TASK = "retry failed card payments"


def tell(path: Path, *, kept: bool) -> None:
    """Tell the story with a new database at `path`."""
    console = voice.console()
    console.print(
        "An agent learns things. Recollect keeps them in one file, finds those that\n"
        "answer a question, says why, and writes the text that goes into the prompt.\n"
        "Here is what the team of a small web shop for tea and teapots has learnt."
    )
    started = perf_counter()
    with fill(path) as memory:
        took_ms = (perf_counter() - started) * 1000
        _heading(console, f"{memory.stats()['memories']} memories, remembered in {took_ms:.0f} ms")
        console.print(str(path), soft_wrap=True)
        _heading(console, "A payment fails. What does the agent know?")
        _recall(console, memory, _PROBLEM, top_k=3)
        _heading(console, "Two memories contradict each other; only the better one is an answer.")
        _recall(console, memory, _CHOICE, top_k=1)
        _heading(console, "Why is that one there? Each signal, times what it counts:")
        _why(console, memory, _CHOICE)
        _heading(console, "Three frames: the text that goes into the prompt.")
        _frame(console, memory, "self", None, top_k=3)
        _frame(console, memory, "attention", _TASK, top_k=3)
        _frame(console, memory, "task", _TASK, top_k=4)
    _what_next(console, path if kept else Path("shop.db"), kept=kept)


def _recall(console: Console, memory: Recollect, question: str, *, top_k: int) -> None:
    _prompt(console, f"recollect recall {shlex.quote(question)} --top-k {top_k}")
    started = perf_counter()
    answer = memory.recall(question, top_k=top_k)
    took_ms = (perf_counter() - started) * 1000
    console.print(answers.results(answer))
    for note in answers.notes(answer.degraded, answer.dropped, answer.meta):
        console.print(note)
    console.print(Text(f"Answered in {took_ms:.1f} ms.", style="dim"))


def _why(console: Console, memory: Recollect, question: str) -> None:
    _prompt(console, f"recollect recall {shlex.quote(question)} --top-k 1 --signals")
    answer = memory.recall(question, top_k=1)
    weights = memory.frames.get("evidence").weights
    for result in answer.results:
        console.print(answers.makings(result, weights))


def _frame(
    console: Console, memory: Recollect, name: str, query: str | None, *, top_k: int
) -> None:
    words = f" {shlex.quote(query)}" if query else ""
    _prompt(console, f"recollect frame {name}{words} --top-k {top_k}")
    result = memory.frame(name, query, top_k=top_k)
    size = f"{result.tokens_used} of {result.token_budget:,} tokens"
    console.print(Panel(Text(plain(result.text)), box=box.ROUNDED, subtitle=size))


def _what_next(console: Console, db: Path, *, kept: bool) -> None:
    _heading(console, "Your turn")
    # From a fresh clone the command is in .venv/bin, where the shell does not look.
    recollect = "recollect" if shutil.which("recollect") else shlex.quote(sys.argv[0])
    place = shlex.quote(str(db))
    if not kept:
        _prompt(console, f"{recollect} demo --keep {place}")
    _prompt(console, f"{recollect} remember 'The kiln is booked until May.' --db {place}")
    _prompt(console, f"{recollect} recall 'when is the kiln free?' --top-k 1 --db {place}")
    _prompt(console, f"{recollect} --help")
    console.print(
        "\nEach memory is also in the catalogue, with reason codes and risk flags:", style="bold"
    )
    _prompt(console, f"{recollect} paks show payments-card-rules --db {place}")


def _heading(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}", style="bold cyan"))


def _prompt(console: Console, command: str) -> None:
    console.print(Text.assemble(("$ ", "dim"), (command, "green")), soft_wrap=True)
