"""What a filter costs: recalls with one and without, in turns, in one run of one process.

`python -m bench.filters [SIZE]` fills a store in memory and prints, for each kind of filter, the
median of a recall, and how many times that of a recall without a filter it is. Nothing is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from itertools import count
from statistics import median
from time import perf_counter
from typing import Any

from bench import recall_data
from bench.recall_stores import SyntheticEmbedder
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


def filled(size: int) -> Recollect:
    """Return a store in memory with metadata on each memory."""
    memory = Recollect.open("memory://", embedder=SyntheticEmbedder(), links=False)
    memory.remember_many(item(number) for number in range(size))
    return memory


def item(number: int) -> dict[str, Any]:
    """Return one memory: its text is that of the benchmark of recalls."""
    return {
        "content": recall_data.text(number),
        "pak_id": f"p{number}",
        "metadata": {
            "team": f"team {number % _TEAMS}",
            "price": number * 7919 % _PRICES,
            "tags": [f"tag {number % 9}", f"tag {number % 5}"],
            "ticket": f"T-{number}",
        },
    }


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
        for name, asked in (
            ("no filter", {}),
            ("one team", {"filter": {"metadata.team": "team 7"}}),
        ):
            memory.remember(**item(next(numbers)))
            question = recall_data.question(next(numbers), size)
            started = perf_counter()
            memory.recall(question, **asked)
            taken[name].append(perf_counter() - started)
    return taken


def told(title: str, taken: Timed) -> None:
    plain = median(taken["no filter"])
    print(title)
    for name, seconds in taken.items():
        middle = median(seconds)
        print(f"  {name:40} {middle * 1e3:8.2f} ms {middle / plain:6.2f} x")


def main(size: int = _SIZE) -> None:
    """Print what filters cost."""
    with filled(size) as memory:
        memory.recall(recall_data.question(0, size))
        started = perf_counter()
        memory.recall(recall_data.question(1, size), filter={"metadata.team": "team 0"})
        print(f"{size:,} memories; the first filter on a path: {perf_counter() - started:.2f} s")
        told("recalls in turns", measured(memory, size))
        told("each after a write", after_writes(memory, size))


if __name__ == "__main__":
    main(*(int(one) for one in sys.argv[1:]))
