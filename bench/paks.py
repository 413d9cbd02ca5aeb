"""The catalogue beside the library it replaces: the same operations, the same Paks, one run.

Run `python -m bench.paks`. It prints a table, writes `bench/results/paks.json`, and always ends
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
from rich.progress import Progress, TaskID

from bench import report
from bench.bars import limit
from bench.peer import PeerUnavailable, python_with
from bench.report import Block, Comparison, Run, joined
from bench.workers import Worker, by_turns

PEER = "tokenpak"
SIZES = (10_000, 100_000)
LOAD_BLOCK = 1000
BATCHES = (1000, 10_000)
PAGE = 100
PROJECT_SHARE = 8
RESULTS = Path(__file__).parent / "results" / "paks.json"


@dataclass(frozen=True)
class Operation:
    """One row of the table: what the workers run, and how often each.

    The peer may do fewer in a block than ours where one of its operations takes long. With
    `cycle`, blocks continue one another and start over after so many: the pages of a walk.
    """

    title: str
    call: str
    rounds: int
    ours: int
    peer: int
    cycle: int | None = None

    def start(self, turn: int, count: int) -> int:
        """Return where the block of a turn begins: past the warm-up, unless it is a walk."""
        return turn % self.cycle * count if self.cycle else self.warm_up + turn * count

    @property
    def warm_up(self) -> int:
        """How many operations each library does before the clock counts: as many as the other."""
        return self.peer


def operations(size: int) -> tuple[Operation, ...]:
    """Return what is measured on a loaded store, reads first: writes change what reads meet."""
    walk_block = size // PAGE // 10
    project_block = -(-size // PAGE // PROJECT_SHARE // 5)
    return (
        Operation("walk all pages, one page", "walk", 20, walk_block, walk_block, cycle=10),
        Operation(
            "walk one project's pages, one page",
            "walk_project",
            15,
            project_block,
            project_block,
            cycle=5,
        ),
        Operation("first page of one project", "first_page", 10, ours=200, peer=10),
        Operation("upsert an existing Pak, new text", "update", 10, ours=1000, peer=10),
        Operation("delete a Pak", "delete", 10, ours=size // 200, peer=10),
    )


class Bench:
    """Stores of one size, by who fills them: ours one by one, ours in batches, the peer."""

    def __init__(self, size: int, workers: dict[str, Worker], progress: Progress) -> None:
        self._size = size
        self._workers = workers
        self._progress = progress

    def run(self) -> list[Comparison]:
        """Load the stores, then measure each operation on them."""
        return [*self._load(), *(self._operation(each) for each in operations(self._size))]

    def _load(self) -> list[Comparison]:
        """Fill all stores by turns; those of larger batches take a turn when one is due."""
        batches = {batch_store(size): size for size in BATCHES}
        blocks: dict[str, list[Block]] = {name: [] for name in self._workers}
        names, rounds = tuple(blocks), self._size // LOAD_BLOCK
        with self._task("insert", rounds * len(names)) as task:
            for turn, name in by_turns(names, rounds):
                count = batches.get(name, LOAD_BLOCK)
                call = "insert_batch" if name in batches else "insert"
                done = (turn + 1) * LOAD_BLOCK
                if done % count == 0:
                    block, _ = self._ask(name, call, done - count, count)
                    blocks[name].append(block)
                self._progress.advance(task)
        rows = [("insert, one transaction each", "ours")]
        rows += [(f"insert in batches of {size:,}", name) for name, size in batches.items()]
        return [
            self._comparison(title, blocks[name], joined(blocks["peer"], len(blocks[name])))
            for title, name in rows
        ]

    def _operation(self, operation: Operation) -> Comparison:
        counts: dict[str, int] = {"ours": operation.ours, "peer": operation.peer}
        blocks: dict[str, list[Block]] = {name: [] for name in counts}
        digests: dict[int, str | None] = {}
        with self._task(operation.title, (operation.rounds + 1) * len(counts)) as task:
            for turn, name in by_turns(tuple(counts), operation.rounds + 1):
                # The first turn warms up: as many operations for both, and the same answers.
                warming = turn == 0
                count = operation.warm_up if warming else counts[name]
                start = 0 if warming else operation.start(turn - 1, count)
                block, digest = self._ask(name, operation.call, start, count)
                if warming or operation.ours == operation.peer:
                    _agree(operation, digests.setdefault(turn, digest), digest)
                if not warming:
                    blocks[name].append(block)
                self._progress.advance(task)
        return self._comparison(operation.title, blocks["ours"], blocks["peer"])

    def _ask(self, name: str, call: str, start: int, count: int) -> tuple[Block, str | None]:
        answer = self._workers[name].ask(operation=call, start=start, count=count, size=self._size)
        return Block(answer["cpu_s"], answer["count"]), answer["digest"]

    def _comparison(self, title: str, ours: list[Block], peer: list[Block]) -> Comparison:
        bar = limit(title, self._size)
        return Comparison(title, self._size, tuple(ours), tuple(peer), bar)

    @contextmanager
    def _task(self, title: str, total: int) -> Iterator[TaskID]:
        task = self._progress.add_task(f"{self._size:>7,}  {title}", total=total)
        yield task
        self._progress.remove_task(task)


def batch_store(size: int) -> str:
    """Return the name of our store that is filled in batches of this size."""
    return f"ours-{size}"


def measure(sizes: tuple[int, ...], console: Console) -> Run:
    """Run the benchmark at each size."""
    comparisons: list[Comparison] = []
    versions: dict[str, str] = {}
    peer_python = python_with(PEER)
    with Progress(console=console, transient=True) as progress:
        for size in sizes:
            with _stores(peer_python) as workers:
                versions = workers["ours"].versions | workers["peer"].versions
                comparisons += Bench(size, workers, progress).run()
    return Run(
        bench="paks",
        peer=PEER,
        taken_at=report.now(),
        commit=report.commit(),
        machine=report.machine(),
        versions=versions,
        comparisons=tuple(comparisons),
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.paks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 Paks only")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="result file")
    options = parser.parse_args()
    progress_console = Console(stderr=True)
    try:
        run = measure(SIZES[:1] if options.quick else SIZES, progress_console)
    except PeerUnavailable as error:
        sys.exit(str(error))
    run.write(options.json)
    report.show(run, Console() if sys.stdout.isatty() else Console(width=160))
    print(f"written to {options.json}")


@contextmanager
def _stores(peer_python: Path) -> Iterator[dict[str, Worker]]:
    """Start the measuring processes, each with a new store in one folder on one disk."""
    own_python = Path(sys.executable)
    who = {"ours": (own_python, "recollect"), "peer": (peer_python, PEER)}
    who |= {batch_store(size): (own_python, "recollect") for size in BATCHES}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="recollect-bench-"))
        yield {
            name: stack.enter_context(
                Worker(python, "bench.paks_worker", library, f"{folder}/{name}.db")
            )
            for name, (python, library) in who.items()
        }


def _agree(operation: Operation, one: str | None, other: str | None) -> None:
    if one != other:
        raise RuntimeError(f"The two libraries answered differently: {operation.title}.")


if __name__ == "__main__":
    main()
