"""Selection beside a straight implementation of the same rules over the library it replaces.

Run `python -m bench.select`. It prints a table, writes `bench/results/select.json`, and always ends
well: a missed bar is a finding, not a failure. `--quick` measures 10,000 Paks only.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bench import report
from bench.bars import limit
from bench.peer import PeerUnavailable, python_with
from bench.report import Block, Comparison, Run
from bench.workers import Worker, by_turns

PEER = "tokenpak"
SIZES = (10_000, 100_000)
ROUNDS = 9
RESULTS = Path(__file__).parent / "results" / "select.json"


@dataclass(frozen=True)
class Question:
    """One row of the table: which queries, and how many in a block of each."""

    title: str
    kind: str
    ours: int
    peer: int
    before: str = ""


QUESTIONS = (
    Question("text that hits 1 %", "rare", 40, 8),
    Question("text that hits 10 %", "common", 12, 4),
    Question("a project of 12 %", "project", 8, 1),
    Question("text that hits 1 %, and a project", "both", 8, 1),
    Question("text that hits 1 %, each after a write", "rare", 8, 8, before="write"),
    Question("text that hits 10 %, each after a write", "common", 4, 4, before="write"),
    Question("a project of 12 %, each after a write", "project", 2, 1, before="write"),
    Question("text that hits 1 %, each after opening", "rare", 8, 8, before="open"),
    Question("text that hits 10 %, each after opening", "common", 4, 4, before="open"),
    Question("a project of 12 %, each after opening", "project", 2, 1, before="open"),
)
# How many times more the common words hit than the rare ones.
MORE_HITS = 10
GROWTH = "one of 10x the hits beside one hit, both ours"


def compare(
    question: Question, size: int, workers: dict[str, Worker], progress: Progress
) -> Comparison:
    """Ask both by turns. The first turn warms up, and there both must answer alike."""
    blocks: dict[str, list[Block]] = {name: [] for name in workers}
    digests: set[str] = set()
    task = progress.add_task(f"{size:>7,}  {question.title}", total=(ROUNDS + 1) * len(workers))
    for turn, name in by_turns(tuple(workers), ROUNDS + 1):
        count = question.ours if turn and name == "ours" else question.peer
        start = (turn - 1) * count if turn else 0
        answer = workers[name].ask(
            kind=question.kind, start=start, count=count, before=question.before
        )
        if turn:
            blocks[name].append(Block(answer["cpu_s"], answer["count"]))
        else:
            digests.add(answer["digest"])
        progress.advance(task)
    progress.remove_task(task)
    if len(digests) != 1:
        raise RuntimeError(f"The two selected differently: {question.title}.")
    bar = limit(question.title, size)
    return Comparison(question.title, size, tuple(blocks["ours"]), tuple(blocks["peer"]), bar)


def growth(few: Comparison, many: Comparison) -> Comparison:
    """Set a hit among many beside a hit among few, both ours: it must not cost more."""
    return Comparison(
        GROWTH,
        many.size,
        tuple(Block(each.cpu_s / MORE_HITS, each.count) for each in many.ours),
        few.ours,
        limit(GROWTH, many.size),
    )


def measure(sizes: tuple[int, ...], console: Console) -> Run:
    """Run the benchmark at each size."""
    comparisons: list[Comparison] = []
    versions: dict[str, str] = {}
    peer_python = python_with(PEER)
    with Progress(console=console, transient=True) as progress:
        for size in sizes:
            with _stores(peer_python) as workers:
                versions = workers["ours"].versions | workers["peer"].versions
                for worker in workers.values():
                    worker.ask(load=size)
                found = [compare(each, size, workers, progress) for each in QUESTIONS]
            comparisons += [*found, growth(found[0], found[1])]
    return Run(
        bench="select",
        peer=PEER,
        taken_at=report.now(),
        commit=report.commit(),
        machine=report.machine(),
        versions=versions,
        comparisons=tuple(comparisons),
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.select", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 Paks only")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="result file")
    options = parser.parse_args()
    try:
        run = measure(SIZES[:1] if options.quick else SIZES, Console(stderr=True))
    except PeerUnavailable as error:
        sys.exit(str(error))
    run.write(options.json)
    report.show(run, Console() if sys.stdout.isatty() else Console(width=160))
    print(f"written to {options.json}")


@contextmanager
def _stores(peer_python: Path) -> Iterator[dict[str, Worker]]:
    """Start both measuring processes, each with a new store in one folder on one disk."""
    who = {"ours": (Path(sys.executable), "recollect"), "peer": (peer_python, PEER)}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="recollect-bench-"))
        yield {
            name: stack.enter_context(
                Worker(python, "bench.select_worker", library, f"{folder}/{name}.db")
            )
            for name, (python, library) in who.items()
        }


if __name__ == "__main__":
    main()
