"""What people see of frames: all of them as a table, one of them in full.

In: definitions of frames. Out: drawn text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import bar, empty_grid, facts, plain
from recollect.model import FrameDefinition

__all__ = ["recipe", "table"]

_BAR = 8


def table(definitions: Iterable[FrameDefinition]) -> Table:
    """Return the frames as a table; the five weights stand in the order of the formula."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    shown.add_column("Frame", overflow="fold")
    shown.add_column("Sim  Conf Rec  Cent Reinf", no_wrap=True)
    shown.add_column("Tokens", justify="right", no_wrap=True)
    shown.add_column("Tags", overflow="fold")
    for one in definitions:
        shown.add_row(
            Text.assemble((plain(one.name), "bold"), "\n", (one.source, "dim")),
            Text(" ".join(f"{share:.2f}" for share in asdict(one.weights).values()), "green"),
            Text(f"{one.token_budget:,}"),
            Text(
                plain(
                    "\n".join(
                        [
                            *(f"only {pattern}" for pattern in one.filters.tag_patterns),
                            *(f"always {pattern}" for pattern in one.guarantees),
                        ]
                    )
                )
            ),
        )
    return shown


def recipe(one: FrameDefinition, extends: str | None) -> Group:
    """Return one frame in full."""
    grid = empty_grid(3)
    for name, share in asdict(one.weights).items():
        grid.add_row(Text(name), bar(share, width=_BAR), Text(f"{share:.2f}", style="green"))
    window = one.filters.search_window_hours
    rest = {
        "extends": extends or "-",
        "template": one.template,
        "token_budget": f"{one.token_budget:,}",
        "guarantees": one.guarantees,
        "tag_patterns": one.filters.tag_patterns,
        "categories": one.filters.categories,
        "window": "none" if window is None else f"{window:g} active hours",
        "cache": f"{one.cache.ttl_seconds:,} s" if one.cache else "none",
        "ends_cache": one.cache.invalidate_on if one.cache else (),
    }
    return Group(
        Text.assemble((plain(one.name), "bold"), "  ", (one.source, "dim")),
        Padding(grid, (1, 0, 1, 2)),
        Padding(facts(rest), (0, 0, 0, 2)),
    )
