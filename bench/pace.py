"""How fast the machine is while something is measured, beside its best moments.

The cores of a shared machine take up to twice as long for the same instructions from one minute to
the next, in CPU time too. A ratio does not see that; a bar in seconds does. So a child does one
fixed piece of work every tenth of a second meanwhile, and what it took is set beside what it takes
in a good moment of the machine that the bars were promised on. Standard library only.
"""

from __future__ import annotations

import select
import sqlite3
import statistics
import subprocess
import sys
from pathlib import Path
from time import process_time
from types import TracebackType

__all__ = ["GOOD_MOMENT_S", "Pace"]

# What `job` takes there when nothing slows it down; the least of 400 on 2026-11-17 was 0.0027.
GOOD_MOMENT_S = 0.0028
_EVERY_S = 0.1
_ROOT = Path(__file__).parent.parent


class Pace:
    """Samples the machine for the length of a `with`; `slowness` is 1.0 for a good moment."""

    def __init__(self) -> None:
        self.slowness = 1.0

    def __enter__(self) -> Pace:
        self._child = subprocess.Popen(
            [sys.executable, "-m", "bench.pace"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        samples = [float(line) for line in self._child.communicate()[0].splitlines()]
        if samples:
            self.slowness = max(1.0, statistics.median(samples) / GOOD_MOMENT_S)


def job() -> float:
    """Do the same work each time, as an engine does: words, dictionaries, rows; return its time."""
    began = process_time()
    counts: dict[str, int] = {}
    for number in range(3000):
        word = f"word {number * 7919 % 601}"
        counts[word] = counts.get(word, 0) + len(word.split())
    rows = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE words (word TEXT PRIMARY KEY, count INTEGER)")
        db.executemany("INSERT INTO words VALUES (?, ?)", rows)
        db.execute("SELECT sum(count) FROM words WHERE word > 'word 3'").fetchone()
    db.close()
    return process_time() - began


def main() -> None:
    """Say what the work took, again and again, until standard input ends."""
    taken: list[float] = []
    while not taken or not select.select([sys.stdin], [], [], _EVERY_S)[0]:
        taken.append(job())
    print("\n".join(map(str, taken)))


if __name__ == "__main__":
    main()
