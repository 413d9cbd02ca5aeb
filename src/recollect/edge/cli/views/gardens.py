"""What people see of gardens: one a row, and who is in one.

In: gardens and members. Out: tables.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import empty_grid, plain
from recollect.model import Garden, Member

__all__ = ["members", "table"]


def table(gardens: Sequence[Garden]) -> Table:
    """Return gardens as a table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in ("Garden", "Name", "Scope", "Counts", "Made"):
        table.add_column(heading, overflow="fold")
    for one in gardens:
        table.add_row(
            Text(plain(one.slug), style="bold"),
            Text(plain(one.name)),
            Text(plain(f"{one.scope} {one.team or ''}".strip()), style="magenta"),
            Text(f"{one.tier:.2f}", style="green"),
            Text(one.created_at[:10], style="dim"),
        )
    return table


def members(found: Sequence[Member]) -> Table:
    """Return who is in a garden, with what each may do there."""
    grid = empty_grid(2)
    for one in found:
        grid.add_row(Text(plain(one.principal)), Text(one.role, style="magenta"))
    return grid
