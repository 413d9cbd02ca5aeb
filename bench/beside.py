"""Recalls in one thread while another is at something long, beside recalls alone; and in processes.

`python -m bench.beside` works on copies of the stores of the recall benchmark. In: what the other
thread does. Out: how many times the 95th percentile of recalls alone it is meanwhile, by the wall
clock, since waiting is what is asked about. Of processes: how many recalls in a second of their
processor's time two of them give beside one, alone and while a third writes so many memories in
each such second; so it does not matter who else uses the machine. Alone and beside take turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from bench import recall_data
from bench.bars import bar
from bench.clock import CPU
from bench.recall_report import Finding, Unit, single
from bench.recall_stores import STORES, SyntheticEmbedder, built, copied, items, opened
from recollect import Recollect

__all__ = ["JOBS", "in_processes", "in_threads"]

ROOT = Path(__file__).parent.parent
ROUNDS = 3
ALONE = 100
MANY = 2_048
QUESTIONS = 200
# Who asks takes a breath between two questions, as one who reads the answer would.
BREATH_S = 0.002
NEW = 20_000_000
FOR_S = 6.0
WRITES_A_SECOND = 20
# Less of what was due by the readers' time, their closing included, and a run does not count.
KEEPS_UP = 0.7


class OtherModel(SyntheticEmbedder):
    """The same vectors under another name: to re-embed with."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    @property
    def model_id(self) -> str:
        """A name of its own."""
        return f"{super().model_id}:{self._number}"


def _remember_many(memory: Recollect, turn: int) -> Callable[[], object]:
    """Make the texts beforehand: that is no work of a memory's."""
    new = items(NEW + turn * MANY, MANY)
    return lambda: memory.remember_many(new)


# Each makes the work of one turn ready.
JOBS: Mapping[str, Callable[[Recollect, int], Callable[[], object]]] = {
    "remember_many": _remember_many,
    "reembed": lambda memory, turn: lambda: memory.reembed(OtherModel(turn)),
    "reindex": lambda memory, _: memory.reindex,
    "check": lambda memory, _: memory.check,
}


def in_threads(size: int) -> Iterator[Finding]:
    """Yield for each job how much longer recalls take beside it."""
    questions = [recall_data.question(number, size) for number in range(QUESTIONS)]
    with tempfile.TemporaryDirectory(prefix="recollect-beside-", dir=STORES) as folder:
        for name, job in JOBS.items():
            copy = copied(built(size), Path(folder), f"{name}.db")
            ratios = []
            with opened(copy) as memory:
                _asked(memory, questions, lambda count: count >= ALONE)
                for turn in range(ROUNDS):
                    alone = _asked(memory, questions, lambda count: count >= ALONE)
                    beside = _beside(memory, questions, job(memory, turn))
                    ratios.append(_late(beside) / _late(alone))
            what = f"recalls beside {name}, 95th percentile"
            yield single(what, size, ratios, Unit.TIMES, bar=bar(what, size), beside="alone")


def _beside(memory: Recollect, questions: list[str], job: Callable[[], object]) -> list[float]:
    with ThreadPoolExecutor(1) as other:
        work = other.submit(job)
        taken = _asked(memory, questions, lambda _: work.done())
        work.result()
    return taken


def _asked(
    memory: Recollect, questions: list[str], is_enough: Callable[[int], bool]
) -> list[float]:
    taken: list[float] = []
    while not taken or not is_enough(len(taken)):
        start = time.perf_counter()
        memory.recall(questions[len(taken) % len(questions)], top_k=5)
        taken.append(time.perf_counter() - start)
        time.sleep(BREATH_S)
    return taken


def _late(taken: list[float]) -> float:
    """Return the 95th percentile; of a single time, that."""
    return statistics.quantiles(taken, n=20)[-1] if len(taken) > 1 else taken[0]


def in_processes(size: int) -> Iterator[Finding]:
    """Yield how many times one process's recalls two give, alone and while a third writes."""
    with tempfile.TemporaryDirectory(prefix="recollect-beside-", dir=STORES) as folder:
        copy = copied(built(size), Path(folder), "shared.db")
        rates = [
            (_rate(copy, size, 1, 0), _rate(copy, size, 2, 0), _rate(copy, size, 2, 1))
            for _ in range(ROUNDS)
        ]
        for what, place in (
            ("recalls of two processes over those of one", 1),
            ("recalls of two processes while a third writes, over those of one", 2),
        ):
            ratios = [rate[place] / rate[0] for rate in rates]
            yield single(what, size, ratios, Unit.TIMES, bar=bar(what, size), beside="one")


def _rate(path: Path, size: int, readers: int, writers: int) -> float:
    """Return how many recalls processes give at once, each in a second of its processor's time."""
    roles = ["read"] * readers + ["write"] * writers
    command = [sys.executable, "-m", "bench.beside", "--path", str(path), "--size", str(size)]
    with ExitStack() as stack:
        children: list[subprocess.Popen[str]] = []
        for role in roles:
            beside = [str(child.pid) for child in children]
            child = subprocess.Popen(
                [*command, "--role", role, "--beside", *beside],
                cwd=ROOT,
                env={**os.environ, **CPU},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            children.append(stack.enter_context(child))
        _begin_together(children)
        rates = [child.communicate()[0] for child in children]
    if any(child.returncode for child in children):
        raise RuntimeError("A measuring process ended early; its own error is above.")
    return sum(map(float, rates[:readers]))


def _begin_together(children: Sequence[subprocess.Popen[str]]) -> None:
    """Tell processes when to begin, once each of them has said that it is ready."""
    for child in children:
        if child.stdout is not None:
            child.stdout.readline()
    for child in children:
        if child.stdin is not None:
            child.stdin.write(f"{time.time()}\n")
            child.stdin.flush()


def _told_to_begin() -> float:
    print("ready", flush=True)
    return float(sys.stdin.readline())


def _read(path: Path, size: int) -> float:
    """Recall for some seconds; return how often that is in a second of the processor's time."""
    questions = [recall_data.question(number, size) for number in range(QUESTIONS)]
    with opened(path) as memory:
        for question in questions[:20]:
            memory.recall(question, top_k=5)
        begin = _told_to_begin()
        count, start = 0, time.process_time()
        while time.time() < begin + FOR_S:
            memory.recall(questions[count % QUESTIONS], top_k=5)
            count += 1
        return count / (time.process_time() - start)


def _write(path: Path, readers: Sequence[int]) -> None:
    """Write so many memories in each second of the readers' processor time.

    By the wall clock, readers who have a part of a processor would follow more of them for each
    recall than the promise is about.
    """
    with opened(path) as memory:
        memory.recall("warm up")
        begin = _told_to_begin()
        first, written = NEW + int(begin) * 1_000, 0
        start = _processor_time(readers)
        while time.time() < begin + FOR_S:
            if (_processor_time(readers) - start) * WRITES_A_SECOND < written:
                time.sleep(BREATH_S)
                continue
            memory.remember(**items(first + written, 1)[0])
            written += 1
        due = (_processor_time(readers) - start) * WRITES_A_SECOND
        if written < due * KEEPS_UP:
            raise RuntimeError(f"The writer wrote {written} memories where {due:.0f} were due.")


def _processor_time(processes: Sequence[int]) -> float:
    """Return how many seconds of a processor's time processes have had on average."""
    taken = []
    for process in processes:
        # A name in brackets may hold anything; the times of user and system come later.
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        taken.append((int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"))
    return statistics.mean(taken)


def main() -> None:
    """Measure and print; or be one of the processes that are measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.beside", description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--role", choices=("read", "write"), help=argparse.SUPPRESS)
    parser.add_argument("--beside", type=int, nargs="*", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--processes", action="store_true", help="processes only, of 100,000")
    options = parser.parse_args()
    if options.role == "read":
        print(_read(options.path, options.size))
    elif options.role == "write":
        _write(options.path, options.beside)
    elif options.processes:
        for finding in in_processes(100_000):
            print(f"{finding.what}: {finding.unit.shown(finding.value)}")
    else:
        console = Console()
        for finding in (*in_threads(options.size), *in_processes(options.size)):
            console.print(f"{finding.what}: {finding.unit.shown(finding.value)}")


if __name__ == "__main__":
    main()
