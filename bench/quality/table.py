"""What was measured, for people: a row for each set, and a line for each row that is ahead of us.

In: results, or the JSON that was kept of them. Out: tables on a console, or Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from bench.quality.rows import METRICS, SetResult, allowed, keeps_up

__all__ = ["ahead_lines", "show"]

_SMALL_P = 0.001


def show(results: Sequence[SetResult], console: Console) -> None:
    """Print recall@10 and MRR of everybody on every set, then who is ahead of us."""
    if not results:
        return
    names = list(dict.fromkeys(row.name for one in results for row in one.rows))
    table = Table(title="recall@10 / MRR; best of a line in bold")
    table.add_column("set (questions)")
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("kept up", justify="right")
    for one in results:
        cells = [_cell(one, name) for name in names]
        table.add_row(f"{one.name} ({one.questions:,})", *cells, _verdict(one))
    console.print(table)
    lines = list(ahead_lines(results))
    console.print("Ahead of us:" if lines else "No row is ahead of us.")
    for line in lines:
        console.print(f"  {line}", highlight=False)
    for one in results:
        for name, reason in one.absent.items():
            console.print(f"{one.name}, {name} is missing: {reason}", highlight=False)


def ahead_lines(results: Sequence[SetResult]) -> Iterator[str]:
    """Say set by set which rows are better than ours, by how much, and how likely by chance."""
    for one in results:
        for each in one.ahead:
            note = "" if each.by <= allowed(one) else "  MORE THAN .01 OR A QUESTION"
            p = f"p {each.p:.3f}" if each.p >= _SMALL_P else f"p < {_SMALL_P}"
            yield f"{one.name}, {each.metric}: {each.row} by {each.by:.3f} ({p}){note}"


def _cell(result: SetResult, name: str) -> str:
    row = next((one for one in result.rows if one.name == name), None)
    if row is None:
        return "-"
    shown = []
    for metric in METRICS:
        most = max(one.metrics[metric] for one in result.rows)
        value = row.metrics[metric]
        shown.append(f"[bold]{value:.3f}[/bold]" if value == most else f"{value:.3f}")
    return "/".join(shown)


def _verdict(result: SetResult) -> str:
    if len(result.rows) == 1:
        return "-"
    return "yes" if keeps_up(result) else "NO"
