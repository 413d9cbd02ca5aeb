"""What people see of a list of receipts: one answer a row.

In: receipts. Out: a table. What was asked is shown, never obeyed.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import plain, shortened
from recollect.edge.cli.views.why import question
from recollect.model import Receipt

__all__ = ["NOTHING", "more", "table"]

NOTHING = (
    "There are no receipts: `recollect recall --receipt` keeps one, RECOLLECT_RECEIPTS=1 keeps all."
)
_SHOWN_CHARS = 100


def table(receipts: Sequence[Receipt]) -> Table:
    """Return receipts as a table, in their order."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in ("When", "Who", "Asked, and the id of the answer"):
        table.add_column(heading, overflow="fold")
    table.add_column("Given", justify="right", no_wrap=True)
    for one in receipts:
        table.add_row(
            Text(plain(one.at), style="dim"),
            Text(plain(one.principal)),
            Text.assemble(
                shortened(question(one), _SHOWN_CHARS), ("\n" + plain(one.recall_id), "dim")
            ),
            Text(str(len(one.items) + one.missing)),
        )
    return table


def more(cursor: str, limit: int, db: str | None) -> str:
    """Return the command that shows the page after this one."""
    given = ["--limit", str(limit), *(["--db", db] if db else []), "--cursor", cursor]
    return "More: " + shlex.join(["recollect", "receipts", *given])
