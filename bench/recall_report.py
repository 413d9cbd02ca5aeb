"""What the recall benchmark found: values beside bars, a table to read, JSON to keep.

In: findings. Out: the tables printed, the run written, or (with
`python -m bench.recall_report results.json`) as the Markdown of `docs/benchmarks.md`.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.report import NEAR, Verdict, duration, times

__all__ = ["Bar", "Finding", "Growth", "RecallRun", "Unit", "markdown", "ratio", "show", "single"]

PAIRS = 9
_TITLE = "Recall: wall time beside the bare pass and elfmem"


class Unit(StrEnum):
    """What a value counts."""

    TIMES = "x"
    RATE = "/s"
    SECONDS = "s"
    KILOBYTES = "KB"
    MEGABYTES = "MB"
    SHARE = ""

    def shown(self, value: float) -> str:
        """Return a value with its unit."""
        if self is Unit.TIMES:
            return times(value)
        if self is Unit.SECONDS:
            return duration(value)
        if self is Unit.SHARE:
            return f"{value:.3f}"
        return f"{value:,.0f}{'' if self is Unit.RATE else ' '}{self.value}"


@dataclass(frozen=True)
class Bar:
    """What a value must not exceed, or with `at_least` must reach."""

    limit: float
    at_least: bool = False

    def verdict(self, value: float) -> Verdict:
        """Say whether a value holds."""
        # How many times better than the bar; below 1 it is missed.
        margin = value / self.limit if self.at_least else self.limit / max(value, 1e-12)
        if margin < 1:
            return Verdict.MISSED
        return Verdict.NEAR if margin < NEAR else Verdict.HOLDS

    def shown(self, unit: Unit) -> str:
        """Return the bar as text."""
        space = " " if unit in (Unit.SECONDS, Unit.KILOBYTES, Unit.MEGABYTES) else ""
        return f"{'>=' if self.at_least else '<='} {self.limit:,g}{space}{unit.value}"


@dataclass(frozen=True)
class Finding:
    """One row: a value, the spread it had, and what it was computed from."""

    what: str
    size: int
    value: float
    unit: Unit
    middle_half: tuple[float, float]
    ours: str = "-"
    beside: str = "-"
    bar: Bar | None = None
    samples: dict[str, list[float]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Whether the bar holds."""
        return Verdict.NO_BAR if self.bar is None else self.bar.verdict(self.value)


@dataclass(frozen=True)
class Growth:
    """What one size costs."""

    size: int
    recall_s: float
    pass_s: float
    remember_a_second: float


@dataclass(frozen=True)
class RecallRun:
    """All that one run found, and where."""

    taken_at: str
    commit: str
    others: float
    machine: dict[str, str]
    versions: dict[str, str]
    findings: tuple[Finding, ...]
    growth: tuple[Growth, ...]

    def write(self, path: Path) -> None:
        """Keep the run, every sample included."""
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = asdict(self)
        for finding, row in zip(self.findings, kept["findings"], strict=True):
            row["verdict"] = finding.verdict.value
        path.write_text(json.dumps(kept, indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> RecallRun:
        """Return a run that `write` kept."""
        kept = json.loads(path.read_text())
        kept["findings"] = tuple(_finding_from(row) for row in kept["findings"])
        kept["growth"] = tuple(Growth(**row) for row in kept["growth"])
        return cls(**kept)


def ratio(
    what: str,
    size: int,
    upper: Sequence[float],
    lower: Sequence[float],
    *,
    ours: Sequence[float],
    beside: tuple[str, Sequence[float]],
    bar: Bar | None = None,
) -> Finding:
    """Return how many times the seconds of `lower` those of `upper` are, by pairs of neighbours.

    The value is the median of nine pairs of blocks, the spread that of single neighbours. `ours` is
    which of the two is Recollect's.
    """
    name, other = beside
    return Finding(
        what=what,
        size=size,
        value=by_pairs(upper, lower),
        unit=Unit.TIMES,
        middle_half=middle_half([a / b for a, b in zip(upper, lower, strict=True)]),
        ours=duration(statistics.median(ours)),
        beside=f"{duration(statistics.median(other))} {name}",
        bar=bar,
        samples={"ours": _short(ours), name: _short(other)},
    )


def single(
    what: str,
    size: int,
    values: Sequence[float],
    unit: Unit,
    *,
    bar: Bar | None = None,
    beside: str = "-",
) -> Finding:
    """Return the median of some values."""
    value = statistics.median(values)
    return Finding(
        what=what,
        size=size,
        value=value,
        unit=unit,
        middle_half=middle_half(values),
        ours=unit.shown(value),
        beside=beside,
        bar=bar,
        samples={"ours": _short(values)},
    )


def by_pairs(upper: Sequence[float], lower: Sequence[float]) -> float:
    """Return the median ratio of so many pairs of blocks that were measured by turns."""
    blocks = zip(_blocks(upper), _blocks(lower), strict=True)
    return statistics.median(statistics.median(a) / statistics.median(b) for a, b in blocks)


def _blocks(values: Sequence[float]) -> list[Sequence[float]]:
    count = min(PAIRS, len(values))
    edges = [number * len(values) // count for number in range(count + 1)]
    return [values[start:end] for start, end in pairwise(edges)]


def middle_half(values: Sequence[float]) -> tuple[float, float]:
    """Return the first and the third quartile."""
    if len(values) < 2:
        return (values[0], values[0])
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (low, high)


def show(run: RecallRun, console: Console, *, title: str = _TITLE, counted: str = "Paks") -> None:
    """Print both tables and a line on what was measured where; sizes are so many `counted`."""
    table = Table(title=title)
    for heading in _headings(counted):
        table.add_column(heading, justify="left" if heading in _TEXT else "right")
    for finding in run.findings:
        table.add_row(*_cells(finding), style=_STYLES[finding.verdict])
    console.print(table)
    if run.growth:
        growth = Table(title="Growth")
        for heading in _GROWTH_HEADINGS:
            growth.add_column(heading, justify="right")
        for row in run.growth:
            growth.add_row(*_growth_cells(row))
        console.print(growth)
    console.print(_where(run), style="dim")


def markdown(run: RecallRun, *, counted: str = "Paks") -> str:
    """Return the same for a Markdown page."""
    growth = _markdown_table(_GROWTH_HEADINGS, [_growth_cells(row) for row in run.growth])
    parts = [
        _markdown_table(_headings(counted), [_cells(finding) for finding in run.findings]),
        growth if run.growth else "",
        _where(run),
    ]
    return "\n\n".join(filter(None, parts))


_TEXT = ("what", "bar", "verdict")
_GROWTH_HEADINGS = ("Paks", "recall", "bare pass", "recall / pass", "remember")
_STYLES = {
    Verdict.HOLDS: "",
    Verdict.NEAR: "yellow",
    Verdict.MISSED: "bold red",
    Verdict.NO_BAR: "dim",
}


def _headings(counted: str) -> tuple[str, ...]:
    return ("what", counted, "recollect", "beside", "value", "middle half", "bar", "verdict")


def _cells(finding: Finding) -> tuple[str, ...]:
    low, high = finding.middle_half
    return (
        finding.what,
        f"{finding.size:,}",
        finding.ours,
        finding.beside,
        finding.unit.shown(finding.value),
        f"{finding.unit.shown(low)} - {finding.unit.shown(high)}",
        "-" if finding.bar is None else finding.bar.shown(finding.unit),
        finding.verdict.value,
    )


def _growth_cells(row: Growth) -> tuple[str, ...]:
    return (
        f"{row.size:,}",
        duration(row.recall_s),
        duration(row.pass_s),
        times(row.recall_s / row.pass_s),
        Unit.RATE.shown(row.remember_a_second),
    )


def _markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _where(run: RecallRun) -> str:
    what = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    where = ", ".join(f"{name} {value}" for name, value in run.machine.items())
    others = f"other jobs kept {run.others:.2f} cores busy meanwhile"
    return f"{run.taken_at}, commit {run.commit}; {others}; {what}; {where}"


def _short(values: Sequence[float]) -> list[float]:
    return [round(value, 7) for value in values]


def _finding_from(kept: dict[str, Any]) -> Finding:
    del kept["verdict"]
    kept["unit"] = Unit(kept["unit"])
    kept["middle_half"] = tuple(kept["middle_half"])
    kept["bar"] = None if kept["bar"] is None else Bar(**kept["bar"])
    return Finding(**kept)


if __name__ == "__main__":
    print(markdown(RecallRun.read(Path(sys.argv[1])), counted=(*sys.argv[2:], "Paks")[0]))
