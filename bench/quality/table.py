"""What was measured, for people: a row for each set, and a line for each row that is ahead of us.

In: results, or the JSON that was kept of them. Out: tables on a console, or Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from bench.quality.choose import Chosen
from bench.quality.fit import Fitted
from bench.quality.rows import METRICS, SetResult, allowed, keeps_up

__all__ = ["ahead_lines", "left_out", "show", "show_ablated", "show_chosen", "show_left_out"]

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


def left_out(fitted: Sequence[Fitted], metric: str, category: str | None = None) -> float:
    """Return the mean over the questions of all conversations, each with the others' table."""
    found = [
        score[metric]
        for one in fitted
        for score, own in zip(one.scores, one.categories, strict=True)
        if category in (None, own)
    ]
    return sum(found) / len(found)


def show_left_out(name: str, fitted: Sequence[Fitted], console: Console) -> None:
    """Print what each conversation finds with the table of the others, and that table."""
    table = Table(title=f"{name}: each conversation with the table of the others")
    for heading in ("left out", "questions", "recall@10", "MRR", "table"):
        table.add_column(heading, justify="left" if heading in ("left out", "table") else "right")
    for one in fitted:
        weights = {key: value for key, value in asdict(one.table).items() if value}
        told = ", ".join(f"{key} {value:g}" for key, value in weights.items())
        numbers = (one.mean("recall@10"), one.mean("mrr"))
        table.add_row(one.name, f"{len(one.scores):,}", *(f"{n:.3f}" for n in numbers), told)
    console.print(table)
    parts = [f"recall@10 {left_out(fitted, 'recall@10'):.4f}", f"MRR {left_out(fitted, 'mrr'):.4f}"]
    kinds = sorted({kind for one in fitted for kind in one.categories if kind is not None})
    parts += [f"{kind} {left_out(fitted, 'recall@10', kind):.4f}" for kind in kinds]
    console.print(f"{name}, left one out: {', '.join(parts)}", highlight=False)


def show_ablated(name: str, found: Sequence[tuple[str, float, float]], console: Console) -> None:
    """Print recall@10 and MRR without each stage, and what it is worth."""
    table = Table(title=f"{name}: without each stage")
    for heading in ("without", "recall@10", "MRR", "worth, recall@10", "worth, MRR"):
        table.add_column(heading, justify="left" if heading == "without" else "right")
    _, recall, mrr = found[0]
    for stage, one, other in found:
        worth = (f"{recall - one:+.4f}", f"{mrr - other:+.4f}")
        table.add_row(stage, f"{one:.4f}", f"{other:.4f}", *worth)
    console.print(table)


def show_chosen(found: Sequence[Chosen], console: Console) -> None:
    """Print what each set has with the shares that the others choose, and with the shipped ones."""
    table = Table(title="each set with the shares that the others choose: recall@10 / MRR")
    for heading in ("left out", "questions", "chosen on the others", "so", "as shipped", "at best"):
        table.add_column(heading, justify="right" if heading == "questions" else "left")
    for one in found:
        cells = ["/".join(f"{n:.3f}" for n in each) for each in (one.so, one.shipped, one.best)]
        table.add_row(one.name, f"{one.questions:,}", one.shares, *cells)
    console.print(table)


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
