"""What hooks cost: a daemon's answer beside a bare echo through a pipe, one and three of them.

Run `python -m bench.hooks` on a machine that does nothing else. It prints a table, writes
`bench/results/hooks.json`, and always ends well: a missed bar is a finding, not a failure.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

from rich.console import Console

from bench import report
from bench.bars import bar
from bench.recall import OtherJobs
from bench.recall_report import Finding, RecallRun, Unit, ratio, show, single
from bench.workers import by_turns
from recollect import Recollect, __version__
from recollect.hooks import Hooks
from recollect.hooks.dispatcher import Dispatcher
from recollect.hooks.recall import EXPAND
from recollect.hooks.request import EncodedPayload, Request
from recollect.hooks.verbs import RECALL
from recollect.model import RecallRequest, RecallResponse

RESULTS = Path(__file__).parent / "results" / "hooks.json"
QUESTION = "how do we deploy the shop on a Friday?"
BLOCK, ROUNDS = 50, 40
TOGETHER = 8

HOOK = """
from recollect.hooks.sdk import hook, modify, serve

@hook("pre_recall_expand")
def expand(payload):
    return modify(query=payload["query"])

serve()
"""
SLOW = """
import time
from recollect.hooks.sdk import hook, serve

@hook("pre_recall_expand")
def wait(payload):
    time.sleep(0.005)

serve()
"""
SILENT = """
import sys
print('{"ready":true}', flush=True)
for line in sys.stdin: pass
"""
ECHO = """
import sys
requests, replies = sys.stdin.buffer, sys.stdout.buffer
while line := requests.readline():
    replies.write(line)
    replies.flush()
"""


class Echo:
    """A child that sends back every line, and nothing between it and us but two pipes."""

    def __init__(self, script: Path, line: bytes) -> None:
        self._child = subprocess.Popen(
            [*_elsewhere(), sys.executable, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._to, self._from = self._child.stdin.fileno(), self._child.stdout.fileno()
        self._line = line

    def __call__(self) -> None:
        os.write(self._to, self._line)
        os.read(self._from, 65536)

    def __enter__(self) -> Echo:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._child.communicate()


def times_of(call: Callable[[], object], count: int) -> list[float]:
    """Return the wall seconds of each call."""
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return taken


def by_blocks(calls: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Return the median of each block of calls; the calls take turns, the first turn warms up."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for turn, name in by_turns(tuple(calls), ROUNDS + 1):
        taken = statistics.median(times_of(calls[name], BLOCK))
        if turn:
            found[name].append(taken)
    return found


def daemons(folder: Path) -> Iterator[Finding]:
    """Set one and three daemons beside as many bare echoes of the same bytes, one after another."""
    cores = os.sched_getaffinity(0)
    if _elsewhere():
        os.sched_setaffinity(0, {min(cores)})
    wanted = RecallRequest(query=QUESTION, project="shop", top_k=10)
    line = Request(EncodedPayload(EXPAND.payload(wanted)), "hook.py").line(1000, 0.05)
    with ExitStack() as stack:
        script = _script(folder, "echo.py", ECHO)
        echo, *others = (stack.enter_context(Echo(script, line)) for _ in range(3))
        one, three = (stack.enter_context(_hooks(folder, HOOK, count)) for count in (1, 3))
        found = by_blocks(
            {
                "echo": echo,
                "echoes": lambda: deque(map(Echo.__call__, (echo, *others)), maxlen=0),
                "one": lambda: one.expand(QUESTION, "shop", 10),
                "three": lambda: three.expand(QUESTION, "shop", 10),
            }
        )
    os.sched_setaffinity(0, cores)
    yield _single("one daemon", 1, found["one"])
    yield _beside("one daemon beside one echo", 1, found["one"], ("echo", found["echo"]))
    yield _single("three daemons in a chain", 3, found["three"])
    yield _beside(
        "three daemons beside three echoes", 3, found["three"], ("three echoes", found["echoes"])
    )


def recalls(folder: Path) -> Iterator[Finding]:
    """Recall from one small memory: without hooks, with a breaker open, and eight at once."""
    with Recollect.open(folder / "plain.db", embedder="none") as memory:
        _fill(memory)
        none = _cost_of_none(memory)
    yield _single("no hooks configured, a recall", 0, none)
    with ExitStack() as stack:
        without = stack.enter_context(Recollect.open(folder / "plain.db", embedder="none"))
        broken = stack.enter_context(_memory(folder, "silent.py", SILENT))
        for _ in range(6):
            broken.recall(QUESTION)
        found = by_blocks(
            {
                "without": lambda: without.recall(QUESTION),
                "open": lambda: broken.recall(QUESTION),
            }
        )
        if not broken.recall(QUESTION).degraded:
            raise RuntimeError("The breaker is closed; this measured something else.")
    over = [after - before for after, before in zip(found["open"], found["without"], strict=True)]
    yield _single("breaker open, over no hook", 1, over)
    with Recollect.open(folder / "plain.db", embedder="none") as memory:
        yield single("eight recalls at once, no hook", 0, _together(memory), Unit.SECONDS)
    with _memory(folder, "slow.py", SLOW) as memory:
        taken = _together(memory)
    yield _single("eight recalls at once, a hook of 5 ms", 1, taken)


def _single(what: str, hooks: int, seconds: list[float]) -> Finding:
    return single(what, hooks, seconds, Unit.SECONDS, bar=bar(what, hooks))


def _beside(what: str, hooks: int, ours: list[float], echo: tuple[str, list[float]]) -> Finding:
    return ratio(what, hooks, ours, echo[1], ours=ours, beside=echo, bar=bar(what, hooks))


def _together(memory: Recollect) -> list[float]:
    """Return how long eight recalls take that start together, until the last is answered."""
    gate = threading.Barrier(TOGETHER)

    def recall(_: int) -> tuple[float, float]:
        gate.wait()
        began = time.perf_counter()
        memory.recall(QUESTION)
        return began, time.perf_counter()

    taken = []
    with ThreadPoolExecutor(TOGETHER) as pool:
        for _ in range(ROUNDS + 1):
            spans = list(pool.map(recall, range(TOGETHER)))
            taken.append(max(end for _, end in spans) - min(begin for begin, _ in spans))
    return taken[1:]


def measure() -> RecallRun:
    """Run the benchmark."""
    others = OtherJobs()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        findings = (*daemons(Path(folder)), *recalls(Path(folder)))
    return RecallRun(
        taken_at=report.now(),
        commit=report.commit(),
        others=others.cores(),
        machine=report.machine(),
        versions={"recollect": __version__, "python": platform.python_version()},
        findings=findings,
        growth=(),
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.hooks", description=__doc__)
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="result file")
    options = parser.parse_args()
    run = measure()
    run.write(options.json)
    console = Console() if sys.stdout.isatty() else Console(width=160)
    show(run, console, title="What hooks cost", counted="hooks")
    print(f"written to {options.json}")


def _fill(memory: Recollect) -> None:
    memory.remember_many([f"note {number} on how we deploy the shop" for number in range(50)])


def _cost_of_none(memory: Recollect) -> list[float]:
    """Return what it costs a recall that there could be hooks: the dispatcher with none."""
    request = RecallRequest(query=QUESTION)
    dispatcher = Dispatcher(memory.hooks)
    answer = memory.recall(QUESTION)

    def bare(_: RecallRequest) -> RecallResponse:
        return answer

    def check(wanted: RecallRequest) -> RecallRequest:
        return wanted

    count, found = 2000, []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(count):
            bare(check(request))
        between = time.perf_counter()
        for _ in range(count):
            dispatcher.run(RECALL, request, check=check, act=bare)
        found.append((time.perf_counter() - between - (between - began)) / count)
    return found


def _script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def _file(folder: Path, name: str, text: str, count: int = 1, *, pinned: bool = False) -> Path:
    """Write a hook, and a file that has it so many times."""
    script = _script(folder, name, text)
    command = [*(_elsewhere() if pinned else ()), sys.executable, str(script)]
    table = f'[[hook]]\nevent = "pre_recall_expand"\ncommand = {json.dumps(command)}\n'
    return _script(folder, f"{name}-{count}.toml", table * count)


@contextmanager
def _hooks(folder: Path, text: str, count: int) -> Iterator[Hooks]:
    hooks = Hooks(_file(folder, "hook.py", text, count, pinned=True))
    try:
        yield hooks
    finally:
        hooks.close()


def _memory(folder: Path, name: str, text: str) -> Recollect:
    file = _file(folder, name, text)
    return Recollect.open(folder / "plain.db", embedder="none", hooks=file)


@functools.cache
def _elsewhere() -> tuple[str, ...]:
    """Return what puts a child on another core than ours: both echo and hooks are woken there."""
    cores = sorted(os.sched_getaffinity(0))
    taskset = shutil.which("taskset")
    return (taskset, "-c", str(cores[1])) if taskset and len(cores) > 1 else ()


if __name__ == "__main__":
    main()
