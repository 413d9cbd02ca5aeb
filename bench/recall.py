"""Recall, frames and remember: wall time beside one bare pass over as many vectors, and elfmem.

Run `python -m bench.recall`. It builds its stores once, prints two tables, writes
`bench/results/recall.json`, and always ends well: a missed bar is a finding, not a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from bench import recall_data, recall_report, report
from bench.bars import bar
from bench.clock import WALL
from bench.peer import PeerUnavailable, python_with
from bench.recall_report import Bar, Finding, Growth, RecallRun, Unit, ratio, single
from bench.recall_stores import STORES, built, copied
from bench.workers import Worker, by_turns

PEER = "elfmem==0.20.*"
BM25S = ("bm25s", "PyStemmer")
THOUSAND, TEN, HUNDRED, MILLION = 1_000, 10_000, 100_000, 1_000_000
ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results" / "recall.json"

RECALLS = 180
RECALLS_OF_A_MILLION = 45
PEER_ROUNDS = 9
OURS_A_ROUND = 20
REMEMBER_BLOCKS = 9
# As many calls as fill the write-ahead log once or so: each block pays its share of copying it.
BLOCK = 100
MANY = {"links off": 5_000, "links on": 2_000}
MANY_ROUNDS = 9
OPENINGS = 9
RECALLS_BEFORE_MEMORY = 20

# Numbers of texts that no store holds yet.
NEW = 10_000_000


class Bench:
    """Measures on stores of several sizes; what writes works on copies in a scratch folder."""

    def __init__(
        self,
        stores: dict[int, Path],
        scratch: Path,
        progress: Progress,
        clock: Mapping[str, str] = WALL,
    ) -> None:
        self._clock = clock
        self._stores = stores
        self._scratch = scratch
        self._task = progress.add_task("start", total=None)
        self._progress = progress
        self._new = NEW
        self.versions: dict[str, str] = {}
        self.recall_s: dict[int, tuple[float, float]] = {}
        self.remember_a_second: dict[int, float] = {}

    def run(self) -> Iterator[Finding]:
        """Yield every row; without the large stores, those that need none."""
        for size in self._stores:
            yield from self.recall(size)
        yield from self.beside_words(THOUSAND)
        if TEN in self._stores:
            yield from self.beside_peer(TEN)
        yield from self.remember()
        if HUNDRED in self._stores:
            yield from self.remember_many(HUNDRED)
        largest = max(size for size in self._stores if size <= HUNDRED)
        yield from self.open(largest)

    @property
    def growth(self) -> tuple[Growth, ...]:
        """What each size costs, once everything has run."""
        return tuple(
            Growth(size, *self.recall_s[size], self.remember_a_second[size])
            for size in self._stores
        )

    def recall(self, size: int) -> Iterator[Finding]:
        count = RECALLS_OF_A_MILLION if size == MILLION else RECALLS
        with self._worker() as worker:
            worker.ask(operation="open", name="all", path=str(self._stores[size]))
            worker.ask(operation="fresh_matrix", size=size)
            self._says(f"recall, {size:,} Paks")
            taken = self._recalls(worker, size, count, None)
            recalls, passes = taken["recall"], taken["pass"]
            self.recall_s[size] = statistics.median(recalls), statistics.median(passes)
            title = "recall, all readable"
            yield _beside_pass(title, size, taken, bar(title, size))
            taken = self._recalls(worker, size, count, recall_data.project(7))
            title = "recall, 1 % in reach"
            yield _beside_pass(title, size, taken, bar(title, size))

    def _recalls(self, worker: Worker, size: int, count: int, project: str | None) -> Any:
        return worker.ask(
            operation="recall_by_turns",
            name="all",
            questions=_questions(size, count + 5),
            project=project,
        )

    def beside_words(self, size: int) -> Iterator[Finding]:
        """Answer the same questions by turns, here with links and all, and in bm25s."""
        python = python_with(*BM25S)
        peer = Worker(python, "bench.bm25s_worker", str(size), environment=self._clock)
        with self._worker() as ours, peer:
            self.versions |= peer.versions
            self._says(f"recall beside bm25s, {size:,} Paks")
            path = self._scratch / "beside-words.db"
            ours.ask(operation="fill", name="own", path=str(path), size=size)
            taken: dict[str, list[float]] = {"ours": [], "peer": []}
            for turn, name in by_turns(("ours", "peer"), PEER_ROUNDS + 1):
                asked = _questions(size, OURS_A_ROUND, first=turn * OURS_A_ROUND)
                if name == "ours":
                    seconds = ours.ask(operation="answer", name="own", questions=asked, frame=None)
                else:
                    seconds = peer.ask(operation="answer", questions=asked)
                if turn:
                    taken[name] += seconds
        what, mine = "recall beside bm25s", taken["ours"]
        beside = ("bm25s", taken["peer"])
        yield ratio(what, size, mine, taken["peer"], ours=mine, beside=beside, bar=bar(what, size))

    def beside_peer(self, size: int) -> Iterator[Finding]:
        """Answer the same questions by turns, here and in elfmem, on stores of their own."""
        python = python_with(PEER)
        kept = self._peer_store(python, size)
        scratch = Path(shutil.copyfile(kept, self._scratch / "elfmem.db"))
        with self._worker() as ours, self._peer(python, scratch, size) as peer:
            self.versions |= peer.versions
            copy = copied(self._stores[size], self._scratch, "beside.db")
            ours.ask(operation="open", name="copy", path=str(copy))
            for title, frame in (("recall", None), ('frame("attention", question)', "attention")):
                self._says(f"{title} beside elfmem, {size:,} Paks")
                mine, theirs = self._answers(ours, peer, size, frame)
                what, beside = f"{title}, times faster than elfmem", ("elfmem", theirs)
                limit = bar(what, size)
                yield ratio(what, size, theirs, mine, ours=mine, beside=beside, bar=limit)

    def _answers(
        self, ours: Worker, peer: Worker, size: int, frame: str | None
    ) -> tuple[list[float], list[float]]:
        """Take turns: a few of ours (the median counts), one of theirs; the first round warms."""
        taken: dict[str, list[float]] = {"ours": [], "peer": []}
        for turn, name in by_turns(("ours", "peer"), PEER_ROUNDS + 1):
            asked = _questions(size, OURS_A_ROUND, first=1000 + turn * OURS_A_ROUND)
            if name == "ours":
                seconds = ours.ask(operation="answer", name="copy", questions=asked, frame=frame)
            else:
                seconds = peer.ask(operation="answer", questions=asked[:1], frame=frame)
            if turn:
                taken[name].append(statistics.median(seconds))
        return taken["ours"], taken["peer"]

    def remember(self) -> Iterator[Finding]:
        """Remember one by one, in stores of all sizes by turns, with and without links."""
        top = max(size for size in self._stores if size <= HUNDRED)
        with self._worker() as worker:
            worker.ask(operation="fresh_matrix", size=top)
            for size in self._stores:
                self._open_copy(worker, f"off {size}", size, links=False)
            self._open_copy(worker, "on", top, links=True)
            self._says("remember, one by one")
            names = [f"off {size}" for size in self._stores] + ["on"]
            taken = worker.ask(
                operation="remember_by_turns",
                names=names,
                first=self._new_texts((REMEMBER_BLOCKS + 1) * BLOCK),
                blocks=REMEMBER_BLOCKS,
                size=BLOCK,
            )
            for size in self._stores:
                rates = rates_of(taken[f"off {size}"])
                self.remember_a_second[size] = statistics.median(rates)
                what = "remember, links off"
                yield single(what, size, rates, Unit.RATE, bar=bar(what, size))
            yield single("remember, links on", top, rates_of(taken["on"]), Unit.RATE)
            yield _extra(taken["on"], taken[f"off {top}"], taken["pass"], top)
            self._says("recall right after a remember")
            after = worker.ask(
                operation="recall_after_remember",
                name=f"off {top}",
                first=self._new_texts(RECALLS),
                questions=_questions(top, RECALLS, first=5000),
            )
            yield _beside_pass("recall right after a remember", top, after, None)
            embedding = worker.ask(operation="embed", count=RECALLS)
            title = "embedding one text, static: not in the rows of remember"
            yield single(title, 1, embedding, Unit.SECONDS)

    def remember_many(self, size: int) -> Iterator[Finding]:
        rates: dict[str, list[float]] = {name: [] for name in MANY}
        with self._worker() as worker:
            for name in MANY:
                self._open_copy(worker, name, size, links=name == "links on")
            for turn, name in by_turns(tuple(MANY), MANY_ROUNDS + 1):
                self._says(f"remember_many, {name}")
                # The first round warms up and is short.
                count = MANY[name] if turn else 500
                first = self._new_texts(count)
                seconds = worker.ask(operation="remember_many", name=name, first=first, count=count)
                if turn:
                    rates[name].append(count / seconds)
        for name, found in rates.items():
            what = f"remember_many, {name}"
            yield single(what, size, found, Unit.RATE, bar=bar(what, size))

    def open(self, size: int) -> Iterator[Finding]:
        """Open in fresh processes, with the cache file and without, by turns."""
        self._says(f"open and answer, {size:,} Paks")
        found: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
        for _, cache_file in by_turns((True, False), OPENINGS):
            found[cache_file].append(self._first_answer(size, cache_file))
        warm, cold = found[True], found[False]
        # The fastest pass: one that another job slowed down would flatter us.
        totals, passes = _column(warm, "total"), [min(one["pass"]) for one in warm]
        what, beside = "open and first recall, warm cache file", ("pass", passes)
        yield ratio(what, size, totals, passes, ours=totals, beside=beside, bar=bar(what, size))
        for part in ("embedder", "open", "first recall, index loaded"):
            yield single(f"  of that: {part}", size, _column(warm, part), Unit.SECONDS)
        what = "open and first recall, no cache file"
        yield single(what, size, _column(cold, "total"), Unit.SECONDS, bar=bar(what, size))
        for title, which, runs in (
            ("resident after 20 recalls", "now", warm),
            ("  the most it was", "most", warm),
            ("  the most, no cache file", "most", cold),
        ):
            megabytes = [one["memory"][which] / 1e6 for one in runs]
            yield single(title, size, megabytes, Unit.MEGABYTES, bar=bar(title, size))

    def _first_answer(self, size: int, cache_file: bool) -> dict[str, Any]:
        request = {
            "path": str(self._stores[size]),
            "questions": _questions(size, 1 + RECALLS_BEFORE_MEMORY),
            "cache_file": cache_file,
            "size": size,
        }
        child = [sys.executable, "-m", "bench.recall_opening"]
        finished = subprocess.run(
            child,
            cwd=ROOT,
            env={**os.environ, **self._clock},
            input=json.dumps(request),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        answer: dict[str, Any] = json.loads(finished.stdout)
        return answer

    def _open_copy(self, worker: Worker, name: str, size: int, *, links: bool) -> None:
        copy = copied(self._stores[size], self._scratch, f"{name.replace(' ', '-')}.db")
        worker.ask(operation="open", name=name, path=str(copy), links=links)

    def _peer_store(self, python: Path, size: int) -> Path:
        """Return elfmem's store of the same texts and vectors, filling it first if it is new."""
        kept = self._stores[size].with_name(f"elfmem-{self._stores[size].name}")
        if not kept.exists():
            self._says(f"elfmem: fill it with {size:,} blocks")
            draft = self._scratch / "elfmem-draft.db"
            with self._peer(python, draft, size) as peer:
                texts = list(recall_data.texts(0, size))
                same = recall_data.digest(texts, recall_data.Vectors().of(texts))
                if peer.ask(operation="digest", size=size) != same:
                    raise RuntimeError("elfmem holds other texts or vectors than Recollect.")
            draft.replace(kept)
        return kept

    def _new_texts(self, count: int) -> int:
        """Return the first of so many numbers whose texts no store holds."""
        first, self._new = self._new, self._new + count
        return first

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        own = Path(sys.executable)
        with Worker(own, "bench.recall_worker", environment=self._clock) as worker:
            self.versions = worker.versions | self.versions
            yield worker

    def _peer(self, python: Path, path: Path, size: int) -> Worker:
        arguments = (str(path), str(size))
        return Worker(python, "bench.elfmem_worker", *arguments, environment=self._clock)

    def _says(self, what: str) -> None:
        self._progress.update(self._task, description=what)


def measure(sizes: Sequence[int], folder: Path, console: Console) -> RecallRun:
    """Build the stores that are missing, then measure."""
    with ExitStack() as stack:
        # Once a second: redrawing must not be part of what is measured.
        progress = Progress(console=console, transient=True, refresh_per_second=1)
        stack.enter_context(progress)
        stores = {size: _built(size, folder, progress) for size in sizes}
        scratch = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=folder)
        )
        bench = Bench(stores, Path(scratch), progress)
        others = OtherJobs()
        findings = tuple(bench.run())
    return RecallRun(
        taken_at=report.now(),
        commit=report.commit(),
        others=others.cores(),
        machine=report.machine(),
        versions=bench.versions,
        findings=findings,
        growth=bench.growth,
    )


class OtherJobs:
    """How busy the machine was with other things since this was made: it is what spoils times."""

    def __init__(self) -> None:
        self._start = self._now()

    def cores(self) -> float:
        """Return how many cores the others kept busy on average."""
        wall, busy, own = (now - then for now, then in zip(self._now(), self._start, strict=True))
        return max(0.0, (busy - own) / max(wall, 0.01))  # its clock ticks a hundred times a second

    def _now(self) -> tuple[float, float, float]:
        user, nice, system, _, _, interrupts, soft, *_ = (
            int(ticks) / os.sysconf("SC_CLK_TCK")
            for ticks in Path("/proc/stat").read_text().splitlines()[0].split()[1:]
        )
        used = os.times()
        own = used.user + used.system + used.children_user + used.children_system
        return used.elapsed, user + nice + system + interrupts + soft, own


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 and 10,000 Paks only")
    parser.add_argument("--million", action="store_true", help="1,000,000 Paks too")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="result file")
    parser.add_argument(
        "--stores", type=Path, default=STORES, metavar="FOLDER", help="where stores are kept"
    )
    options = parser.parse_args()
    sizes = [THOUSAND, TEN] + [HUNDRED] * (not options.quick) + [MILLION] * options.million
    try:
        run = measure(sizes, options.stores, Console(stderr=True))
    except PeerUnavailable as error:
        sys.exit(str(error))
    run.write(options.json)
    recall_report.show(run, Console() if sys.stdout.isatty() else Console(width=160))
    print(f"written to {options.json}")


def _built(size: int, folder: Path, progress: Progress) -> Path:
    task = progress.add_task(f"the store of {size:,} Paks", total=size)
    path = built(size, folder, lambda done, _: progress.update(task, completed=done))
    progress.remove_task(task)
    return path


def _questions(size: int, count: int, first: int = 0) -> list[str]:
    return [recall_data.question(number, size) for number in range(first, first + count)]


def _beside_pass(what: str, size: int, taken: Any, bar: Bar | None) -> Finding:
    recalls, passes = taken["recall"], taken["pass"]
    return ratio(what, size, recalls, passes, ours=recalls, beside=("pass", passes), bar=bar)


def _extra(
    on: Sequence[float], off: Sequence[float], passes: Sequence[float], size: int
) -> Finding:
    """Return what links add to a call, in passes."""
    extra = statistics.median(on) - statistics.median(off)
    one_pass = statistics.median(passes)
    blocks = [
        statistics.median(on[start : start + BLOCK]) - statistics.median(off[start : start + BLOCK])
        for start in range(0, len(on), BLOCK)
    ]
    return Finding(
        what="remember, what links add to a call",
        size=size,
        value=extra / one_pass,
        unit=Unit.TIMES,
        middle_half=recall_report.middle_half([block / one_pass for block in blocks]),
        ours=report.duration(max(extra, 0.0)),
        beside=f"{report.duration(one_pass)} pass",
        bar=bar("remember, what links add to a call", size),
        samples={"links on": list(on), "links off": list(off), "pass": list(passes)},
    )


def rates_of(seconds: Sequence[float]) -> list[float]:
    """Return calls a second, block by block."""
    blocks = (seconds[start : start + BLOCK] for start in range(0, len(seconds), BLOCK))
    return [len(block) / sum(block) for block in blocks]


def _column(runs: Sequence[dict[str, Any]], name: str) -> list[float]:
    return [float(run[name]) for run in runs]


if __name__ == "__main__":
    main()
