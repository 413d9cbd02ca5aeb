"""bm25s in one process, with the benchmark's texts: says how long each question took.

In: how many texts as an argument, then a request a line. Out: seconds, a number a question, from
its words to the best texts. It runs in bm25s's environment: no Recollect here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bench import recall_data
from bench.clock import seconds as clock
from bench.peers.measure import Text
from bench.peers.with_bm25s import Bm25s
from bench.recall_serving import serve


class Words:
    """An index of the first texts."""

    def __init__(self, size: int) -> None:
        self._index = Bm25s()
        self.versions = {"bm25s": self._index.versions["bm25s"]}
        texts = enumerate(recall_data.texts(0, size))
        self._index.add([Text(str(number), text) for number, text in texts])

    def close(self) -> None:
        """Nothing is open."""

    def answer(self, questions: Sequence[str]) -> list[float]:
        """Search for each question."""
        return [self._timed(question) for question in questions]

    def _timed(self, question: str) -> float:
        start = clock()
        found = self._index.search(question, 5)
        taken = clock() - start
        if not found:
            raise RuntimeError("A search found nothing; its time would mean nothing.")
        return taken


if __name__ == "__main__":
    serve(lambda: Words(int(sys.argv[1])))
