"""What people see of trust: a source a row, with a bar.

In: shares by source. Out: a table.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import bar, empty_grid, plain

__all__ = ["table"]

_BAR = 8


def table(trust: Mapping[str, float]) -> Table:
    """Return how far each source counts."""
    grid = empty_grid(3)
    for source, share in sorted(trust.items()):
        grid.add_row(Text(plain(source)), bar(share, width=_BAR), Text(f"{share:.2f}", "green"))
    return grid
