"""What a write, a recall right after it, and a forget cost as a store grows, by kinds of text.

`python -m bench.writes [--kind KIND] [--sizes 5000,25000,100000]` fills stores through the public
API with links on, and beside them one with links off, and measures each size as it comes by, in CPU
time of one process. Ratios are of that run. `machine` notes are all alike, `prose` is a few
sentences, `pages` are hundreds of words; the last two are put together from the pages of the
repository. At 100,000 it takes from minutes (prose) to hours (pages). Nothing is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.clock import CPU, seconds
from recollect import Recollect

__all__ = ["KINDS", "Cost", "main", "measured"]

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "tests/data/pages/corpus.jsonl"
SIZES = (5_000, 25_000)
AT_ONCE = 2_048
BATCH = 512
ROUNDS = 9
QUESTION = "which deploy of service-17 failed, and what does the manual say about it?"


def machine(chance: random.Random) -> str:
    """Return a note as a program writes it: of a thousand no two differ by more than numbers."""
    return (
        f"Deploy of service-{chance.randrange(40)} at 2026-{chance.randrange(1, 13):02d}-"
        f"{chance.randrange(1, 29):02d} {chance.randrange(24):02d}:{chance.randrange(60):02d} "
        f"{chance.choice(('succeeded', 'failed'))} in {chance.randrange(5, 300)} s on "
        f"web-{chance.randrange(20)}"
    )


def prose(chance: random.Random) -> str:
    """Return two or three sentences."""
    return " ".join(chance.choices(_sentences(), k=chance.randrange(2, 4)))


def page(chance: random.Random) -> str:
    """Return some 300 to 800 words."""
    text: list[str] = []
    wanted = chance.randrange(300, 801)
    while len(text) < wanted:
        text += chance.choice(_sentences()).split()
    return " ".join(text)


KINDS: Mapping[str, Callable[[random.Random], str]] = {
    "machine": machine,
    "prose": prose,
    "pages": page,
}
_known: list[str] = []


def _sentences() -> Sequence[str]:
    if not _known:
        for line in PAGES.read_text(encoding="utf-8").splitlines():
            found = re.split(r"(?<=[.?!])\s+", json.loads(line)["text"])
            _known.extend(" ".join(one.split()) for one in found if 30 <= len(one) <= 300)
    return _known


@dataclass(frozen=True)
class Cost:
    """Seconds of CPU time at one size; of a batch for one memory of it."""

    size: int
    in_bulk: float
    in_bulk_without_links: float
    single: float
    recall: float
    recall_after_write: float
    forget: float
    optimise: float
    bare_pass: float


def measured(kind: str, sizes: Sequence[int], folder: Path) -> Iterator[Cost]:
    """Yield what each size costs, the stores growing from one to the next."""
    make, chance = KINDS[kind], random.Random(kind)
    with (
        Recollect.open(folder / "linked.db") as linked,
        Recollect.open(folder / "plain.db", links=False) as plain,
    ):
        for before, size in pairwise((0, *sizes)):
            for start in range(before, size, AT_ONCE):
                texts = [make(chance) for _ in range(min(AT_ONCE, size - start))]
                linked.remember_many(texts)
                plain.remember_many(texts)
            yield _cost(linked, plain, size, lambda: make(chance))


def _cost(linked: Recollect, plain: Recollect, size: int, text: Callable[[], str]) -> Cost:
    batch = [text() for _ in range(BATCH)]
    single, after = [], []
    pak_ids = []
    for _ in range(ROUNDS):
        one = text()
        taken, stored = _timed(lambda one=one: linked.remember(one))
        single.append(taken)
        pak_ids.append(stored.pak_id)
        after.append(_timed(lambda: linked.recall(QUESTION))[0])
    return Cost(
        size=size,
        in_bulk=_timed(lambda: linked.remember_many(batch))[0] / BATCH,
        in_bulk_without_links=_timed(lambda: plain.remember_many(batch))[0] / BATCH,
        single=median(single),
        recall=median(_timed(lambda: linked.recall(QUESTION))[0] for _ in range(ROUNDS)),
        recall_after_write=median(after),
        forget=median(_timed(lambda one=one: linked.forget(one))[0] for one in pak_ids),
        optimise=_optimise(plain),
        bare_pass=_bare_pass(size),
    )


def _timed(act: Callable[[], Any]) -> tuple[float, Any]:
    start = seconds()
    done = act()
    return seconds() - start, done


def _optimise(memory: Recollect) -> float:
    """Return what it takes to merge the full text of a store to which somebody just wrote."""
    memory.remember("One more, so that there is something to merge.")
    conn = memory.paks.conn
    taken, _ = _timed(lambda: conn.execute("INSERT INTO paks_fts(paks_fts) VALUES ('optimize')"))
    conn.commit()
    return taken


def _bare_pass(size: int) -> float:
    """Return one product of as many vectors with one, on one thread."""
    matrix = np.random.default_rng(1).standard_normal((size, 256), dtype=np.float32)
    query = matrix[0].copy()
    return median(_timed(lambda: matrix @ query)[0] for _ in range(ROUNDS))


def show(kind: str, costs: Sequence[Cost], console: Console) -> None:
    """Print what was measured, and what the largest size is beside the smallest."""
    table = Table(title=f"{kind}: ms of CPU time, SQLite {sqlite3.sqlite_version}")
    for name in Cost.__dataclass_fields__:
        table.add_column(name.replace("_", " "), justify="right")
    for one in costs:
        values = (getattr(one, name) for name in Cost.__dataclass_fields__ if name != "size")
        table.add_row(f"{one.size:,}", *(f"{1000 * value:.2f}" for value in values))
    console.print(table)
    first, last = costs[0], costs[-1]
    rows = (
        ("in bulk, rate beside the smallest's", first.in_bulk / last.in_bulk, ">= 0.5"),
        ("in bulk, rate beside links off", last.in_bulk_without_links / last.in_bulk, ">= 0.35"),
        ("single, more than at first, in passes", _passes(first, last), "<= 0.7"),
        ("recall after a write, beside a recall", last.recall_after_write / last.recall, "<= 1.5"),
        ("forget without the optimise, in writes", _in_writes(last), "<= 3"),
    )
    for what, value, wanted in rows:
        console.print(f"  {what:42} {value:6.2f}  wanted {wanted}")


def _passes(first: Cost, last: Cost) -> float:
    return (last.single - first.single) / last.bare_pass


def _in_writes(cost: Cost) -> float:
    return (cost.forget - cost.optimise) / cost.single


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.writes", description=__doc__)
    parser.add_argument("--kind", action="append", choices=[*KINDS], help="only these")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="smallest first")
    options = parser.parse_args()
    if not CPU.items() <= os.environ.items():
        # Which clock is read, and on how many threads, is decided when a process starts.
        command = [sys.executable, "-m", "bench.writes", *sys.argv[1:]]
        sys.exit(
            subprocess.run(command, env={**os.environ, **CPU}, cwd=ROOT, check=False).returncode
        )
    sizes = [int(one) for one in options.sizes.split(",")]
    console = Console() if sys.stdout.isatty() else Console(width=150)
    for kind in options.kind or KINDS:
        with TemporaryDirectory(prefix="recollect-writes-") as folder:
            show(kind, list(measured(kind, sizes, Path(folder))), console)


if __name__ == "__main__":
    main()
