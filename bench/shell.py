"""What a recall costs as a command: a process of its own, beside one that does nothing.

In: nothing. Out: how many times the CPU time of `python -c pass` a `recollect recall` takes, the
median of nine pairs by turns. Both start the same interpreter with its compiled modules at hand.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from recollect import Recollect

__all__ = ["ROW", "measure"]

ROW = "a recall from the shell, beside python -c pass"
_PAIRS = 9
_NOTHING = [sys.executable, "-c", "pass"]
_LIBRARIES = [sys.executable, "-c", "import numpy, tokenizers, sqlite3, typer"]


def measure() -> dict[str, float]:
    """Return the ratios of a recall, and of importing its four libraries alone."""
    with tempfile.TemporaryDirectory(prefix="recollect-shell-") as folder:
        db = Path(folder) / "agent.db"
        with Recollect.open(db) as memory:
            memory.remember_many([f"Order {number} was paid in tea." for number in range(31)])
        script = Path(sys.executable).with_name("recollect")
        recall = [str(script), "recall", "tea", "--db", str(db)]
        _cpu_seconds(recall)  # compiles what is not compiled yet
        rounds = [
            [_cpu_seconds(one) for one in (_NOTHING, _LIBRARIES, recall)] for _ in range(_PAIRS)
        ]
    return {
        ROW: median(recalled / nothing for nothing, _, recalled in rounds),
        "its four libraries alone": median(loaded / nothing for nothing, loaded, _ in rounds),
    }


def _cpu_seconds(command: Sequence[str]) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    for name, times in measure().items():
        print(f"{times:6.1f}x  {name}")
