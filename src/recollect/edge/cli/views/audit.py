"""What people see of the audit log: one act a row.

In: acts. Out: a table. Names are shown, never obeyed.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import plain
from recollect.ports.access import Act

__all__ = ["table"]


def table(acts: Sequence[Act]) -> Table:
    """Return acts as a table, in their order."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", no_wrap=True)
    for heading in ("When", "Who", "Did", "To", "Detail"):
        table.add_column(heading, overflow="fold")
    for act in acts:
        table.add_row(
            Text(str(act.number), style="dim"),
            Text(plain(act.at), style="dim"),
            Text(plain(act.principal)),
            Text(plain(act.act), style="magenta"),
            Text(plain(act.target)),
            Text(plain(act.detail), style="dim"),
        )
    return table
