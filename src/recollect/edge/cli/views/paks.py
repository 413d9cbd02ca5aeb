"""What people see of the catalogue: Paks as tables, one as a card, flags with the loudest first.

In: the catalogue's values and a rich console. Out: drawn text. Stored text is shown, never obeyed:
it is no markup, and its control characters are made visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import (
    BADGES,
    badge,
    empty_grid,
    grid,
    plain,
    problems,
    section,
    verdict,
)
from recollect.edge.wire import Dossier
from recollect.paks import CheckReport, PakHit, PakRow, ReasonCodeEntry, RepairReport, RiskFlagEntry
from recollect.paks.registry import REASON_CODES

if TYPE_CHECKING:
    from recollect.edge.wire import Flags

__all__ = ["card", "draw_check", "draw_repair", "hits", "paks"]


def paks(rows: Sequence[PakRow], flags: Flags) -> Table:
    """Return a listing as a table."""
    table = _table()
    for pak in rows:
        table.add_row(*_cells(pak, flags[pak.pak_id]))
    return table


def hits(found: Sequence[PakHit], flags: Flags) -> Table:
    """Return what a search found as a table, with the scores."""
    table = _table()
    table.add_column("Score", justify="right", no_wrap=True)
    for hit in found:
        score = Text(f"{hit.score:.2f}", style="green")
        table.add_row(*_cells(hit.pak, flags[hit.pak.pak_id]), score)
    return table


def card(known: Dossier, *body: RenderableType) -> Group:
    """Return everything about one Pak: warnings first, then what it says, then why and where.

    `body` comes after the warnings.
    """
    pak = known.pak
    parts: list[RenderableType] = [
        Text(plain(pak.title), style="bold"),
        Text(plain(pak.pak_id), style="dim"),
        *section("Careful", _flag_grid(known.risk_flags), known.risk_flags),
        *body,
        *section("Summary", Text(plain(pak.summary)), pak.summary),
        *section("Why it matters", _reason_grid(known.reason_codes), known.reason_codes),
        *section("Facts", _fact_grid(pak), [pak]),
        *section(
            "Anchors",
            grid((entry.anchor_id, entry.source_path, entry.kind) for entry in known.anchors),
            known.anchors,
        ),
        *section(
            "Relations",
            grid((entry.relation_type, entry.related_pak_id) for entry in known.relations),
            known.relations,
        ),
    ]
    return Group(*parts)


def _table() -> Table:
    """Return an empty table of Paks; each takes two lines, so that 80 columns are enough.

    The id stands below the title, and the project below the type.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("Pak", overflow="fold")
    table.add_column("Type", overflow="fold")
    table.add_column("Careful", no_wrap=True)
    table.add_column("Updated", no_wrap=True)
    return table


def _cells(pak: PakRow, flags: Sequence[RiskFlagEntry]) -> tuple[Text, ...]:
    return (
        Text.assemble((plain(pak.title), "bold"), "\n", (plain(pak.pak_id), "dim")),
        Text.assemble((plain(pak.pak_type), "magenta"), "\n", (plain(pak.project or "-"), "blue")),
        _tally(flags),
        Text(plain(pak.updated_at[:10]), style="dim"),
    )


def _tally(flags: Sequence[RiskFlagEntry]) -> Text:
    """Count the flags of each severity, worst first: `BLOCK`, `2 warn`."""
    lines = []
    for severity, (name, style) in BADGES.items():
        count = sum(flag.severity == severity for flag in flags)
        if count:
            shown = f" {name} " if severity == "block" else name
            lines.append(Text(f"{count} {shown}" if count > 1 else shown, style=style))
    return Text("\n").join(lines)


def _flag_grid(flags: Sequence[RiskFlagEntry]) -> Table:
    grid = empty_grid(2)
    for flag in sorted(
        flags, key=lambda flag: (tuple(BADGES).index(flag.severity), flag.risk_flag)
    ):
        loud = "bold red" if flag.severity == "block" else ""
        grid.add_row(badge(flag.severity), Text(plain(flag.risk_flag), style=loud))
    return grid


def _reason_grid(codes: Sequence[ReasonCodeEntry]) -> Table:
    grid = empty_grid(4)
    for code in sorted(codes, key=lambda code: (-code.weight, code.reason_code)):
        known = REASON_CODES.get(code.reason_code)
        grid.add_row(
            Text(plain(code.reason_code)),
            ProgressBar(total=1.0, completed=code.weight, width=10),
            Text(f"{code.weight:.2f}", style="green"),
            Text(known.category if known else "not in the registry", style="dim"),
        )
    return grid


def _fact_grid(pak: PakRow) -> Table:
    grid = empty_grid(2, gap=1)  # a SHA-256 then fits into 80 columns
    for field, value in pak._asdict().items():
        if field not in ("pak_id", "title", "summary"):
            grid.add_row(Text(field, style="dim"), Text(plain(value if value else "-")))
    return grid


def draw_check(console: Console, report: CheckReport, place: str) -> None:
    """Say whether a catalogue is sound, what is wrong with it, and what to do."""
    console.print(verdict(report.ok, place, report.paks, ("Pak", "Paks")), soft_wrap=True)
    problems(console, report.problems)
    if not report.ok:
        console.print(f"Try: recollect paks repair --db {place}", soft_wrap=True)


def draw_repair(
    console: Console, done: RepairReport, *, before: Sequence[str], upgraded: bool
) -> None:
    """Say what a repair found and did."""
    if before:
        console.print("Found:")
        problems(console, before)
    else:
        console.print("Found nothing wrong.")
    if upgraded:
        console.print("Brought the catalogue up to the newest schema.")
    console.print(
        f"Rebuilt the full-text table: {done.removed:,} rows removed, {done.added:,} added."
    )
