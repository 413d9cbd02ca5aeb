"""What a benchmark found: comparisons with verdicts, a table to read, JSON to keep.

In: blocks measured for ours and for the peer. Out: ratios, printed, written, or (with
`python -m bench.report results.json`) as the Markdown table of `docs/benchmarks.md`.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = [
    "Block",
    "Comparison",
    "Run",
    "Verdict",
    "commit",
    "duration",
    "joined",
    "machine",
    "markdown",
    "show",
    "times",
]

ROOT = Path(__file__).parent.parent
NEAR = 1.15


class Verdict(StrEnum):
    """Whether a bar holds; NEAR also holds, with less than 15 % to spare."""

    HOLDS = "HOLDS"
    NEAR = "HOLDS, near the bar"
    MISSED = "MISSED"
    NO_BAR = "-"


@dataclass(frozen=True)
class Block:
    """CPU seconds that `count` operations took together."""

    cpu_s: float
    count: int

    @property
    def each_s(self) -> float:
        """CPU seconds of one operation."""
        return self.cpu_s / self.count


@dataclass(frozen=True)
class Comparison:
    """One operation at one size; `bar` is how many times less CPU than the peer it must take."""

    operation: str
    size: int
    ours: tuple[Block, ...]
    peer: tuple[Block, ...]
    bar: float | None = None

    @property
    def ours_each_s(self) -> float:
        """CPU seconds of one operation of ours, over all blocks."""
        return _each_s(self.ours)

    @property
    def peer_each_s(self) -> float:
        """CPU seconds of one operation of the peer's, over all blocks."""
        return _each_s(self.peer)

    @property
    def ratio(self) -> float:
        """How many times less CPU ours takes than the peer."""
        return self.peer_each_s / self.ours_each_s

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The ratio's quartiles over pairs of blocks measured one after the other."""
        ratios = [
            peer.each_s / ours.each_s for ours, peer in zip(self.ours, self.peer, strict=True)
        ]
        if len(ratios) < 2:
            return (ratios[0], ratios[0], ratios[0])
        low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return (low, middle, high)

    @property
    def verdict(self) -> Verdict:
        """Whether the bar holds."""
        if self.bar is None:
            return Verdict.NO_BAR
        if self.ratio < self.bar:
            return Verdict.MISSED
        return Verdict.NEAR if self.ratio < self.bar * NEAR else Verdict.HOLDS


@dataclass(frozen=True)
class Run:
    """All that one run of a benchmark found, and where."""

    bench: str
    peer: str
    taken_at: str
    commit: str
    machine: dict[str, str]
    versions: dict[str, str]
    comparisons: tuple[Comparison, ...]

    def write(self, path: Path) -> None:
        """Keep the run, every block included."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self._as_json(), indent=1) + "\n")

    def _as_json(self) -> dict[str, Any]:
        return {
            "bench": self.bench,
            "peer": self.peer,
            "taken_at": self.taken_at,
            "commit": self.commit,
            "machine": self.machine,
            "versions": self.versions,
            "comparisons": [_comparison_as_json(each) for each in self.comparisons],
        }

    @classmethod
    def read(cls, path: Path) -> Run:
        """Return a run that `write` kept."""
        kept = json.loads(path.read_text())
        kept["comparisons"] = tuple(_comparison_from(each) for each in kept["comparisons"])
        return cls(**kept)


def machine() -> dict[str, str]:
    """Describe this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _cpu_model(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
    }


def commit() -> str:
    """Return the commit measured, saying so if the sources differ from it."""
    name = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--", "src")
    return (name or "unknown") + (" with changes to src" if changed else "")


def now() -> str:
    """Return the time, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def show(run: Run, console: Console) -> None:
    """Print the table and a line on what was measured where."""
    table = Table(title=f"CPU time beside {run.peer}")
    for heading in _headings(run):
        table.add_column(heading, justify="left" if heading in _TEXT else "right")
    for comparison in run.comparisons:
        table.add_row(*_cells(comparison), style=_STYLES[comparison.verdict])
    console.print(table)
    console.print(_where(run), style="dim")


def markdown(run: Run) -> str:
    """Return the same table and line for a Markdown page."""
    lines = ["| " + " | ".join(_headings(run)) + " |", "|---" * len(_headings(run)) + "|"]
    lines += ["| " + " | ".join(_cells(comparison)) + " |" for comparison in run.comparisons]
    return "\n".join([*lines, "", _where(run)])


def joined(blocks: Sequence[Block], groups: int) -> list[Block]:
    """Return so many larger blocks, each of neighbours added up."""
    size = len(blocks) // groups
    return [
        Block(sum(each.cpu_s for each in group), sum(each.count for each in group))
        for group in (blocks[start : start + size] for start in range(0, len(blocks), size))
    ]


def duration(seconds: float) -> str:
    """Return a time with a fitting unit and three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds / 1e-6)} µs"


def times(ratio: float) -> str:
    """Return a ratio with as many digits as it deserves."""
    return f"{_three_digits(ratio)}x"


_TEXT = ("operation", "bar at this size", "verdict")
_STYLES = {
    Verdict.HOLDS: "",
    Verdict.NEAR: "yellow",
    Verdict.MISSED: "bold red",
    Verdict.NO_BAR: "dim",
}


def _headings(run: Run) -> tuple[str, ...]:
    return (
        "operation",
        "Paks",
        "recollect",
        run.peer,
        "ratio",
        "middle half of blocks",
        "bar at this size",
        "verdict",
    )


def _cells(comparison: Comparison) -> tuple[str, ...]:
    low, _, high = comparison.quartiles
    return (
        comparison.operation,
        f"{comparison.size:,}",
        duration(comparison.ours_each_s),
        duration(comparison.peer_each_s),
        times(comparison.ratio),
        f"{times(low)} - {times(high)}",
        "-" if comparison.bar is None else f">= {comparison.bar:g}x",
        comparison.verdict.value,
    )


def _where(run: Run) -> str:
    what = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    where = ", ".join(f"{name} {value}" for name, value in run.machine.items())
    return f"{run.taken_at}, commit {run.commit}; {what}; {where}"


def _each_s(blocks: Sequence[Block]) -> float:
    return sum(block.cpu_s for block in blocks) / sum(block.count for block in blocks)


def _three_digits(value: float) -> str:
    decimals = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{decimals}f}"


def _comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "operation": comparison.operation,
        "size": comparison.size,
        "bar": comparison.bar,
        "ratio": round(comparison.ratio, 3),
        "ratio_quartiles": [round(value, 3) for value in comparison.quartiles],
        "verdict": comparison.verdict.value,
        "ours": _blocks_as_json(comparison.ours),
        "peer": _blocks_as_json(comparison.peer),
    }


def _blocks_as_json(blocks: Iterable[Block]) -> list[dict[str, float]]:
    return [{"cpu_s": round(block.cpu_s, 6), "count": block.count} for block in blocks]


def _comparison_from(kept: dict[str, Any]) -> Comparison:
    return Comparison(
        operation=kept["operation"],
        size=kept["size"],
        bar=kept["bar"],
        ours=tuple(Block(**block) for block in kept["ours"]),
        peer=tuple(Block(**block) for block in kept["peer"]),
    )


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "unknown"


def _git(*arguments: str) -> str:
    try:
        finished = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return finished.stdout.strip() if finished.returncode == 0 else ""


if __name__ == "__main__":
    print(markdown(Run.read(Path(sys.argv[1]))))
