"""What people see of what waits for a moderator: all but what it says.

In: what is held. Out: a table.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import plain
from recollect.verbs.quarantine import Held

__all__ = ["table"]


def table(held: Sequence[Held]) -> Table:
    """Return what waits as a table; what looks like an attack stands below the source."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in ("Waiting", "From", "Kind", "Characters", "Since"):
        table.add_column(heading, overflow="fold")
    for one in held:
        table.add_row(
            Text(plain(one.pak_id), style="bold"),
            Text.assemble(
                plain(one.source or "-"),
                *([("\n" + ", ".join(one.risks), "bold yellow")] if one.risks else []),
            ),
            Text(plain(f"{one.category}, {one.garden or one.scope}"), style="magenta"),
            Text(f"{one.characters:,}"),
            Text(one.held_since[:10], style="dim"),
        )
    return table
