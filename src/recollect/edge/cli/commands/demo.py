"""`recollect demo`: remember, recall, why, and the text of three prompts, with the real engine.

In: nothing, or a path where the database shall stay. Out: calls of the engine, each shown with the
command that would make it; and a database that is gone afterwards, unless it was asked for.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.engine import Recollect

__all__ = ["demo"]

_PROBLEM = "Card payment timed out: send it again?"
_CHOICE = "app or server-rendered pages?"
_TASK = "retry failed card payments"


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

    if keep is not None:
        _tell(_new(keep.expanduser()), kept=True)
        return
    with TemporaryDirectory(prefix="recollect-") as folder:
        _tell(Path(folder) / "shop.db", kept=False)


def _new(path: Path) -> Path:
    if path.exists():
        raise InvalidInput(
            f"{path} is there already, and the demo writes only into a new file.",
            hint="choose another path for --keep.",
        )
    return path


def _tell(path: Path, *, kept: bool) -> None:
    """Show what the engine does, with a new database at `path`."""
    from recollect.edge.cli.demo_memory import fill
    from recollect.edge.cli.views import demo as view

    console = output.console()
    view.introduction(console)
    started = perf_counter()
    with fill(path) as memory:
        took_ms = (perf_counter() - started) * 1000
        count = memory.stats()["memories"]
        view.heading(console, f"{count} memories, remembered in {took_ms:.0f} ms")
        console.print(str(path), soft_wrap=True)
        view.heading(console, "A payment fails. What does the agent know?")
        _recall(console, memory, _PROBLEM, top_k=3)
        view.heading(console, "What something newer took the place of is no answer any more.")
        _recall(console, memory, _CHOICE, top_k=1)
        view.heading(console, "Why is that one there? Each signal, times what it counts:")
        _why(console, memory, _CHOICE)
        view.heading(console, "Three frames: the text that goes into the prompt.")
        _frame(console, memory, "self", None, top_k=3)
        _frame(console, memory, "attention", _TASK, top_k=3)
        _frame(console, memory, "task", _TASK, top_k=4)
    view.draw_what_next(console, path if kept else Path("shop.db"), kept=kept)


def _recall(console: Console, memory: Recollect, question: str, *, top_k: int) -> None:
    from recollect.edge.cli.views import demo as view

    view.command(console, f"recollect recall {quote(question)} --top-k {top_k}")
    started = perf_counter()
    answer = memory.recall(question, top_k=top_k)
    view.draw_answer(console, answer, (perf_counter() - started) * 1000)


def _why(console: Console, memory: Recollect, question: str) -> None:
    from recollect.edge.cli.views import demo as view
    from recollect.edge.cli.views.recall import signal_parts

    view.command(console, f"recollect recall {quote(question)} --top-k 1 --signals")
    weights = memory.frames.get("evidence").weights
    for result in memory.recall(question, top_k=1).results:
        console.print(signal_parts(result, weights))


def _frame(
    console: Console, memory: Recollect, name: str, query: str | None, *, top_k: int
) -> None:
    from recollect.edge.cli.views import demo as view

    words = f" {quote(query)}" if query else ""
    view.command(console, f"recollect frame {name}{words} --top-k {top_k}")
    view.draw_prompt(console, memory.frame(name, query, top_k=top_k))
