"""Recollect itself: the shipped `remember_many` and `recall`, with threads, speakers and times."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

from bench.peers import corpora
from bench.peers.measure import peak_mb, versions_of
from recollect.evaluation import run


def main() -> None:
    """Run the evaluation and write its answers in the form of the peers."""
    corpus_path, result_path = map(Path, sys.argv[1:])
    corpus = json.loads(corpus_path.read_text())
    done = run(corpora.load(corpus["kind"], Path(corpus["path"])), k=corpus["k"])
    peak = peak_mb()
    outcomes = iter(done.outcomes)
    collections = []
    for stored, collection in zip(done.stored, done.task.collections, strict=True):
        asked = [next(outcomes) for _ in collection.questions]
        answers = {
            str(k): [{"s": one.seconds[k], "found": one.ranked[k]} for one in asked] for k in done.k
        }
        collections.append({"add_s": stored.seconds, "answers": answers})
    versions = versions_of("recollect", "numpy") | {"python": platform.python_version()}
    result = {"versions": versions, "collections": collections, "peak_mb": peak}
    result_path.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
