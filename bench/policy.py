"""What access costs: recall as a member of some gardens of many, and erasure of an entity.

Run `python -m bench.policy`. It builds its store once, prints a table, writes
`bench/results/policy.json`, and always ends well: a missed bar is a finding, not a failure. Bytes
that are left after an erasure are none: those end it.

The one store holds 100,000 Paks in 1,000 gardens, all written by the local principal, who is in
all of them. A second principal is in 50, and the Paks of just these have a project of their own: so
both read the same rows of the same index, one by its memberships, the other by a filter, and both
must give the same answer.
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from bench import recall_data, recall_report, report
from bench.bars import bar
from bench.clock import seconds as clock
from bench.recall import OtherJobs
from bench.recall_report import Finding, RecallRun, Unit, ratio, single
from bench.recall_stores import STORES, SyntheticEmbedder, copied, name_of, opened, tables, whole
from bench.workers import by_turns
from recollect import Recollect
from recollect.policy import Principal

PAKS, GARDENS, MEMBERSHIPS = 100_000, 1_000, 50
HERS = "hers"
# One Pak in a hundred is about the entity: 1,000 of 100,000.
ENTITY, _EVERY = "Ann Example", 100
# A word that is in the texts about the entity and in no other.
MARK = "quagmarl"
READER = Principal(id="ann", permissions=("read",))

ROUNDS, RECALLS = 9, 20
WRITES = 12
ERASURES = 3
Ways = dict[str, Callable[[str], Any]]
RESULTS = Path(__file__).parent / "results" / "policy.json"
_AT_ONCE = 10_000


@dataclass(frozen=True)
class Shape:
    """How many Paks are in how many gardens, and in how many of those the reader is."""

    paks: int = PAKS
    gardens: int = GARDENS
    memberships: int = MEMBERSHIPS

    def garden(self, number: int) -> str:
        """Return the garden that a Pak is in: neighbours are in different ones."""
        return f"garden-{number % self.gardens:04d}"

    def item(self, number: int) -> dict[str, Any]:
        """Return what to remember under a number."""
        is_hers = number % self.gardens < self.memberships
        is_about = number % _EVERY == _EVERY - 1
        content = recall_data.text(number)
        return {
            "pak_id": f"pak-{number:06d}",
            "content": f"{MARK} {content} {MARK}{number}" if is_about else content,
            "project": HERS if is_hers else "others",
            "entity": ENTITY if is_about else None,
            "garden": self.garden(number),
        }

    def question(self, number: int) -> str:
        """Return words of a text that the reader may read, in their order."""
        row, garden = divmod(number, self.memberships)
        words = recall_data.text(row * self.gardens % self.paks + garden).split()
        return " ".join(words[:: len(words) // recall_data.QUESTION_WORDS])

    @property
    def about(self) -> int:
        """How many Paks are about the entity."""
        return self.paks // _EVERY


QUICK = Shape(paks=5_000, gardens=100, memberships=5)


class Measured:
    """The store of one shape, and what is measured on it."""

    def __init__(self, path: Path, shape: Shape, scratch: Path) -> None:
        self._path = path
        self._shape = shape
        self._scratch = scratch

    def run(self) -> Iterator[Finding]:
        """Yield every row."""
        with opened(self._path) as memory:
            yield self._recall(ways(memory))
        with opened(copied(self._path, self._scratch, "written.db")) as memory:
            yield self._after_writes(memory)
        yield from self._forget()

    def _recall(self, asking: Ways) -> Finding:
        """Recall by turns, in blocks: as a member, and as who reads all and asks for a project."""
        taken: dict[str, list[float]] = {name: [] for name in asking}
        questions = [self._shape.question(number) for number in range(RECALLS)]
        same_answers(asking, questions)
        for turn, name in by_turns(tuple(asking), ROUNDS + 1):
            block = [_timed(asking[name], text) for text in questions]
            if turn:  # the first blocks warm up
                taken[name] += block
        return self._beside("recall as a member of gardens", taken)

    def _after_writes(self, memory: Recollect) -> Finding:
        """Recall right after a write: the index has a change to follow, and masks are made anew."""
        asking = ways(memory)
        taken: dict[str, list[float]] = {name: [] for name in asking}
        for turn, name in by_turns(tuple(asking), WRITES + 1):
            memory.remember(f"note {turn} for a {name}")
            seconds = _timed(asking[name], self._shape.question(turn))
            if turn:
                taken[name].append(seconds)
        return self._beside("  the same, each right after a write", taken)

    def _beside(self, what: str, taken: dict[str, list[float]]) -> Finding:
        ours, theirs = taken["member"], taken["filter"]
        beside, size = ("by a filter", theirs), self._shape.paks
        return ratio(what, size, ours, theirs, ours=ours, beside=beside, bar=bar(what, size))

    def _forget(self) -> Iterator[Finding]:
        """Erase an entity in a store that is in use, and look for its bytes, open and closed."""
        seconds = []
        for number in range(ERASURES):
            path = copied(self._path, self._scratch, f"erased-{number}.db")
            with opened(path) as memory:
                memory.recall(MARK)
                start = perf_counter()
                self._erased(memory)
                seconds.append(perf_counter() - start)
                nothing_left(path)
            nothing_left(path)
        what = f"forget an entity with {self._shape.about:,} Paks, no byte left"
        size = self._shape.paks
        yield single(what, size, seconds, Unit.SECONDS, bar=bar(what, size))

    def _erased(self, memory: Recollect) -> None:
        gone = memory.forget(entity=ENTITY.upper())
        if len(gone.pak_ids) != self._shape.about or not gone.wiped:
            raise RuntimeError(f"{len(gone.pak_ids)} Paks went, and all bytes: {gone.wiped}.")


def ways(memory: Recollect) -> Ways:
    """Return two ways to read the same rows: by memberships, and by a filter."""
    member = memory.as_principal(READER)
    return {
        "member": lambda text: member.recall(text, top_k=5),
        "filter": lambda text: memory.recall(text, top_k=5, project=HERS),
    }


def same_answers(asking: Ways, questions: Iterable[str]) -> None:
    """Refuse to compare two ways that do not give the same answers."""
    for text in questions:
        given = [
            [(one.fact.pak_id, one.score, one.why) for one in ask(text).results]
            for ask in asking.values()
        ]
        if not given[0] or given.count(given[0]) != len(given):
            raise RuntimeError(f"The ways to the same rows answer differently: {text}")


def nothing_left(path: Path) -> None:
    """Look for the mark in every file of a store, as bytes; a finding of any ends the run."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}.index"):
        file = path.with_name(name)
        if file.exists() and MARK.encode() in file.read_bytes().lower():
            raise RuntimeError(f"{name} still holds what was forgotten.")


def built(folder: Path, shape: Shape, progress: Progress) -> Path:
    """Return the store of this shape, building it first if it is not there."""
    made_by = [repr(shape), MARK, SyntheticEmbedder().model_id]
    path = folder / f"policy-{name_of(shape.paks, [*made_by, *tables()])}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"policy-{shape.paks}-*"):
            old.unlink()
        draft = folder / f"draft-policy-{shape.paks}-{os.getpid()}.db"
        for suffix in ("", "-wal", "-shm", ".index"):
            Path(f"{draft}{suffix}").unlink(missing_ok=True)
        task = progress.add_task(f"the store of {shape.paks:,} Paks", total=shape.paks)
        with opened(draft) as memory:
            plant(memory, shape)
            for first in range(0, shape.paks, _AT_ONCE):
                numbers = range(first, min(first + _AT_ONCE, shape.paks))
                memory.remember_many(map(shape.item, numbers))
                progress.update(task, completed=numbers.stop)
        draft.replace(path)
        progress.remove_task(task)
    with opened(path) as memory:  # closing leaves a cache file of this release
        whole(memory, shape.paks)
        memory.recall(shape.question(0))
    return path


def plant(memory: Recollect, shape: Shape) -> None:
    """Make the gardens, and put the reader into some of them."""
    for number in range(shape.gardens):
        slug = shape.garden(number)
        memory.gardens.create(slug, scope="company")
        if number < shape.memberships:
            memory.gardens.add(slug, READER.id)


def measure(shape: Shape, folder: Path, console: Console) -> RecallRun:
    """Build the store if it is missing, then measure."""
    with Progress(console=console, transient=True, refresh_per_second=1) as progress:
        path = built(folder, shape, progress)
        with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=folder) as scratch:
            others = OtherJobs()
            findings = tuple(Measured(path, shape, Path(scratch)).run())
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


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.policy", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK.paks:,} Paks only")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="result file")
    parser.add_argument(
        "--stores", type=Path, default=STORES, metavar="FOLDER", help="where stores are kept"
    )
    options = parser.parse_args()
    run = measure(QUICK if options.quick else Shape(), options.stores, Console(stderr=True))
    run.write(options.json)
    console = Console() if sys.stdout.isatty() else Console(width=160)
    recall_report.show(run, console, title="What access costs: wall time")
    print(f"written to {options.json}")


def _timed(call: Callable[[str], object], text: str) -> float:
    start = clock()
    call(text)
    return clock() - start


if __name__ == "__main__":
    main()
