"""Recollect itself: the shipped `remember_many` and `recall`, with threads, speakers and times."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from time import process_time

from bench.peers import corpora
from bench.peers.measure import peak_mb, versions_of
from recollect.evaluation import run


def main() -> None:
    """Run the evaluation twice, for wall and for CPU time; write it in the form of the peers."""
    corpus_path, result_path = map(Path, sys.argv[1:])
    corpus = json.loads(corpus_path.read_text())
    task = corpora.load(corpus["kind"], Path(corpus["path"]))
    done = run(task, k=corpus["k"])
    peak = peak_mb()
    again = run(task, k=corpus["k"], timer=process_time)
    outcomes = iter(zip(done.outcomes, again.outcomes, strict=True))
    collections = []
    for stored, collection in zip(done.stored, done.task.collections, strict=True):
        asked = [next(outcomes) for _ in collection.questions]
        answers = {
            str(k): [
                {"s": wall.seconds[k], "cpu_s": cpu.seconds[k], "found": wall.ranked[k]}
                for wall, cpu in asked
            ]
            for k in done.k
        }
        collections.append({"add_s": stored.seconds, "answers": answers})
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
