"""What people see of an explanation: the verdict, then the score taken apart.

In: the engine's explanation. Out: drawn text, stored text shown and never obeyed.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import bar, plain
from recollect.model import Contribution, Explanation

__all__ = ["explanation"]

_BAR = 6


def explanation(told: Explanation) -> Group:
    """Return what became of one memory: the verdict, then the score taken apart."""
    style = "bold green" if told.returned else "bold yellow"
    parts: list[RenderableType] = [
        Text(plain(told.pak_id), style="bold"),
        Text.assemble((f"{told.stage}  ", style), plain(told.reason)),
    ]
    if told.contributions:
        parts.append(Padding(_sum(told.contributions, told.score or 0.0), (1, 0, 0, 2)))
    if told.details:
        made = ", ".join(f"{name} {value:.3f}" for name, value in told.details.items())
        parts.append(Text(f"\nsimilarity is made of {made}", style="dim"))
    if told.why:
        parts.append(Text("\n" + plain("; ".join(told.why)), style="cyan"))
    return Group(*parts)


def _sum(contributions: Sequence[Contribution], score: float) -> Table:
    grid = Table.grid(padding=(0, 2))
    for one in contributions:
        grid.add_row(
            Text(plain(one.name)),
            bar(one.contribution, width=_BAR),
            Text(f"{one.value:.3f}", style="green"),
            Text(f"x {one.weight:.2f}", style="dim"),
            Text(f"= {one.contribution:.3f}"),
        )
    grid.add_row("", "", "", Text("score", style="dim"), Text(f"= {score:.3f}", style="bold"))
    return grid
