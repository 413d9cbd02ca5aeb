"""Recollect in one process, beside the bare pass: says how long each single call took.

In: a request a line. Out: seconds, a number a call. Everything a call needs is made before its
clock starts. Whatever is compared takes turns call by call.
"""

from __future__ import annotations

import platform
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import recall_data
from bench.clock import seconds as clock
from bench.recall_serving import serve
from bench.recall_stores import items, opened
from bench.workers import by_turns
from recollect import Recollect
from recollect.embed.static import StaticEmbedder

__all__ = ["Memories", "bare_pass", "passes"]

Seconds = dict[str, list[float]]

RECALL_BLOCK = 20
PAUSE_S = 0.2
WARM_UP = 5


class Memories:
    """Some open stores by name, and a matrix to pass over."""

    def __init__(self) -> None:
        self.versions = {
            "recollect": version("recollect"),
            "numpy": np.__version__,
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        }
        self._open = ExitStack()
        self._stores: dict[str, Recollect] = {}
        self._pass: Callable[[], object] = lambda: None

    def close(self) -> None:
        """Close what is open."""
        self._open.close()

    def open(self, name: str, path: str, links: bool = False) -> None:
        """Open a store under a name, index and all."""
        memory = self._open.enter_context(opened(Path(path), links=links))
        memory.recall("warm up")
        self._stores[name] = memory

    def fill(self, name: str, path: str, size: int) -> None:
        """Fill a store as one who knows no options would, and keep it open under a name."""
        memory = self._open.enter_context(Recollect.open(path))
        memory.remember_many(items(0, size))
        memory.recall("warm up")
        self._stores[name] = memory

    def shut(self) -> None:
        """Close all stores."""
        self._open.close()
        self._stores.clear()

    def fresh_matrix(self, size: int) -> None:
        """Make the matrix that the bare pass goes over."""
        self._pass = bare_pass(size)

    def recall_by_turns(self, name: str, questions: list[str], project: str | None) -> Seconds:
        """Recall a block of questions, then some passes, and again.

        A pass before every recall would empty the caches of all but its own matrix, and leave a
        thread behind that keeps a core busy waiting; no user's recall meets that. So blocks take
        turns, with a pause after the passes that lets their threads go to sleep.
        """
        memory = self._stores[name]
        if not memory.recall(questions[0], project=project).results:
            raise RuntimeError("A recall found nothing; its time would mean nothing.")
        taken: Seconds = {"recall": [], "pass": []}
        for start in range(0, len(questions), RECALL_BLOCK):
            block = questions[start : start + RECALL_BLOCK]
            taken["pass"] += [_timed(self._pass) for _ in block]
            time.sleep(PAUSE_S)
            taken["recall"] += [
                _timed(lambda text=text: memory.recall(text, top_k=5, project=project))
                for text in block
            ]
        return {name: seconds[WARM_UP:] for name, seconds in taken.items()}

    def answer(self, name: str, questions: list[str], frame: str | None) -> list[float]:
        """Recall, or render a frame; one time a question."""
        memory = self._stores[name]
        if frame is None:
            return [_timed(lambda text=text: memory.recall(text, top_k=5)) for text in questions]
        return [_timed(lambda text=text: memory.frame(frame, text, top_k=5)) for text in questions]

    def remember_by_turns(self, names: list[str], first: int, blocks: int, size: int) -> Seconds:
        """Remember new texts one by one: a block of calls in each store, some passes, and again.

        A rate is what calls in a row reach. A pass before each would slow it down: its threads
        wait for more to do for a while, and keep a core busy with that.
        """
        taken: Seconds = {name: [] for name in (*names, "pass")}
        for turn, name in by_turns(tuple(taken), blocks + 1):
            if name == "pass":
                seconds = [_timed(self._pass) for _ in range(WARM_UP)]
            else:
                new = items(first + turn * size, size)
                seconds = [
                    _timed(lambda name=name, item=item: self._remember(name, item)) for item in new
                ]
            if turn:  # the first blocks warm up
                taken[name] += seconds
        return taken

    def recall_after_remember(self, name: str, first: int, questions: list[str]) -> Seconds:
        """Remember a text, then recall: the index has a change to follow; with a pass."""
        memory = self._stores[name]
        taken: Seconds = {"recall": [], "pass": []}
        for text, item in zip(questions, items(first, len(questions)), strict=True):
            self._remember(name, item)
            taken["recall"].append(_timed(lambda text=text: memory.recall(text, top_k=5)))
            taken["pass"].append(_timed(self._pass))
        return taken

    def remember_many(self, name: str, first: int, count: int) -> float:
        """Remember new texts in one call."""
        memory, new = self._stores[name], items(first, count)
        seconds = _timed(lambda: memory.remember_many(new))
        assert memory.get(memory.list(limit=1).items[0].pak_id) is not None
        return seconds

    def embed(self, count: int) -> list[float]:
        """Embed texts one by one with the static embedder, which the writes here do not use."""
        embedder = StaticEmbedder()
        return [
            _timed(lambda text=text: embedder.embed_documents([text]))
            for text in recall_data.texts(0, count)
        ]

    def _remember(self, name: str, item: dict[str, Any]) -> None:
        if not self._stores[name].remember(**item).created:
            raise RuntimeError("A write found nothing to do; its time would mean nothing.")


def bare_pass(size: int) -> Callable[[], NDArray[np.float32]]:
    """Return one float32 product of a fresh matrix of so many rows with a vector."""
    chance = np.random.default_rng()
    matrix = chance.standard_normal((size, recall_data.DIMENSION), dtype=np.float32)
    vector = chance.standard_normal(recall_data.DIMENSION, dtype=np.float32)
    return lambda: matrix @ vector


def passes(size: int, count: int) -> list[float]:
    """Return the seconds of some passes, after a few that do not count."""
    once = bare_pass(size)
    return [_timed(once) for _ in range(WARM_UP + count)][WARM_UP:]


def _by_turns(calls: list[dict[str, Callable[[], object]]]) -> Seconds:
    """Time each call of every round; who goes first changes. The first rounds only warm up."""
    taken: Seconds = {name: [] for name in calls[0]}
    for turn, name in by_turns(tuple(taken), len(calls)):
        seconds = _timed(calls[turn][name])
        if turn >= WARM_UP:
            taken[name].append(seconds)
    return taken


def _timed(call: Callable[[], object]) -> float:
    start = clock()
    call()
    return clock() - start


if __name__ == "__main__":
    serve(Memories)
