"""What a tenant pays for its neighbours: recall, remember and forget in a file that many share.

Run `python -m bench.neighbours`. One file holds 5,000 tenants of 40 memories; beside it, one tenant
has a file of its own with the same 40. Both do the same by turns, in one process, in CPU time: a
recall, a recall right after another tenant wrote to the file of many (which is the other file for
the one that is alone), a `remember` and a `forget`. The value is the median of nine pairs of
blocks. The store is built once and kept; what is measured writes to a copy.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import count
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from bench import recall_data, recall_report, report
from bench.bars import bar
from bench.clock import CPU
from bench.clock import seconds as clock
from bench.recall import OtherJobs
from bench.recall_report import Finding, RecallRun, ratio
from bench.recall_stores import STORES, copied, name_of, tables
from bench.workers import by_turns
from recollect import Recollect
from recollect.policy import Principal

__all__ = ["QUICK", "Shape", "built", "main", "measure"]

RESULTS = Path(__file__).parent / "results" / "neighbours.json"
ROUNDS, RECALLS, WRITES = 9, 12, 3
RECALL = "recall beside other tenants"
AFTER = "recall right after another tenant's write"
REMEMBER = "remember beside other tenants"
FORGET = "forget beside other tenants"


@dataclass(frozen=True)
class Shape:
    """How many tenants share a file, and how many memories each has."""

    tenants: int = 5_000
    each: int = 40

    @property
    def memories(self) -> int:
        """How many there are in all."""
        return self.tenants * self.each

    def principal(self, tenant: int) -> Principal:
        """Return who a tenant's memories are of."""
        return Principal(f"tenant-{tenant:05d}", "ann")

    def texts(self, tenant: int) -> list[str]:
        """Return what a tenant remembers."""
        return list(recall_data.texts(tenant * self.each, self.each))


QUICK = Shape(tenants=500)


def filled(path: Path, shape: Shape, tenants: range, tell: Callable[[int], None]) -> None:
    """Make a store in which some tenants remember their texts."""
    with Recollect.open(path, embedder="static") as memory:
        for tenant in tenants:
            memory.as_principal(shape.principal(tenant)).remember_many(shape.texts(tenant))
            tell(tenant)
        memory.reindex()


def built(shape: Shape, folder: Path, progress: Progress) -> Path:
    """Return the store of all tenants, building it first if it is not there."""
    path = folder / f"neighbours-{name_of(shape.memories, [repr(shape), *tables()])}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"neighbours-{shape.memories}-*"):
            old.unlink()
        draft = folder / f"draft-neighbours-{os.getpid()}.db"
        task = progress.add_task(f"a store of {shape.tenants:,} tenants", total=shape.tenants)
        filled(
            draft, shape, range(shape.tenants), lambda done: progress.update(task, completed=done)
        )
        draft.replace(path)
        Path(f"{draft}.index").replace(f"{path}.index")
    return path


class Measured:
    """A tenant among many, and the same one alone."""

    def __init__(self, shared: Recollect, alone: Recollect, shape: Shape) -> None:
        self._shape = shape
        self._shared = shared
        tenant = shape.tenants // 2
        who = shape.principal(tenant)
        self._sides = {"among": shared.as_principal(who), "alone": alone.as_principal(who)}
        self._questions = [_question(text) for text in shape.texts(tenant)]
        self._numbers = count(shape.memories)

    def run(self) -> Iterator[Finding]:
        """Yield every row."""
        self._same_answers()
        yield self._row(RECALL, self._taken(RECALLS, self._recall))
        yield self._row(AFTER, self._taken(RECALLS, self._recall_after))
        yield self._row(REMEMBER, self._taken(WRITES, self._remember))
        yield self._row(FORGET, self._taken(WRITES, self._forget))

    def _taken(
        self, times: int, work: Callable[[Recollect, int, str], float]
    ) -> dict[str, list[float]]:
        taken: dict[str, list[float]] = {side: [] for side in self._sides}
        for turn, side in by_turns(tuple(self._sides), ROUNDS + 1):
            block = [work(self._sides[side], turn * times + one, side) for one in range(times)]
            if turn:  # the first blocks warm up
                taken[side] += block
        return taken

    def _recall(self, memory: Recollect, number: int, _: str) -> float:
        text = self._questions[number % len(self._questions)]
        start = clock()
        memory.recall(text)
        return clock() - start

    def _recall_after(self, memory: Recollect, number: int, side: str) -> float:
        # Alone it is somebody else's file that is written: what differs is whose index changes.
        other = self._shape.principal(number % (self._shape.tenants // 2))
        self._shared.as_principal(other).remember(self._another())
        return self._recall(memory, number, side)

    def _remember(self, memory: Recollect, _: int, __: str) -> float:
        text = self._another()
        start = clock()
        memory.remember(text)
        return clock() - start

    def _forget(self, memory: Recollect, _: int, __: str) -> float:
        name = memory.remember(self._another()).pak_id
        start = clock()
        gone = memory.forget(name)
        taken = clock() - start
        if not gone.wiped:
            raise RuntimeError("What was forgotten was not wiped.")
        return taken

    def _another(self) -> str:
        return recall_data.text(next(self._numbers))

    def _row(self, what: str, taken: dict[str, list[float]]) -> Finding:
        ours, alone = taken["among"], taken["alone"]
        size, beside = self._shape.memories, ("alone", alone)
        return ratio(what, size, ours, alone, ours=ours, beside=beside, bar=bar(what, size))

    def _same_answers(self) -> None:
        """Refuse to compare two sides that do not give the same answers."""
        for text in self._questions:
            given = [
                [(one.fact.pak_id, one.score, one.why) for one in memory.recall(text).results]
                for memory in self._sides.values()
            ]
            if not given[0] or given[0] != given[1]:
                raise RuntimeError(f"A tenant's answer depends on its neighbours: {text}")


def _question(text: str) -> str:
    words = text.split()
    return " ".join(words[:: max(1, len(words) // recall_data.QUESTION_WORDS)])


def measure(shape: Shape, folder: Path, console: Console) -> RecallRun:
    """Build the store if it is missing, then measure."""
    with Progress(console=console, transient=True, refresh_per_second=1) as progress:
        path = built(shape, folder, progress)
    with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=folder) as scratch:
        others = OtherJobs()
        alone = Path(scratch) / "alone.db"
        filled(alone, shape, range(shape.tenants // 2, shape.tenants // 2 + 1), lambda _: None)
        with (
            Recollect.open(copied(path, Path(scratch), "shared.db")) as shared,
            Recollect.open(alone) as own,
        ):
            findings = tuple(Measured(shared, own, shape).run())
    return RecallRun(
        taken_at=report.now(),
        commit=report.commit(),
        others=others.cores(),
        machine=report.machine(),
        versions={
            "recollect": version("recollect"),
            "numpy": np.__version__,
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        },
        findings=findings,
        growth=(),
    )


def in_cpu_time(*arguments: str) -> None:
    """Measure in a process of its own: which clock it reads is decided when it starts."""
    subprocess.run(
        [sys.executable, "-m", "bench.neighbours", *arguments],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, **CPU},
        check=True,
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.neighbours", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK.tenants:,} tenants only")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="result file")
    parser.add_argument(
        "--stores", type=Path, default=STORES, metavar="FOLDER", help="where stores are kept"
    )
    options = parser.parse_args()
    if not CPU.items() <= os.environ.items():
        return in_cpu_time(*sys.argv[1:])
    run = measure(QUICK if options.quick else Shape(), options.stores, Console(stderr=True))
    run.write(options.json)
    console = Console() if sys.stdout.isatty() else Console(width=160)
    recall_report.show(run, console, title="What neighbours cost: CPU time", counted="memories")
    print(f"written to {options.json}")
    return None


if __name__ == "__main__":
    main()
