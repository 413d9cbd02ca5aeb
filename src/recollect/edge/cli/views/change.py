"""What people see of a change: what is otherwise now, and what a memory was before.

In: the engine's values. Out: drawn text, stored text shown and never obeyed.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import plain, shortened
from recollect.model import Remembered, Version

__all__ = ["succession", "update", "versions"]

_SHOWN_CHARS = 200


def update(done: Remembered) -> Text:
    """Say what is otherwise now."""
    if not done.changed:
        return Text(f"{plain(done.pak_id)} says this already; nothing was changed.")
    return Text(f"Changed {', '.join(done.changed)} of {plain(done.pak_id)}.")


def succession(pak_id: str, new: str | None) -> Text:
    """Say who stands in whose place now."""
    if new is None:
        return Text(f"{plain(pak_id)} has its place back.")
    return Text(f"{plain(new)} takes the place of {plain(pak_id)} in answers.")


def versions(found: Sequence[Version]) -> Table:
    """Return versions as a table: when, by whom, what changed, and what it said."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("When, and who", overflow="fold")
    table.add_column("What it said", overflow="fold")
    for one in found:
        table.add_row(
            Text(str(one.number), style="bold" if one.is_current else "dim"),
            Text.assemble((plain(one.at[:16]), "dim"), "\n", plain(one.by)),
            Text.assemble(
                shortened(one.memory.content, _SHOWN_CHARS),
                *([("\nchanged: " + ", ".join(one.changed), "cyan")] if one.changed else []),
                ("\n" + plain(one.pak_id), "dim"),
                *([("  [now]", "magenta")] if one.is_current else []),
            ),
        )
    return table
