"""What people see of an evaluation: a table for each question they have about it.

In: numbers. Out: drawn text. Bounds are those of 95 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from recollect.edge.cli.views.elements import plain
from recollect.evaluation import FEW, Comparison, Difference, Estimate, Miss, Summary

__all__ = ["changed", "comparison", "missed", "summary", "written"]

_LIKELY = 0.05
_SHOWN_CHANGES = 10


def summary(numbers: Summary) -> Group:
    """Return an evaluation: how good at each k, over all and by category."""
    parts: list[RenderableType] = [_head(numbers), _by_k(numbers), _over_all(numbers)]
    if numbers.categories:
        parts.append(_by_category(numbers))
    return Group(*parts, *_notes(numbers))


def comparison(both: Comparison) -> Group:
    """Return two evaluations side by side."""
    table = _table("", "A", "B", "B - A", "95 %", "p", "up / down")
    for one in both.differences:
        table.add_row(
            one.metric,
            f"{one.first:.3f}",
            f"{one.second:.3f}",
            Text(f"{one.difference:+.3f}", style=_judged(one)),
            f"{one.low:+.3f} to {one.high:+.3f}",
            f"{one.p:.4f}",
            f"{one.better:,} / {one.worse:,}",
        )
    return Group(
        Text(f"A  {plain(both.first)}\nB  {plain(both.second)}"),
        table,
        Text(
            f"Paired over {_counted(both.questions, 'question', 'questions')}, of which so many"
            " went up or down; p is how often chance alone makes as large a difference.",
            style="dim",
        ),
        *_few(both.questions),
    )


def missed(misses: Sequence[Miss], *, most: int) -> Iterator[Text]:
    """Yield the questions that were not answered, with what lacks and what came instead."""
    if not misses or not most:
        return
    yield Text(f"\nMissed {_counted(len(misses), 'question', 'questions')}:", style="bold")
    for one in misses[:most]:
        part = "  [in part]" if one.is_partial else ""
        yield Text.assemble(
            plain(one.question),
            (f"\n  {plain(one.question_id)}{part}", "dim"),
            ("\n  not found: ", "dim"),
            (plain(", ".join(one.missing)), "red"),
            ("\n  came first: ", "dim"),
            plain(", ".join(one.came)) or "nothing",
        )
    if len(misses) > most:
        yield Text(f"and {len(misses) - most:,} more: --misses, --csv and --html show them.", "dim")


def changed(both: Comparison) -> Iterator[Text]:
    """Yield the questions that went up or down, those that fell most first."""
    if not both.changed:
        return
    yield Text(f"\nChanged in {both.metric}:", style="bold")
    for one in both.changed[:_SHOWN_CHANGES]:
        style = "green" if one.second > one.first else "red"
        yield Text.assemble(
            (f"{one.first:.2f} to {one.second:.2f}  ", style),
            plain(one.question or one.question_id),
            (f"\n  {plain(one.question_id)}", "dim"),
            (f"\n  A: {plain(', '.join(one.first_answer))}", "dim"),
            (f"\n  B: {plain(', '.join(one.second_answer))}", "dim"),
        )
    if len(both.changed) > _SHOWN_CHANGES:
        yield Text(f"and {len(both.changed) - _SHOWN_CHANGES:,} more: --json has them all.", "dim")


def written(path: Path) -> Text:
    """Say that a file was written."""
    return Text(f"Wrote {plain(str(path))}.", style="dim")


def _few(questions: int) -> Iterator[Text]:
    if questions < FEW:
        yield Text.assemble(
            ("Few questions: ", "bold yellow"),
            f"one of {questions:,} moves a mean by {1 / questions:.2f}. Read the bounds, not the"
            " means.",
        )


def _head(numbers: Summary) -> Text:
    stores = f" in {numbers.stores:,} stores" if numbers.stores > 1 else ""
    questions = _counted(numbers.questions, "question", "questions")
    memories = _counted(numbers.memories, "memory", "memories")
    return Text.assemble((plain(numbers.task), "bold"), f": {questions}, {memories}{stores}")


def _by_k(numbers: Summary) -> Table:
    table = _table("k", "recall", "95 %", "all", "hit", "p50 ms", "p95 ms", "tokens")
    for k in numbers.k:
        share, cost = numbers.metrics[f"recall@{k}"], numbers.costs[k]
        table.add_row(
            str(k),
            Text(f"{share.mean:.3f}", style="bold green"),
            _range(share),
            f"{numbers.metrics[f'all@{k}'].mean:.3f}",
            f"{numbers.metrics[f'hit@{k}'].mean:.3f}",
            f"{cost.p50_ms:.2f}",
            f"{cost.p95_ms:.2f}",
            f"{cost.tokens:,.0f}",
        )
    return table


def _over_all(numbers: Summary) -> Text:
    parts = [
        f"{name} {numbers.metrics[key].mean:.3f} ({_range(numbers.metrics[key])})"
        for name, key in (("MRR", "mrr"), ("nDCG@10", "ndcg@10"))
    ]
    return Text(", ".join(parts))


def _by_category(numbers: Summary) -> Table:
    table = _table("category", "questions", *(f"recall@{k}" for k in numbers.k), "MRR")
    for name, one in numbers.categories.items():
        shares = (f"{one.metrics[f'recall@{k}']:.3f}" for k in numbers.k)
        table.add_row(plain(name), f"{one.questions:,}", *shares, f"{one.metrics['mrr']:.3f}")
    return table


def _notes(numbers: Summary) -> Iterator[Text]:
    if numbers.skipped:
        counts = (f"{count:,} {plain(reason)}" for reason, count in numbers.skipped.items())
        yield Text(f"Left out: {', '.join(counts)}.", style="dim")
    if numbers.remembered_per_second:
        yield Text(f"Remembered {numbers.remembered_per_second:,.0f} a second.", style="dim")
    yield from _few(numbers.questions)
    if numbers.pending or numbers.degraded:
        yield Text.assemble(
            ("Degraded: ", "bold yellow"),
            f"{numbers.pending:,} memories have no vector and {numbers.degraded:,} answers were"
            " found by words alone, because the embedder failed.",
        )


def _judged(one: Difference) -> str:
    if one.p >= _LIKELY:
        return "dim"
    return "bold green" if one.difference > 0 else "bold red"


def _range(one: Estimate) -> str:
    return f"{one.low:.3f} to {one.high:.3f}"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    table.columns[0].justify = "left"
    return table
