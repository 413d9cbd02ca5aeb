"""What the drawings of all commands are put together from: plain text, badges, bars, grids.

In: stored text and numbers. Out: pieces of drawn text. Stored text is shown, never obeyed: it is
no markup, and its control characters are made visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.words import count_of, origin, plain, shortened

__all__ = [
    "BADGES",
    "badge",
    "bar",
    "count_of",
    "empty_grid",
    "facts",
    "grid",
    "origin",
    "plain",
    "problems",
    "section",
    "shortened",
    "verdict",
]

BADGES = {
    "block": ("BLOCK", "bold white on red"),
    "warn": ("warn", "yellow"),
    "info": ("info", "cyan"),
}


def badge(severity: str) -> Text:
    """Return a severity as a coloured badge; block is the loudest."""
    name, style = BADGES[severity]
    return Text(f" {name} ", style=style)


def verdict(ok: bool, place: str, count: int, nouns: tuple[str, str]) -> Text:
    """Return in one line whether a place with so many of something is sound."""
    there = f"  {plain(place)}: {count:,} {nouns[count != 1]}"
    if ok:
        return Text.assemble(("OK", "bold green"), f"{there}, no problems.")
    return Text.assemble(("PROBLEMS", "bold red"), f"{there}.")


def problems(console: Console, found: Iterable[str]) -> None:
    """List what is wrong."""
    for problem in found:
        console.print(Text.assemble(("  - ", "red"), plain(problem)), soft_wrap=True)


def section(title: str, body: RenderableType, there: Sequence[object]) -> list[RenderableType]:
    """Return a heading and what stands below it; nothing if there is nothing."""
    if not there:
        return []
    return [Text(f"\n{title}", style="bold underline"), Padding(body, (0, 0, 0, 2))]


def grid(rows: Iterable[tuple[str, ...]]) -> Table:
    """Return rows of plain cells."""
    cells = [tuple(Text(plain(cell)) for cell in row) for row in rows]
    table = empty_grid(max(map(len, cells), default=0))
    for row in cells:
        table.add_row(*row)
    return table


def empty_grid(columns: int, *, gap: int = 2) -> Table:
    """Return a grid without rows, whose cells wrap."""
    grid = Table.grid(padding=(0, gap))
    for _ in range(columns):
        grid.add_column(overflow="fold")
    return grid


def facts(fields: Mapping[str, object]) -> Table:
    """Return names and values, one a line."""
    grid = empty_grid(2)
    for name, value in fields.items():
        grid.add_row(Text(name, style="dim"), Text(plain(_worded(value))))
    return grid


def _worded(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, float):
        return f"{value:g}"
    return "-" if value is None else str(value)


def bar(value: float, *, width: int) -> ProgressBar:
    """Return a share as a bar; what counts against something is red."""
    style = "bar.complete" if value >= 0 else "red"
    full = min(abs(value), 1.0)
    return ProgressBar(total=1.0, completed=full, width=width, complete_style=style)
