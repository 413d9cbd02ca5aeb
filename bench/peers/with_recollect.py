"""Recollect itself: the shipped `remember_many` and `recall`, with threads, speakers and times."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time

from bench.peers import corpora
from bench.peers.measure import peak_mb, versions_of
from recollect.evaluation import run


class Clocks:
    """The runner's timer, which notes CPU time at each look, so that both are of the same call."""

    def __init__(self) -> None:
        self._looks: list[float] = []

    def __call__(self) -> float:
        """Return the wall time."""
        self._looks.append(process_time())
        return perf_counter()

    def cpu_seconds(self) -> Iterator[float]:
        """Yield the CPU time between each two looks, in the order of the run."""
        for start, end in zip(self._looks[::2], self._looks[1::2], strict=True):
            yield end - start


def main() -> None:
    """Run the evaluation and write its answers in the form of the peers."""
    corpus_path, result_path = map(Path, sys.argv[1:])
    corpus = json.loads(corpus_path.read_text())
    task = corpora.load(corpus["kind"], Path(corpus["path"]))
    clocks = Clocks()
    done = run(task, k=corpus["k"], timer=clocks)
    peak = peak_mb()
    outcomes = iter(done.outcomes)
    cpu = clocks.cpu_seconds()
    collections = []
    for cost, collection in zip(done.remembering, done.task.collections, strict=True):
        asked = [next(outcomes) for _ in collection.questions]
        next(cpu)  # remembering comes first
        answers = {
            str(k): [
                {"s": one.seconds[k], "cpu_s": next(cpu), "found": one.ranked[k]} for one in asked
            ]
            for k in done.k
        }
        collections.append({"add_s": cost.seconds, "answers": answers})
    versions = versions_of("recollect", "numpy") | {"python": platform.python_version()}
    result = {
        "model_id": done.model_id,
        "versions": versions,
        "collections": collections,
        "peak_mb": peak,
    }
    result_path.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
