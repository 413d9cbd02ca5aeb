"""What people see of a list of memories: a line or two each, with when, who, where and which tags.

In: memories. Out: drawn text, stored text shown and never obeyed.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import empty_grid, origin, plain, shortened
from recollect.model import Memory
from recollect.recall.listing import MemoryCounts

__all__ = ["counts", "more", "nothing", "table"]

_SHOWN_CHARS = 160
_SHOWN_COUNTS = 12


def table(memories: Sequence[Memory]) -> Table:
    """Return memories as a table: the text, its id, and where it comes from."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("Memory", overflow="fold")
    table.add_column("Updated", no_wrap=True)
    for memory in memories:
        told = origin(memory, dated=memory.occurred_at is not None)
        table.add_row(
            Text.assemble(
                shortened(memory.content, _SHOWN_CHARS),
                *([("\n" + told, "blue")] if told else []),
                ("\n" + plain(memory.pak_id), "dim"),
                *([(f"  [{memory.status}]", "magenta")] if memory.status != "active" else []),
            ),
            Text(plain(memory.updated_at[:10]), style="dim"),
        )
    return table


def nothing(there: int) -> str:
    """Say why a list is empty."""
    if there:
        return "No memory of yours is like that."
    return "This memory is empty: `recollect remember` stores the first text."


def counts(there: MemoryCounts) -> Table:
    """Return how many there are of each project, tag, thread and speaker; the most first."""
    grid = empty_grid(2)
    for name in ("project", "tag", "thread", "speaker"):
        found = getattr(there, name)
        ordered = sorted(found, key=lambda one: (-found[one], one))
        if ordered:
            told = ", ".join(f"{plain(one)} {found[one]:,}" for one in ordered[:_SHOWN_COUNTS])
            rest = len(ordered) - _SHOWN_COUNTS
            grid.add_row(
                Text(name, style="dim"), Text(told + (f", and {rest:,} more" * (rest > 0)))
            )
    return grid


def more(cursor: str, options: Mapping[str, Any]) -> str:
    """Return the command that shows the page after this one."""
    given: list[str] = []
    for name, value in options.items():
        option = "--tag" if name == "tags" else f"--{name}"
        values = value if isinstance(value, list) else [] if value is None else [value]
        given += [part for one in values for part in (option, str(one))]
    return "More: " + shlex.join(["recollect", "list", *given, "--cursor", cursor])
