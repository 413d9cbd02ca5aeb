"""What people see of keys: whom one stands for, what it may do, and until when.

In: keys as they are stored. Out: drawn text. A secret never comes through here.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import plain
from recollect.policy import KeyRow

__all__ = ["new_key", "secret_warning", "table"]


def new_key(row: KeyRow) -> Text:
    """Say whom a new key stands for."""
    who = row.principal
    teams = f", in {', '.join(who.teams)}" if who.teams else ""
    return Text.assemble(
        "A key for ",
        (plain(who.id), "bold"),
        plain(f" of {who.tenant}{teams}; it may {_may(row)}; {_until(row)}:"),
    )


def secret_warning(row: KeyRow) -> Text:
    """Say that a secret is gone once it was shown."""
    return Text.assemble(
        ("Copy it now: ", "bold yellow"),
        "it is not shown again, and only a hash of it is stored. If it is lost or seen by others,"
        f" end it with `recollect keys revoke {row.prefix}`.",
    )


def table(rows: Sequence[KeyRow]) -> Table:
    """Return keys as a table; names stand below the prefix, teams below the principal."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in ("Key", "Stands for", "May", "Made", "Ends"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        who = row.principal
        below = ", ".join((who.tenant, *who.teams))
        table.add_row(
            Text.assemble(
                (row.prefix, "bold"), ("\n" + plain(row.name) if row.name else "", "dim")
            ),
            Text.assemble(plain(who.id), ("\n" + plain(below), "dim")),
            Text(_may(row)),
            Text(row.created_at[:10], style="dim"),
            Text(_ends(row), style="red" if row.revoked_at else ""),
        )
    return table


def _may(row: KeyRow) -> str:
    return ", ".join(row.principal.permissions) or "nothing"


def _until(row: KeyRow) -> str:
    return f"it ends {row.expires_at}" if row.expires_at else "it does not end by itself"


def _ends(row: KeyRow) -> str:
    if row.revoked_at:
        return f"revoked {row.revoked_at[:10]}"
    return row.expires_at[:10] if row.expires_at else "-"
