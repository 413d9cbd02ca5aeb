"""How good is the first answer: what `match` is read off, fitted and measured.

In: sets. Out: for each of them how often a first answer is right that is called strong, fair or
weak. Of the questions of a set half are asked as they are; of a quarter what answers them is taken
away, and in place of a quarter those of another set are asked: nothing is right there. Run
`python -m bench.quality --match`; the numbers go into `recall/strength.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bench.quality.compared import Beside, beside, filled
from recollect.evaluation.task import Collection, Question, Task
from recollect.recall.strength import BESIDE, strength

__all__ = ["First", "areas", "firsts", "fitted", "matches", "precision"]

# With half of all questions without an answer, two in three right is much.
_RIGHT, _WRONG = 0.67, 0.07


class First(NamedTuple):
    """A first answer: how alike it is, how alike the eleventh, and whether it is right."""

    task: str
    similarity: float
    background: float | None
    is_right: bool


def firsts(tasks: Sequence[Task]) -> Iterator[First]:
    """Yield the first answers to the questions of all sets, and to others."""
    for number, task in enumerate(tasks):
        foreign = _questions(tasks[(number + 1) % len(tasks)])
        for collection in task.collections:
            with filled(collection) as memory:
                asked = _asked(collection, foreign)
                for kind, one in zip(asked, beside(memory, iter(asked.values())), strict=True):
                    yield _first(task.name, one, without_gold=kind[1] == "without")


def _asked(collection: Collection, foreign: Sequence[Question]) -> dict[tuple[int, str], Question]:
    """Return which questions a collection is asked, each under its number and kind."""
    kinds = ("own", "without", "own", "foreign")
    return {
        (number, kind): foreign[number % len(foreign)] if kind == "foreign" else question
        for number, question in enumerate(collection.questions)
        for kind in (kinds[number % len(kinds)],)
    }


def _questions(task: Task) -> list[Question]:
    return [one for collection in task.collections for one in collection.questions]


def _first(name: str, one: Beside, *, without_gold: bool) -> First:
    similarity, gold = one.similarity, one.gold
    if without_gold:
        similarity, gold = similarity[~gold], gold[~gold]
    order = np.argsort(-similarity, kind="stable")
    background = float(similarity[order[BESIDE]]) if len(order) > BESIDE else None
    best = order[0]
    return First(name, float(similarity[best]), background, bool(gold[best]))


def matches(tasks: Sequence[Task]) -> None:
    """Print how often a first answer is right, by how it is said to match; and what would fit."""
    found = list(firsts(tasks))
    print("| set | strong: n, right | fair | weak |\n|---|---|---|---|")
    for task, words in precision(found).items():
        cells = " | ".join(f"{count}, {share:.2f}" for count, share in words.values())
        print(f"| {task} | {cells} |")
    for word, (count, share) in _of(found).items():
        print(f"{word} on all sets: {count}, {share:.2f}")
    for name, value in {**fitted(found), **areas(found)}.items():
        print(f"{name}: {value:.3f}")


def precision(found: Sequence[First]) -> dict[str, dict[str, tuple[int, float]]]:
    """Return for each set and each word how many first answers have it, and the share right."""
    tasks = dict.fromkeys(one.task for one in found)
    return {task: _of([one for one in found if one.task == task]) for task in tasks}


def _of(found: Sequence[First]) -> dict[str, tuple[int, float]]:
    by_word: dict[str, list[First]] = {"strong": [], "fair": [], "weak": []}
    for one in found:
        by_word[strength(one.similarity, one.background)].append(one)
    return {word: (len(own), _share(own) if own else float("nan")) for word, own in by_word.items()}


def areas(found: Sequence[First]) -> dict[str, float]:
    """Return how often a right first answer has more than a wrong one: by three ways to judge."""
    stands = [one for one in found if one.background is not None]
    alike = np.array([one.similarity for one in stands])
    gap = alike - np.array([one.background for one in stands])
    right = np.array([one.is_right for one in stands])
    judged = {"the gap alone": gap, "the similarity alone": alike, "speaks": alike / 2 + gap}
    return {f"area, {name}": _area(values, right) for name, values in judged.items()}


def _area(values: np.ndarray, right: np.ndarray) -> float:
    ranks = values.argsort().argsort() + 1
    wrong = len(right) - right.sum()
    return float((ranks[right].sum() - right.sum() * (right.sum() + 1) / 2) / (right.sum() * wrong))


def fitted(found: Sequence[First]) -> dict[str, float]:
    """Return where strong could begin and weak end: at the shares that were asked for.

    `speaks` is what `strength` goes by, and likeness alone what it goes by in a tiny store.
    """
    stands = [one for one in found if one.background is not None]
    speaks = [(1.5 * one.similarity - (one.background or 0.0), one) for one in stands]
    alone = [(one.similarity, one) for one in found]
    return {
        f"speaks, from where {_RIGHT:.0%} are right": _least(speaks, _RIGHT),
        f"speaks, below which {_WRONG:.0%} are right": _most(speaks, _WRONG),
        f"similarity, from where {_RIGHT:.0%} are right": _least(alone, _RIGHT),
        f"similarity, below which {_WRONG:.0%} are right": _most(alone, _WRONG),
    }


def _least(values: Sequence[tuple[float, First]], right: float) -> float:
    steps = (step / 200 for step in range(200))
    return next(
        (cut for cut in steps if _share([one for value, one in values if value >= cut]) >= right),
        1.0,
    )


def _most(values: Sequence[tuple[float, First]], right: float) -> float:
    steps = (step / 200 for step in range(200, 0, -1))
    return next(
        (cut for cut in steps if _share([one for value, one in values if value < cut]) <= right),
        0.0,
    )


def _share(found: Sequence[First]) -> float:
    return sum(one.is_right for one in found) / len(found) if found else 0.0
