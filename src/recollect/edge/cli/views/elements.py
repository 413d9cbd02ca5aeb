"""What the drawings of all commands are put together from: plain text, badges, bars, grids.

In: stored text and numbers. Out: pieces of drawn text. Stored text is shown, never obeyed: it is
no markup, and its control characters are made visible.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recollect.model import Memory

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
# Characters that move the cursor, change colours or reverse the reading direction.
_BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_SHOWN = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in range(0xA0)
    if unicodedata.category(chr(code)) == "Cc" and chr(code) not in "\n\t"
} | dict.fromkeys(map(ord, _BIDI_CONTROLS), "\N{REPLACEMENT CHARACTER}")


def plain(text: str) -> str:
    """Return `text` without what a terminal would obey."""
    return text.translate(_SHOWN)


def shortened(text: str, most: int) -> str:
    """Return the beginning of a text on one line, without what a terminal would obey."""
    line = plain(" ".join(text[: 2 * most].split()))
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0] + " …"


def origin(memory: Memory, *, dated: bool = True) -> str:
    """Return when a memory is from, who said it, of which project, and its tags; in one line."""
    parts = [
        (memory.occurred_at or memory.created_at)[:10] if dated else "",
        f"since {memory.valid_from[:10]}" if memory.valid_from else "",
        memory.speaker or "",
        memory.project or "",
        " ".join(f"#{tag}" for tag in memory.tags),
    ]
    return plain(" · ".join(part for part in parts if part))


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


def count_of(count: int, one: str, many: str) -> str:
    """Return how many there are of something, in words that fit the number."""
    return f"{count:,} {one if count == 1 else many}"


def bar(value: float, *, width: int) -> ProgressBar:
    """Return a share as a bar; what counts against something is red."""
    style = "bar.complete" if value >= 0 else "red"
    full = min(abs(value), 1.0)
    return ProgressBar(total=1.0, completed=full, width=width, complete_style=style)
