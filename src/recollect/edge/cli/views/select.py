"""What people see of selections: scores taken apart, a bar for each part.

In: the engine's values. Out: drawn text, stored text shown and never obeyed. A block stands first,
in white on red.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import badge, bar, plain
from recollect.model import PackageFlag
from recollect.recall.flags import PACKAGE_RULES
from recollect.recall.select import Score, SelectResult

__all__ = ["blocks", "flags", "scores"]

_BAR = 6


def blocks(result: SelectResult) -> Iterator[Text]:
    """Name every Pak with a block, before anything else is said."""
    for score in result.scores:
        for flag in score.risk_flags:
            if flag.severity == "block":
                yield Text.assemble(
                    badge("block"),
                    " ",
                    (plain(score.pak_id), "bold"),
                    f": {plain(flag.risk_flag)}. It was selected all the same; you decide.",
                )


def scores(result: SelectResult) -> Table:
    """Return a selection as a table: the parts of each score with bars, the Pak and the reasons."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", leading=1)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("Score", justify="right", no_wrap=True)
    table.add_column("Made of", no_wrap=True)
    table.add_column("Pak, and why", overflow="fold")
    for rank, score in enumerate(result.scores, start=1):
        table.add_row(
            Text(str(rank), style="dim"),
            Text(f"{score.score:.3f}", style="green"),
            _parts(score.parts),
            _pak(score),
        )
    return table


def flags(raised: Sequence[PackageFlag]) -> Iterator[Text]:
    """Say what is to be known of the package as a whole, the loudest first."""
    for flag in raised:
        yield Text.assemble(
            badge(flag.severity),
            " ",
            (flag.risk_flag, "bold"),
            f": {PACKAGE_RULES.get(flag.risk_flag, '')}.",
        )


def _pak(score: Score) -> Text:
    loud = [flag for flag in score.risk_flags if flag.severity != "info"]
    badges = [
        Text.assemble(badge(flag.severity), " ", plain(flag.risk_flag), "\n") for flag in loud
    ]
    return Text.assemble(
        *badges,
        (plain(score.title), "bold"),
        ("\n" + plain("; ".join(_quiet(score))), "cyan"),
        ("\n" + plain(score.pak_id), "dim"),
    )


def _quiet(score: Score) -> list[str]:
    """Return the reasons that stand nowhere else: not as a badge above, not as a bar beside."""
    said = {f"{f.severity}: {f.risk_flag}" for f in score.risk_flags if f.severity != "info"}
    said |= {f"{code} counts {way} it" for code in score.parts for way in ("for", "against")}
    return [reason for reason in score.why if reason not in said]


def _parts(parts: Mapping[str, float]) -> Table:
    grid = Table.grid(padding=(0, 1))
    for name, value in parts.items():
        if value:
            grid.add_row(bar(value, width=_BAR), _signed(value), Text(plain(name)))
    return grid


def _signed(value: float) -> Text:
    return Text(f"{value:6.3f}", style="green" if value >= 0 else "red")
