"""The comparison as people read it: a table for each corpus, who is absent, and where we lose.

In: a run's JSON. Out: a rich table, or with `python -m bench.peers.table FILE` the Markdown of
`docs/benchmarks.md`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["markdown", "show"]

_HEADINGS = (
    "",
    "recall@5",
    "recall@10",
    "recall@20",
    "MRR",
    "behind, recall@10",
    "query p50",
    "p95",
    "CPU p50",
    "texts/s",
    "peak memory",
    "per-question sha256",
)


def show(run: Mapping[str, Any], console: Console) -> None:
    """Print the tables."""
    for corpus, rows in _by_corpus(run).items():
        table = Table(title=corpus)
        for heading in _HEADINGS:
            table.add_column(heading, justify="right" if heading else "left")
        for row in rows:
            table.add_row(*_cells(row), style="bold" if row["ahead"] is None else "")
        console.print(table)
    for line in _remarks(run):
        console.print(line, style="dim", soft_wrap=True)


def markdown(run: Mapping[str, Any]) -> str:
    """Return the same for a Markdown page."""
    lines: list[str] = []
    for corpus, rows in _by_corpus(run).items():
        lines += [f"{corpus}:", "", _line(_HEADINGS), "|---" * len(_HEADINGS) + "|"]
        lines += [_line(_cells(row)) for row in rows]
        lines.append("")
    return "\n".join([*lines, *(f"{line}\n" for line in _remarks(run))])


def _by_corpus(run: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows of each corpus, the best recall@10 first."""
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(run["rows"], key=lambda row: -row["metrics"]["recall@10"]):
        grouped.setdefault(row["corpus"], []).append(row)
    return {one: grouped[one] for one in run["corpora"]}


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    metrics = row["metrics"]
    behind = "" if row["ahead"] is None else f"{row['ahead']:+.3f} (p {row['p']:.4f})"
    return (
        row["peer"],
        *(f"{metrics[name]:.3f}" for name in ("recall@5", "recall@10", "recall@20", "mrr")),
        behind,
        f"{row['p50_ms']:.2f} ms",
        f"{row['p95_ms']:.2f} ms",
        f"{row['cpu_ms']:.2f} ms",
        f"{row['added_per_second']:,.0f}",
        f"{row['peak_mb']:,.0f} MB",
        f"`{row['sha256'][:16]}`",
    )


def _remarks(run: Mapping[str, Any]) -> Iterator[str]:
    for one in run["absent"]:
        yield f"Absent: {one['peer']} ({one['corpus']}): {one['reason']}"
    yield "\n".join(
        ["Where a peer is ahead:", "", *(f"- {one}" for one in run["losses"] or ["nowhere"])]
    )
    versions = "; ".join(
        f"{row['peer']}: "
        + ", ".join(f"{name} {number}" for name, number in row["versions"].items())
        for row in run["rows"]
        if row["corpus"] == run["corpora"][-1]
    )
    machine = ", ".join(f"{name} {value}" for name, value in run["machine"].items())
    yield (
        f"{run['taken_at']}, commit {run['commit']}; other jobs kept {run['others']:.2f} cores busy"
        f" meanwhile; {versions}; {machine}"
    )


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(markdown(json.loads(Path(sys.argv[1]).read_text())))
