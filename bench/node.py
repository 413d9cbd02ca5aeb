"""What many stores in one process cost: memory, files, and the first answer of one that was let go.

Run `python -m bench.node`. 2,000 stores of 40 memories are served by one `Node` in a process that
may have 1,024 files open, and each is asked a question of its own: what the process takes then,
over what it took with one store open, is the first row. The second is what the node itself counts
for stores at rest. The third is the first answer of a store that was let go, beside a bare opening
of its file with SQLite (connect, pragmas, one row), by turns, in CPU time: the median of nine pairs
of blocks. The stores are 100, each copied 20 times; they are built once and kept.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from bench import recall_data, recall_report, report
from bench.bars import bar
from bench.clock import CPU
from bench.clock import seconds as clock
from bench.recall import OtherJobs
from bench.recall_report import Finding, RecallRun, Unit, ratio, single
from bench.recall_stores import STORES, name_of, tables
from bench.workers import by_turns
from recollect import Node

__all__ = ["built", "main", "measure"]

RESULTS = Path(__file__).parent / "results" / "node.json"
ALL, DIFFERENT, EACH = 2_000, 100, 40
ROUNDS, OPENINGS, FILES = 9, 6, 1_024
PROCESS = "stores of 40 asked in one process, over the base"
AT_REST = "stores of 40 at rest, as counted"
FIRST = "first answer of a store that was let go, beside a bare opening"
_PRAGMAS = (
    *("busy_timeout = 5000", "foreign_keys = ON", "synchronous = NORMAL"),
    *("temp_store = MEMORY", "cache_size = -2000", "secure_delete = ON", "journal_mode"),
)


def store_name(number: int) -> str:
    """Return what a store is called."""
    return f"store-{number:04d}"


def texts(number: int) -> list[str]:
    """Return what a store holds."""
    return list(recall_data.texts(number % DIFFERENT * EACH, EACH))


def question(number: int) -> str:
    """Return words of a text of a store."""
    words = texts(number)[number % EACH].split()
    return " ".join(words[:: max(1, len(words) // recall_data.QUESTION_WORDS)])


def built(folder: Path, progress: Progress) -> Path:
    """Return the folder of all stores, building it first if it is not there."""
    place = folder / f"node-{name_of(ALL, tables()).removesuffix('.db')}"
    if place.exists():
        return place
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("node-*"):
        shutil.rmtree(old)
    draft = folder / f"draft-node-{os.getpid()}"
    task = progress.add_task(f"{DIFFERENT} stores", total=DIFFERENT)
    with Node(draft) as node:
        for number in range(DIFFERENT):
            node.create(store_name(number))
            with node.store(store_name(number)) as memory:
                memory.remember_many(texts(number))
            progress.update(task, completed=number)
    for number in range(DIFFERENT, ALL):
        shutil.copytree(draft / store_name(number % DIFFERENT), draft / store_name(number))
    draft.replace(place)
    return place


def resident() -> int:
    """Return how many bytes of memory the process has for itself.

    Pages of files, such as libraries and the table of the embedder, are left out: the system takes
    them back and reads them again as it likes, and no two runs would be the same.
    """
    _, pages, of_files, *_ = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return (int(pages) - int(of_files)) * resource.getpagesize()


def held(place: Path) -> list[Finding]:
    """Ask every store something, and look at what the process takes then."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    questions = [question(number) for number in range(ALL)]
    with Node(place, memory_limit_bytes=1 << 40) as node:
        ask(node, 0, questions[0])
        gc.collect()
        base = resident()
        for number in range(ALL):
            ask(node, number, questions[number])
        gc.collect()
        taken = (resident() - base) / 1e6
        at_rest = [node.usage_of(store_name(number)) for number in range(ALL // 2)]
        if node.usage().held != ALL or any(one.connections for one in at_rest):
            raise RuntimeError("Not all stores are held, or some that should rest do not.")
        counted = sum(one.memory_bytes for one in at_rest) / 1e6
    return [
        single(PROCESS, ALL, [taken], Unit.MEGABYTES, bar=bar(PROCESS, ALL)),
        single(AT_REST, ALL // 2, [counted], Unit.MEGABYTES, bar=bar(AT_REST, ALL // 2)),
    ]


def ask(node: Node, number: int, text: str) -> None:
    """Ask a store for one of its texts."""
    with node.store(store_name(number)) as memory:
        if not memory.recall(text).results:
            raise RuntimeError(f"{store_name(number)} does not answer.")


def opened_barely(path: Path) -> float:
    """Return what it takes to open a file with SQLite, and read a row."""
    start = clock()
    with closing(sqlite3.connect(path)) as conn:
        for pragma in _PRAGMAS:
            conn.execute(f"PRAGMA {pragma}").fetchone()
        conn.execute("SELECT * FROM memories LIMIT 1").fetchone()
    return clock() - start


def first_answers(place: Path) -> Finding:
    """Time first answers beside bare openings, by turns."""
    with Node(place, memory_limit_bytes=1) as node:
        ask(node, 0, question(0))

        def first(number: int) -> float:
            text = question(number)
            start = clock()
            with node.store(store_name(number)) as memory:
                memory.recall(text)
                return clock() - start

        sides: dict[str, Callable[[int], float]] = {
            "ours": first,
            "bare": lambda number: opened_barely(place / store_name(number) / "recall.db"),
        }
        taken: dict[str, list[float]] = {side: [] for side in sides}
        for turn, side in by_turns(tuple(sides), ROUNDS + 1):
            block = [sides[side](1 + turn * OPENINGS + one) for one in range(OPENINGS)]
            if turn:  # the first blocks warm up
                taken[side] += block
    ours, bare = taken["ours"], taken["bare"]
    return ratio(FIRST, EACH, ours, bare, ours=ours, beside=("bare", bare), bar=bar(FIRST, EACH))


def measure(folder: Path, console: Console) -> RecallRun:
    """Build the stores if they are missing, then measure."""
    with Progress(console=console, transient=True, refresh_per_second=1) as progress:
        place = built(folder, progress)
    others = OtherJobs()
    return RecallRun(
        taken_at=report.now(),
        commit=report.commit(),
        findings=(*held(place), first_answers(place)),
        others=others.cores(),
        machine=report.machine(),
        versions={
            "recollect": version("recollect"),
            "numpy": np.__version__,
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        },
        growth=(),
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.node", description=__doc__)
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="result file")
    parser.add_argument(
        "--stores", type=Path, default=STORES, metavar="FOLDER", help="where stores are kept"
    )
    options = parser.parse_args()
    if not CPU.items() <= os.environ.items():
        # Which clock a process reads is decided when it starts.
        command = [sys.executable, "-m", "bench.node", *sys.argv[1:]]
        subprocess.run(command, env={**os.environ, **CPU}, check=True)
        return
    run = measure(options.stores, Console(stderr=True))
    run.write(options.json)
    console = Console() if sys.stdout.isatty() else Console(width=160)
    recall_report.show(run, console, title="Many stores in one process", counted="stores")
    print(f"written to {options.json}")


if __name__ == "__main__":
    main()
