"""What hooks cost: a daemon's answer beside a bare echo through a pipe, and the bars of the issue.

Run `python -m bench.hooks` on a machine that does nothing else. It prints a table, writes
`bench/results/hooks.json`, and always ends well: a missed bar is a finding, not a failure.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

from rich.console import Console

from bench import report
from bench.recall_report import Bar, Finding, RecallRun, Unit, markdown, ratio, show, single
from bench.workers import by_turns
from recollect import Recollect
from recollect.hooks.handle import Hooks
from recollect.hooks.errors import HookFailed
from recollect.hooks.events import RecallExpandQuery
from recollect.hooks.request import Request, Written

RESULTS = Path(__file__).parent / "results" / "hooks.json"
QUESTION = "how do we deploy the shop on a Friday?"
BLOCK, ROUNDS = 50, 40
TOGETHER, TAKES_S = 8, 0.005

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
        assert self._child.stdin and self._child.stdout
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
    """Set one and three daemons beside as many bare echoes of the same bytes."""
    line = Request(Written(RecallExpandQuery(QUESTION, "shop", 10)), "hook.py").line(1000, 0.05)
    with ExitStack() as stack:
        echo = stack.enter_context(Echo(_script(folder, "echo.py", ECHO), line))
        one, three = (stack.enter_context(_hooks(folder, HOOK, count)) for count in (1, 3))
        found = by_blocks(
            {
                "echo": echo,
                "one": lambda: one.expand(QUESTION, "shop", 10),
                "three": lambda: three.expand(QUESTION, "shop", 10),
            }
        )
    echoes = found["echo"]
    yield single("one daemon", 1, found["one"], Unit.SECONDS, bar=Bar(0.00015))
    yield ratio(
        "one daemon beside one echo",
        1,
        found["one"],
        echoes,
        ours=found["one"],
        beside=("echo", echoes),
        bar=Bar(3),
    )
    yield single("three daemons in a chain", 3, found["three"], Unit.SECONDS, bar=Bar(0.0005))
    thrice = [3 * each for each in echoes]
    yield ratio(
        "three daemons beside three echoes",
        3,
        found["three"],
        thrice,
        ours=found["three"],
        beside=("three echoes", thrice),
        bar=Bar(3),
    )


def recalls(folder: Path) -> Iterator[Finding]:
    """Recall from one small memory: without hooks, with a breaker open, and eight at once."""
    with Recollect.open(folder / "plain.db", embedder="none") as memory:
        _fill(memory)
        plain = _bare_cost(memory)
        yield single("no hooks configured, a recall", 0, plain, Unit.SECONDS, bar=Bar(2e-6))
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
        assert "silent.py" in broken.recall(QUESTION).degraded
    over = [after - before for after, before in zip(found["open"], found["without"], strict=True)]
    yield single("breaker open, over no hook", 1, over, Unit.SECONDS, bar=Bar(0.001))
    with _memory(folder, "slow.py", SLOW) as slow, ThreadPoolExecutor(TOGETHER) as pool:
        gate = threading.Barrier(TOGETHER)

        def recall(_: int) -> float:
            gate.wait()
            slow.recall(QUESTION)
            return time.perf_counter()

        def together() -> float:
            began = time.perf_counter()
            return max(pool.map(recall, range(TOGETHER))) - began

        together()
        taken = [together() for _ in range(ROUNDS)]
    yield single("eight recalls at once, a hook of 5 ms", 8, taken, Unit.SECONDS, bar=Bar(0.015))


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.hooks", description=__doc__)
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="result file")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for the docs")
    options = parser.parse_args()
    if len(_cores()) > 1:
        os.sched_setaffinity(0, {_cores()[0]})
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        findings = [*daemons(Path(folder)), *recalls(Path(folder))]
    print(findings, options)


if __name__ == "__main__":
    main()
