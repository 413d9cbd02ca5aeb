"""One process that opens a store and answers: how long until the first answer, and how much memory.

In: a request on standard input. Out: seconds and bytes. Modules are imported before the clock
starts; reading the embedder's files, opening the store and loading its index are inside.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.clock import seconds as clock
from bench.recall_stores import SyntheticEmbedder
from bench.recall_worker import passes
from recollect import Recollect

PASSES = 15


def first_answer(path: str, questions: list[str], cache_file: bool, size: int) -> dict[str, Any]:
    """Open, recall, and say what each part took; then recall on, and look at the memory."""
    start = clock()
    embedder = SyntheticEmbedder()
    embedder.model_id  # noqa: B018, opens the table
    embedder.tokenise_query(questions[0])
    loaded = clock()
    memory = Recollect.open(path, embedder=embedder, links=False, cache_file=cache_file)
    opened = clock()
    memory.recall(questions[0], top_k=5)
    answered = clock()
    for question in questions[1:]:
        memory.recall(question, top_k=5)
    resident = _memory_bytes()
    # Not closed: what this process leaves behind must be what it found.
    return {
        "embedder": loaded - start,
        "open": opened - loaded,
        "first recall, index loaded": answered - opened,
        "total": answered - start,
        "memory": resident,
        "pass": passes(size, PASSES),
    }


def _memory_bytes() -> dict[str, int]:
    """Return what is resident now, and the most that was."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {
        name: int(fields[field].split()[0]) * 1024
        for name, field in (("now", "VmRSS"), ("most", "VmHWM"))
    }


if __name__ == "__main__":
    print(json.dumps(first_answer(**json.load(sys.stdin))))
