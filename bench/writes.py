"""What a write, a recall right after it, and a forget cost as a store grows, by kinds of text.

`python -m bench.writes [--kind KIND] [--sizes 5000,100000]` fills stores through the public API,
with links on and beside them with links off, and measures each size as it comes by, in CPU time of
one process. Ratios are of that run. `machine` notes are all alike, `prose` is a few sentences,
`pages` are hundreds of words; the last two are put together from the pages of the repository. At
100,000 it takes minutes, or hours for pages. `--crowd` forgets 1,000 of 10,000 that are all alike,
by turns with the sources of an earlier commit. `bench.check` reads what `--json` keeps.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
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

from bench.bars import bar
from bench.clock import CPU, seconds
from bench.recall_report import Unit
from recollect import Recollect

__all__ = ["EARLIER", "KINDS", "Cost", "earlier_sources", "found", "main", "measured"]

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "tests/data/pages/corpus.jsonl"
SIZES = (5_000, 25_000)
AT_ONCE = 2_048
BATCH = 512
ROUNDS = 9
BATCHES = 3
# Where forgetting was before it erased what belongs to it and no more.
EARLIER = "1db5afe"
CROWD, FORGOTTEN, PAIRS = 10_000, 1_000, 3
CROWD_ROW = f"forget {FORGOTTEN:,} of a crowd, beside commit {EARLIER}"
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
    # What is done once, such as telling full text to erase what it deletes, is done before.
    linked.forget(linked.remember(text()).pak_id)
    single, after, recall, forget = [], [], [], []
    for _ in range(ROUNDS):
        one = text()
        taken, stored = _timed(lambda one=one: linked.remember(one))
        single.append(taken)
        after.append(_timed(lambda: linked.recall(QUESTION))[0])
        recall.append(_timed(lambda: linked.recall(QUESTION))[0])
        forget.append(_timed(lambda stored=stored: linked.forget(stored.pak_id))[0])
    in_bulk, without = [], []
    for _ in range(BATCHES):
        batch = [text() for _ in range(BATCH)]
        in_bulk.append(_timed(lambda batch=batch: linked.remember_many(batch))[0] / BATCH)
        without.append(_timed(lambda batch=batch: plain.remember_many(batch))[0] / BATCH)
    return Cost(
        size=size,
        in_bulk=median(in_bulk),
        in_bulk_without_links=median(without),
        single=median(single),
        recall=median(recall),
        recall_after_write=median(after),
        forget=median(forget),
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
    for (what, size), value in found(kind, costs).items():
        wanted = bar(what, size)
        limit = "" if wanted is None else f"  wanted {wanted.shown(Unit.TIMES)}"
        console.print(f"  {what:62} {size:>9,} {value:6.2f}{limit}")


def found(kind: str, costs: Sequence[Cost]) -> dict[tuple[str, int], float]:
    """Return the ratios by what they are called in `bench.bars`, and by size."""
    first, last = costs[0], costs[-1]
    at = last.size
    ratios = {
        (f"{kind}: remember_many, rate beside the first size's", at): first.in_bulk / last.in_bulk,
        (f"{kind}: remember_many, rate beside links off", at): last.in_bulk_without_links
        / last.in_bulk,
        (f"{kind}: remember, more than at the first size, in bare passes", at): (
            last.single - first.single
        )
        / last.bare_pass,
        (f"{kind}: recall right after a write, beside a recall", at): last.recall_after_write
        / last.recall,
    }
    for one in (first, last):
        ratios[f"{kind}: forget one, in remembers", one.size] = _in_remembers(one)
    return ratios


def _in_remembers(cost: Cost) -> float:
    """Return how many writes a forget is worth; before SQLite 3.42 the optimise is not counted."""
    erases = sqlite3.sqlite_version_info >= (3, 42)
    return (cost.forget - (0.0 if erases else cost.optimise)) / cost.single


def crowd(folder: Path) -> float:
    """Return what forgetting many of a crowd takes beside the sources of an earlier commit."""
    sources = earlier_sources(folder)
    chance = random.Random("crowd")
    texts = folder / "crowd.json"
    texts.write_text(json.dumps([machine(chance) for _ in range(CROWD)]), encoding="utf-8")
    # What the earlier sources have made we can open, brought up to date; the reverse not.
    before, since = folder / "earlier.db", folder / "now.db"
    _run(_FILL, sources, before, texts)
    shutil.copy(before, since)
    _run(_FORGET, ROOT / "src", since, 1)
    taken: dict[Path, list[float]] = {sources: [], ROOT / "src": []}
    for number in range(PAIRS):
        for (source, seconds_taken), filled in zip(taken.items(), (before, since), strict=True):
            copied = folder / f"crowd-{number}.db"
            shutil.copy(filled, copied)
            seconds_taken.append(float(_run(_FORGET, source, copied, FORGOTTEN)))
            copied.unlink()
    earlier, now = (median(one) for one in taken.values())
    return now / earlier


def earlier_sources(folder: Path) -> Path:
    """Return where the sources of the earlier commit are put."""
    sources = folder / "earlier"
    sources.mkdir()
    packed = subprocess.run(
        ["git", "archive", EARLIER, "src"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "-x", "-C", str(sources)], input=packed.stdout, check=True)
    return sources / "src"


def _run(program: str, source: Path, path: Path, more: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(more)],
        env={**os.environ, **CPU, "PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


_FILL = """
import json, sys
from recollect import Recollect
with open(sys.argv[2], encoding="utf-8") as file:
    texts = json.load(file)
with Recollect.open(sys.argv[1], cache_file=False) as memory:
    for first in range(0, len(texts), 2_000):
        memory.remember_many(texts[first : first + 2_000])
"""
_FORGET = """
import sys, time
from recollect import Recollect
with Recollect.open(sys.argv[1], cache_file=False) as memory:
    first = "SELECT pak_id FROM paks ORDER BY pak_id LIMIT ?"
    found = memory.paks.conn.execute(first, sys.argv[2:])
    ids = [pak_id for (pak_id,) in found]
    memory.recall("which deploy failed?")
    start = time.process_time()
    assert memory.forget(ids).wiped and len(ids) == int(sys.argv[2])
    print(time.process_time() - start)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.writes", description=__doc__)
    parser.add_argument("--kind", action="append", choices=[*KINDS], help="only these")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="smallest first")
    parser.add_argument("--crowd", action="store_true", help="forget many that are all alike")
    parser.add_argument("--json", type=Path, help="keep the ratios here")
    options = parser.parse_args()
    if not CPU.items() <= os.environ.items():
        # Which clock is read, and on how many threads, is decided when a process starts.
        command = [sys.executable, "-m", "bench.writes", *sys.argv[1:]]
        sys.exit(
            subprocess.run(command, env={**os.environ, **CPU}, cwd=ROOT, check=False).returncode
        )
    sizes = [int(one) for one in options.sizes.split(",")]
    console = Console() if sys.stdout.isatty() else Console(width=150)
    ratios: dict[tuple[str, int], float] = {}
    with TemporaryDirectory(prefix="recollect-writes-") as folder:
        if options.crowd:
            ratios[CROWD_ROW, CROWD] = crowd(Path(folder))
            console.print(f"{CROWD_ROW}: {ratios[CROWD_ROW, CROWD]:.2f}")
        for kind in options.kind or (() if options.crowd else KINDS):
            place = Path(folder) / kind
            place.mkdir()
            costs = list(measured(kind, sizes, place))
            show(kind, costs, console)
            ratios |= found(kind, costs)
    if options.json:
        told = [[what, size, value] for (what, size), value in ratios.items()]
        options.json.write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
