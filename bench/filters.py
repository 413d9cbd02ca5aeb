"""What a filter costs: recalls with one and without, in turns, in one run of one process.

`python -m bench.filters [SIZE [STORE]]` copies a store of the benchmark of recalls, or the one that
is named, and prints for each kind of filter the median of a recall, and how many times that of a
recall without a filter it is. Nothing is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from bench import recall_data
from bench.recall_stores import built, copied, opened
from recollect import Recollect

__all__ = ["Timed", "main", "measured"]

_SIZE = 100_000
_ROUNDS = 60
_TEAMS, _PRICES = 20, 1_000
Timed = Mapping[str, list[float]]
# The number of a round to what narrows its recall.
Narrowed = Callable[[int], dict[str, Any]]

FILTERS: Mapping[str, Narrowed] = {
    "no filter": lambda _: {},
    "one team, always the same": lambda _: {"filter": {"metadata.team": "team 7"}},
    "one team, each time another": lambda n: {"filter": {"metadata.team": f"team {n % _TEAMS}"}},
    "half of the prices, each time others": lambda n: {
        "filter": {"metadata.price": {"gte": _PRICES // 2 + n}}
    },
    "all but a few": lambda n: {"filter": {"metadata.price": {"ne": n}}},
    "three conditions": lambda n: {
        "filter": {
            "metadata.price": {"gte": n},
            "or": [{"metadata.team": "team 1"}, {"metadata.tags": {"contains": f"tag {n % 9}"}}],
        }
    },
}


def filled(path: Path) -> Recollect:
    """Open a store of the benchmark of recalls, with metadata on each memory."""
    memory = opened(path)
    conn = memory.paks.conn
    conn.execute(
        "UPDATE memories SET metadata = json_object('price', row_id * 7919 % 1000, 'tags',"
        " json_array('tag ' || (row_id % 9), 'tag ' || (row_id % 5)),"
        " 'team', 'team ' || (row_id % 20), 'ticket', 'T-' || row_id)"
    )
    conn.commit()
    memory.close()
    # Opened anew, so that nobody reads from a log as long as the store.
    return opened(path)


def measured(memory: Recollect, size: int, rounds: int = _ROUNDS) -> Timed:
    """Return the seconds of each recall, by what narrowed it; those of a round come in turns."""
    taken: dict[str, list[float]] = {name: [] for name in FILTERS}
    questions = count()
    for number in range(-3, rounds):
        for name, narrowed in FILTERS.items():
            asked, question = narrowed(number), recall_data.question(next(questions), size)
            started = perf_counter()
            memory.recall(question, **asked)
            if number >= 0:
                taken[name].append(perf_counter() - started)
    return taken


def after_writes(memory: Recollect, size: int, rounds: int = 20) -> Timed:
    """Return the same where each recall comes after a write."""
    taken: dict[str, list[float]] = {"no filter": [], "one team": []}
    numbers = count(size)
    for _ in range(rounds):
        for name in taken:
            memory.remember(recall_data.text(next(numbers)), metadata={"team": "team 7"})
            question = recall_data.question(next(numbers), size)
            asked = None if name == "no filter" else {"metadata.team": "team 7"}
            started = perf_counter()
            memory.recall(question, filter=asked)
            taken[name].append(perf_counter() - started)
    return taken


def told(title: str, taken: Timed) -> None:
    plain = median(taken["no filter"])
    print(title)
    for name, seconds in taken.items():
        middle = median(seconds)
        print(f"  {name:40} {middle * 1e3:8.2f} ms {middle / plain:6.2f} x")


def main(size: int = _SIZE, store: Path | None = None) -> None:
    """Print what filters cost, in a copy of a store."""
    with TemporaryDirectory() as folder:
        copy = copied(built(size) if store is None else store, Path(folder), "filters.db")
        with filled(copy) as memory:
            memory.recall(recall_data.question(0, size))
            started = perf_counter()
            memory.recall(recall_data.question(1, size), filter={"metadata.team": "team 0"})
            first = perf_counter() - started
            print(f"{size:,} memories; the first filter on a path takes {first:.2f} s")
            told("recalls in turns", measured(memory, size))
            told("each after a write", after_writes(memory, size))


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else _SIZE, Path(given[1]) if len(given) > 1 else None)
