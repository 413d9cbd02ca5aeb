"""What the first answer costs without a cache file, beside the sources of an earlier commit.

`python -m bench.opening` lets the earlier sources fill a store of 100,000 memories, brings a copy
of it up to date, and opens both by turns, each in a process of its own: CPU time from opening until
the first answer is there. `bench.check` measures the same.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.clock import CPU
from bench.writes import EARLIER, ROOT, earlier_sources

__all__ = ["ROW", "SIZE", "measured"]

SIZE = 100_000
PAIRS = 9
ROW = f"first answer without a cache file, beside commit {EARLIER}"

_FILL = """
import sys
from bench import recall_data
from recollect import Recollect
size, at_once = int(sys.argv[2]), 10_000
with Recollect.open(sys.argv[1], links=False, cache_file=False) as memory:
    for first in range(0, size, at_once):
        texts = recall_data.texts(first, min(at_once, size - first))
        memory.remember_many(
            [{"content": text, "project": recall_data.project(number)}
             for number, text in enumerate(texts, first)]
        )
"""
# The embedder is loaded before: that is no part of an index.
_ASK = """
import sys, time
from recollect import Recollect
from recollect.embed.static import StaticEmbedder
embedder = StaticEmbedder()
embedder.model_id, embedder.embed_query("warm")
start = time.process_time()
memory = Recollect.open(sys.argv[1], embedder=embedder, links=False, cache_file=False)
memory.recall("which deploy failed on web-3", top_k=5)
print(time.process_time() - start)
"""


def measured(folder: Path, *, size: int = SIZE, pairs: int = PAIRS) -> float:
    """Return the median ratio of our first answer to that of the earlier sources."""
    earlier, now = folder / "earlier.db", folder / "now.db"
    sources = earlier_sources(folder)
    _run(_FILL, earlier, sources, size)
    shutil.copy(earlier, now)
    _run(_ASK, now, ROOT / "src")  # its tables are brought up to date
    ratios = []
    for _ in range(pairs):
        before = float(_run(_ASK, earlier, sources))
        ratios.append(float(_run(_ASK, now, ROOT / "src")) / before)
    return median(ratios)


def _run(program: str, path: Path, source: Path, *more: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), *map(str, more)],
        env={**os.environ, **CPU, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.opening", description=__doc__)
    parser.add_argument("--json", type=Path, help="keep the ratio here")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="recollect-opening-") as folder:
        ratio = measured(Path(folder))
    print(f"{ROW}: {ratio:.2f}")
    if options.json:
        options.json.write_text(json.dumps([[ROW, SIZE, ratio]]), encoding="utf-8")


if __name__ == "__main__":
    main()
