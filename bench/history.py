"""What checks of the bars found over time: a small JSON file for each run under `bench/history`.

Run `python -m bench.history` for the bars and how many runs know them, or with the name of a bar,
or of its bench, for its values in order of time.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import report

__all__ = ["FOLDER", "facts", "keep", "runs", "values_of"]

FOLDER = Path(__file__).parent / "history"


def facts(*, quick: bool, others: float) -> dict[str, Any]:
    """Return when, what and where: all of a run but its rows."""
    return {
        "taken_at": report.now(),
        "commit": report.commit(),
        "quick": quick,
        "others": round(others, 2),
        "machine": report.machine(),
        "versions": {
            "recollect": importlib.metadata.version("recollect"),
            "python": platform.python_version(),
            "numpy": importlib.metadata.version("numpy"),
            "sqlite": sqlite3.sqlite_version,
        },
    }


def keep(run: dict[str, Any], folder: Path = FOLDER) -> Path:
    """Write a run to a file of its own, a row a line, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run['taken_at'].replace(':', '')}.json"
    head = json.dumps({**run, "rows": []}, indent=1).removesuffix("[]\n}")
    rows = ",\n".join(f"  {json.dumps(row)}" for row in run["rows"])
    path.write_text(f"{head}[\n{rows}\n ]\n}}\n")
    return path


def runs(folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Yield the runs that were kept, in order of time."""
    for path in sorted(folder.glob("*.json")):
        yield json.loads(path.read_text())


def values_of(name: str, folder: Path = FOLDER) -> list[tuple[str, str, str, str, str]]:
    """Return time, commit, bar's name, value and verdict of every run that has the bar."""
    return [
        (run["taken_at"], run["commit"], row["name"], row["shown"], row["outcome"])
        for run in runs(folder)
        for row in run["rows"]
        if name in (row["name"], row["name"].partition(".")[0]) and row["value"] is not None
    ]


def main() -> None:
    """Print one bar over time, or which there are."""
    console = Console() if sys.stdout.isatty() else Console(width=140)
    if len(sys.argv) == 1:
        names = [row["name"] for run in runs() for row in run["rows"] if row["value"] is not None]
        for name in dict.fromkeys(names):
            console.print(f"{name}: {names.count(name)} runs")
        return
    table = Table("taken at", "commit", "bar", "measured", "verdict")
    for cells in values_of(sys.argv[1]):
        table.add_row(*cells)
    console.print(table)


if __name__ == "__main__":
    main()
